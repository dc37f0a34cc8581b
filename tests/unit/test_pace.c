/* Sharing out the time that is left. */
#include "control/pace.h"

#include "unit.h"

static double cell_us(double left, double beside, double timing, double now_us)
{
    struct lp_pace pace = {.left = left, .beside = beside, .timing = timing, .cell_us = now_us, .least_us = 9e3, .most_us = 27e3};

    return lp_pace_cell_us(&pace);
}

static void test_shares(void **state)
{
    static const struct {
        double left, beside, timing, now_us, want_us;
    } cases[] = {
        {120, 0, 0, 27e3, 27e3},    /* nothing timed yet */
        {60, 20, 40, 27e3, 27e3},   /* just enough */
        {90, 20, 40, 27e3, 27e3},   /* never more than at most */
        {40, 20, 40, 27e3, 13.5e3}, /* half of what it would take */
        {40, 30, 40, 27e3, 9e3},    /* never less than at least */
        {-10, 30, 40, 27e3, 9e3},   /* over already */
        {60, 20, 20, 13.5e3, 27e3}, /* shortened cells, and time to spare: back again */
        {35, 20, 20, 18e3, 13.5e3}, /* shortened, and not enough */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double got = cell_us(cases[i].left, cases[i].beside, cases[i].timing, cases[i].now_us);

        if (got < cases[i].want_us - 1e-6 || got > cases[i].want_us + 1e-6)
            fail_msg("case %zu: %g us, not %g", i, got, cases[i].want_us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
