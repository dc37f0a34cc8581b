/* Student's t distribution: how likely a difference is that large when there is none. Pure mathematics. */
#ifndef LP_JUDGE_STUDENT_H
#define LP_JUDGE_STUDENT_H

/*
 * The share of both tails beyond |t| for df > 0 degrees of freedom (not necessarily whole). It is the regularised incomplete beta
 * function I_x(df / 2, 1 / 2) at x = df / (df + t^2) (Abramowitz and Stegun 26.5.27), by its continued fraction (26.5.8).
 */
double lp_student_tails(double t, double df);

/* The reverse: the t that both tails of this share, 0 < share < 1, begin at. */
double lp_student_limit(double share, double df);

#endif
