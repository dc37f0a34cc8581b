/* Timing of blocks. Between start and stop there is only the operation; everything else is before or after. */
#include "worker/bench.h"

#include <string.h>
#include <time.h>

#define LATE_GATES_MAX 5

void lp_bench_init(struct lp_bench *bench, const struct lp_op *op, enum lp_timing timing, struct lp_page *page,
                   struct lp_gate *gate)
{
    memset(bench, 0, sizeof(*bench));
    bench->op = *op;
    bench->timing = timing;
    bench->page = page;
    bench->gate = op->gated ? gate : NULL;
    bench->aligned = op->align != NULL;
}

static void drop_graph(struct lp_bench *bench)
{
    if (bench->graph)
        bench->op.lane[0].ops->graph_free(bench->graph);
    bench->graph = NULL;
    bench->graph_ops = 0;
}

void lp_bench_release(struct lp_bench *bench)
{
    drop_graph(bench);
    lp_op_release(&bench->op);
}

static enum lp_status sync_lanes(struct lp_bench *bench, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    lp_where_step(bench->where, "waiting for the device");
    for (int i = 0; i < bench->op.nlanes && st == LP_OK; i++)
        st = bench->op.lane[i].ops->stream_sync(bench->op.lane[i].stream, why);
    return st;
}

static void barrier(struct lp_bench *bench)
{
    lp_where_step(bench->where, "waiting for the other workers");
    if (bench->page)
        lp_page_barrier(bench->page);
    lp_where_step(bench->where, "calling the library");
}

/* Records k operations, slots first and on. The capture is closed also when an operation fails. */
static enum lp_status capture(struct lp_bench *bench, size_t first, int k, struct lp_graph **out, struct lp_reason *why)
{
    struct lp_lane *lane = &bench->op.lane[0];
    enum lp_status st, closed;

    *out = NULL;
    if (!lane->ops->capture_begin || bench->op.nlanes != 1)
        return lp_because(why, LP_ERR_UNSUPPORTED, "graph timing needs a device with graphs and one stream");
    st = lane->ops->capture_begin(lane->stream, why);
    if (st != LP_OK)
        return st;
    for (int i = 0; i < k && st == LP_OK; i++)
        st = bench->op.enqueue(&bench->op, 0, (first + (size_t)i) % bench->op.slots, why);
    closed = lane->ops->capture_end(lane->stream, out, st == LP_OK ? why : NULL);
    if (st == LP_OK)
        st = closed;
    if (st != LP_OK && *out) {
        lane->ops->graph_free(*out);
        *out = NULL;
    }
    return st;
}

/* The graph of k operations; made when k is new, and replayed once, since a first launch uploads it. */
static enum lp_status need_graph(struct lp_bench *bench, int k, struct lp_reason *why)
{
    struct lp_lane *lane = &bench->op.lane[0];
    enum lp_status st;

    if (bench->graph && bench->graph_ops == k)
        return LP_OK;
    drop_graph(bench);
    st = capture(bench, 0, k, &bench->graph, why);
    if (st != LP_OK)
        return st;
    bench->graph_ops = k;
    barrier(bench);
    st = lane->ops->graph_launch(bench->graph, lane->stream, why);
    return st == LP_OK ? sync_lanes(bench, why) : st;
}

/* Brings the ranks together on the device. A library that cannot do it under this variant leaves the barrier alone to do so. */
static enum lp_status meet(struct lp_bench *bench, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    barrier(bench);
    if (bench->aligned)
        st = bench->op.align(&bench->op, why);
    if (st == LP_ERR_UNSUPPORTED) {
        bench->aligned = false;
        st = LP_OK;
    }
    return st;
}

static enum lp_status enqueue_lane(struct lp_bench *bench, int lane, int k, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (int i = 0; i < k && st == LP_OK; i++)
        st = bench->op.enqueue(&bench->op, lane, (bench->next + (size_t)i) % bench->op.slots, why);
    return st;
}

static enum lp_status hold_lanes(struct lp_bench *bench, struct lp_reason *why)
{
    const struct lp_device_ops *ops = bench->op.lane[0].ops;
    enum lp_status st = ops->gate_close(bench->gate, why);

    for (int i = 0; i < bench->op.nlanes && st == LP_OK; i++)
        st = ops->gate_hold(bench->gate, bench->op.lane[i].device, bench->op.lane[i].stream, why);
    return st;
}

/* start, k operations, stop on every lane. */
static enum lp_status queue_lanes(struct lp_bench *bench, int k, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (int i = 0; i < bench->op.nlanes && st == LP_OK; i++) {
        struct lp_lane *lane = &bench->op.lane[i];

        st = lane->ops->mark_record(lane->start, lane->stream, why);
        if (st == LP_OK && bench->timing == LP_GRAPH)
            st = lane->ops->graph_launch(bench->graph, lane->stream, why);
        else if (st == LP_OK)
            st = enqueue_lane(bench, i, k, why);
        if (st == LP_OK)
            st = lane->ops->mark_record(lane->stop, lane->stream, why);
    }
    return st;
}

