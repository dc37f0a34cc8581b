/*
 * The workers of a scripted run: what they answer, and what a fault makes of it. They are strict: a request that a real one would
 * not understand where it comes is noted as foul, and fails the test in the end.
 */
#ifndef LP_TESTS_SCRIPTED_WORKER_H
#define LP_TESTS_SCRIPTED_WORKER_H

#include "base/json.h"
#include "control/link.h"
#include "control/wire.h"
#include "model/result.h"

#include <signal.h>

#include "fixture.h"
#include "scripted_clock.h"
#include "scripted_fault.h"
#include "unit.h"

#define SECONDS(s)    ((int64_t)((s)*1e9))
#define SCRIPT_RANKS  8
#define SCRIPT_CREWS  160
#define SCRIPT_DRIVER "580.95"

struct scripted_run {
    struct lp_link link; /* first: callbacks get its address */
    struct scripted_clock time;
    struct lp_clock clock;
    struct lp_place place[SCRIPT_RANKS];
    /* the machine; a test may change it before the run */
    const char *device, *inherited; /* inherited: variables as a JSON object, ' for " */
    bool nvlink;
    size_t memory_bytes, free_bytes[SCRIPT_RANKS];
    double start_s, open_s, op_us, gbps, slowness; /* gbps: 0 is without limit */
    const char *library_error;
    struct fault fault[8];
    size_t nfaults;
    void (*on_request)(struct scripted_run *self, int rank, int crew, const json_t *request);
    void *user;
    /* what happened */
    struct actor actor[SCRIPT_CREWS][SCRIPT_RANKS]; /* by the crew's number */
    int ncrews;                                     /* highest number */
    struct {
        int64_t at_ns;
        struct lp_event event;
    } queue[256];
    size_t nqueue;
    bool agent_gone[SCRIPT_RANKS];
    char foul[256]; /* the first request that a real worker would not have understood */
    /* what came of it */
    struct scratch scratch; /* run.json, run.out, run.err, and TMPDIR of the run */
    struct lp_result result;
    bool written; /* there is a file, and result is it */
    int code;
};

static inline const struct fault *fault_of(const struct scripted_run *self, int crew, int rank, enum phase phase)
{
    for (size_t i = 0; i < self->nfaults; i++)
        if ((self->fault[i].rank < 0 || self->fault[i].rank == rank) && in_place(&self->fault[i], &self->actor[crew][rank], phase))
            return &self->fault[i];
    return NULL;
}

/* What happens to another rank where nobody gets on without all others. */
static inline const struct fault *fault_of_others(const struct scripted_run *self, int crew, int rank, enum phase phase)
{
    bool joint = phase == AT_OPEN || (phase >= AT_WARM_UP && phase <= AT_AFTER && phase != AT_PREPARE);

    for (size_t i = 0; i < self->nfaults && joint; i++) {
        const struct fault *fault = &self->fault[i];

        if (fault->kind <= MEMORY && fault->rank >= 0 && fault->rank != rank && self->actor[crew][fault->rank].spawned &&
            in_place(fault, &self->actor[crew][rank], phase))
            return fault;
    }
    return NULL;
}

/* ---- events ---- */

static inline void foul(struct scripted_run *self, const char *what, const char *more)
{
    if (!self->foul[0])
        snprintf(self->foul, sizeof(self->foul), "%s %s", what, more);
}

static inline void queue_event(struct scripted_run *self, double delay_s, struct lp_event event)
{
    assert(self->nqueue < COUNT_OF(self->queue));
    self->queue[self->nqueue].at_ns = self->time.now_ns + SECONDS(delay_s);
    self->queue[self->nqueue++].event = event;
}

static inline void queue_line(struct scripted_run *self, double delay_s, int rank, int crew, json_t *line)
{
    queue_event(self, delay_s, (struct lp_event){.kind = LP_EVENT_LINE, .rank = rank, .crew = crew, .line = line});
}

static inline void drop_event(struct scripted_run *self, size_t i)
{
    self->nqueue--;
    memmove(&self->queue[i], &self->queue[i + 1], (self->nqueue - i) * sizeof(self->queue[0]));
}

/* What the worker would still have said goes with it. crew 0: all workers of the rank. */
static inline void drop_events(struct scripted_run *self, int rank, int crew)
{
    for (size_t i = self->nqueue; i-- > 0;)
        if (self->queue[i].event.rank == rank && (!crew || self->queue[i].event.crew == crew)) {
            lp_event_release(&self->queue[i].event);
            drop_event(self, i);
        }
}

