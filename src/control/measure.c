/* The sequence of requests that makes a record. How a block is timed is the worker's; what a loss means for the rest is run's. */
#include "control/measure_parts.h"

#include "base/units.h"
#include "collectives/coll.h"
#include "p2p/path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLOWEST_GBPS 0.5 /* below this a link is taken for stuck: sets the estimate for a first operation */

static bool check_before(struct lp_measuring *run, uint32_t *iteration)
{
    uint32_t first = *iteration;

    if (run->cell->checks == 0)
        return true;
    *iteration += (uint32_t)run->cell->checks + 1;
    if (!lp_ask_check(run, NULL, run->cell->checks, first))
        return false;
    return lp_ask_check(run, "prepare", 0, first + (uint32_t)run->cell->checks);
}

static bool check_after(struct lp_measuring *run, uint32_t *iteration)
{
    uint32_t timed = *iteration - 1, first = *iteration;

    if (run->cell->checks == 0)
        return true;
    *iteration += (uint32_t)run->cell->checks;
    if (run->cell->placement == LP_OUT_OF_PLACE && !lp_ask_check(run, "last", 0, timed))
        return false;
    return lp_ask_check(run, NULL, run->cell->checks, first);
}

static void forget_rates(struct lp_record *record)
{
    record->sum_gbps = (double)NAN;
    for (int i = 0; i < record->cell.nedges; i++)
        record->edge_gbps[i] = (double)NAN;
}

/* Bytes a second, or the time of a step where the path only has that. */
static void add_copy_figures(struct lp_record *record)
{
    const struct lp_path *path = lp_path_find(record->cell.op);
    bool latency = path && path->flags & LP_PATH_LATENCY;

    if (latency) {
        record->latency_us = record->time_us.median / path->steps;
        forget_rates(record);
        return;
    }
    record->algbw_gbps = lp_gbps((double)record->cell.size_bytes, record->time_us.median);
    if (record->cell.nedges == 1)
        record->latency_us = record->time_us.median;
}

static void add_bandwidth(struct lp_record *record, int nranks)
{
    const struct lp_coll *coll = record->cell.kind == LP_COLLECTIVE ? lp_coll_find(record->cell.op) : NULL;

    if (record->cell.kind == LP_COPY) {
        add_copy_figures(record);
        return;
    }
    record->algbw_gbps = lp_gbps((double)record->cell.size_bytes, record->time_us.median);
    if (coll && nranks > 1)
        record->busbw_gbps = record->algbw_gbps * coll->bus_factor(nranks);
}

enum lp_outcome lp_outcome_of_loss(const struct lp_loss *loss)
{
    if (loss->kind == LP_LOSS_HANG)
        return LP_HANG;
    if (loss->kind == LP_LOSS_CRASH)
        return LP_CRASH;
    if (loss->status == LP_ERR_MEMORY)
        return LP_SKIPPED;
    return loss->status == LP_ERR_UNSUPPORTED ? LP_UNSUPPORTED : LP_FAILED;
}

/* Wrong data wins over what happened afterwards: it is the worse news, and the exit code follows the outcome. */
static void add_outcome(struct lp_measuring *run, bool good)
{
    struct lp_record *record = run->record;
    const struct lp_checked *checked = &record->checked;

    record->outcome = good ? LP_DONE : lp_outcome_of_loss(&run->loss);
    snprintf(record->reason, sizeof(record->reason), "%s", good ? "" : run->loss.reason);
    if (record->time_us.n == 0) { /* what there is of rates is a warm-up's */
        forget_rates(record);
        record->overlap = (double)NAN;
    }
    if (checked->wrong_iterations == 0)
        return;
    record->outcome = LP_WRONG;
    snprintf(record->reason, sizeof(record->reason),
             "wrong data in %d of %d checked iterations, %llu elements, first on rank %d at byte %llu%s%.200s",
             checked->wrong_iterations, checked->iterations, (unsigned long long)checked->wrong_elements, checked->first_rank,
             (unsigned long long)checked->first_offset_bytes, good ? "" : "; then: ", good ? "" : run->loss.reason);
}

/* Adds the time since *since to the cell's seconds, and starts anew. */
static void lap(const struct lp_clock *clock, int64_t *since, double *seconds)
{
    int64_t now = lp_clock_now(clock);

    *seconds += (double)(now - *since) / 1e9;
    *since = now;
}

bool lp_measure_cell(struct lp_crew *crew, const struct lp_clock *clock, const struct lp_cell *cell, const struct lp_limits *limits,
                     uint32_t *iteration, struct lp_seconds *seconds, struct lp_record *out)
{
    struct lp_measuring run = {.crew = crew, .cell = cell, .limits = limits, .record = out};
    int64_t since = lp_clock_now(clock);
    bool good;

    lp_record_begin(out, cell);
    out->crew = lp_crew_id(crew);
    snprintf(out->log, sizeof(out->log), "%s", lp_crew_log(crew, 0));
    run.op_us = (double)cell->requested_bytes / (SLOWEST_GBPS * 1e3);
    good = lp_ask_cell(&run) && lp_warm_up(&run);
    lap(clock, &since, &out->measure_s);
    good = good && check_before(&run, iteration);
    lap(clock, &since, &out->check_s);
    good = good && lp_time_cell(&run);
    lap(clock, &since, &out->measure_s);
    if (good)
        add_bandwidth(out, lp_crew_size(crew));
    good = good && check_after(&run, iteration);
    lap(clock, &since, &out->check_s);
    seconds->measure += out->measure_s;
    seconds->check += out->check_s;
    add_outcome(&run, good);
    return run.loss.kind != LP_LOSS_SIGNAL && run.loss.kind != LP_LOSS_AGENT;
}

bool lp_measure_once(struct lp_crew *crew, const struct lp_cell *cell, const struct lp_limits *limits)
{
    struct lp_record unused;
    struct lp_measuring run = {.crew = crew, .cell = cell, .limits = limits, .record = &unused};

    memset(&unused, 0, sizeof(unused));
    run.op_us = (double)cell->requested_bytes / (SLOWEST_GBPS * 1e3);
    return lp_ask_cell(&run) && lp_ask_blocks(&run, "trace", 1, 1, unused.samples_us);
}
