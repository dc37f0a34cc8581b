/*
 * Where a worker is, for a hang report. The main thread writes it as it goes, the control thread reads it when the main one
 * is blocked; plain atomics, so that nothing waits and nothing of it is felt between start and stop.
 */
#ifndef LP_WORKER_WHERE_H
#define LP_WORKER_WHERE_H

#include <stdatomic.h>

struct lp_where {
    _Atomic(const char *) step; /* a string constant: "waiting for the device" */
    atomic_int block, blocks;   /* of the request in hand; blocks 0: no blocks are being timed */
};

/* where may be NULL. */
static inline void lp_where_step(struct lp_where *where, const char *step)
{
    if (where)
        atomic_store_explicit(&where->step, step, memory_order_relaxed);
}

static inline void lp_where_block(struct lp_where *where, int block, int blocks)
{
    if (!where)
        return;
    atomic_store_explicit(&where->block, block, memory_order_relaxed);
    atomic_store_explicit(&where->blocks, blocks, memory_order_relaxed);
}

#endif
