/* How transfers are issued that more than one path uses. */
#include "p2p/path.h"

enum lp_status lp_transfer_copy(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    return transfer->mate->ops->copy(transfer->by->device, transfer->stream, transfer->dst, offset, transfer->src, offset,
                                     transfer->bytes, why);
}
