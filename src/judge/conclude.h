/* What the verdicts of single cells come to: ranges of sizes, winners, crossovers. Computes; words are the views' and advise's. */
#ifndef LP_JUDGE_CONCLUDE_H
#define LP_JUDGE_CONCLUDE_H

#include "judge/verdict.h"

/*
 * Neighbouring sizes of one family for which the same holds. The ratio is that of their geometric means; its interval is at the
 * sweep's level, and agrees with the call.
 */
struct lp_range {
    size_t family, from, to; /* spots */
    size_t setting, reference;
    struct lp_claim claim;
};

struct lp_ranges {
    struct lp_range *item;
    size_t n;
};

void lp_ranges_release(struct lp_ranges *ranges);

/*
 * Every family's sizes by what is best: LP_BETTER with the setting that wins, LP_NO_DIFFERENCE (keep the default: setting is
 * default, ratio 1), or LP_NOT_JUDGED. Only a claim wins; among several the fastest, but one whose ratio is within the
 * fastest's interval is as good, and a range goes on as long as one setting is good enough for all of it. LP_ERR_MEMORY; release in
 * any case.
 */
enum lp_status lp_winners(const struct lp_verdicts *verdicts, struct lp_ranges *out);

/* Tree against Ring: LP_BETTER where Tree is faster. Empty without the two. LP_ERR_MEMORY; release in any case. */
enum lp_status lp_ring_ranges(const struct lp_verdicts *verdicts, struct lp_ranges *out);

/* default against the first setting that switches P2P off: LP_BETTER where default is faster. The same. */
enum lp_status lp_p2p_ranges(const struct lp_verdicts *verdicts, struct lp_ranges *out);

/* The setting that switches P2P off; 0: none. */
size_t lp_p2p_off(const struct lp_crew_times *times);

/* Where one of the two gets faster than the other: between the last size at which the one is claimed and the first of the other. */
struct lp_crossover {
    size_t family;
    bool tree_above;        /* Ring is faster below, Tree above; else the reverse */
    size_t bytes;           /* where the effect goes through 0, by straight lines over the logarithm of the size */
    size_t from, to, sizes; /* bytes at its ends; sizes between them at which there is no difference */
};

struct lp_crossovers {
    struct lp_crossover *item;
    size_t n;
};

/* All of them, family by family. LP_ERR_MEMORY; free(item) in any case. */
enum lp_status lp_crossovers_find(const struct lp_verdicts *verdicts, struct lp_crossovers *out);

#endif
