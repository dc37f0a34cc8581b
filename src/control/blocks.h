/* How many operations and blocks a cell gets. Pure arithmetic. */
#ifndef LP_CONTROL_BLOCKS_H
#define LP_CONTROL_BLOCKS_H

#include "model/record.h"

/*
 * K, the operations of one block, from the time of one (microseconds, slowest rank): as many as make a block last about a
 * millisecond, up to 64 (a copy engine's queue and a graph stay short), and at least 4 as long as those stay below 20 ms. fixed > 0
 * is the user's -n; isolated is always 1.
 */
int lp_blocks_ops(enum lp_timing timing, int fixed, double op_us);

/*
 * Blocks of the next batch: of the first (so_far NULL) a third of the budget, from 8 (3 for blocks of over 50 ms) to 64; then what
 * is left of it, unless the median's interval is within 1 % of the median to either side. 0: enough.
 */
int lp_blocks_next(double block_us, double budget_us, const struct lp_stats *so_far);

#endif
