/* Timing of blocks. Between start and stop there is only the operation; everything else is before or after. */
#include "worker/bench.h"

#include <pthread.h>
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
    bench->gate = op->gated && timing == LP_QUEUED ? gate : NULL;
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

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static enum lp_status hold_lanes(struct lp_bench *bench, struct lp_reason *why)
{
    const struct lp_device_ops *ops = bench->op.lane[0].ops;
    enum lp_status st = ops->gate_close(bench->gate, why);

    for (int i = 0; i < bench->op.nlanes && st == LP_OK; i++)
        st = ops->gate_hold(bench->gate, bench->op.lane[i].device, bench->op.lane[i].stream, why);
    return st;
}

/* start, k operations from slot `first` on, stop on a lane. */
static enum lp_status queue_lane(struct lp_bench *bench, int index, size_t first, int k, struct lp_reason *why)
{
    struct lp_lane *lane = &bench->op.lane[index];
    enum lp_status st;

    bench->started_ns[index] = now_ns();
    st = lane->ops->mark_record(lane->start, lane->stream, why);
    if (st == LP_OK && bench->timing == LP_GRAPH)
        st = lane->ops->graph_launch(bench->graph, lane->stream, why);
    for (int i = 0; i < k && st == LP_OK && bench->timing != LP_GRAPH; i++)
        st = bench->op.enqueue(&bench->op, index, (first + (size_t)i) % bench->op.slots, why);
    return st == LP_OK ? lane->ops->mark_record(lane->stop, lane->stream, why) : st;
}

static enum lp_status queue_lanes(struct lp_bench *bench, size_t first, int k, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (int i = 0; i < bench->op.nlanes && st == LP_OK; i++)
        st = queue_lane(bench, i, first, k, why);
    return st;
}

/* A lane with a thread of its own. */
struct queuer {
    struct lp_bench *bench;
    pthread_barrier_t *start;
    int lane, k;
    size_t first;
    enum lp_status st;
    struct lp_reason why;
};

static void *queue_when_all_are_there(void *arg)
{
    struct queuer *queuer = arg;

    pthread_barrier_wait(queuer->start);
    queuer->st = queue_lane(queuer->bench, queuer->lane, queuer->first, queuer->k, &queuer->why);
    return NULL;
}

/*
 * Where calls take part in the copy and nothing can hold the lanes, one thread would queue all of the first lane's before
 * the second begins: each has its own. The first failure is the one that is told.
 */
static enum lp_status queue_lanes_at_once(struct lp_bench *bench, size_t first, int k, struct lp_reason *why)
{
    static struct queuer queuer[LP_MAX_TRANSFERS]; /* too large for the stack; a worker has one bench */
    static pthread_barrier_t start;
    pthread_t thread[LP_MAX_TRANSFERS];
    int n = bench->op.nlanes, started = 0;
    enum lp_status st = LP_OK;

    pthread_barrier_init(&start, NULL, (unsigned)n);
    for (; started < n; started++) {
        queuer[started] = (struct queuer){.bench = bench, .start = &start, .lane = started, .k = k, .first = first};
        if (pthread_create(&thread[started], NULL, queue_when_all_are_there, &queuer[started]) != 0)
            return lp_because(why, LP_ERR_MEMORY, "no thread for each of %d copies",
                              n); /* the others wait until the process ends */
    }
    for (int i = 0; i < n; i++) {
        pthread_join(thread[i], NULL);
        if (st == LP_OK && queuer[i].st != LP_OK)
            st = lp_because(why, queuer[i].st, "%s", queuer[i].why.text);
    }
    pthread_barrier_destroy(&start);
    return st;
}

/* Where no gate holds the lanes. */
static enum lp_status queue_unheld(struct lp_bench *bench, size_t first, int k, struct lp_reason *why)
{
    bool at_once = bench->op.nlanes > 1 && !bench->op.one_thread;

    return at_once ? queue_lanes_at_once(bench, first, k, why) : queue_lanes(bench, first, k, why);
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
        st = queue_unheld(bench, bench->next, k, why);
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
        st = queue_lanes(bench, bench->next, k, why);
    barrier(bench);
    opened = ops->gate_open(bench->gate, why);
    for (int i = 0; i < bench->op.nlanes; i++)
        bench->started_ns[i] = now_ns();
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
        if (bench->op.gate_optional) {
            bench->gate = NULL; /* what one operation queues is more than the device takes while it is held */
            return met_block(bench, k, us, why);
        }
    }
    return lp_because(why, LP_ERR_FAILED, "the gate opened by itself %d times: queueing takes over 100 ms", LATE_GATES_MAX);
}

/* One call and its end, as the host sees it. */
static enum lp_status isolated_block(struct lp_bench *bench, double *us, struct lp_reason *why)
{
    struct lp_lane *lane = &bench->op.lane[0];
    size_t slot = bench->next % bench->op.slots;
    int64_t start, stop;
    enum lp_status st = LP_OK;

    if (bench->op.nlanes > 1)
        return lp_because(why, LP_ERR_ARG, "isolated timing is of one copy at a time");
    st = meet(bench, why);
    if (st == LP_OK)
        st = sync_lanes(bench, why);
    *us = 0.0;
    if (bench->op.nlanes == 0)
        return st;
    start = now_ns();
    if (st == LP_OK)
        st = bench->op.enqueue(&bench->op, 0, slot, why);
    if (st == LP_OK)
        st = lane->ops->stream_sync(lane->stream, why);
    stop = now_ns();
    *us = (double)(stop - start) / 1e3;
    return st;
}

static enum lp_status one_block(struct lp_bench *bench, int k, double *us, struct lp_reason *why)
{
    if (bench->timing == LP_ISOLATED)
        return isolated_block(bench, us, why);
    if (bench->gate)
        return gated_sample(bench, k, us, why);
    return met_block(bench, k, us, why);
}

static enum lp_status note_spans(struct lp_bench *bench, struct lp_span *spans, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (int i = 0; i < bench->op.nlanes && st == LP_OK; i++) {
        struct lp_lane *lane = &bench->op.lane[i];

        spans[i].start_ns = bench->started_ns[i];
        st = lane->ops->mark_elapsed(lane->start, lane->stop, &spans[i].us, why);
    }
    return st;
}

enum lp_status lp_bench_blocks(struct lp_bench *bench, int k, int n, double *samples_us, struct lp_span *spans,
                               struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    if (bench->timing == LP_GRAPH)
        st = need_graph(bench, k, why);
    for (int i = 0; i < n && st == LP_OK; i++) {
        lp_where_block(bench->where, i + 1, n);
        st = one_block(bench, k, &samples_us[i], why);
        if (st == LP_OK && spans)
            st = note_spans(bench, spans + (size_t)i * (size_t)bench->op.nlanes, why);
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

    lp_where_step(bench->where, "calling the library");
    if (bench->timing == LP_GRAPH) {
        st = capture(bench, slot, 1, &graph, why);
        if (st == LP_OK)
            st = bench->op.lane[0].ops->graph_launch(graph, bench->op.lane[0].stream, why);
    } else {
        st = queue_unheld(bench, slot, 1, why);
    }
    if (st == LP_OK)
        st = sync_lanes(bench, why);
    if (graph)
        bench->op.lane[0].ops->graph_free(graph);
    return st;
}
