/* AllReduce: reduce over all ranks, the result on every rank. */
#include "collectives/coll.h"
#include "collectives/launch.h"

static void same_both_ways(size_t bytes, enum lp_dtype dtype, int nranks, struct lp_shape *out)
{
    size_t count = bytes / lp_dtype_size(dtype);

    (void)nranks;
    *out = (struct lp_shape){.count = count, .size_bytes = count * lp_dtype_size(dtype), .send_count = count, .recv_count = count};
}

static enum lp_status launch(const struct lp_coll_call *call, struct lp_reason *why)
{
    if (!call->library->all_reduce)
        return lp_because(why, LP_ERR_UNSUPPORTED, "%s has no all_reduce", call->library->name);
    return call->library->all_reduce(call->comm, call->send, call->recv, call->count, call->dtype, call->redop, call->stream, why);
}

static size_t expect(const struct lp_shape *shape, int rank, int nranks, struct lp_segment *out)
{
    (void)rank;
    (void)nranks;
    out[0] = (struct lp_segment){.out_off = 0, .count = shape->recv_count, .src_rank = LP_RANK_ALL, .src_off = 0};
    return 1;
}

extern const struct lp_coll lp_coll_allreduce;
const struct lp_coll lp_coll_allreduce = {
    .name = "allreduce",
    .title = "AllReduce",
    .help = "reduce over all ranks, result on every rank; size is the vector",
    .flags = LP_COLL_IN_PLACE | LP_COLL_REDUCES,
    .shape = same_both_ways,
    .bus_factor = lp_bus_two_pass,
    .launch = launch,
    .expect = expect,
};