static inline long script_pid(int rank, int crew)
{
    return 1000 + 10 * crew + rank;
}

static inline void queue_exit(struct scripted_run *self, double delay_s, int rank, int crew, int exit_code, int sig)
{
    struct lp_event event = {.kind = LP_EVENT_EXIT,
                             .rank = rank,
                             .crew = crew,
                             .pid = script_pid(rank, crew),
                             .exit_code = sig ? -1 : exit_code,
                             .signal = sig};

    if (exit_code == 127) {
        event.pid = 0;
        snprintf(event.words, sizeof(event.words), "could not be started: No such file or directory");
    }
    self->actor[crew][rank].stuck = true;
    queue_event(self, delay_s, event);
}

static inline void lose_agent(struct scripted_run *self, int rank)
{
    struct lp_event event = {.kind = LP_EVENT_LOST, .rank = rank};

    if (self->agent_gone[rank])
        return;
    self->agent_gone[rank] = true;
    drop_events(self, rank, 0);
    for (int crew = 0; crew <= self->ncrews; crew++)
        self->actor[crew][rank].alive = false;
    snprintf(event.words, sizeof(event.words), "the agent of rank %d is gone", rank);
    queue_event(self, 0.001, event);
}

/* ---- what workers answer ---- */

static inline json_t *device_json(const struct scripted_run *self, int i)
{
    char pci[32], cpus[32];

    snprintf(pci, sizeof(pci), "0000:%02x:00.0", i + 1);
    snprintf(cpus, sizeof(cpus), "%d-%d", 4 * i, 4 * i + 3);
    return json_pack("{s:i, s:s, s:s, s:s, s:I, s:s, s:{s:o, s:f, s:i, s:i, s:f}}", "index", i, "name", "H200", "uuid", pci, "pci",
                     pci, "memory_bytes", (json_int_t)self->memory_bytes, "cpus", cpus, "links", "nvlinks",
                     self->nvlink ? json_integer(18) : json_null(), "nvlink_gbps", 478.1, "pcie_gen", 5, "pcie_width", 16,
                     "pcie_gbps", 63.0);
}

static inline json_t *machine_json(const struct scripted_run *self)
{
    bool cuda = strcmp(self->device, "cuda") == 0;
    json_t *devices = json_array(), *pairs = json_array(), *machine;

    for (int i = 0; i < self->link.nranks && (cuda || i == 0); i++)
        json_array_append_new(devices, device_json(self, i));
    for (int i = 0; i < self->link.nranks * self->link.nranks && cuda; i++)
        json_array_append_new(
            pairs, json_pack("{s:i, s:i, s:b}", "src", i / self->link.nranks, "dst", i % self->link.nranks, "peer_access", 1));
    machine = json_pack("{s:s, s:s, s:s, s:o, s:[], s:I, s:s, s:s, s:o, s:o, s:o}", "host", "box", "kernel", "6.8", "cpus", "0-63",
                        "inherited", json_of(self->inherited), "conf_files", "shm_bytes", (json_int_t)1 << 34, "device",
                        self->device, "library", cuda ? "nccl" : "host", "devices", devices, "pairs", pairs, "versions",
                        cuda ? json_of("{'driver': '" SCRIPT_DRIVER "', 'cuda_runtime': '13.0', 'nccl_loaded': '2.28.3',"
                                       " 'nccl_path': '/nonexistent/libnccl.so.2'}")
                             : json_object());
    if (self->library_error)
        json_object_set_new(machine, "library_error", json_string(self->library_error));
    return json_pack("{s:o}", "machine", machine);
}

/* As the process has it: what the machine has, and the changes that its crew was given. */
static inline json_t *identity_json(const struct scripted_run *self, const struct actor *actor, const struct fault *fault)
{
    json_t *environment = json_of(self->inherited), *value;
    const char *name;

    json_object_foreach(actor->env, name, value) if (json_is_string(value)) json_object_set(environment, name, value);
    else json_object_del(environment, name);
    if (fault && fault->kind == OTHER_ENV)
        json_object_set_new(environment, "NCCL_BUFFSIZE", json_string("1048576"));
    return json_pack("{s:o, s:s, s:s, s:s}", "environment", environment, "CUDA driver", SCRIPT_DRIVER, "NCCL version",
                     fault && fault->kind == OTHER_NCCL ? "2.27.5" : "2.28.3", "NCCL library", "/usr/lib/libnccl.so.2");
}

