/* Tails and limits of Student's t against published and closed values. */
#include "judge/student.h"

#include <math.h>

#include "unit.h"

/* df 1 and 2 in closed form: 1 - 2 atan(t) / pi, and 1 - t / sqrt(2 + t^2). */
static void test_closed_forms(void **state)
{
    static const double ts[] = {0.01, 0.5, 1.0, 3.0, 12.0, 400.0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ts); i++) {
        double t = ts[i];

        assert_true(fabs(lp_student_tails(t, 1) - (1.0 - 2.0 * atan(t) / M_PI)) < 1e-12);
        assert_true(fabs(lp_student_tails(-t, 2) - (1.0 - t / sqrt(2.0 + t * t))) < 1e-12);
    }
}

/* Two-sided limits from printed tables (Abramowitz and Stegun 26.10). */
static void test_tables(void **state)
{
    static const struct {
        double share, df, t;
    } cases[] = {{0.05, 1, 12.706},  {0.05, 4, 2.776}, {0.05, 10, 2.228},  {0.05, 30, 2.042}, {0.001, 5, 6.869},
                 {0.001, 20, 3.850}, {0.01, 3, 5.841}, {0.05, 1e6, 1.960}, {1e-4, 10, 6.211}, {1e-4, 1e6, 3.891}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double t = lp_student_limit(cases[i].share, cases[i].df);

        if (fabs(t - cases[i].t) > 0.0006)
            fail_msg("share %g, df %g: %.4f, not %.4f", cases[i].share, cases[i].df, t, cases[i].t);
        assert_true(fabs(lp_student_tails(t, cases[i].df) / cases[i].share - 1.0) < 1e-9);
    }
}

/* The reverse, over everything that is asked for. */
static void test_there_and_back(void **state)
{
    static const double shares[] = {0.9, 0.5, 0.05, 1e-3, 1e-5, 1e-8, 1e-12},
                        dfs[] = {1.0, 1.5, 3.0, 11.25, 23.0, 67.0, 1000.0, 1e6};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shares); i++)
        for (size_t k = 0; k < COUNT_OF(dfs); k++) {
            double back = lp_student_tails(lp_student_limit(shares[i], dfs[k]), dfs[k]);

            if (!(fabs(back / shares[i] - 1.0) < 1e-9))
                fail_msg("share %g, df %g: back comes %g", shares[i], dfs[k], back);
        }
}

static void test_edges(void **state)
{
    (void)state;
    assert_true(lp_student_tails(0.0, 5) == 1.0);
    assert_true(lp_student_tails((double)NAN, 5) == 1.0);
    assert_true(lp_student_tails(3.0, 0.0) == 1.0);
    assert_true(lp_student_tails((double)INFINITY, 5) == 0.0);
    assert_true(lp_student_tails(1e4, 23) > 0.0 && lp_student_tails(1e4, 23) < 1e-60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_edges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
