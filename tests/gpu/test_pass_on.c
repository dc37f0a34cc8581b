/*
 * Rounds of a ring of two real GPUs, by the cuda device's pass_on: one by one, many at once, and from a graph that is replayed.
 * Plain C with a line a check; 77 (skipped) with fewer than 2 GPUs that reach each other. Its rates are printed, not judged.
 */
#include "worker/device.h"

#include <stdio.h>
#include <stdlib.h>

#define MIB     ((size_t)1 << 20)
#define MOST    (64 * MIB)
#define K       16 /* rounds of a graph */
#define REPLAYS 20
#define PAST    16 /* elements after the data, which nothing may touch */

extern const struct lp_device_ops lp_device_cuda;
static const struct lp_device_ops *const ops = &lp_device_cuda;

static struct lp_reason why; /* of the call that just failed */

struct rank {
    struct lp_device *device;
    struct lp_stream *stream;
    struct lp_event_mark *start, *stop;
    struct lp_buffer send, recv, flags;
    struct lp_graph *graph;
};

static void check(bool good, const char *what)
{
    printf("%s %s%s%s\n", good ? "ok  " : "FAIL", what, good || !why.text[0] ? "" : ": ", good ? "" : why.text);
    fflush(stdout);
    if (!good)
        exit(1);
}

static void must(enum lp_status st, const char *what)
{
    if (st != LP_OK)
        check(false, what);
}

static void open_rank(struct rank *rank, int index)
{
    must(ops->open(index, &rank->device, &why), "open");
    must(ops->enable_access(rank->device, !index, &why), "enable_access");
    must(ops->stream_create(rank->device, &rank->stream, &why), "stream_create");
    must(ops->mark_create(rank->device, &rank->start, &why), "mark_create");
    must(ops->mark_create(rank->device, &rank->stop, &why), "mark_create");
    must(ops->alloc(rank->device, MOST, &rank->send, &why), "alloc");
    must(ops->alloc(rank->device, MOST + PAST * sizeof(float), &rank->recv, &why), "alloc");
    must(ops->alloc(rank->device, sizeof(struct lp_flags), &rank->flags, &why), "alloc");
    must(ops->clear(rank->device, rank->stream, rank->flags.ptr, sizeof(struct lp_flags), &why), "clear");
    must(ops->stream_sync(rank->stream, &why), "stream_sync");
}

static void close_rank(struct rank *rank)
{
    ops->free(rank->device, &rank->flags);
    ops->free(rank->device, &rank->recv);
    ops->free(rank->device, &rank->send);
    ops->mark_free(rank->stop);
    ops->mark_free(rank->start);
    ops->stream_free(rank->stream);
    ops->close(rank->device);
}

static void pass_on(struct rank ranks[2], int r, size_t bytes)
{
    must(ops->pass_on(ranks[r].device, ranks[r].stream, ranks[!r].recv.ptr, ranks[r].send.ptr, bytes, ranks[r].flags.ptr,
                      ranks[!r].flags.ptr, &why),
         "pass_on");
}

static void renew(struct rank ranks[2], struct lp_pattern pattern, size_t bytes)
{
    for (int r = 0; r < 2; r++) {
        must(ops->poison(ranks[r].device, ranks[r].stream, ranks[r].recv.ptr, bytes + PAST * sizeof(float), &why), "poison");
        must(ops->fill(ranks[r].device, ranks[r].stream, ranks[r].send.ptr, LP_FLOAT, bytes / sizeof(float), pattern, r, &why),
             "fill");
    }
    for (int r = 0; r < 2; r++)
        must(ops->stream_sync(ranks[r].stream, &why), "stream_sync");
}

static uint64_t wrong(struct rank *rank, char *ptr, uint64_t count, struct lp_pattern pattern, int src)
{
    struct lp_segment segment = {.count = count, .src_rank = src};
    struct lp_mismatch found = {0};

    must(ops->verify(rank->device, rank->stream, ptr, LP_FLOAT, pattern, &segment, 1, &found, &why), "verify");
    return found.elements;
}

