/* SM write: a kernel of the sending GPU stores into the peer's memory, 16 bytes a thread, as NCCL's kernels do. */
#include "p2p/path.h"

static enum lp_status enqueue(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;

    if (!ops->kernel_copy)
        return lp_because(why, LP_ERR_UNSUPPORTED, "%s has no kernel_copy", ops->name);
    return ops->kernel_copy(transfer->by->device, transfer->stream, (char *)transfer->dst.ptr + offset,
                            (const char *)transfer->src.ptr + offset, transfer->bytes, why);
}

extern const struct lp_path lp_path_sm_write;
const struct lp_path lp_path_sm_write = {
    .name = "sm_write",
    .title = "SM write, P2P on",
    .help = "a kernel of the sending GPU stores into the receiving GPU's memory over the link",
    .device = "cuda",
    .flags = LP_PATH_PEER,
    .enqueue = enqueue,
};
