/*
 * The machine of a scripted run, and what its workers answer: as real ones do, or garbled. When they answer, and what else a fault
 * makes of a worker, is scripted_worker's.
 */
#ifndef LP_TESTS_SCRIPTED_ANSWER_H
#define LP_TESTS_SCRIPTED_ANSWER_H

#include "base/json.h"
#include "control/link.h"
#include "control/watch.h"
#include "model/result.h"
#include "p2p/path.h"

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
    bool nvlink, exclusive;
    int seen_by_rank0; /* GPUs, the first ones; 0: all */
    size_t memory_bytes, free_bytes[SCRIPT_RANKS];
    double start_s, open_s, op_us, gbps, slowness; /* gbps: 0 is without limit */
    const char *library_error;
    const char *peer_errors; /* what enabling peer access says, [[from, to, words], ...] as `inherited`; NULL: nothing */
    struct fault fault[8];
    size_t nfaults;
    void (*on_request)(struct scripted_run *self, int rank, int crew, const json_t *request);
    void (*on_gpu)(struct scripted_run *self, int gpu, struct lp_nvml_now *out); /* what the watch reads; NULL: nothing */
    void (*on_load)(struct scripted_run *self, struct lp_load *out);             /* ... */
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

/* ---- the start ---- */

static inline json_t *device_json(const struct scripted_run *self, int i)
{
    char pci[32], cpus[32];

    snprintf(pci, sizeof(pci), "0000:%02x:00.0", i + 1);
    snprintf(cpus, sizeof(cpus), "%d-%d", 4 * i, 4 * i + 3);
    return json_pack("{s:b, s:i, s:s, s:s, s:s, s:I, s:s, s:{s:o, s:f, s:i, s:i, s:f}}", "exclusive", self->exclusive, "index", i,
                     "name", "H200", "uuid", pci, "pci", pci, "memory_bytes", (json_int_t)self->memory_bytes, "cpus", cpus, "links",
                     "nvlinks", self->nvlink ? json_integer(18) : json_null(), "nvlink_gbps", 478.1, "pcie_gen", 5, "pcie_width",
                     16, "pcie_gbps", 63.0);
}

