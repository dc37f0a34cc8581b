/*
 * The judge: which settings are really faster than default in this sweep, and what follows. From records and head only; how it
 * decides is in judge/verdict.h, contrast.h and noise.h, what may take part in crew_times.h. Deterministic.
 */
#ifndef LP_JUDGE_JUDGE_H
#define LP_JUDGE_JUDGE_H

#include "judge/advise.h"

struct lp_judgement {
    struct lp_verdicts verdicts;
    struct lp_ranges winners, rings, p2p;
    struct lp_crossovers crossovers;
    struct lp_advices advices;
};

/* Judges the result, which must outlive it. LP_ERR_MEMORY; release in any case. */
enum lp_status lp_judgement_make(const struct lp_result *result, struct lp_judgement *out);
void lp_judgement_release(struct lp_judgement *judgement);

/* With fewer rounds there are only candidates. */
bool lp_judgement_claims(const struct lp_judgement *judgement);

/* On a variant against default, in the cell like this one; NULL for default itself and for a cell that is not in the result. */
const struct lp_claim *lp_judgement_find(const struct lp_judgement *judgement, const struct lp_cell *cell, const char *variant);

/* Differences to default up to this many percent are noise in such a cell; NaN: not known. */
double lp_judgement_noise_percent(const struct lp_judgement *judgement, const struct lp_cell *cell);

/*
 * What is best in such a cell: the winner's name, "default" where others are only worse, "no difference", or "not judged". Valid as
 * long as the judgement.
 */
const char *lp_judgement_best(const struct lp_judgement *judgement, const struct lp_cell *cell);

/*
 * head.judgement: {rounds, claims, method {name, alpha, comparisons, level, floor, least_rounds}, excluded, advice, winners,
 * ring_tree, crossovers, p2p, tensor_parallel, cells [{collective ..., sizes [{requested_bytes, noise_percent, verdicts [{variant,
 * rounds, verdict, ratio, low, high, reason}]}]}]}. A ratio is the reference's time by the variant's, above 1 is faster; null where
 * not judged. New reference; JSON's null when memory is out.
 */
json_t *lp_judge_json(const struct lp_result *result);

#endif
