/* The sequence of requests that makes a record. How a block is timed is the worker's; what a loss means for the rest is run's. */
#include "control/measure.h"

#include "base/json.h"
#include "base/units.h"
#include "collectives/coll.h"
#include "control/blocks.h"
#include "control/edges.h"
#include "p2p/path.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOWEST_GBPS  0.5 /* below this a link is taken for stuck: sets the estimate for a first operation */
#define LIMIT_FACTOR  20.0
#define FIRST_CALL_US 2e6 /* NCCL connects at the first call of a kind */

/* Copies are warm when one takes as long as the last: clocks have risen, pages are mapped. */
#define WARM_SHARE  0.02
#define WARM_COPIES 10
#define WARM_MAX_US 500e3

#define ISOLATED_MOST ((size_t)20000) /* samples of a copy's latency */

struct run {
    struct lp_crew *crew;
    const struct lp_cell *cell;
    const struct lp_limits *limits;
    struct lp_record *record;
    struct lp_loss loss;
    double op_us; /* of one operation, slowest rank; first an estimate, then measured */
};

static json_t *request(const struct run *run, const char *what)
{
    json_t *ranks = json_array();

    for (int i = 0; i < lp_crew_size(run->crew); i++)
        json_array_append_new(ranks, json_integer(i));
    return json_pack("{s:s, s:i, s:o}", "do", what, "communicator", 0, "ranks", ranks);
}

/* max(least limit, 20 x what it should take). */
static int64_t limit_for(const struct run *run, double ops)
{
    double estimate_ns = LIMIT_FACTOR * (run->op_us * ops + FIRST_CALL_US / LIMIT_FACTOR) * 1e3 * run->limits->slowness;

    return estimate_ns > (double)run->limits->cell_ns ? (int64_t)estimate_ns : run->limits->cell_ns;
}

static bool ask_cell(struct run *run)
{
    json_t *replies[LP_MAX_RANKS], *ask = request(run, "cell");

    json_object_set_new(ask, "cell", lp_cell_to_json(run->cell));
    if (!lp_crew_ask(run->crew, ask, run->limits->cell_ns, replies, &run->loss))
        return false;
    run->record->rotated = lp_json_int(replies[0], "slots", 1) > 1;
    lp_replies_release(replies, lp_crew_size(run->crew));
    return true;
}

/* Answers that do not fit the question: a fault of the workers, and the end of their crew. */
static bool nonsense(struct run *run, const char *words)
{
    run->loss = (struct lp_loss){.kind = LP_LOSS_REPLY, .status = LP_ERR_FAILED, .rank = -1};
    snprintf(run->loss.reason, sizeof(run->loss.reason), "%s", words);
    lp_crew_give_up(run->crew);
    return false;
}

/* Samples of all workers, block by block the slowest, into record->samples_us; their number, 0 on an answer that does not fit. */
static size_t combine(struct run *run, json_t *const *replies, size_t n)
{
    int workers = lp_crew_size(run->crew);
    const double *lists[LP_MAX_RANKS];
    double *all = calloc((size_t)workers * n, sizeof(*all));
    bool fits = all != NULL;

    for (int w = 0; w < workers && fits; w++) {
        const json_t *samples = json_object_get(replies[w], "samples_us");

        fits = json_array_size(samples) == n;
        lists[w] = all + (size_t)w * n;
        for (size_t i = 0; i < n && fits; i++) {
            fits = json_is_number(json_array_get(samples, i)); /* NaN travels as null */
            all[(size_t)w * n + i] = json_number_value(json_array_get(samples, i));
        }
    }
    if (fits)
        lp_stats_max_over_ranks(lists, workers, n, run->record->samples_us);
    free(all);
    return fits ? n : 0;
}

