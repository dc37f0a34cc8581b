/* The same-size baseline of a collective: what the link carries when it moves as many bytes in the same mode. Computes. */
#ifndef LP_JUDGE_SAME_SIZE_H
#define LP_JUDGE_SAME_SIZE_H

#include "model/result.h"

/*
 * GB/s per direction: the bytes that each link carries in the collective (its size x bus factor) by the time of the exchange of
 * as many, rounded to 16, in its timing mode. So busbw by this is the one time by the other. NaN where no such exchange
 * was measured and right.
 */
double lp_same_size_gbps(const struct lp_result *result, const struct lp_cell *collective, int nranks);

#endif
