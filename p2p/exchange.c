/* Two sides that answer each other with a word in the other one's memory. Who they are is the path's business. */
#include "p2p/path.h"

#include <stdlib.h>

struct side {
    void *mine, *theirs;
    uint32_t value; /* the last number exchanged; both sides have done the same operations, so it is the same */
};

enum lp_status lp_exchange_load(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    struct side *side = transfer->self;
    enum lp_status st = ops->clear(transfer->by->device, transfer->stream, side->mine, sizeof(side->value), why);

    (void)offset;
    side->value = 0;
    return st == LP_OK ? ops->stream_sync(transfer->stream, why) : st;
}

enum lp_status lp_exchange_prepare(struct lp_transfer *transfer, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    struct side *side;

    if (!ops->exchange)
        return lp_because(why, LP_ERR_UNSUPPORTED, "%s has no exchange", ops->name);
    side = calloc(1, sizeof(*side));
    if (!side)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    transfer->self = side;
    side->mine = transfer->by->recv.ptr;
    side->theirs = transfer->dst.ptr;
    return lp_exchange_load(transfer, 0, why);
}

enum lp_status lp_exchange_enqueue(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    struct side *side = transfer->self;
    uint32_t value = side->value;

    (void)offset;
    side->value += LP_EXCHANGE_ROUNDS;
    return transfer->mate->ops->exchange(transfer->by->device, transfer->stream, side->mine, side->theirs, value,
                                         LP_EXCHANGE_ROUNDS, transfer->first, why);
}

enum lp_status lp_exchange_judge(struct lp_transfer *transfer, uint64_t *wrong, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    struct side *side = transfer->self;
    uint32_t found = 0;
    enum lp_status st = ops->peek(transfer->by->device, transfer->stream, side->mine, sizeof(found), &found, why);

    *wrong = st == LP_OK && found != side->value;
    return st;
}

void lp_exchange_release(struct lp_transfer *transfer)
{
    free(transfer->self);
    transfer->self = NULL;
}
