/* Operations from cells that name a copy path and a pattern of edges. How one copy is made is in p2p/. */
#include "worker/op_make.h"

#include "p2p/path.h"

#include <stdlib.h>
#include <string.h>

struct copies {
    const struct lp_path *path;
    int n; /* transfers that this worker makes; lane i carries transfer i */
    struct lp_transfer transfer[LP_MAX_TRANSFERS];
};

static enum lp_status enqueue(struct lp_op *op, int lane, size_t slot, struct lp_reason *why)
{
    struct copies *self = op->self;
    struct lp_transfer *transfer = &self->transfer[lane];

    return self->path->enqueue(transfer, slot * lp_op_stride(transfer->bytes), why);
}

static void release(struct lp_op *op)
{
    struct copies *self = op->self;

    for (int i = 0; i < self->n; i++)
        if (self->path->release)
            self->path->release(&self->transfer[i]);
    free(self);
}

/* The receiver's memory: a station of this worker, or another worker's that was mapped. */
static enum lp_status find_target(struct lp_crewmate *mate, int rank, struct lp_transfer *transfer, struct lp_reason *why)
{
    struct lp_station *station = lp_crewmate_station(mate, rank);

    transfer->dst = station ? station->recv : mate->peer_recv[rank];
    transfer->via = station ? station->bounce : mate->peer_bounce[rank];
    if (!transfer->dst.ptr)
        return lp_because(why, LP_ERR_UNSUPPORTED, "peer GPU %d is not visible to this process", rank);
    return LP_OK;
}

static enum lp_status check_access(const struct lp_crewmate *mate, const struct copies *self, const struct lp_edge *edge,
                                   struct lp_reason *why)
{
    const char *error = mate->access_error[edge->src][edge->dst];

    if (self->path->flags & LP_PATH_STAGED && mate->peer_access)
        return lp_because(why, LP_ERR_ARG, "%s needs a worker that never enabled peer access", self->path->name);
    if (self->path->flags & LP_PATH_PEER && error[0])
        return lp_because(why, LP_ERR_UNSUPPORTED, "no peer access from %d to %d: %s", edge->src, edge->dst, error);
    return LP_OK;
}

static enum lp_status add_sender(struct lp_crewmate *mate, struct copies *self, const struct lp_edge *edge, size_t bytes,
                                 struct lp_op *out, struct lp_reason *why)
{
    struct lp_station *station = lp_crewmate_station(mate, edge->src);
    struct lp_transfer *transfer = &self->transfer[self->n];
    enum lp_status st;

    *transfer = (struct lp_transfer){.mate = mate, .by = station, .src = station->send, .bytes = bytes};
    st = find_target(mate, edge->dst, transfer, why);
    if (st == LP_OK)
        st = check_access(mate, self, edge, why);
    if (st == LP_OK)
        st = lp_op_add_lane(out, mate, station, why);
    if (st != LP_OK)
        return st;
    self->n++;
    transfer->stream = out->lane[out->nlanes - 1].stream;
    out->input[out->ninputs++] = (struct lp_input){
        .ops = mate->ops,
        .device = station->device,
        .stream = station->stream,
        .base = station->send.ptr,
        .stride = lp_op_stride(bytes),
        .count = bytes / lp_dtype_size(out->dtype),
        .rank = edge->src,
    };
    return self->path->prepare ? self->path->prepare(transfer, why) : LP_OK;
}

static enum lp_status add_receiver(struct lp_crewmate *mate, const struct lp_edge *edge, size_t bytes, struct lp_op *out,
                                   struct lp_reason *why)
{
    struct lp_station *station = lp_crewmate_station(mate, edge->dst);
    struct lp_output *output = &out->output[out->noutputs++];

    *output = (struct lp_output){
        .ops = mate->ops,
        .device = station->device,
        .stream = station->stream,
        .base = station->recv.ptr,
        .stride = lp_op_stride(bytes),
        .bytes = bytes,
        .nsegments = 1,
        .segments = calloc(1, sizeof(struct lp_segment)),
    };
    if (!output->segments)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    output->segments[0] = (struct lp_segment){.count = bytes / lp_dtype_size(out->dtype), .src_rank = edge->src};
    return LP_OK;
}

enum lp_status lp_op_from_copy(struct lp_crewmate *mate, const struct lp_cell *cell, struct lp_op *out, struct lp_reason *why)
{
    const struct lp_path *path = lp_path_find(cell->op);
    size_t bytes = cell->requested_bytes / lp_dtype_size(cell->dtype) * lp_dtype_size(cell->dtype);
    enum lp_status st = LP_OK;
    struct copies *self;

    if (!path || strcmp(path->device, mate->ops->name) != 0)
        return lp_because(why, LP_ERR_ARG, "'%s' is not a copy path of device %s", cell->op, mate->ops->name);
    if (bytes == 0 || bytes > mate->arena_bytes)
        return lp_because(why, LP_ERR_ARG, "%s: %zu bytes: from one element to the arena of %zu", path->name, cell->requested_bytes,
                          mate->arena_bytes);
    self = calloc(1, sizeof(*self));
    if (!self)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    self->path = path;
    out->self = self;
    out->release = release;
    out->enqueue = enqueue;
    out->nranks = 1;
    out->slots = lp_op_slots(mate->arena_bytes, lp_op_stride(bytes));
    out->gated = mate->gate != NULL && !(path->flags & LP_PATH_STAGED);
    for (int i = 0; i < cell->nedges && st == LP_OK; i++) {
        if (lp_crewmate_station(mate, cell->edges[i].src))
            st = add_sender(mate, self, &cell->edges[i], bytes, out, why);
        if (st == LP_OK && lp_crewmate_station(mate, cell->edges[i].dst))
            st = add_receiver(mate, &cell->edges[i], bytes, out, why);
    }
    return st;
}
