/*
 * A round of a ring: every rank copies into the next one's memory, tells it so by a flag, and is done when it was told the same.
 * How that is done is the device's; who is next is the cell's pattern.
 */
#include "p2p/path.h"

/* All ranks clear their own flags here, and none begins a round before all have: the controller waits for each of them. */
enum lp_status lp_ring_prepare(struct lp_transfer *transfer, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    enum lp_status st;

    if (!ops->pass_on)
        return lp_because(why, LP_ERR_UNSUPPORTED, "%s has no pass_on", ops->name);
    if (!transfer->flags.ptr)
        return lp_because(why, LP_ERR_UNSUPPORTED, "the flags of rank %d are not visible to this process", transfer->edge.dst);
    st = ops->clear(transfer->by->device, transfer->stream, transfer->by->flags.ptr, sizeof(struct lp_flags), why);
    return st == LP_OK ? ops->stream_sync(transfer->stream, why) : st;
}

static enum lp_status pass_on(struct lp_transfer *transfer, size_t offset, size_t bytes, struct lp_reason *why)
{
    return transfer->mate->ops->pass_on(
        transfer->by->device, transfer->stream, (char *)transfer->dst.ptr + transfer->dst_base + offset,
        (const char *)transfer->src.ptr + transfer->src_base + offset, bytes, transfer->by->flags.ptr, transfer->flags.ptr, why);
}

enum lp_status lp_ring_enqueue(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    return pass_on(transfer, offset, transfer->bytes, why);
}

enum lp_status lp_ring_align(struct lp_transfer *transfer, struct lp_reason *why)
{
    return pass_on(transfer, 0, 0, why);
}
