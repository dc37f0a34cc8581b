/*
 * How much crews of one setting differ, at one spot (a cell, or a mean over sizes). x is the logarithm of a crew's median time:
 * crews differ much more than samples within a crew do, so that a crew is one value.
 *
 * Variance. x = mean of its setting + shift of its round + rest, fitted by least squares; default's first and last crews and its
 * same path group are one setting. All settings but the far ones are pooled: the variance is the sum of squares of the rest by its
 * degrees of freedom, crews - settings - rounds + 1. It is at least what the spot and the sizes next to it give together, since by
 * luck a few crews may agree; where it is larger than the neighbours' it stays, for their quiet says nothing about a size with two
 * modes. And it is at least the squared standard error of default's medians by their samples. Sizes go together within a crew
 * (correlations of 0.6 to 0.9 on two H200s), so that a neighbour brings only LP_NEIGHBOUR_DF of its degrees of freedom.
 *
 * Clear. Times may have two modes (7 us in one process, 12 in the next). For such t is wrong in the far tail: by luck all crews
 * of a variant may have the one mode and almost all others the other. So an effect must also clear what a single crew can be off
 * by:
 * - (1 + LP_CLEAR_CREWS / n) times the largest distance of any of default's n crews (its group included) from their mean. If k of n
 * are in the other mode, at distance 1, that is (1 + 4.2 / n) (1 - k / n), which for few k is more than the 1 - k / n by which a
 *   variant that is all in that mode seems faster; the fewer crews, the larger k must be covered.
 * - LP_CLEAR_OTHERS times that of any other near setting's crew from its own mean (with few crews of default, more of those: less):
 * one crew of three that changed its mode is 2/3 of the way off, and 2/3 * 1.6 > 1. That holds for LP_CLEAR_ROUNDS rounds. With
 * more, such luck gets rare much faster than t's limit falls: the bound falls as 1 / rounds. The factors were chosen on made-up
 * sweeps with two modes at all shares (tests/unit/test_judge_null.c) and on real crews (test_judge_real.c).
 */
#ifndef LP_JUDGE_NOISE_H
#define LP_JUDGE_NOISE_H

#include "judge/crew_times.h"

#define LP_NEIGHBOUR_DF 0.25
#define LP_CLEAR_CREWS  4.2
#define LP_CLEAR_OTHERS 1.6
#define LP_CLEAR_FEW    6.0 /* crews of default up to which others count in full; then by the root of the ratio */
#define LP_CLEAR_ROUNDS 3.0
#define LP_FAR          1.5 /* as fast or as slow as default, in the median over the family's sizes: its noise is not default's */

struct lp_noise {
    double variance; /* of x of one crew; NaN: not known */
    double df;
    double clear;          /* what an effect over LP_CLEAR_ROUNDS rounds must exceed */
    double own_ss, own_df; /* without the neighbours */
    struct lp_spread {
        double ss;     /* of the setting's crews about their mean, shifts of rounds taken off */
        double widest; /* distance from that mean */
        int n;         /* crews */
    } * setting;
};

/* Which settings are far from default: one flag a setting, to be freed; NULL when memory is out. */
bool *lp_noise_far(const struct lp_crew_times *times, const struct lp_family *family);

/* Fits one spot without looking at others. LP_ERR_MEMORY; release in any case. */
enum lp_status lp_noise_fit(const struct lp_crew_times *times, const struct lp_spot *spot, const bool *far, struct lp_noise *out);
void lp_noise_release(struct lp_noise *noise);

/* Variance and degrees of freedom at each of n sizes, rising, together with the neighbours. */
void lp_noise_smooth(struct lp_noise *noise, size_t n);

/* Gives the spots of two families that have the same size the larger `clear` of the two: what has two modes in one placement may
 * have them in the other. */
void lp_noise_share(const struct lp_family *a, struct lp_noise *noise_a, const struct lp_family *b, struct lp_noise *noise_b);

#endif
