/* Operations from cells that name a collective. What the collective means is in collectives/. */
#include "worker/op_make.h"

#include "collectives/coll.h"
#include "collectives/launch.h"

#include <stdlib.h>

/* What enqueue needs; addresses of slot 0. */
struct collective {
    const struct lp_coll *coll;
    struct lp_coll_call call; /* send and recv are filled for each operation */
    const char *send;
    char *recv;
    size_t send_stride, recv_stride;
    void *meeting;
};

static enum lp_status enqueue(struct lp_op *op, int lane, size_t slot, struct lp_reason *why)
{
    struct collective *self = op->self;
    struct lp_coll_call call = self->call;

    (void)lane;
    call.send = self->send + slot * self->send_stride;
    call.recv = self->recv + slot * self->recv_stride;
    return self->coll->launch(&call, why);
}

/* One element of every rank: when it is over, all ranks' devices are at the same place. */
static enum lp_status meet(struct lp_op *op, struct lp_reason *why)
{
    struct collective *self = op->self;

    return self->call.library->all_reduce(self->call.comm, self->meeting, self->meeting, 1, LP_FLOAT, LP_SUM, self->call.stream,
                                          why);
}

static void release(struct lp_op *op)
{
    free(op->self);
}

static enum lp_status add_data(struct lp_crewmate *mate, const struct collective *self, const struct lp_shape *shape,
                               struct lp_op *out, struct lp_reason *why)
{
    struct lp_station *station = &mate->station[0];
    size_t size = lp_dtype_size(out->dtype);
    struct lp_output *output = &out->output[0];

    out->input[out->ninputs++] = (struct lp_input){
        .ops = mate->ops,
        .device = station->device,
        .stream = station->stream,
        .base = (char *)self->send,
        .stride = self->send_stride,
        .count = shape->send_count,
        .rank = mate->rank,
    };
    *output = (struct lp_output){
        .ops = mate->ops,
        .device = station->device,
        .stream = station->stream,
        .base = self->recv,
        .stride = self->recv_stride,
        .bytes = shape->recv_count * size,
        .segments = calloc((size_t)mate->nranks, sizeof(struct lp_segment)),
    };
    out->noutputs = 1;
    if (!output->segments)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    output->nsegments = self->coll->expect(shape, mate->rank, mate->nranks, output->segments);
    return LP_OK;
}

static enum lp_status check_shape(const struct lp_crewmate *mate, const struct lp_cell *cell, const struct lp_coll *coll,
                                  const struct lp_shape *shape, struct lp_reason *why)
{
    size_t size = lp_dtype_size(cell->dtype);

    if (cell->placement == LP_IN_PLACE && !(coll->flags & LP_COLL_IN_PLACE))
        return lp_because(why, LP_ERR_UNSUPPORTED, "%s: in place is not defined", coll->name);
    if (shape->count == 0)
        return lp_because(why, LP_ERR_ARG, "%s: %zu bytes is less than one element a rank", coll->name, cell->requested_bytes);
    if (shape->recv_count * size > mate->arena_bytes || shape->send_count * size > mate->arena_bytes)
        return lp_because(why, LP_ERR_ARG, "%s: %zu bytes do not fit into the arena of %zu", coll->name, shape->size_bytes,
                          mate->arena_bytes);
    return LP_OK;
}

enum lp_status lp_op_from_collective(struct lp_crewmate *mate, const struct lp_cell *cell, struct lp_op *out, struct lp_reason *why)
{
    const struct lp_coll *coll = lp_coll_find(cell->op);
    size_t size = lp_dtype_size(cell->dtype);
    struct lp_station *station = &mate->station[0];
    struct collective *self;
    struct lp_shape shape;
    enum lp_status st;

    if (!coll || !mate->comm)
        return lp_because(why, LP_ERR_ARG, coll ? "no communicator is open for '%s'" : "unknown collective '%s'", cell->op);
    coll->shape(cell->requested_bytes, cell->dtype, mate->nranks, &shape);
    st = check_shape(mate, cell, coll, &shape, why);
    if (st != LP_OK)
        return st;
    self = calloc(1, sizeof(*self));
    if (!self)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    out->self = self;
    out->release = release;
    out->enqueue = enqueue;
    out->align = mate->library->all_reduce ? meet : NULL;
    out->nranks = mate->nranks;
    out->in_place = cell->placement == LP_IN_PLACE;
    self->coll = coll;
    self->meeting = mate->meeting.ptr;
    self->recv = mate->station[0].recv.ptr;
    self->recv_stride = lp_op_stride(shape.recv_count * size);
    if (out->in_place) {
        self->send = self->recv + (size_t)mate->rank * shape.in_place_send_off * size;
        self->send_stride = self->recv_stride;
    } else {
        self->send = station->send.ptr;
        self->send_stride = lp_op_stride(shape.send_count * size);
    }
    out->slots = lp_op_slots(mate->arena_bytes, self->recv_stride > self->send_stride ? self->recv_stride : self->send_stride);
    self->call = (struct lp_coll_call){
        .library = mate->library,
        .comm = mate->comm,
        .stream = station->stream,
        .count = shape.count,
        .dtype = cell->dtype,
        .redop = cell->redop,
        .root = cell->root,
    };
    st = lp_op_add_lane(out, mate, station, why);
    return st == LP_OK ? add_data(mate, self, &shape, out, why) : st;
}
