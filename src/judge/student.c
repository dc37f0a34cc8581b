/* Tails of Student's t. */
#include "judge/student.h"

#include <math.h>

#define MOST_TERMS   400
#define MOST_STEPS   400
#define LONGEST_STEP 0.7
#define CLOSE        1e-13
#define TINY         1e-300 /* in place of a zero denominator */

static double not_zero(double value)
{
    return fabs(value) < TINY ? TINY : value;
}

/* The continued fraction of the incomplete beta function by Lentz's method; converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1.0, d = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0)), h = d, step = 0.0;

    for (int m = 1; m < MOST_TERMS && fabs(step - 1.0) > CLOSE; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

        d = 1.0 / not_zero(1.0 + even * d);
        c = not_zero(1.0 + even / c);
        h *= d * c;
        d = 1.0 / not_zero(1.0 + odd * d);
        c = not_zero(1.0 + odd / c);
        step = d * c;
        h *= step;
    }
    return h;
}

/* I_x(a, b); y is 1 - x, which the caller knows without cancellation. */
static double beta_share(double a, double b, double x, double y)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));

    if (x < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, y) / b;
}

double lp_student_tails(double t, double df)
{
    double square = t * t;

    if (isnan(t) || !(df > 0.0))
        return 1.0;
    if (square < TINY)
        return 1.0;
    if (isinf(square))
        return 0.0;
    return beta_share(df / 2.0, 0.5, df / (df + square), square / (df + square));
}

static double density(double t, double df)
{
    return exp(lgamma((df + 1.0) / 2.0) - lgamma(df / 2.0) - log(df * M_PI) / 2.0 - (df + 1.0) / 2.0 * log1p(t * t / df));
}

/* Newton's method with both axes logarithmic, where the tails are concave: it ends from above. Steps are kept short of underflow.
 */
double lp_student_limit(double share, double df)
{
    double x = 0.0, step = 1.0;

    for (int i = 0; i < MOST_STEPS && fabs(step) > CLOSE; i++) {
        double t = exp(x), tails = lp_student_tails(t, df);

        step = tails > 0.0 ? log(tails / share) * tails / (2.0 * density(t, df) * t) : -LONGEST_STEP / 2.0;
        step = fmax(-LONGEST_STEP, fmin(LONGEST_STEP, step));
        x += step;
    }
    return exp(x);
}
