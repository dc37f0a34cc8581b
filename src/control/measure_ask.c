/* What is asked of the workers for a cell, and how their answers are put together. The order of the questions is measure's. */
#include "control/measure_parts.h"

#include "base/json.h"
#include "control/edges.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_FACTOR  20.0
#define FIRST_CALL_US 2e6 /* NCCL connects at the first call of a kind */

static json_t *request(const struct lp_measuring *run, const char *what)
{
    json_t *ranks = json_array();

    for (int i = 0; i < lp_crew_size(run->crew); i++)
        json_array_append_new(ranks, json_integer(i));
    return json_pack("{s:s, s:i, s:o}", "do", what, "communicator", 0, "ranks", ranks);
}

/* max(least limit, 20 x what it should take). */
static int64_t limit_for(const struct lp_measuring *run, double ops)
{
    double estimate_ns = LIMIT_FACTOR * (run->op_us * ops + FIRST_CALL_US / LIMIT_FACTOR) * 1e3 * run->limits->slowness;

    return estimate_ns > (double)run->limits->cell_ns ? (int64_t)estimate_ns : run->limits->cell_ns;
}

bool lp_ask_cell(struct lp_measuring *run)
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
static bool nonsense(struct lp_measuring *run, const char *words)
{
    run->loss = (struct lp_loss){.kind = LP_LOSS_REPLY, .status = LP_ERR_FAILED, .rank = -1};
    snprintf(run->loss.reason, sizeof(run->loss.reason), "%s", words);
    lp_crew_give_up(run->crew);
    return false;
}

/* Samples of all workers, block by block the slowest; their number, 0 on an answer that does not fit. */
static size_t combine(struct lp_measuring *run, json_t *const *replies, size_t n, double *samples_us)
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
        lp_stats_max_over_ranks(lists, workers, n, samples_us);
    free(all);
    return fits ? n : 0;
}

/* Copies that are let go together have a rate each. In the modes of collectives there is one, of the slowest. */
static bool has_spans(const struct lp_cell *cell)
{
    return cell->nedges > 1 && cell->timing == LP_QUEUED;
}

bool lp_ask_blocks(struct lp_measuring *run, const char *purpose, int k, int n, double *samples_us)
{
    json_t *replies[LP_MAX_RANKS], *ask = request(run, "blocks");
    size_t got;

    json_object_set_new(ask, "purpose", json_string(purpose));
    json_object_set_new(ask, "k", json_integer(k));
    json_object_set_new(ask, "n", json_integer(n));
    json_object_set_new(ask, "spans", json_boolean(has_spans(run->cell)));
    if (!lp_crew_ask(run->crew, ask, limit_for(run, (double)k * n), replies, &run->loss))
        return false;
    got = combine(run, replies, (size_t)n, samples_us);
    if (got && has_spans(run->cell) && !lp_edges_read(replies, lp_crew_size(run->crew), (size_t)n, k, run->record))
        got = 0;
    run->record->aligned = lp_json_bool(replies[0], "aligned", false);
    lp_replies_release(replies, lp_crew_size(run->crew));
    if (got)
        return true;
    return nonsense(run, "workers answered with other samples than asked for");
}

/* What the ranks found, into the record: an iteration is wrong when any rank has a wrong element in it. */
static void count_wrong(struct lp_measuring *run, json_t *const *replies)
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

static bool has_verdicts(const struct lp_measuring *run, json_t *const *replies, size_t n)
{
    for (int w = 0; w < lp_crew_size(run->crew); w++)
        if (json_array_size(json_object_get(replies[w], "wrong")) != n)
            return false;
    return true;
}

bool lp_ask_check(struct lp_measuring *run, const char *mode, int n, uint32_t first)
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
