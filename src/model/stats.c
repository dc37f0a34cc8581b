/* Order statistics of samples. */
#include "model/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double *sorted_copy(const double *values, size_t n)
{
    double *sorted = malloc(n * sizeof(*sorted));

    if (!sorted)
        return NULL;
    memcpy(sorted, values, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), ascending);
    return sorted;
}

/* Nearest rank: the smallest value with at least p of the samples at or below it. */
static double percentile(const double *sorted, size_t n, double p)
{
    size_t rank = (size_t)ceil(p * (double)n);

    return sorted[rank > 0 ? rank - 1 : 0];
}

static double middle(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0;
}

/*
 * Largest k for which P(Binomial(n, 1/2) < k) <= 2.5 %: then the k-th smallest and k-th largest samples enclose the
 * median with at least 95 % (the sign test's interval; needs no shape of the distribution). 0 when n is too small.
 */
static size_t interval_rank(size_t n)
{
    double term = pow(0.5, (double)n), below = 0.0;
    size_t k = 0;

    while (k < n / 2) {
        below += term; /* P(X <= k) */
        if (below > 0.025)
            break;
        term *= (double)(n - k) / (double)(k + 1);
        k++;
    }
    return k;
}

enum lp_status lp_stats_summarise(const double *time_us, size_t n, struct lp_stats *out)
{
    double *sorted;
    size_t k;

    if (n == 0)
        return LP_ERR_ARG;
    sorted = sorted_copy(time_us, n);
    if (!sorted)
        return LP_ERR_MEMORY;
    k = n >= LP_MIN_INTERVAL ? interval_rank(n) : 0;
    *out = (struct lp_stats){
        .median = middle(sorted, n),
        .p10 = percentile(sorted, n, 0.10),
        .p90 = percentile(sorted, n, 0.90),
        .p99 = n >= LP_MIN_P99 ? percentile(sorted, n, 0.99) : (double)NAN,
        .min = sorted[0],
        .max = sorted[n - 1],
        .ci95_low = k ? sorted[k - 1] : (double)NAN,
        .ci95_high = k ? sorted[n - k] : (double)NAN,
        .n = n,
    };
    free(sorted);
    return LP_OK;
}

void lp_stats_max_over_ranks(const double *const *time_us, int nranks, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = time_us[0][i];
        for (int r = 1; r < nranks; r++)
            if (time_us[r][i] > out[i])
                out[i] = time_us[r][i];
    }
}

double lp_median(const double *values, size_t n)
{
    double *sorted = n ? sorted_copy(values, n) : NULL;
    double median;

    if (!sorted)
        return (double)NAN;
    median = middle(sorted, n);
    free(sorted);
    return median;
}
