/* The list of comparisons, Holm's procedure, and intervals that agree with it. */
#include "judge/verdict.h"

#include "base/json.h"
#include "judge/student.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *lp_call_name(enum lp_call call)
{
    static const char *const names[] = {[LP_NOT_JUDGED] = "not judged",
                                        [LP_NO_DIFFERENCE] = "no difference",
                                        [LP_CANDIDATE] = "candidate",
                                        [LP_BETTER] = "better",
                                        [LP_WORSE] = "worse"};

    return names[call];
}

/* ---- the list ---- */

/* The setting that asks for nothing but this algorithm, else the one of that name; 0: none. */
static size_t find_algorithm(const struct lp_crew_times *times, const char *algorithm)
{
    for (size_t i = 1; i < times->nsettings; i++)
        if (json_object_size(times->setting[i].env) == 1 &&
            strcasecmp(lp_json_str(times->setting[i].env, "NCCL_ALGO", ""), algorithm) == 0)
            return i;
    for (size_t i = 1; i < times->nsettings; i++)
        if (strcasecmp(times->setting[i].name, algorithm) == 0)
            return i;
    return 0;
}

static struct lp_verdict *add(struct lp_verdicts *out, enum lp_subject subject, size_t family, size_t spot, size_t setting)
{
    struct lp_verdict *verdict = &out->item[out->n++];

    *verdict = (struct lp_verdict){.subject = subject,
                                   .family = family,
                                   .spot = spot,
                                   .setting = setting,
                                   .reference = subject == LP_OF_RING ? out->ring : LP_DEFAULT_SETTING,
                                   .p = 1.0};
    verdict->claim.ratio = verdict->claim.low = verdict->claim.high = (double)NAN;
    return verdict;
}

/* What there is to say against judging; false: nothing. */
static bool is_excluded(const struct lp_crew_times *times, const struct lp_spot *spot, const struct lp_noise *noise,
                        struct lp_verdict *verdict)
{
    char *reason = verdict->claim.reason;
    size_t cap = sizeof(verdict->claim.reason), of = verdict->reference;

    if (spot->why[verdict->setting])
        snprintf(reason, cap, "%s", spot->why[verdict->setting]);
    else if (spot->why[of])
        snprintf(reason, cap, "%.48s: %.44s", times->setting[of].name, spot->why[of]);
    else if (verdict->contrast.rounds == 0)
        snprintf(reason, cap, "no round with both");
    else if (!isfinite(noise->variance))
        snprintf(reason, cap, "too few crews to tell noise");
    else
        return false;
    return true;
}

/* p of the comparison by itself; 1 where something else keeps it from being a claim. */
static double p_of(const struct lp_contrast *contrast)
{
    double away = fabs(contrast->effect);

    if (!contrast->agree || away <= contrast->clear || away < log1p(LP_JUDGE_FLOOR))
        return 1.0;
    return lp_student_tails(away / contrast->error, contrast->df);
}

/* Where crews agree there is more to be found, and t is right further out. Independent of effects, so that no choice is hidden in
 * it. */
static double weight_of(const struct lp_noise *noise)
{
    return fmin(1.0, LP_JUDGE_QUIET * LP_JUDGE_QUIET / noise->variance);
}

static void weigh(const struct lp_crew_times *times, const struct lp_spot *spot, const struct lp_noise *noise,
                  struct lp_verdict *verdict)
{
    lp_contrast_make(times, spot, noise, verdict->setting, verdict->reference, &verdict->contrast);
    if (is_excluded(times, spot, noise, verdict))
        return;
    verdict->claim.call = LP_NO_DIFFERENCE;
    verdict->claim.rounds = verdict->contrast.rounds;
    verdict->p = p_of(&verdict->contrast);
    verdict->weight = weight_of(noise);
}

