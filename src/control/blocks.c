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
#define FIRST_SHARE   (1.0 / 3.0) /* of the budget, for the first batch */
#define SETTLED       0.01        /* half of the median's interval, as a share of it */

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

static bool is_settled(const struct lp_stats *stats)
{
    return (stats->ci95_high - stats->ci95_low) / 2.0 <= SETTLED * stats->median;
}

int lp_blocks_next(double block_us, double budget_us, const struct lp_stats *so_far)
{
    double left_us = budget_us - (so_far ? block_us * (double)so_far->n : 0.0), blocks;

    if (so_far && (block_us > SLOW_BLOCK_US || so_far->n >= LP_MAX_SAMPLES || left_us < block_us || is_settled(so_far)))
        return 0;
    if (!so_far && block_us > SLOW_BLOCK_US)
        return SLOW_BATCH;
    blocks = block_us > 0.0 ? (so_far ? left_us : budget_us * FIRST_SHARE) / block_us : BATCH_MAX;
    if (!so_far && !(blocks > BATCH_MIN))
        return BATCH_MIN;
    return blocks > BATCH_MAX ? BATCH_MAX : (int)blocks;
}
