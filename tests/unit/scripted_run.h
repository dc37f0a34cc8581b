/*
 * A machine on a script, for whole runs: a link whose workers speak all of wire.h on a clock that jumps, so that lp_run goes from
 * survey to exit code without a process. The workers and their faults are scripted_worker's; this is the link, and the stage.
 */
#ifndef LP_TESTS_SCRIPTED_RUN_H
#define LP_TESTS_SCRIPTED_RUN_H

#include "control/launcher.h"
#include "control/run.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "scripted_worker.h"

/* In place of launcher.c and link_mpi.c: these runs are not under mpirun, whatever the environment says. */
bool lp_launched_by_mpi(void)
{
    return false;
}

const char *lp_link_mpi_version(void)
{
    return "";
}

/* ---- what the watch reads, in place of watch_read.c ---- */

static struct scripted_run *on_stage;

static inline void *watch_open(void)
{
    return NULL;
}

static inline void watch_gpu(void *source, const char *pci, struct lp_nvml_now *out)
{
    unsigned number = 1; /* see device_json */

    (void)source;
    sscanf(pci, "0000:%x", &number);
    lp_nvml_now(NULL, pci, out);
    if (on_stage->on_gpu)
        on_stage->on_gpu(on_stage, (int)number - 1, out);
}

static inline void watch_load(const char *cpus, const long *pids, int n, struct lp_load *out)
{
    (void)cpus, (void)pids, (void)n;
    *out = (struct lp_load){0};
    if (on_stage->on_load)
        on_stage->on_load(on_stage, out);
}

const struct lp_watch_reader lp_watch_reader = {.open = watch_open, .gpu = watch_gpu, .load = watch_load};

/* ---- the link ---- */

/* "…/crew003-tree-rank0.log": what the crew is called. */
static inline void name_actor(const char *log, char *out, size_t cap)
{
    const char *base = strrchr(log, '/'), *end;

    base = base ? base + 1 : log;
    base += strcspn(base, "-");
    end = base;
    for (const char *p = base; (p = strstr(p, "-rank")) != NULL; p++)
        end = p;
    snprintf(out, cap, "%.*s", end > base ? (int)(end - base - 1) : 0, base + 1);
}

/* Beside workers that measure nobody starts, beside those that leave nobody takes memory or connects. */
static inline void check_alone(struct scripted_run *self, int rank, int crew, enum phase phase, const char *what)
{
    for (int c = 1; c < crew; c++) {
        const struct actor *before = &self->actor[c][rank];
        bool may_leave = before->phase == AT_BYE && !self->exclusive && phase != AT_ARENA && phase != AT_OPEN;

        if (before->alive && !before->killed && !may_leave)
            foul(self, "another crew's worker is still there:", what);
        if (before->alive && before->killed)
            foul(self, "a killed worker is still there:", what);
    }
}

static inline enum lp_status run_spawn(struct lp_link *link, int rank, int crew, const struct lp_spawn *spawn)
{
    struct scripted_run *self = (struct scripted_run *)link;
    struct actor *actor;
    char id[16], place[16];

    assert(rank >= 0 && rank < link->nranks && crew > 0 && crew < SCRIPT_CREWS);
    actor = &self->actor[crew][rank];
    snprintf(id, sizeof(id), "%d", crew);
    snprintf(place, sizeof(place), "%d", rank);
    if (actor->spawned || strcmp(spawn->argv[2], id) != 0 || strcmp(spawn->argv[4], place) != 0 || spawn->argv[5])
        foul(self, "spawned twice, or with other arguments:", spawn->log);
    name_actor(spawn->log, actor->name, sizeof(actor->name));
    check_alone(self, rank, crew, AT_START, actor->name);
    snprintf(actor->cpus, sizeof(actor->cpus), "%s", spawn->cpus ? spawn->cpus : "");
    actor->env = json_deep_copy(spawn->env);
    actor->spawned_ns = self->time.now_ns;
    actor->p2p = strcmp(actor->name, "survey") != 0 && strcmp(actor->name, "link") != 0 && /* link: once it is told to */
                 strcmp(lp_json_str(actor->env, "NCCL_P2P_DISABLE", ""), "1") != 0;
    for (int c = 1; c < crew; c++)
        actor->ordinal += self->actor[c][rank].spawned && strcmp(self->actor[c][rank].name, actor->name) == 0;
    actor->spawned = true;
    if (crew > self->ncrews)
        self->ncrews = crew;
    if (self->agent_gone[rank])
        return LP_ERR_LOST;
    actor->alive = true;
    act(self, rank, crew, AT_START, NULL);
    return LP_OK;
}

