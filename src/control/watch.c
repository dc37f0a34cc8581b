/*
 * Telling others from ourselves. Workers say their pids; but in a container NVML may number processes as the host does, or as
 * 0, or not list them. So what is certain is told by pid, and the rest by counting: more processes than ours can be, or more
 * memory than the listed ones hold.
 */
#include "control/watch.h"

#include "machine/cpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS      (3 * LP_SECOND) /* NVML takes some milliseconds for a GPU */
#define OURS_MAX     (4 * LP_MAX_RANKS)
#define HIDDEN_LEAST (1LL << 30) /* of memory that no listed process holds: the driver's own is less */
#define HIDDEN_PART  32          /* ... and less than this part of large memories */

struct lp_watch {
    const struct lp_machine *machine;
    const struct lp_link *link;
    bool on_host;
    void *source;                           /* of the reader, for GPUs */
    struct lp_nvml_now alone[LP_MAX_RANKS]; /* without any of ours */
    int crew;                               /* that is being watched; 0: none */
    int64_t looked_ns;
    struct lp_load load;            /* at its begin */
    char cpus[4096];                /* of its workers */
    long long hidden[LP_MAX_RANKS]; /* bytes at its begin, see hidden_bytes */
    struct lp_watched out;
};

/* Our processes: their pids, and how many workers there are, with those whose pid is not known yet. */
struct ours {
    long pid[OURS_MAX];
    int n, workers;
};

struct lp_watch *lp_watch_create(const struct lp_machine *machine, const struct lp_link *link)
{
    struct lp_watch *watch = calloc(1, sizeof(*watch));

    if (!watch)
        return NULL;
    watch->machine = machine;
    watch->link = link;
    watch->on_host = strcmp(machine->device, "cuda") != 0;
    watch->source = watch->on_host ? NULL : lp_watch_reader.open();
    watch->out.ngpus = watch->on_host ? 0 : machine->nranks;
    return watch;
}

void lp_watch_free(struct lp_watch *watch)
{
    if (watch && watch->source)
        lp_watch_reader.close(watch->source);
    free(watch);
}

/* ---- who is there ---- */

static bool has_pid(const struct ours *ours, long pid)
{
    for (int i = 0; i < ours->n; i++)
        if (ours->pid[i] == pid)
            return true;
    return false;
}

static bool was_there(const struct lp_nvml_now *alone, long pid)
{
    for (int i = 0; i < alone->nprocesses; i++)
        if (alone->process[i].pid == pid)
            return true;
    return false;
}

/* One who is known by name is counted once, with the most memory that was seen; n without a name are the most seen at a time. */
static void add_named(struct lp_watched_gpu *gpu, long pid, long long memory_bytes)
{
    int i = 0;

    while (i < gpu->nothers && gpu->other[i].pid != pid)
        i++;
    if (i == LP_NVML_MAX_PROCESSES)
        return;
    if (i == gpu->nothers)
        gpu->other[gpu->nothers++] = (struct lp_other){.pid = pid, .memory_bytes = -1};
    if (memory_bytes > gpu->other[i].memory_bytes)
        gpu->other[i].memory_bytes = memory_bytes;
}

static void add_nameless(struct lp_watched_gpu *gpu, int n, long long memory_bytes)
{
    for (int i = 0; i < gpu->nothers && n > 0; i++)
        n -= gpu->other[i].pid == 0;
    for (; n > 0 && gpu->nothers < LP_NVML_MAX_PROCESSES; n--)
        gpu->other[gpu->nothers++] = (struct lp_other){.pid = 0, .memory_bytes = memory_bytes};
}

/* Memory in use that no listed process holds: the driver's, and that of processes which are not listed. -1: unknown. */
static long long hidden_bytes(const struct lp_nvml_now *now)
{
    long long hidden = now->used_bytes;

    for (int i = 0; i < now->nprocesses && hidden >= 0; i++)
        hidden = now->process[i].memory_bytes < 0 ? -1 : hidden - now->process[i].memory_bytes;
    return now->used_bytes < 0 || hidden < 0 ? -1 : hidden;
}