/* n blocks of k operations. The samples are in the record afterwards. */
static bool ask_blocks(struct run *run, const char *purpose, int k, int n)
{
    json_t *replies[LP_MAX_RANKS], *ask = request(run, "blocks");
    size_t got;

    json_object_set_new(ask, "purpose", json_string(purpose));
    json_object_set_new(ask, "k", json_integer(k));
    json_object_set_new(ask, "n", json_integer(n));
    json_object_set_new(ask, "spans", json_boolean(run->cell->nedges > 1));
    if (!lp_crew_ask(run->crew, ask, limit_for(run, (double)k * n), replies, &run->loss))
        return false;
    got = combine(run, replies, (size_t)n);
    if (got && run->cell->nedges > 1 && !lp_edges_read(replies, lp_crew_size(run->crew), (size_t)n, k, run->record))
        got = 0;
    run->record->aligned = lp_json_bool(replies[0], "aligned", false);
    lp_replies_release(replies, lp_crew_size(run->crew));
    if (got)
        return true;
    return nonsense(run, "workers answered with other samples than asked for");
}

/* What the ranks found, into the record: an iteration is wrong when any rank has a wrong element in it. */
static void count_wrong(struct run *run, json_t *const *replies)
{
    struct lp_checked *checked = &run->record->checked;
    size_t iterations = json_array_size(json_object_get(replies[0], "wrong"));

    for (size_t i = 0; i < iterations; i++) {
        uint64_t sum = 0;

        for (int w = 0; w < lp_crew_size(run->crew); w++)
            sum += (uint64_t)json_integer_value(json_array_get(json_object_get(replies[w], "wrong"), i));
        checked->iterations++;
        checked->wrong_iterations += sum > 0;
        checked->wrong_elements += sum;
    }
    for (int w = 0; w < lp_crew_size(run->crew) && checked->first_rank < 0; w++)
        if (json_object_get(replies[w], "first_offset_bytes")) {
            checked->first_rank = w;
            checked->first_offset_bytes = (uint64_t)lp_json_int(replies[w], "first_offset_bytes", 0);
        }
}

static bool has_verdicts(const struct run *run, json_t *const *replies, size_t n)
{
    for (int w = 0; w < lp_crew_size(run->crew); w++)
        if (json_array_size(json_object_get(replies[w], "wrong")) != n)
            return false;
    return true;
}

/* mode: "prepare", "last", or NULL for n whole iterations. */
static bool ask_check(struct run *run, const char *mode, int n, uint32_t first)
{
    json_t *replies[LP_MAX_RANKS], *ask = request(run, "check");
    bool complete;

    json_object_set_new(ask, "first", json_integer(first));
    json_object_set_new(ask, "iterations", json_integer(n));
    if (mode)
        json_object_set_new(ask, mode, json_true());
    if (!lp_crew_ask(run->crew, ask, limit_for(run, n + 1.0), replies, &run->loss))
        return false;
    complete = has_verdicts(run, replies, mode ? (strcmp(mode, "last") == 0 ? 1 : 0) : (size_t)n);
    if (complete)
        count_wrong(run, replies);
    lp_replies_release(replies, lp_crew_size(run->crew));
    return complete || nonsense(run, "workers answered a check without a verdict on every iteration");
}

/* Until two copies in a row agree, or too many have not. */
static bool warm_up_copies(struct run *run)
{
    double last_us = 0.0, spent_us = 0.0;

    for (int i = 0; i < WARM_COPIES && spent_us < WARM_MAX_US; i++) {
        if (!ask_blocks(run, "warm up", 1, 1))
            return false;
        run->op_us = run->record->samples_us[0];
        spent_us += run->op_us;
        if (i > 0 && fabs(run->op_us - last_us) <= WARM_SHARE * last_us)
            break;
        last_us = run->op_us;
    }
    return true;
}

