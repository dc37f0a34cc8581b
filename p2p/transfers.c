/* How transfers are issued that more than one path uses, and the host end of those that have one. */
#include "p2p/path.h"

enum lp_status lp_transfer_copy(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    bool from_host = transfer->edge.src == LP_EDGE_HOST, to_host = transfer->edge.dst == LP_EDGE_HOST; /* those have one slot */

    return transfer->mate->ops->copy(transfer->by->device, transfer->stream, transfer->dst,
                                     to_host ? 0 : transfer->dst_base + offset, transfer->src,
                                     from_host ? 0 : transfer->src_base + offset, transfer->bytes, why);
}

enum lp_status lp_transfer_kernel_copy(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;

    if (!ops->kernel_copy)
        return lp_because(why, LP_ERR_UNSUPPORTED, "%s has no kernel_copy", ops->name);
    return ops->kernel_copy(transfer->by->device, transfer->stream, (char *)transfer->dst.ptr + transfer->dst_base + offset,
                            (const char *)transfer->src.ptr + transfer->src_base + offset, transfer->bytes, why);
}

/* Between host memory and the GPU's arenas, where inputs are filled and outputs poisoned and compared. */
static enum lp_status move(struct lp_transfer *transfer, struct lp_buffer dst, size_t dst_off, struct lp_buffer src, size_t src_off,
                           struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    enum lp_status st = ops->copy(transfer->by->device, transfer->by->stream, dst, dst_off, src, src_off, transfer->bytes, why);

    return st == LP_OK ? ops->stream_sync(transfer->by->stream, why) : st;
}

enum lp_status lp_transfer_load(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    if (transfer->edge.src == LP_EDGE_HOST)
        return move(transfer, transfer->host, 0, transfer->by->send, transfer->src_base + offset, why);
    return move(transfer, transfer->host, 0, transfer->by->recv, transfer->dst_base + offset, why);
}

enum lp_status lp_transfer_unload(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    if (transfer->edge.src == LP_EDGE_HOST)
        return LP_OK;
    return move(transfer, transfer->by->recv, transfer->dst_base + offset, transfer->host, 0, why);
}
