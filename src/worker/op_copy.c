/* Operations from cells that name a copy path and a pattern of edges. How one copy is made is in p2p/. */
#include "worker/op_make.h"

#include "p2p/path.h"

#include <stdlib.h>
#include <string.h>

struct copies {
    const struct lp_path *path;
    size_t slot_stride; /* bytes from one slot to the next, in source and target */
    int n;              /* transfers that this worker makes; lane i carries transfer i */
    struct lp_transfer transfer[LP_MAX_TRANSFERS];
};

static enum lp_status enqueue(struct lp_op *op, int lane, size_t slot, struct lp_reason *why)
{
    struct copies *self = op->self;

    return self->path->enqueue(&self->transfer[lane], slot * self->slot_stride, why);
}

static enum lp_status load(struct lp_op *op, size_t slot, struct lp_reason *why)
{
    struct copies *self = op->self;
    enum lp_status st = LP_OK;

    for (int i = 0; i < self->n && st == LP_OK; i++)
        st = self->path->load(&self->transfer[i], slot * self->slot_stride, why);
    return st;
}

static enum lp_status unload(struct lp_op *op, size_t slot, struct lp_reason *why)
{
    struct copies *self = op->self;
    enum lp_status st = LP_OK;

    for (int i = 0; i < self->n && st == LP_OK; i++)
        st = self->path->unload(&self->transfer[i], slot * self->slot_stride, why);
    return st;
}

static enum lp_status judge(struct lp_op *op, uint64_t *wrong, struct lp_reason *why)
{
    struct copies *self = op->self;
    enum lp_status st = LP_OK;

    *wrong = 0;
    for (int i = 0; i < self->n && st == LP_OK; i++) {
        uint64_t one = 0;

        st = self->path->judge(&self->transfer[i], &one, why);
        *wrong += one;
    }
    return st;
}

/* The one lane that the op has: those of a ring wait for each other. */
static enum lp_status align(struct lp_op *op, struct lp_reason *why)
{
    struct copies *self = op->self;

    return self->path->align(&self->transfer[0], why);
}

static void release(struct lp_op *op)
{
    struct copies *self = op->self;

    for (int i = 0; i < self->n; i++)
        if (self->path->release)
            self->path->release(&self->transfer[i]);
    free(self);
}

/* ---- who has the data, who gets it, who moves it ---- */

/* Rank of the GPU whose memory stands for that end: for host memory the other end's, which fills and compares it. */
static int source_rank(const struct lp_edge *edge)
{
    return edge->src == LP_EDGE_HOST ? edge->dst : edge->src;
}

static int target_rank(const struct lp_edge *edge)
{
    return edge->dst == LP_EDGE_HOST ? edge->src : edge->dst;
}

static int mover_rank(const struct lp_path *path, const struct lp_edge *edge)
{
    return path->flags & LP_PATH_READ ? target_rank(edge) : source_rank(edge);
}

/* How many edges before this one bring data to the same GPU: each has a place of its own there. */
static size_t place_at_target(const struct lp_cell *cell, int index)
{
    size_t place = 0;

    for (int i = 0; i < index; i++)
        place += target_rank(&cell->edges[i]) == target_rank(&cell->edges[index]);
    return place;
}

static size_t most_places(const struct lp_cell *cell)
{
    size_t most = 0;

    for (int i = 0; i < cell->nedges; i++)
        if (place_at_target(cell, i) + 1 > most)
            most = place_at_target(cell, i) + 1;
    return most;
}

static enum lp_status check_edge(const struct lp_crewmate *mate, const struct lp_path *path, const struct lp_edge *edge,
                                 struct lp_reason *why)
{
    bool host = edge->src == LP_EDGE_HOST || edge->dst == LP_EDGE_HOST, local = (path->flags & LP_PATH_LOCAL) != 0;
    int from = path->flags & LP_PATH_READ ? edge->dst : edge->src, to = path->flags & LP_PATH_READ ? edge->src : edge->dst;

    if (host ? !path->load || edge->src == edge->dst : (edge->src == edge->dst) != local)
        return lp_because(why, LP_ERR_ARG, "%s does not go from %d to %d", path->name, edge->src, edge->dst);
    if (path->flags & LP_PATH_STAGED && mate->peer_access)
        return lp_because(why, LP_ERR_ARG, "%s needs a worker that never enabled peer access", path->name);
    if (path->flags & LP_PATH_PEER && mate->access_error[from][to][0])
        return lp_because(why, LP_ERR_UNSUPPORTED, "no peer access from %d to %d: %s", from, to, mate->access_error[from][to]);
    return LP_OK;
}