/* Warm-up in the mode that is timed; the last operation tells how long one takes. Isolated and copies have K = 1 blocks anyway. */
static bool warm_up(struct run *run)
{
    int n = run->cell->warmup > 0 ? run->cell->warmup : 1;

    if (run->cell->kind == LP_COPY && run->cell->warmup == 0)
        return warm_up_copies(run);
    if (n > LP_MAX_SAMPLES)
        n = LP_MAX_SAMPLES;
    if (!ask_blocks(run, "warm up", 1, n))
        return false;
    run->op_us = lp_median(run->record->samples_us + n / 2, (size_t)(n - n / 2));
    return true;
}

static bool check_before(struct run *run, uint32_t *iteration)
{
    uint32_t first = *iteration;

    if (run->cell->checks == 0)
        return true;
    *iteration += (uint32_t)run->cell->checks + 1;
    if (!ask_check(run, NULL, run->cell->checks, first))
        return false;
    return ask_check(run, "prepare", 0, first + (uint32_t)run->cell->checks);
}

static bool check_after(struct run *run, uint32_t *iteration)
{
    uint32_t timed = *iteration - 1, first = *iteration;

    if (run->cell->checks == 0)
        return true;
    *iteration += (uint32_t)run->cell->checks;
    if (run->cell->placement == LP_OUT_OF_PLACE && !ask_check(run, "last", 0, timed))
        return false;
    return ask_check(run, NULL, run->cell->checks, first);
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
static bool time_latency(struct run *run)
{
    struct lp_record *record = run->record;
    double *all = malloc((ISOLATED_MOST + LP_MAX_SAMPLES) * sizeof(*all)), left_us = run->limits->latency_us;
    bool good = all != NULL;
    size_t n = 0;
    int batch;

    record->ops_per_sample = 1;
    while (good && (batch = next_batch(run->op_us, left_us, n)) > 0) {
        good = ask_blocks(run, "time", 1, batch);
        for (int i = 0; i < batch && good; i++) {
            all[n++] = record->samples_us[i];
            left_us -= record->samples_us[i];
        }
    }
    if (good) {
        memcpy(record->samples_us, all, (n < LP_MAX_SAMPLES ? n : LP_MAX_SAMPLES) * sizeof(*all));
        lp_histogram_make(all, n, &record->histogram);
        good = lp_stats_summarise(all, n, &record->time_us) == LP_OK;
    }
    free(all);
    return good;
}

static bool time_blocks(struct run *run)
{
    struct lp_record *record = run->record;
    int k = lp_blocks_ops(run->cell->timing, run->cell->iters, run->op_us);
    int n = lp_blocks_batch(run->op_us * k, run->cell->kind == LP_COPY ? run->limits->copy_us : run->limits->budget_us);

    if (run->cell->kind == LP_COPY && run->cell->timing == LP_ISOLATED)
        return time_latency(run);
    record->ops_per_sample = k;
    if (!ask_blocks(run, "time", k, n))
        return false;
    return lp_stats_summarise(record->samples_us, (size_t)n, &record->time_us) == LP_OK;
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
static void add_outcome(struct run *run, bool good)
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
    struct run run = {.crew = crew, .cell = cell, .limits = limits, .record = out};
    int64_t since = lp_clock_now(clock);
    bool good;

    lp_record_begin(out, cell);
    out->crew = lp_crew_id(crew);
    snprintf(out->log, sizeof(out->log), "%s", lp_crew_log(crew, 0));
    run.op_us = (double)cell->requested_bytes / (SLOWEST_GBPS * 1e3);
    good = ask_cell(&run) && warm_up(&run);
    lap(clock, &since, &out->measure_s);
    good = good && check_before(&run, iteration);
    lap(clock, &since, &out->check_s);
    good = good && time_blocks(&run);
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
    struct run run = {.crew = crew, .cell = cell, .limits = limits, .record = &unused};

    memset(&unused, 0, sizeof(unused));
    run.op_us = (double)cell->requested_bytes / (SLOWEST_GBPS * 1e3);
    return ask_cell(&run) && ask_blocks(&run, "trace", 1, 1);
}
