/* AllGather: every rank's part, in rank order, on every rank. */
#include "collectives/coll.h"
#include "collectives/launch.h"

/*
 * Size is the gathered total, as in nccl-tests. A rank's part is rounded down to 16 bytes once it is that large, also as
 * there: odd parts would put the in-place slots on addresses that NCCL copies slowly.
 */
static void gathered(size_t bytes, enum lp_dtype dtype, int nranks, struct lp_shape *out)
{
    size_t size = lp_dtype_size(dtype), part = bytes / (size_t)nranks;

    part = part >= 16 ? part / 16 * 16 : part / size * size;
    *out = (struct lp_shape){
        .count = part / size,
        .size_bytes = part * (size_t)nranks,
        .send_count = part / size,
        .recv_count = part / size * (size_t)nranks,
        .in_place_send_off = part / size,
    };
}

static enum lp_status launch(const struct lp_coll_call *call, struct lp_reason *why)
{
    if (!call->library->all_gather)
        return lp_because(why, LP_ERR_UNSUPPORTED, "%s has no all_gather", call->library->name);
    return call->library->all_gather(call->comm, call->send, call->recv, call->count, call->dtype, call->stream, why);
}

static size_t expect(const struct lp_shape *shape, int rank, int nranks, struct lp_segment *out)
{
    (void)rank;
    for (int r = 0; r < nranks; r++)
        out[r] = (struct lp_segment){
            .out_off = (uint64_t)r * shape->send_count, .count = shape->send_count, .src_rank = r, .src_off = 0};
    return (size_t)nranks;
}

extern const struct lp_coll lp_coll_allgather;
const struct lp_coll lp_coll_allgather = {
    .name = "allgather",
    .title = "AllGather",
    .help = "every rank's part, in rank order, on every rank; size is the gathered total",
    .flags = LP_COLL_IN_PLACE,
    .shape = gathered,
    .bus_factor = lp_bus_one_pass,
    .launch = launch,
    .expect = expect,
};