static void weigh_cells(struct lp_verdicts *out)
{
    for (size_t f = 0; f < out->times.nfamilies; f++)
        for (size_t i = 0; i < out->times.family[f].nspots; i++)
            for (size_t s = 1; s < out->times.nsettings; s++)
                weigh(&out->times, &out->times.family[f].spot[i], &out->noise[f][i], add(out, LP_OF_CELL, f, i, s));
}

static void weigh_rings(struct lp_verdicts *out)
{
    for (size_t f = 0; f < out->times.nfamilies && out->ring && out->tree; f++)
        for (size_t i = 0; i < out->times.family[f].nspots; i++)
            weigh(&out->times, &out->times.family[f].spot[i], &out->noise[f][i], add(out, LP_OF_RING, f, i, out->tree));
}

bool lp_tensor_parallel(const struct lp_family *family, size_t *from, size_t *to)
{
    bool any = false;

    for (size_t i = 0; i < family->nspots; i++) {
        if (family->spot[i].bytes < LP_TENSOR_PARALLEL_LEAST || family->spot[i].bytes > LP_TENSOR_PARALLEL_MOST)
            continue;
        if (!any)
            *from = i;
        *to = i;
        any = true;
    }
    return any;
}

/* A mean over sizes with its noise. */
static enum lp_status make_mean(const struct lp_verdicts *verdicts, size_t family, size_t from, size_t to, struct lp_spot *spot,
                                struct lp_noise *noise)
{
    enum lp_status st = lp_spot_mean(&verdicts->times, &verdicts->times.family[family], from, to, spot);

    memset(noise, 0, sizeof(*noise));
    return st == LP_OK ? lp_noise_fit(&verdicts->times, spot, verdicts->far[family], noise) : st;
}

static enum lp_status weigh_means(struct lp_verdicts *out)
{
    enum lp_status st = LP_OK;

    for (size_t f = 0; f < out->times.nfamilies && st == LP_OK; f++) {
        struct lp_noise noise;
        struct lp_spot spot;
        size_t from = 0, to = 0;

        if (!lp_tensor_parallel(&out->times.family[f], &from, &to))
            continue;
        st = make_mean(out, f, from, to, &spot, &noise);
        for (size_t s = 1; s < out->times.nsettings && st == LP_OK; s++)
            weigh(&out->times, &spot, &noise, add(out, LP_OF_MEAN, f, 0, s));
        lp_noise_release(&noise);
        lp_spot_release(&spot);
    }
    return st;
}

/* ---- the sweep ---- */

static bool in_sweep(const struct lp_verdict *verdict)
{
    return verdict->claim.call != LP_NOT_JUDGED && verdict->claim.rounds >= LP_JUDGE_ROUNDS;
}

/* The share of LP_JUDGE_ALPHA that p would use up per weight: the smaller, the earlier its turn. */
static double strain(const struct lp_verdict *verdict)
{
    return -log1p(-verdict->p) / verdict->weight;
}

static int by_strain(const void *left, const void *right)
{
    double a = strain(*(struct lp_verdict *const *)left), b = strain(*(struct lp_verdict *const *)right);

    return (a > b) - (a < b);
}

/* Sidak's level of a comparison that has this weight among all that are left. */
static double sidak(double weight, double all)
{
    return -expm1(log1p(-LP_JUDGE_ALPHA) * weight / all);
}

/* What the effect may be off by, at this level, and by whatever else an effect must clear. */
static double half_width(const struct lp_contrast *contrast, double level)
{
    double half = contrast->error * lp_student_limit(level, contrast->df);

    half = fmax(half, fmax(contrast->clear, log1p(LP_JUDGE_FLOOR)));
    return contrast->agree ? half : fmax(half, fabs(contrast->effect));
}

static void fill_claim(const struct lp_contrast *contrast, double level, struct lp_claim *claim)
{
    double half = half_width(contrast, level);

    claim->ratio = exp(contrast->effect);
    claim->low = exp(contrast->effect - half);
    claim->high = exp(contrast->effect + half);
}