static bool is_much(long long bytes, const struct lp_nvml_now *now)
{
    return bytes > HIDDEN_LEAST && bytes > now->total_bytes / HIDDEN_PART;
}

/*
 * Who holds memory unseen. told: ours are listed, so that all that is hidden is somebody else's or the driver's. Where they
 * are not, what was hidden before we came is taken to be there still, and what has come since the crew's begin is new.
 */
static void find_hidden(const struct lp_watch *watch, int r, bool told, const struct lp_nvml_now *now, struct lp_watched_gpu *gpu)
{
    long long hidden = hidden_bytes(now), alone = hidden_bytes(&watch->alone[r]), known = watch->hidden[r];
    bool was_much = is_much(alone, &watch->alone[r]);

    if (was_much && !told) {
        add_nameless(gpu, 1, alone);
        return;
    }
    if (told)
        known = was_much ? 0 : alone;
    if (known >= 0 && hidden >= 0 && is_much(hidden - known, now))
        add_nameless(gpu, 1, hidden - known);
}

/* How many of the processes that are told by no pid cannot be ours, where none of ours is told by its own. */
static int count_surplus(int strangers, const struct lp_nvml_now *alone, const struct ours *ours)
{
    int before = 0, one_is_ours = ours->workers > 0;

    for (int i = 0; i < alone->nprocesses; i++)
        before += alone->process[i].pid == 0;
    if (before > strangers - one_is_ours)
        before = strangers - one_is_ours;
    /* a worker may have a context on its peers' GPUs, too */
    return before > strangers - ours->workers ? before : strangers - ours->workers;
}

/*
 * Where one of ours is listed under its pid, the others are others. Else those are certain that were there before any of ours,
 * and of the rest as many may be ours as we have.
 */
static void find_others(const struct lp_watch *watch, int r, const struct ours *ours, const struct lp_nvml_now *now,
                        struct lp_watched_gpu *gpu)
{
    int mine = 0, strangers = 0;

    for (int i = 0; i < now->nprocesses; i++)
        mine += has_pid(ours, now->process[i].pid);
    for (int i = 0; i < now->nprocesses; i++) {
        const struct lp_nvml_process *process = &now->process[i];

        if (has_pid(ours, process->pid))
            continue;
        if (process->pid > 0 && (mine > 0 || was_there(&watch->alone[r], process->pid)))
            add_named(gpu, process->pid, process->memory_bytes);
        else
            strangers++;
    }
    add_nameless(gpu, mine > 0 ? strangers : count_surplus(strangers, &watch->alone[r], ours), -1);
    find_hidden(watch, r, mine > 0 || ours->workers == 0, now, gpu);
}

/* ---- readings ---- */

static void read_gpu(const struct lp_watch *watch, int r, struct lp_nvml_now *out)
{
    lp_watch_reader.gpu(watch->source, watch->machine->rank[r].pci, out);
}

/* What is made of a reading; it is the GPU's last, for now. */
static void take(struct lp_watch *watch, int r, const struct ours *ours, const struct lp_nvml_now *now)
{
    struct lp_watched_gpu *gpu = &watch->out.gpu[r];

    gpu->after = *now;
    gpu->throttle |= now->throttle;
    find_others(watch, r, ours, now, gpu);
    watch->out.contended |= gpu->nothers > 0;
    watch->out.throttled |= gpu->throttle != 0;
}

static void forget(struct lp_watch *watch)
{
    int ngpus = watch->out.ngpus;

    memset(&watch->out, 0, sizeof(watch->out));
    watch->out.ngpus = ngpus;
    watch->out.load = (double)NAN;
}