static inline double op_us(const struct scripted_run *self, size_t bytes)
{
    return self->op_us + (self->gbps > 0.0 ? (double)bytes / (self->gbps * 1e3) : 0.0);
}

static inline json_t *samples_json_of(const struct scripted_run *self, int rank, int crew, const json_t *request, bool garbled)
{
    double least = op_us(self, self->actor[crew][rank].bytes);
    json_t *list = json_array();

    for (int i = garbled; i < (int)lp_json_int(request, "n", 0); i++)
        json_array_append_new(list, json_real(least + 0.5 * rank + 0.01 * (i % 7)));
    return json_pack("{s:o, s:b}", "samples_us", list, "aligned", 1);
}

/* How many elements a fault makes wrong in iteration i of n, and where the first is. */
static inline uint64_t wrong_elements(enum kind kind, size_t bytes, int i, int n, uint64_t *offset)
{
    *offset = kind == WRONG_MIDDLE || kind == WRONG_ONCE ? bytes / 8 * 4 : kind == WRONG_LAST ? bytes - 4 : 0;
    if (kind == STALE)
        return bytes / 4;
    return (kind >= WRONG_FIRST && kind <= WRONG_LAST) || (kind == WRONG_ONCE && i == n - 1);
}

static inline json_t *verdicts_json_of(const struct actor *actor, const json_t *request, const struct fault *fault)
{
    int n = lp_json_bool(request, "prepare", false) ? 0
            : lp_json_bool(request, "last", false)  ? 1
                                                    : (int)lp_json_int(request, "iterations", 0);
    json_t *list = json_array(), *reply = json_pack("{s:o}", "wrong", list);

    for (int i = fault && fault->kind == GARBLED; i < n; i++) {
        uint64_t offset, wrong = fault ? wrong_elements(fault->kind, actor->bytes, i, n, &offset) : 0;

        json_array_append_new(list, json_integer((json_int_t)wrong));
        if (wrong)
            json_object_set_new(reply, "first_offset_bytes", json_integer((json_int_t)offset));
    }
    return reply;
}

static inline json_t *payload_of(struct scripted_run *self, int rank, int crew, enum phase phase, const json_t *request,
                                 const struct fault *fault)
{
    struct actor *actor = &self->actor[crew][rank];
    json_t *blob;

    if (phase == AT_SURVEY)
        return machine_json(self);
    if (phase == AT_OFFER) {
        blob = rank == 0 ? json_of("{'page': '/page', 'comm_id': 'id'}") : json_object();
        return json_pack("{s:o, s:I, s:o, s:{s:s}}", "blob", blob, "free_bytes", (json_int_t)self->free_bytes[rank], "identity",
                         identity_json(self, actor, fault), "library", "path", "/usr/lib/libnccl.so.2");
    }
    if (phase == AT_ARENA)
        return json_of("{'blob': {'send': 's', 'recv': 'r'}}");
    if (phase == AT_OPEN)
        return json_pack("{s:I}", "free_bytes", (json_int_t)self->free_bytes[rank]);
    if (phase == AT_WARM_UP || phase == AT_TIME)
        return samples_json_of(self, rank, crew, request, fault && fault->kind == GARBLED);
    return phase == AT_CELL || phase == AT_BYE ? json_of("{'slots': 4}") : verdicts_json_of(actor, request, fault);
}

/* ---- workers ---- */

/* Which phase a request begins, and whether a worker would understand it there. */
static inline enum phase phase_of(struct scripted_run *self, struct actor *actor, const json_t *request)
{
    static const char *const words[] = {[AT_SURVEY] = "survey", [AT_OFFER] = "offer", [AT_ARENA] = "arena",
                                        [AT_OPEN] = "open",     [AT_CELL] = "cell",   [AT_BYE] = "bye"};
    const char *what = lp_json_str(request, "do", "");
    bool again = actor->checks > 0;

    if (lp_json_int(request, "id", 0) <= actor->last_id || actor->stuck)
        foul(self, "asked again after it was lost, or with an old id:", what);
    actor->last_id = lp_json_int(request, "id", 0);
    for (int i = AT_SURVEY; i <= AT_BYE; i++)
        if (i < (int)COUNT_OF(words) && words[i] && strcmp(words[i], what) == 0)
            return (enum phase)i;
    if (!actor->bytes)
        foul(self, "without a cell:", what);
    if (strcmp(what, "blocks") == 0)
        return strcmp(lp_json_str(request, "purpose", ""), "time") == 0 ? AT_TIME : AT_WARM_UP;
    if (strcmp(what, "check") != 0)
        foul(self, "unknown request:", what);
    if (lp_json_bool(request, "prepare", false) || lp_json_bool(request, "last", false))
        return lp_json_bool(request, "prepare", false) ? AT_PREPARE : AT_LAST;
    actor->checks++;
    return again ? AT_AFTER : AT_CHECK;
}