/* Claims in their turn, until one is none. */
static enum lp_status step_down(struct lp_verdicts *out)
{
    struct lp_verdict **order = calloc(out->n + 1, sizeof(*order));
    size_t claims = 0;

    if (!order)
        return LP_ERR_MEMORY;
    for (size_t i = 0; i < out->n; i++)
        if (in_sweep(&out->item[i])) {
            order[out->tests++] = &out->item[i];
            out->weight += out->item[i].weight;
        }
    qsort(order, out->tests, sizeof(*order), by_strain);
    while (claims < out->tests && order[claims]->p <= sidak(order[claims]->weight, out->weight)) {
        order[claims]->claim.call = order[claims]->contrast.effect > 0.0 ? LP_BETTER : LP_WORSE;
        out->weight -= claims + 1 < out->tests ? order[claims]->weight : 0.0;
        claims++;
    }
    free(order);
    return LP_OK;
}

/* The level of an interval: that of the last step; by itself where it is not one of many. */
static double level_of(const struct lp_verdicts *verdicts, double weight, int rounds)
{
    return rounds >= LP_JUDGE_ROUNDS && verdicts->tests ? sidak(fmin(weight, verdicts->weight), verdicts->weight) : LP_JUDGE_ALPHA;
}

static void finish(struct lp_verdicts *out)
{
    for (size_t i = 0; i < out->n; i++) {
        struct lp_verdict *verdict = &out->item[i];

        if (verdict->claim.call == LP_NOT_JUDGED)
            continue;
        if (!in_sweep(verdict) && verdict->p <= LP_JUDGE_ALPHA)
            verdict->claim.call = LP_CANDIDATE;
        fill_claim(&verdict->contrast, level_of(out, verdict->weight, verdict->claim.rounds), &verdict->claim);
    }
}

/* ---- the whole ---- */

static enum lp_status fit_family(struct lp_verdicts *out, size_t f)
{
    const struct lp_family *family = &out->times.family[f];
    enum lp_status st = LP_OK;

    out->far[f] = lp_noise_far(&out->times, family);
    out->noise[f] = calloc(family->nspots + 1, sizeof(*out->noise[f]));
    if (!out->far[f] || !out->noise[f])
        return LP_ERR_MEMORY;
    for (size_t i = 0; i < family->nspots && st == LP_OK; i++)
        st = lp_noise_fit(&out->times, &family->spot[i], out->far[f], &out->noise[f][i]);
    if (st == LP_OK)
        lp_noise_smooth(out->noise[f], family->nspots);
    return st;
}

/* Either placement shows whether a size has two modes. */
static void share_placements(struct lp_verdicts *out)
{
    for (size_t f = 0; f < out->times.nfamilies; f++)
        for (size_t k = f + 1; k < out->times.nfamilies; k++) {
            struct lp_cell like = *out->times.family[k].like;

            like.placement = out->times.family[f].like->placement;
            if (lp_cell_same_family(&like, out->times.family[f].like))
                lp_noise_share(&out->times.family[f], out->noise[f], &out->times.family[k], out->noise[k]);
        }
}

static enum lp_status prepare(struct lp_verdicts *out)
{
    size_t nfamilies = out->times.nfamilies, most = 0;
    enum lp_status st = LP_OK;

    for (size_t f = 0; f < nfamilies; f++)
        most += (out->times.family[f].nspots + 1) * (out->times.nsettings + 1);
    out->noise = calloc(nfamilies + 1, sizeof(*out->noise));
    out->far = calloc(nfamilies + 1, sizeof(*out->far));
    out->item = calloc(most + 1, sizeof(*out->item));
    if (!out->noise || !out->far || !out->item)
        return LP_ERR_MEMORY;
    for (size_t f = 0; f < nfamilies && st == LP_OK; f++)
        st = fit_family(out, f);
    if (st == LP_OK)
        share_placements(out);
    out->ring = find_algorithm(&out->times, "ring");
    out->tree = find_algorithm(&out->times, "tree");
    return st;
}

