/*
 * Which differences of a sweep are real. One list of comparisons for the whole sweep, so that identical settings give no claim
 * anywhere in at least 95 of 100 sweeps.
 *
 * Comparisons: every variant with default in every cell; every variant with default over the tensor-parallel sizes, as a geometric
 * mean; Ring with Tree in every cell. Each has an effect and a two-sided p of Student's t (judge/contrast.h). p counts as 1 if the
 * effect is below LP_JUDGE_FLOOR, does not clear what single crews are off by, or has not the same sign in every round.
 *
 * They are taken together by Holm's step-down procedure with weights and Sidak's levels (Holm 1979; Sidak 1967). A comparison's
 * weight is w = min(1, LP_JUDGE_QUIET^2 / variance): less is spent on cells whose crews differ by many percent, where little can be
 * found and where t is least to be trusted. Weights that depend on the noise but not on the effects are allowed (Genovese, Roeder
 * and Wasserman 2006). The comparison with the smallest -log(1 - p) / w has its turn first: it is a claim if p <= 1 - (1 -
 * LP_JUDGE_ALPHA)^(w / W), W being the weight of all whose turn has not been; the first that is none ends it.
 *
 * With fewer than LP_JUDGE_ROUNDS rounds that both have, a difference is at best a candidate: p by itself, not as one of many, is
 * at most LP_JUDGE_ALPHA; how many candidates are wrong is not controlled.
 *
 * Intervals are at the level of the last step, so that they hold together, and are widened by whatever else keeps a difference from
 * being a claim: a claim's interval never holds 1, that of "no difference" always does.
 */
#ifndef LP_JUDGE_VERDICT_H
#define LP_JUDGE_VERDICT_H

#include "judge/contrast.h"

#define LP_JUDGE_ALPHA  0.05
#define LP_JUDGE_FLOOR  0.005 /* below this a difference is none that matters, however well it is known */
#define LP_JUDGE_QUIET  0.01  /* crews that agree this well have full weight */
#define LP_JUDGE_ROUNDS 3

#define LP_TENSOR_PARALLEL_LEAST ((size_t)8 << 10)
#define LP_TENSOR_PARALLEL_MOST  ((size_t)64 << 20)

enum lp_call { LP_NOT_JUDGED, LP_NO_DIFFERENCE, LP_CANDIDATE, LP_BETTER, LP_WORSE };

const char *lp_call_name(enum lp_call call); /* "not judged", "no difference", "candidate", "better", "worse" */

/* A ratio of times with what it is taken for. All NaN where not judged. */
struct lp_claim {
    enum lp_call call;
    double ratio, low, high; /* time of the reference / time of the setting: above 1 the setting is faster */
    int rounds;
    char reason[96]; /* why not judged; else "" */
};

enum lp_subject { LP_OF_CELL, LP_OF_MEAN, LP_OF_RING };

struct lp_verdict {
    enum lp_subject subject;
    size_t family;
    size_t spot; /* of LP_OF_MEAN: none */
    size_t setting, reference;
    struct lp_claim claim;
    struct lp_contrast contrast;
    double p, weight;
};

/* Everything that is needed to judge, and the verdicts. */
struct lp_verdicts {
    struct lp_crew_times times;
    struct lp_noise **noise; /* per family and spot */
    bool **far;              /* per family and setting */
    struct lp_verdict *item; /* of cells first, by family, spot, setting; then means; then rings */
    size_t n;
    size_t tests;      /* comparisons that were judged together */
    double weight;     /* of those that were left at the last step, all together */
    size_t ring, tree; /* settings; 0: there is none */
};

/* Borrows the result. LP_ERR_MEMORY; release in any case. */
enum lp_status lp_verdicts_make(const struct lp_result *result, struct lp_verdicts *out);
void lp_verdicts_release(struct lp_verdicts *verdicts);

/*
 * The verdict on a setting (not default) against default, in one cell or over the tensor-parallel sizes (spot is not looked at); or
 * on Tree against Ring in one cell (setting is not looked at). NULL: none; never for a cell.
 */
const struct lp_verdict *lp_verdicts_find(const struct lp_verdicts *verdicts, enum lp_subject subject, size_t family, size_t spot,
                                          size_t setting);

/* The mean over spots from to to of a family as one ratio with its interval, after all has been judged; it makes no claim.
 * LP_ERR_MEMORY. */
enum lp_status lp_verdicts_range(const struct lp_verdicts *verdicts, size_t family, size_t from, size_t to, size_t setting,
                                 size_t reference, struct lp_claim *out);

/* Sizes of a family from 8 KiB to 64 MiB; false: none. */
bool lp_tensor_parallel(const struct lp_family *family, size_t *from, size_t *to);

/* Differences to default up to this many percent are noise at the spot; NaN: not known. */
double lp_verdicts_noise_percent(const struct lp_verdicts *verdicts, size_t family, size_t spot);

#endif