static void find_ours(const struct lp_crew *crew, struct ours *out)
{
    out->n = lp_crews_workers(crew, out->pid, OURS_MAX, &out->workers);
}

/* Every GPU once, with our workers on them. */
static void read_all(struct lp_watch *watch, const struct lp_crew *crew, bool first)
{
    struct lp_nvml_now now;
    struct ours ours;

    find_ours(crew, &ours);
    watch->looked_ns = lp_clock_now(watch->link->clock);
    for (int r = 0; r < watch->out.ngpus; r++) {
        read_gpu(watch, r, &now);
        if (first) {
            watch->out.gpu[r].before = now;
            watch->hidden[r] = hidden_bytes(&now);
        }
        take(watch, r, &ours, &now);
    }
}

/* The CPUs that workers may use, all of them together; "": not known, which stands for all there are. */
static void find_cpus(const struct ours *ours, char *buf, size_t cap)
{
    char list[LP_CPUS_MAX], last[LP_CPUS_MAX] = "";

    buf[0] = '\0';
    for (int i = 0; i < ours->n; i++) {
        size_t used = strlen(buf);

        lp_cpus_of_process((int)ours->pid[i], list, sizeof(list));
        if (!list[0] || strcmp(list, last) == 0)
            continue;
        memcpy(last, list, sizeof(last));
        if (used + strlen(list) + 2 > cap) {
            buf[0] = '\0';
            return;
        }
        snprintf(buf + used, cap - used, "%s%s", used ? "," : "", list);
    }
}

static void add_pid(struct ours *ours, long pid)
{
    if (!has_pid(ours, pid) && ours->n < OURS_MAX)
        ours->pid[ours->n++] = pid;
}

/* Workers, and those that have started them: a worker that has ended counts with its agent. */
static void read_load(struct lp_watch *watch, const struct lp_crew *crew, bool first, struct lp_load *out)
{
    struct ours ours;

    find_ours(crew, &ours);
    if (first)
        find_cpus(&ours, watch->cpus, sizeof(watch->cpus));
    add_pid(&ours, getpid());
    for (int r = 0; r < watch->link->nranks; r++)
        add_pid(&ours, watch->link->place[r].pid);
    lp_watch_reader.load(watch->cpus, ours.pid, ours.n, out);
}

/* ---- a crew ---- */

const struct lp_watched *lp_watch_alone(struct lp_watch *watch)
{
    const struct ours nobody = {.n = 0};

    if (!watch || watch->on_host)
        return NULL;
    forget(watch);
    for (int r = 0; r < watch->out.ngpus; r++) {
        read_gpu(watch, r, &watch->alone[r]);
        watch->out.gpu[r].before = watch->alone[r];
        watch->hidden[r] = -1;
        take(watch, r, &nobody, &watch->alone[r]);
    }
    return &watch->out;
}

void lp_watch_begin(struct lp_watch *watch, const struct lp_crew *crew)
{
    if (!watch)
        return;
    forget(watch);
    watch->crew = lp_crew_id(crew);
    read_all(watch, crew, true);
    if (watch->on_host)
        read_load(watch, crew, true, &watch->load);
}

void lp_watch_look(struct lp_watch *watch, const struct lp_crew *crew)
{
    if (watch && watch->crew == lp_crew_id(crew) && lp_clock_now(watch->link->clock) - watch->looked_ns >= LOOK_NS)
        read_all(watch, crew, false);
}

const struct lp_watched *lp_watch_end(struct lp_watch *watch, const struct lp_crew *crew)
{
    struct lp_load load;

    if (!watch || watch->crew != lp_crew_id(crew))
        return NULL;
    watch->crew = 0;
    read_all(watch, crew, false);
    if (watch->on_host) {
        read_load(watch, crew, false, &load);
        watch->out.load = lp_load_others(&watch->load, &load);
        watch->out.contended = watch->out.load > LP_WATCH_LOAD; /* false for NaN */
    }
    return &watch->out;
}