static inline json_t *machine_json(const struct scripted_run *self, int rank)
{
    bool cuda = strcmp(self->device, "cuda") == 0;
    int gpus = rank == 0 && self->seen_by_rank0 ? self->seen_by_rank0 : self->link.nranks;
    json_t *devices = json_array(), *pairs = json_array(), *machine;

    for (int i = 0; i < (cuda ? gpus : 1); i++)
        json_array_append_new(devices, device_json(self, i));
    for (int i = 0; i < gpus * gpus && cuda; i++)
        json_array_append_new(pairs, json_pack("{s:i, s:i, s:b}", "src", i / gpus, "dst", i % gpus, "peer_access", 1));
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

/* Of the device; where one worker opens all of them, of the one that has least. */
static inline size_t free_of(const struct scripted_run *self, const struct actor *actor, int rank)
{
    size_t least = self->free_bytes[rank];

    for (int r = 0; r < self->link.nranks && actor->workers == 1; r++)
        least = self->free_bytes[r] < least ? self->free_bytes[r] : least;
    return least;
}

/* ---- blocks ---- */

static inline double op_us(const struct scripted_run *self, size_t bytes)
{
    return self->op_us + (self->gbps > 0.0 ? (double)bytes / (self->gbps * 1e3) : 0.0);
}

/* Of an operation in that block: a little more for a higher rank of a collective, or a later edge of a copy. */
static inline double took_us(const struct scripted_run *self, const struct actor *actor, int rank_or_edge, int block)
{
    return op_us(self, actor->cell.requested_bytes) + 0.5 * rank_or_edge + 0.01 * (block % 7);
}

/* Does the worker move that edge's bytes? One worker moves all. */
static inline bool moves(const struct actor *actor, int rank, int edge)
{
    const struct lp_path *path = lp_path_find(actor->cell.op);
    const struct lp_edge *ends = &actor->cell.edges[edge];

    return actor->workers == 1 || rank == (path && path->flags & LP_PATH_READ ? ends->dst : ends->src);
}

/* The last of the edges that the worker moves; -1: it only keeps the others company, and its samples are 0. */
static inline int last_edge(const struct actor *actor, int rank)
{
    int last = -1;

    for (int edge = 0; edge < actor->cell.nedges; edge++)
        if (moves(actor, rank, edge))
            last = edge;
    return last;
}

static inline json_t *samples_json_of(const struct scripted_run *self, const struct actor *actor, int rank, int from, int n)
{
    int of = actor->cell.kind == LP_COPY ? last_edge(actor, rank) : rank; /* the last edge is the slowest */
    json_t *list = json_array();

    for (int i = from; i < n; i++)
        json_array_append_new(list, json_real(of < 0 ? 0.0 : took_us(self, actor, of, i)));
    return list;
}

/* The clock of the lanes is a monotonic one: it began when the machine did. */
static inline json_t *lane_json(const struct scripted_run *self, const struct actor *actor, int edge, int k, int n)
{
    json_t *starts = json_array(), *times = json_array();

    for (int i = 0; i < n; i++) {
        double us = k * took_us(self, actor, edge, i);

        json_array_append_new(starts, json_integer(self->time.now_ns + (json_int_t)(i * 2e3 * us) + 700 * edge));
        json_array_append_new(times, json_real(us));
    }
    return json_pack("{s:i, s:o, s:o}", "edge", edge, "start_ns", starts, "us", times);
}

/* Samples, and lanes where they are asked for. Garbled: one lane is missing while warming up, and a block of it later on. */
static inline json_t *blocks_json_of(const struct scripted_run *self, const struct actor *actor, int rank, enum phase phase,
                                     const json_t *request, bool garbled)
{
    int k = (int)lp_json_int(request, "k", 1), n = (int)lp_json_int(request, "n", 0), last = last_edge(actor, rank);
    bool spans = lp_json_bool(request, "spans", false), lane_garbled = garbled && spans && last >= 0;
    json_t *reply =
        json_pack("{s:o, s:b}", "samples_us", samples_json_of(self, actor, rank, garbled && !lane_garbled, n), "aligned", 1);
    json_t *lanes = json_array();

    for (int edge = 0; edge < actor->cell.nedges && spans; edge++)
        if (moves(actor, rank, edge) && !(lane_garbled && edge == last && phase == AT_WARM_UP))
            json_array_append_new(lanes, lane_json(self, actor, edge, k, n - (lane_garbled && edge == last)));
    if (spans)
        json_object_set(reply, "lanes", lanes);
    json_decref(lanes);
    return reply;
}

/* ---- checks ---- */

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
        uint64_t offset, wrong = fault ? wrong_elements(fault->kind, actor->cell.requested_bytes, i, n, &offset) : 0;

        json_array_append_new(list, json_integer((json_int_t)wrong));
        if (wrong)
            json_object_set_new(reply, "first_offset_bytes", json_integer((json_int_t)offset));
    }
    return reply;
}

/* ---- all of them ---- */

static inline json_t *offer_json(const struct scripted_run *self, const struct actor *actor, int rank, const struct fault *fault)
{
    json_t *blob = rank == 0 ? json_of("{'comm_id': 'id'}") : json_object();

    if (rank == 0 && actor->page)
        json_object_set_new(blob, "page", json_string("/page"));
    return json_pack("{s:o, s:I, s:o, s:{s:s}}", "blob", blob, "free_bytes", (json_int_t)free_of(self, actor, rank), "identity",
                     identity_json(self, actor, fault), "library", "path", "/usr/lib/libnccl.so.2");
}

static inline json_t *payload_of(const struct scripted_run *self, int rank, int crew, enum phase phase, const json_t *request,
                                 const struct fault *fault)
{
    const struct actor *actor = &self->actor[crew][rank];

    switch (phase) {
    case AT_SURVEY:
        return machine_json(self, rank);
    case AT_OFFER:
        return offer_json(self, actor, rank, fault);
    case AT_ARENA:
        return json_of("{'blob': {'send': 's', 'recv': 'r'}}");
    case AT_OPEN:
        return json_pack("{s:I}", "free_bytes", (json_int_t)free_of(self, actor, rank));
    case AT_PEERS:
        return json_pack("{s:o}", "errors", json_of(self->peer_errors ? self->peer_errors : "[]"));
    case AT_WARM_UP:
    case AT_TIME:
        return blocks_json_of(self, actor, rank, phase, request, fault && fault->kind == GARBLED);
    case AT_CELL:
    case AT_BYE:
        return json_of("{'slots': 4}");
    default:
        return verdicts_json_of(actor, request, fault);
    }
}

#endif