/* Does every rank that sends to one also get from one? A rank of a ring waits for what comes, and for good where nothing does. */
static bool is_ring(const struct lp_cell *cell)
{
    for (int i = 0; i < cell->nedges; i++) {
        int sends = 0, gets = 0;

        for (int k = 0; k < cell->nedges; k++) {
            sends += cell->edges[k].src == cell->edges[i].src;
            gets += cell->edges[k].dst == cell->edges[i].src;
        }
        if (sends != 1 || gets != 1)
            return false;
    }
    return true;
}

/* Both ends as the mover reaches them: stations of this worker, or another worker's memory that was mapped. */
static enum lp_status find_ends(struct lp_crewmate *mate, struct lp_transfer *transfer, struct lp_reason *why)
{
    const struct lp_edge *edge = &transfer->edge;

    transfer->from = lp_crewmate_station(mate, source_rank(edge));
    transfer->to = lp_crewmate_station(mate, target_rank(edge));
    if (edge->src != LP_EDGE_HOST)
        transfer->src = transfer->from ? transfer->from->send : mate->peer_send[edge->src];
    if (edge->dst != LP_EDGE_HOST) {
        transfer->dst = transfer->to ? transfer->to->recv : mate->peer_recv[edge->dst];
        transfer->via = transfer->to ? transfer->to->bounce : mate->peer_bounce[edge->dst];
        transfer->flags = transfer->to ? transfer->to->flags : mate->peer_flags[edge->dst];
    }
    if (edge->src != LP_EDGE_HOST && !transfer->src.ptr)
        return lp_because(why, LP_ERR_UNSUPPORTED, "peer GPU %d is not visible to this process", edge->src);
    if (edge->dst != LP_EDGE_HOST && !transfer->dst.ptr)
        return lp_because(why, LP_ERR_UNSUPPORTED, "peer GPU %d is not visible to this process", edge->dst);
    return LP_OK;
}

/* Host memory where the path has some; an end of the edge may be it. */
static enum lp_status find_host(struct lp_crewmate *mate, const struct lp_path *path, struct lp_transfer *transfer,
                                struct lp_reason *why)
{
    const struct lp_buffer *host;

    if (!(path->flags & (LP_PATH_PINNED | LP_PATH_PAGEABLE)))
        return LP_OK;
    host = lp_crewmate_host_buffer(mate, transfer->by, (path->flags & LP_PATH_PINNED) != 0, transfer->lane, transfer->bytes, why);
    if (!host)
        return LP_ERR_MEMORY;
    transfer->host = *host;
    if (transfer->edge.src == LP_EDGE_HOST)
        transfer->src = *host;
    if (transfer->edge.dst == LP_EDGE_HOST)
        transfer->dst = *host;
    return LP_OK;
}

static enum lp_status add_transfer(struct lp_crewmate *mate, struct copies *self, const struct lp_cell *cell, int index,
                                   size_t bytes, struct lp_op *out, struct lp_reason *why)
{
    struct lp_transfer *transfer = &self->transfer[self->n];
    const struct lp_edge *edge = &cell->edges[index];
    enum lp_status st;

    *transfer = (struct lp_transfer){
        .mate = mate,
        .edge = *edge,
        .by = lp_crewmate_station(mate, mover_rank(self->path, edge)),
        .dst_base = place_at_target(cell, index) * lp_op_stride(bytes),
        .bytes = bytes,
        .lane = self->n,
        .first = index == 0,
    };
    st = find_ends(mate, transfer, why);
    if (st == LP_OK)
        st = find_host(mate, self->path, transfer, why);
    if (st == LP_OK)
        st = lp_op_add_lane(out, mate, transfer->by, why);
    if (st != LP_OK)
        return st;
    self->n++;
    out->lane[out->nlanes - 1].edge = index;
    transfer->stream = out->lane[out->nlanes - 1].stream;
    return self->path->prepare ? self->path->prepare(transfer, why) : LP_OK;
}

/* ---- what a check fills and compares ---- */

static bool has_input(const struct lp_op *op, const struct lp_station *station)
{
    for (int i = 0; i < op->ninputs; i++)
        if (op->input[i].base == station->send.ptr)
            return true;
    return false;
}

static void add_input(struct lp_crewmate *mate, struct lp_station *station, size_t bytes, size_t stride, struct lp_op *out)
{
    if (!has_input(out, station)) /* several edges may take the same data */
        out->input[out->ninputs++] = (struct lp_input){
            .ops = mate->ops,
            .device = station->device,
            .stream = station->stream,
            .base = station->send.ptr,
            .stride = stride,
            .count = bytes / lp_dtype_size(out->dtype),
            .rank = station->rank,
        };
}