/*
 * Each has the other's data, and poison after it. Nobody waits for the other here: rank r's stream is over when the other's data
 * has come, and that is what is tested.
 */
static bool is_right(struct rank ranks[2], struct lp_pattern pattern, size_t bytes)
{
    bool good = true;

    for (int r = 0; r < 2; r++) {
        char *recv = ranks[r].recv.ptr;

        good = wrong(&ranks[r], recv, bytes / sizeof(float), pattern, !r) == 0 && good;
        good = wrong(&ranks[r], recv + bytes, PAST, pattern, !r) == PAST && good;
    }
    return good;
}

static void make_graphs(struct rank ranks[2], size_t bytes)
{
    for (int r = 0; r < 2; r++) {
        must(ops->capture_begin(ranks[r].stream, &why), "capture_begin");
        for (int k = 0; k < K; k++)
            pass_on(ranks, r, bytes);
        must(ops->capture_end(ranks[r].stream, &ranks[r].graph, &why), "capture_end");
    }
}

/* A round of no bytes, then K from the graph. Returns the time of one in microseconds. */
static double replay(struct rank ranks[2])
{
    double us = 0;

    for (int r = 0; r < 2; r++) {
        pass_on(ranks, r, 0);
        must(ops->mark_record(ranks[r].start, ranks[r].stream, &why), "mark_record");
        must(ops->graph_launch(ranks[r].graph, ranks[r].stream, &why), "graph_launch");
        must(ops->mark_record(ranks[r].stop, ranks[r].stream, &why), "mark_record");
    }
    for (int r = 0; r < 2; r++)
        must(ops->stream_sync(ranks[r].stream, &why), "stream_sync");
    must(ops->mark_elapsed(ranks[0].start, ranks[0].stop, &us, &why), "mark_elapsed");
    return us / K;
}

static void test_size(struct rank ranks[2], size_t bytes)
{
    struct lp_pattern pattern = lp_pattern_make(LP_FLOAT, LP_SUM, 2, 1);
    bool good = true;
    char line[128];
    double us = 0;

    for (int i = 0; i < REPLAYS && good; i++, pattern.iteration++) {
        renew(ranks, pattern, bytes);
        for (int r = 0; r < 2; r++)
            pass_on(ranks, r, bytes);
        good = is_right(ranks, pattern, bytes);
    }
    snprintf(line, sizeof(line), "%zu bytes: the other's data is there when a round is over", bytes);
    check(good, line);
    make_graphs(ranks, bytes);
    for (int i = 0; i < REPLAYS && good; i++, pattern.iteration++) {
        renew(ranks, pattern, bytes);
        us = replay(ranks);
        good = is_right(ranks, pattern, bytes);
    }
    snprintf(line, sizeof(line), "%zu bytes: and when a graph of rounds is, at every replay (%.2f us, %.1f GB/s per direction)",
             bytes, us, (double)bytes / us / 1e3);
    check(good, line);
    for (int r = 0; r < 2; r++)
        ops->graph_free(ranks[r].graph);
}

/* One block; some; all of them with a ragged end; and many rounds of each. */
int main(void)
{
    static const size_t sizes[] = {16, 4096, 65536, 100003 * 16, MOST};
    struct rank ranks[2] = {{.device = NULL}, {.device = NULL}};
    bool yes = false;
    int n = 0;

    must(ops->count(&n, &why), "count");
    if (n >= 2)
        must(ops->can_access(0, 1, &yes, &why), "can_access");
    if (!yes) {
        printf("skip all: needs 2 GPUs that reach each other\n");
        return 77;
    }
    for (int r = 0; r < 2; r++)
        open_rank(&ranks[r], r);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        test_size(ranks, sizes[i]);
    check(ops->pass_on(ranks[0].device, ranks[0].stream, (char *)ranks[1].recv.ptr + 4, ranks[0].send.ptr, 64, ranks[0].flags.ptr,
                       ranks[1].flags.ptr, &why) == LP_ERR_ARG,
          "an address that is no multiple of 16 is refused");
    for (int r = 0; r < 2; r++)
        close_rank(&ranks[r]);
    return 0;
}
