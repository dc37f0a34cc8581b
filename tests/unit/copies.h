/* Results with copies, made by hand: a head of n GPUs and records of pairs. For tests of what is made from them. */
#ifndef LP_TESTS_COPIES_H
#define LP_TESTS_COPIES_H

#include "model/result.h"

#include <math.h>

#include "fixture.h"

#define LARGE ((size_t)512 << 20)

/* An empty result with this head, as json_of reads it. */
static inline void result_of(struct lp_result *result, const char *head)
{
    lp_result_init(result);
    json_decref(result->head);
    result->head = json_of(head);
}

/* A good, checked, one-way copy of 512M bytes by one process, without a figure. */
static inline struct lp_record copy_of(const char *path, int src, int dst)
{
    struct lp_record record;
    struct lp_cell cell = {
        .kind = LP_COPY, .timing = LP_QUEUED, .root = -1, .requested_bytes = LARGE, .size_bytes = LARGE, .nedges = 1};

    strcpy(cell.op, path);
    strcpy(cell.library, "cuda");
    strcpy(cell.pattern, "one_way");
    strcpy(cell.processes, "one");
    cell.edges[0] = (struct lp_edge){src, dst};
    lp_record_begin(&record, &cell);
    record.time_us = (struct lp_stats){.median = 1400.0, .p99 = (double)NAN, .n = 8};
    record.checked.iterations = 6;
    return record;
}

static inline void add_record(struct lp_result *result, struct lp_record record)
{
    if (lp_result_add(result, &record) != LP_OK)
        abort();
}

static inline void add_rate(struct lp_result *result, const char *path, int src, int dst, double gbps)
{
    struct lp_record record = copy_of(path, src, dst);

    record.algbw_gbps = gbps;
    add_record(result, record);
}

/* Both directions at once: of src -> dst, and back. */
static inline struct lp_record both_of(const char *path, int src, int dst, double there, double back)
{
    struct lp_record record = copy_of(path, src, dst);

    strcpy(record.cell.pattern, "both_ways");
    record.cell.nedges = 2;
    record.cell.edges[1] = (struct lp_edge){dst, src};
    record.edge_gbps[0] = there;
    record.edge_gbps[1] = back;
    record.algbw_gbps = there < back ? there : back;
    record.sum_gbps = there + back;
    record.overlap = 0.99;
    return record;
}

/* A copy of 16 bytes, back to back; or the step of a path that has a latency only. */
static inline void add_latency(struct lp_result *result, const char *path, int src, int dst, double us)
{
    struct lp_record record = copy_of(path, src, dst);

    record.cell.requested_bytes = record.cell.size_bytes = 16;
    record.latency_us = us;
    add_record(result, record);
}

static inline void add_bad(struct lp_result *result, const char *path, int src, int dst, enum lp_outcome outcome,
                           const char *reason)
{
    struct lp_record record = copy_of(path, src, dst);

    record.outcome = outcome;
    record.time_us.n = 0;
    record.checked.iterations = 0;
    strcpy(record.reason, reason);
    add_record(result, record);
}

/* What is different about one pair: {src, dst} is of this kind, in both directions. */
struct other_kind {
    int src, dst;
    const char *kind;
    double line_gbps;
};

/* The pairs of n GPUs of one kind, all with the driver's yes. Ends at an entry of `others` without a kind; NULL: none. */
static inline json_t *pairs_of(int n, const char *kind, double line_gbps, const struct other_kind *others)
{
    json_t *pairs = json_array();

    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            struct other_kind here = {a, b, kind, line_gbps};

            for (const struct other_kind *other = others; other && other->kind; other++)
                if ((other->src == a && other->dst == b) || (other->src == b && other->dst == a))
                    here = *other;
            if (a != b)
                json_array_append_new(pairs, json_pack("{s:i, s:i, s:b, s:n, s:n, s:s, s:f, s:s}", "src", a, "dst", b,
                                                       "peer_access", 1, "reason", "enable_error", "kind", here.kind, "line_gbps",
                                                       here.line_gbps, "line_words", "as the driver says"));
        }
    return pairs;
}

/* A head of n GPUs of one kind of pair: PCI Express at 63 GB/s, memory at 4800 GB/s. */
static inline void result_of_gpus(struct lp_result *result, int n, const char *kind, double line_gbps,
                                  const struct other_kind *others)
{
    json_t *ranks = json_array();

    result_of(result, "{'schema': 'linkperf/1', 'complete': true, 'device': 'cuda', 'topology': {}}");
    for (int r = 0; r < n; r++)
        json_array_append_new(ranks, json_pack("{s:i, s:{s:s, s:f, s:{s:f, s:i, s:i}}}", "rank", r, "gpu", "name", "H200",
                                               "memory_gbps", 4800.0, "links", "pcie_gbps", 63.0, "pcie_gen", 5, "pcie_width", 16));
    json_object_set_new(result->head, "ranks", ranks);
    json_object_set_new(json_object_get(result->head, "topology"), "pairs", pairs_of(n, kind, line_gbps, others));
}

#endif
