/* What all operations share. How one is made from a cell is op_coll's and op_copy's. */
#include "worker/op.h"

#include "worker/op_make.h"

#include <stdlib.h>
#include <string.h>

#define FIXED_BUFFER_MAX ((size_t)1 << 20)
#define SLOT_ALIGN       ((size_t)512)

size_t lp_op_stride(size_t bytes)
{
    return (bytes + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
}

size_t lp_op_slots(size_t arena_bytes, size_t stride)
{
    if (stride <= FIXED_BUFFER_MAX || arena_bytes < 2 * stride)
        return 1;
    return arena_bytes / stride;
}

enum lp_status lp_op_make(struct lp_crewmate *mate, const struct lp_cell *cell, struct lp_op *out, struct lp_reason *why)
{
    memset(out, 0, sizeof(*out));
    out->dtype = cell->dtype;
    out->redop = cell->redop;
    return cell->kind == LP_COLLECTIVE ? lp_op_from_collective(mate, cell, out, why) : lp_op_from_copy(mate, cell, out, why);
}

enum lp_status lp_op_add_lane(struct lp_op *op, const struct lp_crewmate *mate, struct lp_station *station, struct lp_reason *why)
{
    struct lp_lane *lane = &op->lane[op->nlanes];
    enum lp_status st = LP_OK;

    *lane = (struct lp_lane){.ops = mate->ops, .device = station->device};
    for (int i = 0; i < op->nlanes; i++)
        if (op->lane[i].device == station->device)
            lane->owned = true; /* two lanes of one device must be able to run at once */
    op->nlanes++;
    if (!lane->owned) {
        lane->stream = station->stream;
        lane->start = station->start;
        lane->stop = station->stop;
        return LP_OK;
    }
    st = mate->ops->stream_create(station->device, &lane->stream, why);
    if (st == LP_OK)
        st = mate->ops->mark_create(station->device, &lane->start, why);
    if (st == LP_OK)
        st = mate->ops->mark_create(station->device, &lane->stop, why);
    return st;
}

void lp_op_release(struct lp_op *op)
{
    if (op->release)
        op->release(op);
    for (int i = 0; i < op->nlanes; i++) {
        struct lp_lane *lane = &op->lane[i];

        if (lane->owned && lane->stop)
            lane->ops->mark_free(lane->stop);
        if (lane->owned && lane->start)
            lane->ops->mark_free(lane->start);
        if (lane->owned && lane->stream)
            lane->ops->stream_free(lane->stream);
    }
    for (int i = 0; i < op->noutputs; i++)
        free(op->output[i].segments);
    memset(op, 0, sizeof(*op));
}
