/* From deadlines to poll's milliseconds. */
#include "base/clock.h"

#include "scripted_clock.h"
#include "unit.h"

/* Rounded up, so that poll never returns just before the deadline and spins. */
static void test_poll_ms(void **state)
{
    static const struct {
        const char *name;
        int64_t left_ns;
        int ms;
    } cases[] = {
        {"now", 0, 0},
        {"just past", -1, 0},
        {"long past", -3600 * LP_SECOND, 0},
        {"1 ns", 1, 1},
        {"just below 1 ms", LP_MILLISECOND - 1, 1},
        {"1 ms", LP_MILLISECOND, 1},
        {"just above 1 ms", LP_MILLISECOND + 1, 2},
        {"1 s", LP_SECOND, 1000},
        {"an hour", 3600 * LP_SECOND, 3600000},
        {"above an hour", 3600 * LP_SECOND + 1, 3600000},
        {"a hundred years", INT64_C(3155760000) * LP_SECOND, 3600000},
    };
    static const int64_t starts[] = {0, 1, 5 * LP_SECOND, INT64_C(86400) * 365 * LP_SECOND};

    (void)state;
    for (size_t s = 0; s < COUNT_OF(starts); s++)
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            struct scripted_clock self = {.now_ns = starts[s]};
            struct lp_clock clock = scripted_clock(&self);

            assert_case(cases[i].name, lp_clock_poll_ms(&clock, starts[s] + cases[i].left_ns) == cases[i].ms);
        }
}

static void test_time_passes(void **state)
{
    struct scripted_clock self = {.now_ns = 0};
    struct lp_clock clock = scripted_clock(&self);

    (void)state;
    assert_int_equal(lp_clock_poll_ms(&clock, 10 * LP_MILLISECOND), 10);
    self.now_ns = 9 * LP_MILLISECOND + 1;
    assert_int_equal(lp_clock_poll_ms(&clock, 10 * LP_MILLISECOND), 1);
    self.now_ns = 10 * LP_MILLISECOND;
    assert_int_equal(lp_clock_poll_ms(&clock, 10 * LP_MILLISECOND), 0);
    assert_int_equal(lp_clock_poll_ms(&clock, INT64_MAX), 3600000);
}

static void test_real_clock_goes_forward(void **state)
{
    int64_t before = lp_clock_now(&lp_clock_real);

    (void)state;
    assert_true(before > 0);
    assert_true(lp_clock_now(&lp_clock_real) >= before);
}

static void test_iso(void **state)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    char buf[32];

    (void)state;
    assert_ptr_equal(lp_clock_iso(buf, sizeof(buf)), buf);
    assert_int_equal(strlen(buf), strlen(form));
    for (size_t i = 0; form[i]; i++)
        assert_true(form[i] == 'd' ? buf[i] >= '0' && buf[i] <= '9' : buf[i] == form[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poll_ms),
        cmocka_unit_test(test_time_passes),
        cmocka_unit_test(test_real_clock_goes_forward),
        cmocka_unit_test(test_iso),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