enum lp_status lp_verdicts_make(const struct lp_result *result, struct lp_verdicts *out)
{
    enum lp_status st;

    memset(out, 0, sizeof(*out));
    st = lp_crew_times_make(result, &out->times);
    if (st == LP_OK)
        st = prepare(out);
    if (st == LP_OK) {
        weigh_cells(out);
        st = weigh_means(out);
    }
    if (st == LP_OK) {
        weigh_rings(out);
        st = step_down(out);
    }
    if (st == LP_OK)
        finish(out);
    return st;
}

void lp_verdicts_release(struct lp_verdicts *verdicts)
{
    for (size_t f = 0; verdicts->noise && f < verdicts->times.nfamilies; f++) {
        for (size_t i = 0; verdicts->noise[f] && i < verdicts->times.family[f].nspots; i++)
            lp_noise_release(&verdicts->noise[f][i]);
        free(verdicts->noise[f]);
    }
    for (size_t f = 0; verdicts->far && f < verdicts->times.nfamilies; f++)
        free(verdicts->far[f]);
    free(verdicts->noise);
    free(verdicts->far);
    free(verdicts->item);
    lp_crew_times_release(&verdicts->times);
    memset(verdicts, 0, sizeof(*verdicts));
}

/* How many cells there are before the family's: they come first, by family, spot and setting. */
static size_t cells_before(const struct lp_verdicts *verdicts, size_t family)
{
    size_t n = 0;

    for (size_t f = 0; f < family; f++)
        n += verdicts->times.family[f].nspots * (verdicts->times.nsettings - 1);
    return n;
}

const struct lp_verdict *lp_verdicts_find(const struct lp_verdicts *verdicts, enum lp_subject subject, size_t family, size_t spot,
                                          size_t setting)
{
    if (subject == LP_OF_CELL)
        return &verdicts->item[cells_before(verdicts, family) + spot * (verdicts->times.nsettings - 1) + setting - 1];
    for (size_t i = cells_before(verdicts, verdicts->times.nfamilies); i < verdicts->n; i++) {
        const struct lp_verdict *verdict = &verdicts->item[i];

        if (verdict->subject == subject && verdict->family == family &&
            (subject == LP_OF_MEAN ? verdict->setting == setting : verdict->spot == spot))
            return verdict;
    }
    return NULL;
}

enum lp_status lp_verdicts_range(const struct lp_verdicts *verdicts, size_t family, size_t from, size_t to, size_t setting,
                                 size_t reference, struct lp_claim *out)
{
    struct lp_contrast contrast;
    struct lp_noise noise;
    struct lp_spot spot;
    enum lp_status st = make_mean(verdicts, family, from, to, &spot, &noise);

    *out = (struct lp_claim){.ratio = (double)NAN, .low = (double)NAN, .high = (double)NAN};
    if (st == LP_OK && isfinite(noise.variance)) {
        lp_contrast_make(&verdicts->times, &spot, &noise, setting, reference, &contrast);
        out->rounds = contrast.rounds;
        if (contrast.rounds)
            fill_claim(&contrast, level_of(verdicts, weight_of(&noise), contrast.rounds), out);
    }
    lp_noise_release(&noise);
    lp_spot_release(&spot);
    return st;
}

double lp_verdicts_noise_percent(const struct lp_verdicts *verdicts, size_t family, size_t spot)
{
    const struct lp_noise *noise = &verdicts->noise[family][spot];
    struct lp_contrast blank;

    lp_contrast_blank(&verdicts->times, &verdicts->times.family[family].spot[spot], noise, &blank);
    if (blank.rounds == 0 || !isfinite(noise->variance))
        return (double)NAN;
    return 100.0 * expm1(half_width(&blank, level_of(verdicts, weight_of(noise), blank.rounds)));
}