/* The step that a real worker names before it can block. */
static inline json_t *at_json(int rank, int crew, enum phase phase, const json_t *request)
{
    static const char *const words[] = {[AT_OFFER] = "init device",
                                        [AT_ARENA] = "allocate",
                                        [AT_OPEN] = "init communicator",
                                        [AT_PEERS] = "enable peer access",
                                        [AT_BYE] = "shutdown"};
    json_t *at = lp_wire_say(crew, rank, "at");
    struct lp_cell cell;
    char text[160], what[128];

    snprintf(text, sizeof(text), "%s", words[phase] ? words[phase] : phase_names[phase]);
    if (phase == AT_CELL && lp_cell_from_json(json_object_get(request, "cell"), &cell, NULL) == LP_OK)
        snprintf(text, sizeof(text), "cell %s", lp_cell_words(&cell, what, sizeof(what)));
    if (phase == AT_WARM_UP || phase == AT_TIME)
        snprintf(text, sizeof(text), "%s %d x %d", phase_names[phase], (int)lp_json_int(request, "n", 0),
                 (int)lp_json_int(request, "k", 0));
    json_object_set_new(at, "phase", json_string(text));
    return at;
}

static inline void answer_where(struct scripted_run *self, int rank, int crew, const json_t *request)
{
    enum phase phase = self->actor[crew][rank].phase;
    json_t *reply = lp_wire_reply(request, rank, LP_OK, NULL);

    json_object_set_new(reply, "step", json_string("waiting for the device"));
    if (phase == AT_WARM_UP || phase == AT_TIME) {
        json_object_set_new(reply, "block", json_integer(rank + 1));
        json_object_set_new(reply, "blocks", json_integer(64));
    }
    queue_line(self, 0.001, rank, crew, reply);
}

/* A cell must fit, and find peer access as its path needs it: the driver would stage the copy otherwise, without a word. */
static inline void take_cell(struct scripted_run *self, struct actor *actor, const json_t *request)
{
    const struct lp_path *path;
    struct lp_reason why = {""};

    if (lp_cell_from_json(json_object_get(request, "cell"), &actor->cell, &why) != LP_OK)
        foul(self, "given a cell that cannot be read:", why.text);
    actor->checks = 0;
    path = actor->cell.kind == LP_COPY ? lp_path_find(actor->cell.op) : NULL;
    if (actor->cell.requested_bytes > actor->arena_bytes)
        foul(self, "given a cell larger than the arena:", actor->cell.op);
    if ((actor->cell.kind == LP_COPY) != (path != NULL))
        foul(self, "given a copy by an unknown path:", actor->cell.op);
    if (path && path->flags & LP_PATH_PEER && actor->workers == 1 && !actor->peers)
        foul(self, "asked for a copy with P2P before it had enabled peer access:", actor->cell.op);
    if (path && path->flags & LP_PATH_STAGED && actor->peers)
        foul(self, "asked for a staged copy after it had enabled peer access:", actor->cell.op);
    for (int e = 0; e < actor->cell.nedges && path; e++)
        if ((actor->cell.edges[e].src == actor->cell.edges[e].dst) != ((path->flags & LP_PATH_LOCAL) != 0))
            foul(self, "given an edge from a GPU to itself, or a local copy that is none:", actor->cell.op);
}

/* Spans of those copies that are let go together; isolated blocks are of one operation. */
static inline void take_blocks(struct scripted_run *self, const struct actor *actor, const json_t *request)
{
    json_int_t k = lp_json_int(request, "k", 0), n = lp_json_int(request, "n", 0);

    if (k < 1 || n < 1 || n > LP_MAX_SAMPLES || (actor->cell.timing == LP_ISOLATED && k != 1))
        foul(self, "asked for blocks that there are not:", actor->cell.op);
    if (lp_json_bool(request, "spans", false) != (actor->cell.nedges > 1 && actor->cell.timing == LP_QUEUED))
        foul(self, "asked for spans where copies are not let go together, or for none where they are:", actor->cell.op);
}

/* What a request brings that later ones are held against. */
static inline void take_request(struct scripted_run *self, int rank, int crew, enum phase phase, const json_t *request)
{
    struct actor *actor = &self->actor[crew][rank];
    const json_t *page = json_object_get(json_array_get(json_object_get(request, "blobs"), 0), "page");

    if (phase == AT_OFFER) {
        actor->workers = (int)lp_json_int(request, "workers", 0);
        actor->page = lp_json_bool(request, "page", false);
    }
    if (phase == AT_ARENA)
        actor->arena_bytes = (size_t)lp_json_int(request, "arena_bytes", 0);
    if (phase == AT_OPEN && json_is_string(page) != actor->page)
        foul(self, "opened without the page of rank 0, or with one that nobody made:", actor->name);
    if (phase == AT_PEERS) {
        if (actor->workers != 1 || actor->peers || strcmp(self->device, "cuda") != 0)
            foul(self, "asked to enable peer access twice, or beside others:", actor->name);
        actor->peers = actor->p2p = true;
    }
    if (phase == AT_CELL)
        take_cell(self, actor, request);
    if (phase == AT_WARM_UP || phase == AT_TIME)
        take_blocks(self, actor, request);
}

