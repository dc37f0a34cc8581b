/*
 * An operation as the bench sees it: how to enqueue it once, on which lanes, with which data. Made from a cell by the table
 * of collectives or of copy paths; the bench and the check know nothing else.
 */
#ifndef LP_WORKER_OP_H
#define LP_WORKER_OP_H

#include "model/cell.h"
#include "worker/device.h"
#include "worker/library.h"

/* A stream that carries part of the operation, and its clock. */
struct lp_lane {
    const struct lp_device_ops *ops;
    struct lp_device *device;
    struct lp_stream *stream;
    struct lp_event_mark *start, *stop;
    bool owned; /* stream and marks were made for this lane; else they are the station's */
    int edge;   /* of the cell, for copies */
};

/* A buffer that a check fills: count elements of rank's input at base + slot * stride. */
struct lp_input {
    const struct lp_device_ops *ops;
    struct lp_device *device;
    struct lp_stream *stream;
    char *base;
    size_t stride, count;
    int rank;
};

/* A buffer that a check poisons, before the inputs are filled, and then compares. */
struct lp_output {
    const struct lp_device_ops *ops;
    struct lp_device *device;
    struct lp_stream *stream;
    char *base;
    size_t stride, bytes; /* bytes of one slot */
    size_t nsegments;
    struct lp_segment *segments; /* owned by the op */
};

struct lp_op {
    enum lp_dtype dtype;
    enum lp_redop redop;
    int nranks;         /* that a reduction runs over */
    bool in_place;      /* the outputs hold the inputs: they change with every operation */
    bool one_thread;    /* queues all lanes that no gate can hold; else each has its own */
    bool gated;         /* queue behind a gate (copies on devices that have one) */
    bool gate_optional; /* may go without it where queueing takes too long */
    size_t slots;       /* operation i uses slot i % slots of the arenas */
    int nlanes, ninputs, noutputs;
    struct lp_lane lane[LP_MAX_TRANSFERS];
    struct lp_input input[LP_MAX_TRANSFERS];
    struct lp_output output[LP_MAX_TRANSFERS];

    /* One operation of the lane on its stream, on slot `slot`. */
    enum lp_status (*enqueue)(struct lp_op *op, int lane, size_t slot, struct lp_reason *why);
    /* An untimed operation that brings the ranks together on the device; NULL: there is none. */
    enum lp_status (*align)(struct lp_op *op, struct lp_reason *why);
    /*
     * Around a checked operation on a slot, where inputs and outputs are not what the operation itself works on (all may be
     * NULL): after filling and poisoning, before comparing, and instead of comparing.
     */
    enum lp_status (*load)(struct lp_op *op, size_t slot, struct lp_reason *why);
    enum lp_status (*unload)(struct lp_op *op, size_t slot, struct lp_reason *why);
    enum lp_status (*judge)(struct lp_op *op, uint64_t *wrong, struct lp_reason *why);
    void (*release)(struct lp_op *op); /* frees what self holds; may be NULL */
    void *self;
};

struct lp_crewmate;

/* Makes the operation of a cell on what the crewmate has open. Release it in any case. Does not touch the devices' data. */
enum lp_status lp_op_make(struct lp_crewmate *mate, const struct lp_cell *cell, struct lp_op *out, struct lp_reason *why);

/* Frees lanes, segments and what the maker holds. Safe on a zeroed op, and twice. */
void lp_op_release(struct lp_op *op);

/* How many operations of this many bytes walk through an arena before they start again: one up to 1 MiB, where real programs reuse
 * one buffer too. */
size_t lp_op_slots(size_t arena_bytes, size_t stride);

/* Distance between operations in an arena. */
size_t lp_op_stride(size_t bytes);

#endif
