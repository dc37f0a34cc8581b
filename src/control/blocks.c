/* The sizes of blocks and batches. */
#include "control/blocks.h"

#include <math.h>

#define BLOCK_US      1000.0 /* event resolution is half a microsecond: 0.1 % of this */
#define BLOCK_MAX_US  20e3
#define OPS_MIN       4 /* the first operation of a block starts cold: at most a quarter of the sample */
#define OPS_MAX       64
#define BATCH_MIN     8
#define BATCH_MAX     64
#define SLOW_BLOCK_US 50e3
#define SLOW_BATCH    3

int lp_blocks_ops(enum lp_timing timing, int fixed, double op_us)
{
    double ops;

    if (timing == LP_ISOLATED)
        return 1;
    if (fixed > 0)
        return fixed;
    if (!(op_us > 0.0))
        return 1;
    ops = ceil(BLOCK_US / op_us);
    if (ops < OPS_MIN)
        ops = fmax(1.0, fmin(OPS_MIN, floor(BLOCK_MAX_US / op_us)));
    return ops > OPS_MAX ? OPS_MAX : ops < 1.0 ? 1 : (int)ops;
}

int lp_blocks_batch(double block_us, double budget_us)
{
    double blocks = block_us > 0.0 ? budget_us / block_us : BATCH_MAX;

    if (block_us > SLOW_BLOCK_US)
        return SLOW_BATCH;
    return blocks > BATCH_MAX ? BATCH_MAX : blocks < BATCH_MIN ? BATCH_MIN : (int)blocks;
}