static enum lp_status slowest_lane(struct lp_bench *bench, double *us, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    *us = 0.0;
    for (int i = 0; i < bench->op.nlanes && st == LP_OK; i++) {
        double one = 0.0;

        st = bench->op.lane[i].ops->mark_elapsed(bench->op.lane[i].start, bench->op.lane[i].stop, &one, why);
        if (one > *us)
            *us = one;
    }
    return st;
}

/* Ranks meet, then the block runs on the device's clock: what eager and graph modes share. */
static enum lp_status met_block(struct lp_bench *bench, int k, double *us, struct lp_reason *why)
{
    enum lp_status st = meet(bench, why);

    if (st == LP_OK)
        st = queue_lanes(bench, k, why);
    if (st == LP_OK)
        st = sync_lanes(bench, why);
    return st == LP_OK ? slowest_lane(bench, us, why) : st;
}

/* Everything is queued behind the gate; then all processes let go at once. Queueing costs nothing that is timed. */
static enum lp_status gated_block(struct lp_bench *bench, int k, double *us, bool *late, struct lp_reason *why)
{
    const struct lp_device_ops *ops = bench->op.lane[0].ops;
    enum lp_status st, opened;

    if (bench->op.nlanes == 0) { /* a worker that only receives keeps the others company */
        barrier(bench);
        *us = 0.0;
        return LP_OK;
    }
    st = hold_lanes(bench, why);
    if (st == LP_OK)
        st = queue_lanes(bench, k, why);
    barrier(bench);
    opened = ops->gate_open(bench->gate, why);
    if (st == LP_OK)
        st = opened;
    if (st == LP_OK)
        st = sync_lanes(bench, why);
    if (st == LP_OK)
        st = ops->gate_was_late(bench->gate, late, why);
    return st == LP_OK ? slowest_lane(bench, us, why) : st;
}

/* A sample that the gate voided on any worker is repeated by all; the answers meet in the page. */
static enum lp_status gated_sample(struct lp_bench *bench, int k, double *us, struct lp_reason *why)
{
    for (int attempt = 0; attempt < LATE_GATES_MAX; attempt++) {
        bool late = false;
        enum lp_status st = gated_block(bench, k, us, &late, why);

        if (bench->page)
            late = lp_page_any(bench->page, late);
        if (st != LP_OK || !late)
            return st;
    }
    return lp_because(why, LP_ERR_FAILED, "the gate opened by itself %d times: queueing takes over 100 ms", LATE_GATES_MAX);
}

/* One call and its end, as the host sees it. */
static enum lp_status isolated_block(struct lp_bench *bench, double *us, struct lp_reason *why)
{
    struct lp_lane *lane = &bench->op.lane[0];
    size_t slot = bench->next % bench->op.slots;
    struct timespec start, stop;
    enum lp_status st = meet(bench, why);

    if (st == LP_OK)
        st = sync_lanes(bench, why);
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (st == LP_OK)
        st = bench->op.enqueue(&bench->op, 0, slot, why);
    if (st == LP_OK)
        st = lane->ops->stream_sync(lane->stream, why);
    clock_gettime(CLOCK_MONOTONIC, &stop);
    *us = (double)(stop.tv_sec - start.tv_sec) * 1e6 + (double)(stop.tv_nsec - start.tv_nsec) / 1e3;
    return st;
}

static enum lp_status one_block(struct lp_bench *bench, int k, double *us, struct lp_reason *why)
{
    if (bench->gate)
        return gated_sample(bench, k, us, why);
    if (bench->timing == LP_ISOLATED)
        return isolated_block(bench, us, why);
    return met_block(bench, k, us, why);
}

enum lp_status lp_bench_blocks(struct lp_bench *bench, int k, int n, double *samples_us, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    if (bench->timing == LP_GRAPH)
        st = need_graph(bench, k, why);
    for (int i = 0; i < n && st == LP_OK; i++) {
        lp_where_block(bench->where, i + 1, n);
        st = one_block(bench, k, &samples_us[i], why);
        samples_us[i] /= k;
        bench->last_slot = ((bench->timing == LP_GRAPH ? 0 : bench->next) + (size_t)k - 1) % bench->op.slots;
        bench->next += (size_t)k;
    }
    lp_where_block(bench->where, 0, 0);
    lp_where_step(bench->where, "done");
    return st;
}

enum lp_status lp_bench_once(struct lp_bench *bench, size_t slot, struct lp_reason *why)
{
    struct lp_graph *graph = NULL;
    enum lp_status st = LP_OK;

    if (bench->timing == LP_GRAPH) {
        st = capture(bench, slot, 1, &graph, why);
        if (st == LP_OK)
            st = bench->op.lane[0].ops->graph_launch(graph, bench->op.lane[0].stream, why);
    } else {
        for (int i = 0; i < bench->op.nlanes && st == LP_OK; i++)
            st = bench->op.enqueue(&bench->op, i, slot, why);
    }
    if (st == LP_OK)
        st = sync_lanes(bench, why);
    if (graph)
        bench->op.lane[0].ops->graph_free(graph);
    return st;
}