static enum lp_status add_output(struct lp_crewmate *mate, const struct lp_cell *cell, int index, size_t bytes, size_t stride,
                                 struct lp_op *out, struct lp_reason *why)
{
    struct lp_station *station = lp_crewmate_station(mate, target_rank(&cell->edges[index]));
    struct lp_output *output = &out->output[out->noutputs++];

    *output = (struct lp_output){
        .ops = mate->ops,
        .device = station->device,
        .stream = station->stream,
        .base = (char *)station->recv.ptr + place_at_target(cell, index) * lp_op_stride(bytes),
        .stride = stride,
        .bytes = bytes,
        .nsegments = 1,
        .segments = calloc(1, sizeof(struct lp_segment)),
    };
    if (!output->segments)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    output->segments[0] =
        (struct lp_segment){.count = bytes / lp_dtype_size(out->dtype), .src_rank = source_rank(&cell->edges[index])};
    return LP_OK;
}

/* This worker's part in one edge. */
static enum lp_status add_edge(struct lp_crewmate *mate, struct copies *self, const struct lp_cell *cell, int index, size_t bytes,
                               struct lp_op *out, struct lp_reason *why)
{
    const struct lp_edge *edge = &cell->edges[index];
    struct lp_station *from = lp_crewmate_station(mate, source_rank(edge)), *to = lp_crewmate_station(mate, target_rank(edge));
    enum lp_status st = check_edge(mate, self->path, edge, why);

    if (st == LP_OK && lp_crewmate_station(mate, mover_rank(self->path, edge)))
        st = add_transfer(mate, self, cell, index, bytes, out, why);
    if (st == LP_OK && from && !self->path->judge)
        add_input(mate, from, bytes, self->slot_stride, out);
    if (st == LP_OK && to && !self->path->judge)
        st = add_output(mate, cell, index, bytes, self->slot_stride, out, why);
    return st;
}

static bool uses_host(const struct lp_cell *cell)
{
    for (int i = 0; i < cell->nedges; i++)
        if (cell->edges[i].src == LP_EDGE_HOST || cell->edges[i].dst == LP_EDGE_HOST)
            return true;
    return false;
}

enum lp_status lp_op_from_copy(struct lp_crewmate *mate, const struct lp_cell *cell, struct lp_op *out, struct lp_reason *why)
{
    const struct lp_path *path = lp_path_find(cell->op);
    size_t bytes = cell->requested_bytes / lp_dtype_size(cell->dtype) * lp_dtype_size(cell->dtype), places = most_places(cell);
    enum lp_status st = LP_OK;
    struct copies *self;

    if (!path || strcmp(path->device, mate->ops->name) != 0)
        return lp_because(why, LP_ERR_ARG, "'%s' is not a copy path of device %s", cell->op, mate->ops->name);
    if (path->flags & LP_PATH_RING && !is_ring(cell))
        return lp_because(why, LP_ERR_ARG, "%s is for rings: every rank sends to one and gets from one", path->name);
    if (bytes == 0 || bytes > mate->arena_bytes || (places > 1 && lp_op_stride(bytes) > mate->arena_bytes / places))
        return lp_because(why, LP_ERR_ARG,
                          "%s: %zu bytes for each of %zu edges that end in one place: from one element to the arena of %zu",
                          path->name, cell->requested_bytes, places, mate->arena_bytes);
    self = calloc(1, sizeof(*self));
    if (!self)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    self->path = path;
    self->slot_stride = lp_op_stride(bytes) * (places ? places : 1);
    out->self = self;
    out->release = release;
    out->enqueue = enqueue;
    out->load = path->load ? load : NULL;
    out->unload = path->unload ? unload : NULL;
    out->judge = path->judge ? judge : NULL;
    out->nranks = 1;
    out->slots = uses_host(cell) || path->judge ? 1 : lp_op_slots(mate->arena_bytes, self->slot_stride);
    out->one_thread = (path->flags & LP_PATH_ONE_THREAD) != 0;
    out->gate_optional = (path->flags & LP_PATH_MANY_CALLS) != 0;
    out->gated = mate->gate != NULL && !(path->flags & LP_PATH_UNGATED);
    for (int i = 0; i < cell->nedges && st == LP_OK; i++)
        st = add_edge(mate, self, cell, i, bytes, out, why);
    out->align = path->align && out->nlanes == 1 ? align : NULL;
    return st;
}