/* What the phase takes where nothing is wrong, and its limit. */
static inline double usual_s(const struct scripted_run *self, const struct actor *actor, enum phase phase, const json_t *request)
{
    double ops = phase == AT_WARM_UP || phase == AT_TIME
                     ? (double)lp_json_int(request, "k", 1) * (double)lp_json_int(request, "n", 1)
                     : (double)lp_json_int(request, "iterations", 0) + 1;

    if (phase == AT_START || phase == AT_OPEN)
        return phase == AT_START ? self->start_s : self->open_s;
    return phase < AT_WARM_UP || phase == AT_BYE ? 0.01 : 1e-4 + ops * op_us(self, actor->bytes) / 1e6;
}

static inline double limit_s(const struct scripted_run *self, enum phase phase)
{
    return self->slowness * (phase < AT_CELL ? 60.0 : phase == AT_BYE ? 20.0 : 10.0);
}

/* The worker has done what was asked of it, in `delay_s`. */
static inline void comply(struct scripted_run *self, double delay_s, int rank, int crew, enum phase phase, const json_t *request,
                          const struct fault *fault)
{
    static const char *const refusals[] = {
        [FAILS] = "failed", [ENVIRONMENT] = "environment", [UNSUPPORTED] = "unsupported", [MEMORY] = "memory"};
    const char *status = fault && fault->kind >= FAILS && fault->kind <= MEMORY ? refusals[fault->kind] : "ok";
    json_t *payload, *reply;

    if (phase == AT_START) {
        reply = lp_wire_say(crew, rank, "hello");
        json_object_set_new(reply, "pid", json_integer(script_pid(rank, crew)));
        queue_line(self, delay_s, rank, crew, reply);
        return;
    }
    if (phase == AT_ARENA && 2 * self->actor[crew][rank].arena_bytes > self->free_bytes[rank])
        status = "memory";
    reply = lp_wire_reply(request, rank, lp_status_from_name(status), strcmp(status, "ok") == 0 ? NULL : "this is why");
    payload = payload_of(self, rank, crew, phase, request, fault);
    json_object_update(reply, payload);
    json_decref(payload);
    queue_line(self, delay_s, rank, crew, reply);
    if (phase == AT_BYE)
        queue_exit(self, delay_s, rank, crew, 0, 0);
}

/* What comes of a phase: an answer, or the fault's doing. */
static inline void act(struct scripted_run *self, int rank, int crew, enum phase phase, const json_t *request)
{
    const struct fault *own = fault_of(self, crew, rank, phase), *other = fault_of_others(self, crew, rank, phase);
    struct actor *actor = &self->actor[crew][rank];
    enum kind kind = own ? own->kind : other ? other->kind : NKINDS;
    double usual = usual_s(self, actor, phase, request);

    actor->phase = phase;
    if (kind == SLOW || kind == LATE) {
        usual = limit_s(self, phase) * (kind == SLOW ? 2.0 / 3.0 : 1.0) + (kind == LATE ? 0.5 : 0.0);
        kind = NKINDS;
    }
    if (!own && kind != NKINDS) { /* it waits for the one that will not come */
        actor->stuck = true;
        return;
    }
    switch (kind) {
    case STALLS:
    case STOPS:
    case WEDGED:
        actor->stuck = true;
        actor->mute = kind != STALLS;
        actor->immortal = kind == WEDGED;
        return;
    case SEGV:
    case FPE:
        queue_exit(self, 0.001, rank, crew, 0, kind == SEGV ? SIGSEGV : SIGFPE);
        return;
    case LEAVES:
    case NOT_STARTED:
        queue_exit(self, 0.001, rank, crew, kind == LEAVES ? 0 : 127, 0);
        return;
    case AGENT_LOST:
        lose_agent(self, rank);
        return;
    case SIGNALLED:
        queue_event(self, 0.00001, (struct lp_event){.kind = LP_EVENT_SIGNAL, .rank = -1, .signal = SIGTERM});
        break;
    default:
        break;
    }
    comply(self, usual, rank, crew, phase, request, own);
}

#endif
