/* Plain cudaMemcpy between two GPUs, as programs call it that know nothing of streams; each call is waited for. */
#include "p2p/path.h"

static enum lp_status enqueue(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;

    if (!ops->copy_plain)
        return lp_because(why, LP_ERR_UNSUPPORTED, "%s has no copy_plain", ops->name);
    return ops->copy_plain(transfer->by->device, transfer->dst, transfer->dst_base + offset, transfer->src,
                           transfer->src_base + offset, transfer->bytes, why);
}

extern const struct lp_path lp_path_memcpy;
const struct lp_path lp_path_memcpy = {
    .name = "memcpy",
    .title = "plain cudaMemcpy, P2P on",
    .help = "cudaMemcpy between the two GPUs with peer access enabled, one call after the other, each waited for",
    .device = "cuda",
    .flags = LP_PATH_PEER | LP_PATH_UNGATED,
    .rate = LP_RATE_LINK,
    .enqueue = enqueue,
};