static inline enum lp_status run_send(struct lp_link *link, int rank, int crew, const json_t *request)
{
    struct scripted_run *self = (struct scripted_run *)link;
    struct actor *actor = &self->actor[crew][rank];
    enum phase phase;

    if (!actor->alive)
        return LP_ERR_LOST;
    if (strcmp(lp_json_str(request, "do", ""), "where") == 0) {
        if (!actor->mute)
            answer_where(self, rank, crew, request);
        return LP_OK;
    }
    phase = phase_of(self, actor, request);
    check_alone(self, rank, crew, phase, actor->name);
    take_request(self, rank, crew, phase, request);
    if (self->on_request)
        self->on_request(self, rank, crew, request);
    queue_line(self, 0.0, rank, crew, at_json(rank, crew, phase, request));
    act(self, rank, crew, phase, request);
    return LP_OK;
}

static inline void run_kill(struct lp_link *link, int rank, int crew, int sig)
{
    struct scripted_run *self = (struct scripted_run *)link;

    if (!self->actor[crew][rank].alive || self->actor[crew][rank].immortal)
        return;
    drop_events(self, rank, crew);
    self->actor[crew][rank].killed = true;
    queue_exit(self, 0.001, rank, crew, 0, sig);
}

/* The earliest that is due, first come first served; time jumps to it, or to the deadline. */
static inline void run_next(struct lp_link *link, int64_t deadline_ns, struct lp_event *out)
{
    struct scripted_run *self = (struct scripted_run *)link;
    int64_t until = deadline_ns > self->time.now_ns ? deadline_ns : self->time.now_ns;
    size_t first = self->nqueue;

    for (size_t i = 0; i < self->nqueue; i++)
        if (self->queue[i].at_ns <= until && (first == self->nqueue || self->queue[i].at_ns < self->queue[first].at_ns))
            first = i;
    if (first == self->nqueue) {
        self->time.now_ns = until;
        *out = (struct lp_event){.kind = LP_EVENT_TIMEOUT};
        return;
    }
    if (self->queue[first].at_ns > self->time.now_ns)
        self->time.now_ns = self->queue[first].at_ns;
    *out = self->queue[first].event;
    drop_event(self, first);
    if (out->kind == LP_EVENT_EXIT) {
        self->actor[out->crew][out->rank].alive = false;
        self->actor[out->crew][out->rank].ended_ns = self->time.now_ns;
    }
}

/* ---- the stage ---- */

static inline struct scripted_run *run_create(const char *device, int n)
{
    static const char *const ours[] = {"LINKPERF_LOCK", "LINKPERF_SLOWNESS", "NCCL_NVLS_ENABLE", "NCCL_CONF_FILE"};
    struct scripted_run *self = calloc(1, sizeof(*self));

    assert(self && n <= SCRIPT_RANKS);
    on_stage = self;
    self->clock = scripted_clock(&self->time);
    self->time.now_ns = SECONDS(1000);
    self->device = device;
    self->inherited = "{}";
    self->memory_bytes = (size_t)64 << 30;
    self->start_s = strcmp(device, "cuda") == 0 ? 1.5 : 0.05;
    self->open_s = strcmp(device, "cuda") == 0 ? 0.5 : 0.01;
    self->op_us = 5000.0; /* few blocks and samples: these tests are about what happens between them */
    self->slowness = 1.0;
    for (int r = 0; r < SCRIPT_RANKS; r++) {
        self->place[r] = (struct lp_place){.host = "box", .local_rank = r, .pid = 500 + r};
        self->free_bytes[r] = (size_t)60 << 30;
    }
    self->link = (struct lp_link){.clock = &self->clock,
                                  .launch = "script",
                                  .nranks = n,
                                  .place = self->place,
                                  .spawn = run_spawn,
                                  .send = run_send,
                                  .kill = run_kill,
                                  .next = run_next};
    scratch_make(&self->scratch);
    setenv("TMPDIR", self->scratch.folder, 1);
    setenv("HOME", self->scratch.folder, 1);
    for (size_t i = 0; i < COUNT_OF(ours); i++)
        unsetenv(ours[i]);
    return self;
}

static inline void run_free(struct scripted_run *self)
{
    for (size_t i = 0; i < self->nqueue; i++)
        lp_event_release(&self->queue[i].event);
    for (int c = 0; c <= self->ncrews; c++)
        for (int r = 0; r < SCRIPT_RANKS; r++)
            json_decref(self->actor[c][r].env);
    if (self->result.head)
        lp_result_release(&self->result);
    scratch_remove(&self->scratch);
    free(self);
}

