/*
 * Staged as a pipeline: chunks go to pinned host memory on the sender's streams and on to the receiver on its own, so that
 * both halves of the way are busy at once. What P2P off can be where a program does it itself.
 */
#include "p2p/path.h"

#include <stdlib.h>

/* Measured on two H200s with PCIe 5 x16; smaller chunks pay for each copy's start, larger ones for filling the pipeline. */
#define CHUNK_MAX ((size_t)4 << 20)
#define CHUNK_MIN ((size_t)128 << 10)
#define CHUNKS    4 /* in flight */
#define WAYS      2 /* pairs of streams, chunk by chunk in turn: while one waits for the other side, the other's copy is there */

struct way {
    struct lp_stream *in, *onward; /* of the sender, of the receiver */
};

struct stage {
    struct way way[WAYS];        /* the first one's `in` is the lane's stream */
    struct lp_event_mark *begun; /* on the lane's stream */
    struct lp_buffer host[CHUNKS];
    struct lp_event_mark *full[CHUNKS], *drained[CHUNKS];
    size_t chunk;
};

/* An eighth of the whole, so that a small transfer is a pipeline too, in limits. */
static size_t chunk_for(size_t bytes)
{
    size_t chunk = (bytes / 8 + 511) / 512 * 512;

    return chunk > CHUNK_MAX ? CHUNK_MAX : chunk < CHUNK_MIN ? CHUNK_MIN : chunk;
}

static void free_chunk(const struct lp_device_ops *ops, struct lp_device *device, struct stage *stage, int i)
{
    if (stage->full[i])
        ops->mark_free(stage->full[i]);
    if (stage->drained[i])
        ops->mark_free(stage->drained[i]);
    if (stage->host[i].ptr)
        ops->host_free(device, &stage->host[i]);
}

static void release(struct lp_transfer *transfer)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    struct stage *stage = transfer->self;

    if (!stage)
        return;
    for (int i = 0; i < CHUNKS; i++)
        free_chunk(ops, transfer->by->device, stage, i);
    for (int i = 0; i < WAYS; i++) {
        if (stage->way[i].onward)
            ops->stream_free(stage->way[i].onward);
        if (i > 0 && stage->way[i].in)
            ops->stream_free(stage->way[i].in);
    }
    if (stage->begun)
        ops->mark_free(stage->begun);
    free(stage);
    transfer->self = NULL;
}

static enum lp_status make_chunk(struct lp_transfer *transfer, struct stage *stage, int i, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    enum lp_status st = ops->host_alloc(transfer->by->device, stage->chunk, true, &stage->host[i], why);

    if (st == LP_OK)
        st = ops->order_mark_create(transfer->from->device, &stage->full[i], why);
    if (st == LP_OK)
        st = ops->order_mark_create(transfer->to->device, &stage->drained[i], why);
    return st;
}

static enum lp_status make_streams(struct lp_transfer *transfer, struct stage *stage, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    enum lp_status st = ops->order_mark_create(transfer->from->device, &stage->begun, why);

    stage->way[0].in = transfer->stream;
    for (int i = 1; i < WAYS && st == LP_OK; i++)
        st = ops->stream_create(transfer->from->device, &stage->way[i].in, why);
    for (int i = 0; i < WAYS && st == LP_OK; i++)
        st = ops->stream_create(transfer->to->device, &stage->way[i].onward, why);
    return st;
}

static enum lp_status prepare(struct lp_transfer *transfer, struct lp_reason *why)
{
    struct stage *stage;
    enum lp_status st;

    if (!transfer->from || !transfer->to)
        return lp_because(why, LP_ERR_UNSUPPORTED, "a staged pipeline needs both GPUs in one process");
    stage = calloc(1, sizeof(*stage));
    if (!stage)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    transfer->self = stage; /* release takes it from here */
    stage->chunk = chunk_for(transfer->bytes);
    st = make_streams(transfer, stage, why);
    for (int i = 0; i < CHUNKS && st == LP_OK; i++)
        st = make_chunk(transfer, stage, i, why);
    return st;
}

/* Chunk number n, of `bytes` at offset `at` of the data: in on the sender's stream, out on the receiver's. */
static enum lp_status pass(struct lp_transfer *transfer, size_t n, size_t offset, size_t bytes, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    struct stage *stage = transfer->self;
    const struct way *way = &stage->way[n % WAYS];
    size_t i = n % CHUNKS;
    enum lp_status st = LP_OK;

    if (n >= CHUNKS)
        st = ops->stream_wait(way->in, stage->drained[i], why);
    if (st == LP_OK)
        st = ops->copy(transfer->from->device, way->in, stage->host[i], 0, transfer->src, transfer->src_base + offset, bytes, why);
    if (st == LP_OK)
        st = ops->mark_record(stage->full[i], way->in, why);
    if (st == LP_OK)
        st = ops->stream_wait(way->onward, stage->full[i], why);
    if (st == LP_OK)
        st =
            ops->copy(transfer->to->device, way->onward, transfer->dst, transfer->dst_base + offset, stage->host[i], 0, bytes, why);
    return st == LP_OK ? ops->mark_record(stage->drained[i], way->onward, why) : st;
}

/* The other ways start when the lane does. */
static enum lp_status begin(struct lp_transfer *transfer, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    struct stage *stage = transfer->self;
    enum lp_status st = ops->mark_record(stage->begun, transfer->stream, why);

    for (int i = 1; i < WAYS && st == LP_OK; i++)
        st = ops->stream_wait(stage->way[i].in, stage->begun, why);
    return st;
}

/* The lane's stream has the transfer only when the last chunks are out, so filling and draining the pipeline are in the time. */
static enum lp_status enqueue(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    struct stage *stage = transfer->self;
    enum lp_status st = begin(transfer, why);
    size_t n = 0;

    for (size_t done = 0; done < transfer->bytes && st == LP_OK; n++) {
        size_t left = transfer->bytes - done, bytes = left < stage->chunk ? left : stage->chunk;

        st = pass(transfer, n, offset + done, bytes, why);
        done += bytes;
    }
    for (size_t i = 0; i < CHUNKS && i < n && st == LP_OK; i++)
        st = transfer->mate->ops->stream_wait(transfer->stream, stage->drained[i], why);
    return st;
}

extern const struct lp_path lp_path_pinned_staged;
const struct lp_path lp_path_pinned_staged = {
    .name = "pinned_staged",
    .title = "through pinned host memory, pipelined",
    .help = "chunks GPU to pinned host memory and on to the other GPU, on two streams at once",
    .device = "cuda",
    .flags = LP_PATH_MANY_CALLS,
    .rate = LP_RATE_PCIE,
    .prepare = prepare,
    .enqueue = enqueue,
    .release = release,
};
