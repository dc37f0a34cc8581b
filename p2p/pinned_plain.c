/* Staged by hand, as guides do it: the whole buffer to pinned host memory, and when it is there on to the other GPU. */
#include "p2p/path.h"

static enum lp_status prepare(struct lp_transfer *transfer, struct lp_reason *why)
{
    if (!transfer->from || !transfer->to)
        return lp_because(why, LP_ERR_UNSUPPORTED, "staging by hand needs both GPUs in one process");
    return LP_OK;
}

static enum lp_status enqueue(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    enum lp_status st;

    st = ops->copy_plain(transfer->from->device, transfer->host, 0, transfer->src, transfer->src_base + offset, transfer->bytes,
                         why);
    if (st == LP_OK)
        st = ops->copy_plain(transfer->to->device, transfer->dst, transfer->dst_base + offset, transfer->host, 0, transfer->bytes,
                             why);
    return st;
}

extern const struct lp_path lp_path_pinned_plain;
const struct lp_path lp_path_pinned_plain = {
    .name = "pinned_plain",
    .title = "through pinned host memory, one half after the other",
    .help = "the whole buffer GPU to pinned host memory, then host memory to GPU, each by a plain cudaMemcpy",
    .device = "cuda",
    .flags = LP_PATH_PINNED | LP_PATH_UNGATED,
    .rate = LP_RATE_PCIE,
    .prepare = prepare,
    .enqueue = enqueue,
};