static inline void run_fault(struct scripted_run *self, struct fault fault)
{
    assert(self->nfaults < COUNT_OF(self->fault));
    self->fault[self->nfaults++] = fault;
}

/* Points fd to a file of the scratch folder; returns what it was. */
static inline int divert(struct scripted_run *self, int fd, const char *name)
{
    int before = dup(fd), file = open(scratch_path(&self->scratch, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    assert(before >= 0 && file >= 0);
    dup2(file, fd);
    close(file);
    return before;
}

static inline void restore(int fd, int before)
{
    dup2(before, fd);
    close(before);
}

/* Every process has been seen to end, but those that nothing ends; FILE.part only where there is no FILE. */
static inline void check_left(struct scripted_run *self)
{
    struct stat info;

    if (self->foul[0])
        fail_msg("a worker was %s", self->foul);
    for (int c = 0; c <= self->ncrews; c++)
        for (int r = 0; r < SCRIPT_RANKS; r++)
            if (self->actor[c][r].alive && !self->actor[c][r].immortal)
                fail_msg("the worker of rank %d in crew %d (%s) was left behind", r, c, self->actor[c][r].name);
    assert_int_equal(stat(scratch_path(&self->scratch, "run.json.part"), &info), -1);
}

/* linkperf with these words (NULL-terminated; a sub-command comes first), the result into run.json. */
static inline void run_play(struct scripted_run *self, const char *const *words)
{
    char file[160], *argv[40] = {(char[]){"linkperf"}};
    const char *const ours[] = {"--worker", "/bin/true", "-J", file};
    struct lp_options options;
    struct lp_reason why = {""};
    int argc = 1, out, err;

    snprintf(file, sizeof(file), "%s", scratch_path(&self->scratch, "run.json"));
    if (*words && strcmp(*words, "p2p") == 0)
        argv[argc++] = (char *)*words++;
    for (size_t i = 0; i < COUNT_OF(ours); i++)
        argv[argc++] = (char *)ours[i];
    for (; *words; words++)
        argv[argc++] = (char *)*words;
    if (lp_options_parse(argc, argv, &options, &why) != LP_OK)
        fail_msg("options: %s", why.text);
    fflush(stdout);
    out = divert(self, STDOUT_FILENO, "run.out");
    err = divert(self, STDERR_FILENO, "run.err");
    self->code = lp_run(&options, &self->link, argc, argv);
    fflush(stdout);
    restore(STDOUT_FILENO, out);
    restore(STDERR_FILENO, err);
    lp_options_release(&options);
    self->written = access(file, F_OK) == 0;
    if (self->written && lp_result_load(file, &self->result, &why) != LP_OK)
        fail_msg("the result does not load: %s", why.text);
    check_left(self);
}

/* ---- what came of it ---- */

static inline bool is_complete(const struct scripted_run *self)
{
    return lp_json_bool(self->result.head, "complete", false);
}

/* How many crews of that name there were. */
static inline int crews_of(const struct scripted_run *self, const char *name)
{
    int n = 0;

    for (int c = 1; c <= self->ncrews; c++)
        n += strcmp(self->actor[c][0].name, name) == 0;
    return n;
}

/* The one record of a variant's cell; NULL where there is none. Two of one cell fail the test. */
static inline const struct lp_record *record_of(const struct scripted_run *self, const char *variant, int repeat, size_t bytes)
{
    const struct lp_record *found = NULL;

    for (size_t i = 0; i < self->result.n; i++) {
        const struct lp_record *record = self->result.record[i];

        if (strcmp(record->variant, variant) != 0 || record->repeat != repeat || record->cell.requested_bytes != bytes)
            continue;
        if (found)
            fail_msg("%s has two records of %zu bytes", variant, bytes);
        found = record;
    }
    return found;
}

static inline const json_t *entry_of(const struct scripted_run *self, const char *variant, int repeat)
{
    const json_t *list = json_object_get(self->result.head, "variants");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(lp_json_str(json_array_get(list, i), "name", ""), variant) == 0 &&
            lp_json_int(json_array_get(list, i), "repeat", 0) == repeat)
            return json_array_get(list, i);
    return NULL;
}

/* Did the run say that? file: "run.out" or "run.err". */
static inline bool run_said(struct scripted_run *self, const char *name, const char *text)
{
    static char all[1 << 16];
    FILE *file = fopen(scratch_path(&self->scratch, name), "r");
    size_t len = file ? fread(all, 1, sizeof(all) - 1, file) : 0;

    if (file)
        fclose(file);
    all[len] = '\0';
    return strstr(all, text) != NULL;
}

#endif
