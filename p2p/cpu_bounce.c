/* CPU bounce: through a buffer in between, piece by piece, both copies by the sending process: what P2P off costs. */
#include "p2p/path.h"

static enum lp_status prepare(struct lp_transfer *transfer, struct lp_reason *why)
{
    if (!transfer->via.ptr || transfer->via.bytes == 0)
        return lp_because(why, LP_ERR_UNSUPPORTED, "no bounce buffer was opened");
    return LP_OK;
}

static enum lp_status enqueue(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    enum lp_status st = LP_OK;

    for (size_t done = 0; done < transfer->bytes && st == LP_OK;) {
        size_t left = transfer->bytes - done, piece = left < transfer->via.bytes ? left : transfer->via.bytes;

        st = ops->copy(transfer->by->device, transfer->stream, transfer->via, 0, transfer->src, transfer->src_base + offset + done,
                       piece, why);
        if (st == LP_OK)
            st = ops->copy(transfer->by->device, transfer->stream, transfer->dst, transfer->dst_base + offset + done, transfer->via,
                           0, piece, why);
        done += piece;
    }
    return st;
}

extern const struct lp_path lp_path_cpu_bounce;
const struct lp_path lp_path_cpu_bounce = {
    .name = "cpu_bounce",
    .title = "CPU copy through a bounce buffer",
    .help = "host memory: the sending process copies into a shared buffer, then into the receiving process's memory",
    .device = "host",
    .rate = LP_RATE_NONE,
    .prepare = prepare,
    .enqueue = enqueue,
};
