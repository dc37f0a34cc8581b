/* How many operations and blocks a cell gets. Pure arithmetic. */
#ifndef LP_CONTROL_BLOCKS_H
#define LP_CONTROL_BLOCKS_H

#include "model/cell.h"

/*
 * K, the operations of one block, from the time of one (microseconds, slowest rank): as many as make a block last about a
 * millisecond, up to 64 (a copy engine's queue and a graph stay short), and at least 4 as long as those stay below 20 ms. fixed > 0
 * is the user's -n; isolated is always 1.
 */
int lp_blocks_ops(enum lp_timing timing, int fixed, double op_us);

/* Blocks of one batch: what fits into budget_us, from 8 (3 for operations of over 50 ms) to 64. */
int lp_blocks_batch(double block_us, double budget_us);

#endif
