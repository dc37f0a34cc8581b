/* Summaries of samples. Order statistics only: a mean hides a bad tail. */
#ifndef LP_MODEL_STATS_H
#define LP_MODEL_STATS_H

#include "base/status.h"

#include <stddef.h>

/* Fewest samples for an interval of the median, and for a p99; below them the members are NaN. */
#define LP_MIN_INTERVAL 6
#define LP_MIN_P99      100

struct lp_stats {
    double median, p10, p90, p99, min, max; /* microseconds */
    double ci95_low, ci95_high;             /* distribution-free interval of the median */
    size_t n;
};

/*
 * Summarise n times in microseconds, one per block, already combined over ranks. The array stays the caller's and
 * keeps its order. Percentiles are nearest-rank; the median of an even number is the mean of the middle two. The
 * interval is the pair of order statistics whose binomial coverage of the median is at least 95 %.
 * LP_ERR_ARG for n == 0; out is written only on LP_OK.
 */
enum lp_status lp_stats_summarise(const double *time_us, size_t n, struct lp_stats *out);

/*
 * Combine one cell's blocks over ranks: out[i] = max over ranks of time_us[rank][i]. An operation is over when the last
 * rank has it.
 */
void lp_stats_max_over_ranks(const double *const *time_us, int nranks, size_t n, double *out);

/* Median of n values without the rest; NaN for n == 0. The array keeps its order. */
double lp_median(const double *values, size_t n);

#endif
