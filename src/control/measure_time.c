/* Warming up and timing: how many operations and blocks a cell gets, from what it showed so far. */
#include "control/measure_parts.h"

#include "control/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies are warm when one takes as long as the last: clocks have risen, pages are mapped. */
#define WARM_SHARE  0.02
#define WARM_COPIES 10
#define WARM_MAX_US 500e3

#define ISOLATED_MOST ((size_t)20000) /* samples of a copy's latency */

/* Until two copies in a row agree, or too many have not. */
static bool warm_up_copies(struct lp_measuring *run)
{
    double last_us = 0.0, spent_us = 0.0;

    for (int i = 0; i < WARM_COPIES && spent_us < WARM_MAX_US; i++) {
        if (!lp_ask_blocks(run, "warm up", 1, 1, &run->op_us))
            return false;
        spent_us += run->op_us;
        if (i > 0 && fabs(run->op_us - last_us) <= WARM_SHARE * last_us)
            break;
        last_us = run->op_us;
    }
    return true;
}

/* Warm-up in the mode that is timed; the last operation tells how long one takes. Isolated and copies have K = 1 blocks anyway. */
bool lp_warm_up(struct lp_measuring *run)
{
    int n = run->cell->warmup > 0 ? run->cell->warmup : 1;

    if (run->cell->kind == LP_COPY && run->cell->warmup == 0)
        return warm_up_copies(run);
    if (n > LP_MAX_SAMPLES)
        n = LP_MAX_SAMPLES;
    if (!lp_ask_blocks(run, "warm up", 1, n, run->record->samples_us))
        return false;
    run->op_us = lp_median(run->record->samples_us + n / 2, (size_t)(n - n / 2));
    return true;
}

/* What is left of `want` samples and of the budget, as one request; 0: enough. */
static int next_batch(double op_us, double left_us, size_t have)
{
    double fit = op_us > 0.0 ? left_us / op_us : LP_MAX_SAMPLES, most = fmin(LP_MAX_SAMPLES, (double)(ISOLATED_MOST - have));

    if (most < 1.0 || (have > 0 && fit < 1.0))
        return 0;
    return (int)fmin(fmax(fit, LP_MIN_INTERVAL), most);
}

/* A copy's latency has a tail: as many samples as the budget gives, all of them in summary and histogram, the first ones kept. */
static bool time_latency(struct lp_measuring *run)
{
    struct lp_record *record = run->record;
    double *all = malloc((ISOLATED_MOST + LP_MAX_SAMPLES) * sizeof(*all)), left_us = run->limits->latency_us;
    bool good = all != NULL;
    size_t n = 0;
    int batch;

    record->ops_per_sample = 1;
    while (good && (batch = next_batch(run->op_us, left_us, n)) > 0) {
        good = lp_ask_blocks(run, "time", 1, batch, all + n);
        for (int i = 0; i < batch && good; i++)
            left_us -= all[n++];
    }
    if (good) {
        memcpy(record->samples_us, all, (n < LP_MAX_SAMPLES ? n : LP_MAX_SAMPLES) * sizeof(*all));
        lp_histogram_make(all, n, &record->histogram);
        good = lp_stats_summarise(all, n, &record->time_us) == LP_OK;
    }
    free(all);
    return good;
}

/*
 * In batches until the median is known to 1 %, or the budget is spent: steady cells, which most are, cost a third of it. A cell
 * that is not steady keeps its spread in the record.
 */
static bool time_blocks(struct lp_measuring *run, double budget_us)
{
    struct lp_record *record = run->record;
    int k = lp_blocks_ops(run->cell->timing, run->cell->iters, run->op_us), batch;
    double block_us = run->op_us * k;
    size_t n = 0;

    record->ops_per_sample = k;
    while ((batch = lp_blocks_next(block_us, budget_us, n ? &record->time_us : NULL)) > 0) {
        if (batch > (int)(LP_MAX_SAMPLES - n))
            batch = (int)(LP_MAX_SAMPLES - n);
        if (!lp_ask_blocks(run, "time", k, batch, record->samples_us + n)) {
            record->time_us = (struct lp_stats){.n = 0}; /* a part is no figure */
            return false;
        }
        n += (size_t)batch;
        if (lp_stats_summarise(record->samples_us, n, &record->time_us) != LP_OK)
            return false;
    }
    return true;
}

bool lp_time_cell(struct lp_measuring *run)
{
    bool copy = run->cell->kind == LP_COPY;

    if (copy && run->cell->timing == LP_ISOLATED && run->cell->nedges == 1) /* a ring's time is only compared with a collective's */
        return time_latency(run);
    return time_blocks(run, copy ? run->limits->copy_us : run->limits->budget_us);
}
