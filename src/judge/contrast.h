/*
 * What two settings differ by at a spot, in the light of its noise (judge/noise.h).
 *
 * In each round: the mean of the reference's crews minus the mean of the setting's, in logarithms, so that drift over the run
 * cancels; then the mean over rounds. Where the reference is default, its crews are the first and the last of the round, and those
 * of its same path group (settings of ways only, with default's path: the same setting by another name). The standard error follows
 * from the two variances and the numbers of crews in each round; effect / error is to be held against Student's t with the noise's
 * degrees of freedom. The variance of default and its group is the pooled one. Another setting's is the pooled one too, or more
 * where its own crews say so: its own v from n crews, shrunk towards the pooled one as if that had LP_PRIOR_DF degrees of freedom
 * (the moderated t of Smyth 2004, "Linear models and empirical Bayes methods", with a fixed prior), (LP_PRIOR_DF * pooled + (n - 1)
 * * v) / (LP_PRIOR_DF + n - 1).
 *
 * The effect must also clear what single crews are off by: the noise's `clear`, and LP_CLEAR_OWN times the farthest crew of the
 * setting itself.
 */
#ifndef LP_JUDGE_CONTRAST_H
#define LP_JUDGE_CONTRAST_H

#include "judge/noise.h"

#define LP_PRIOR_DF  8.0
#define LP_CLEAR_OWN 1.1

struct lp_contrast {
    double effect; /* log(time of the reference / time of the setting): above 0 the setting is faster */
    double error;  /* its standard error; NaN: not known */
    double df;
    double clear; /* what the effect must exceed besides */
    int rounds;   /* in which both have a crew; 0: nothing can be said */
    bool agree;   /* every round has the same sign */
};

void lp_contrast_make(const struct lp_crew_times *times, const struct lp_spot *spot, const struct lp_noise *noise, size_t setting,
                      size_t reference, struct lp_contrast *out);

/* Of an imaginary setting that is default's, with one crew in each of default's rounds: effect 0. Tells what a difference must
 * exceed. */
void lp_contrast_blank(const struct lp_crew_times *times, const struct lp_spot *spot, const struct lp_noise *noise,
                       struct lp_contrast *out);

#endif
