/* Load latency: one thread of the receiving GPU follows a list of pointers in the peer's memory; each load waits for the last. */
#include "p2p/path.h"

#include <stdlib.h>

#define LIST_BYTES ((size_t)2 << 20) /* one large page: no address translation is in the figure. As nvbandwidth has it */
#define STEPS      1024u             /* each on a line of its own, so nothing comes from the near cache */

struct chase {
    void *list, *end;
    unsigned which;
};

static enum lp_status make_list(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    struct chase *chase = transfer->self;
    enum lp_status st = ops->chase_make(transfer->by->device, transfer->stream, chase->list, LIST_BYTES, why);

    (void)offset;
    if (st == LP_OK)
        st = ops->clear(transfer->by->device, transfer->stream, chase->end, sizeof(void *), why);
    return st == LP_OK ? ops->stream_sync(transfer->stream, why) : st;
}

static enum lp_status prepare(struct lp_transfer *transfer, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    struct chase *chase;

    if (!ops->chase)
        return lp_because(why, LP_ERR_UNSUPPORTED, "%s has no chase", ops->name);
    if (transfer->src.bytes < LIST_BYTES)
        return lp_because(why, LP_ERR_UNSUPPORTED, "load latency needs an arena of %zu bytes", LIST_BYTES);
    chase = calloc(1, sizeof(*chase));
    if (!chase)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    transfer->self = chase;
    chase->list = transfer->src.ptr;
    chase->end = transfer->by->recv.ptr;
    return make_list(transfer, 0, why);
}

static enum lp_status enqueue(struct lp_transfer *transfer, size_t offset, struct lp_reason *why)
{
    struct chase *chase = transfer->self;

    (void)offset;
    return transfer->mate->ops->chase(transfer->by->device, transfer->stream, chase->list, STEPS, chase->which++, chase->end, why);
}

/* The last pointer that was followed: only the right loads lead there. */
static enum lp_status judge(struct lp_transfer *transfer, uint64_t *wrong, struct lp_reason *why)
{
    const struct lp_device_ops *ops = transfer->mate->ops;
    struct chase *chase = transfer->self;
    const void *found = NULL;
    enum lp_status st = ops->peek(transfer->by->device, transfer->stream, chase->end, sizeof(found), &found, why);

    *wrong = st == LP_OK && found != ops->chase_end(chase->list, LIST_BYTES, STEPS);
    return st;
}

static void release(struct lp_transfer *transfer)
{
    free(transfer->self);
    transfer->self = NULL;
}

extern const struct lp_path lp_path_load_latency;
const struct lp_path lp_path_load_latency = {
    .name = "load_latency",
    .title = "load latency, P2P on",
    .help = "one thread of the receiving GPU loads from the sending GPU's memory, each load after the last (pointer chase)",
    .device = "cuda",
    .flags = LP_PATH_PEER | LP_PATH_READ | LP_PATH_LATENCY,
    .rate = LP_RATE_NONE,
    .steps = STEPS,
    .prepare = prepare,
    .load = make_list,
    .enqueue = enqueue,
    .judge = judge,
    .release = release,
};
