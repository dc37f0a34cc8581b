/* Order statistics against known vectors and against sums of binomials. */
#include "model/stats.h"

#include <math.h>
#include <stdlib.h>

#include "unit.h"

#define MOST 512 /* samples that a record keeps */

/* 1 .. n in an order that is neither up nor down: 521 is a prime above every n. */
static void shuffled(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (double)(i * 521 % n + 1);
}

static void test_known_vectors(void **state)
{
    static const struct {
        const char *name;
        double values[10];
        size_t n;
        double median, p10, p90, min, max;
    } cases[] = {
        {"one", {5}, 1, 5, 5, 5, 5, 5},
        {"two", {4, 2}, 2, 3, 2, 4, 2, 4},
        {"three", {9, 1, 4}, 3, 4, 1, 9, 1, 9},
        {"ten", {10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 10, 5.5, 1, 9, 1, 10},
        {"ties", {2, 2, 2, 1, 2, 2}, 6, 2, 1, 2, 1, 2},
        {"negative and small", {-1, 1e-9, 0}, 3, 0, -1, 1e-9, -1, 1e-9},
        {"one far off", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1e6}, 10, 1, 1, 1, 1, 1e6},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_stats stats;

        assert_case(cases[i].name, lp_stats_summarise(cases[i].values, cases[i].n, &stats) == LP_OK);
        assert_case(cases[i].name, stats.median == cases[i].median);
        assert_case(cases[i].name, stats.p10 == cases[i].p10);
        assert_case(cases[i].name, stats.p90 == cases[i].p90);
        assert_case(cases[i].name, stats.min == cases[i].min);
        assert_case(cases[i].name, stats.max == cases[i].max);
        assert_case(cases[i].name, stats.n == cases[i].n);
        assert_case(cases[i].name, lp_median(cases[i].values, cases[i].n) == cases[i].median);
    }
}

/* Nearest rank in whole numbers: the ceil(p n / 100)-th smallest, for every n that a record can hold. */
static void test_percentiles(void **state)
{
    double values[MOST];

    (void)state;
    for (size_t n = 1; n <= MOST; n++) {
        struct lp_stats stats;

        shuffled(values, n);
        assert_int_equal(lp_stats_summarise(values, n, &stats), LP_OK);
        assert_true(stats.p10 == (double)((10 * n + 99) / 100));
        assert_true(stats.p90 == (double)((90 * n + 99) / 100));
        if (n < LP_MIN_P99)
            assert_true(isnan(stats.p99));
        else
            assert_true(stats.p99 == (double)((99 * n + 99) / 100));
        assert_true(stats.median == (double)(n + 1) / 2.0);
    }
}

/* P(k-th smallest <= median <= k-th largest) for n samples of a continuous distribution, straight from the binomials. */
static long double coverage(size_t n, size_t k)
{
    long double choose = 1.0L, outside = 0.0L;

    for (size_t i = 0; i < k; i++) {
        outside += choose;
        choose = choose * (long double)(n - i) / (long double)(i + 1);
    }
    return 1.0L - 2.0L * outside * powl(0.5L, (long double)n);
}

/* At least 95 %, and no narrower pair of order statistics has that. */
static void test_interval(void **state)
{
    double values[MOST];

    (void)state;
    for (size_t n = LP_MIN_INTERVAL; n <= MOST; n++) {
        struct lp_stats stats;
        size_t k;

        shuffled(values, n);
        assert_int_equal(lp_stats_summarise(values, n, &stats), LP_OK);
        k = (size_t)stats.ci95_low;
        assert_true(k >= 1 && k <= n / 2);
        assert_true(stats.ci95_high == (double)(n + 1 - k));
        assert_true(coverage(n, k) >= 0.95L);
        assert_true(k + 1 > n / 2 || coverage(n, k + 1) < 0.95L);
    }
}

/* From tables of the sign test. */
static void test_interval_by_the_book(void **state)
{
    static const struct {
        size_t n, low;
    } cases[] = {{6, 1}, {8, 1}, {9, 2}, {10, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}, {30, 10}, {50, 18}, {100, 40}};
    double values[MOST];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_stats stats;

        shuffled(values, cases[i].n);
        lp_stats_summarise(values, cases[i].n, &stats);
        assert_int_equal((size_t)stats.ci95_low, cases[i].low);
    }
}

static void test_too_few_for_an_interval(void **state)
{
    double values[LP_MIN_INTERVAL];

    (void)state;
    for (size_t n = 1; n < LP_MIN_INTERVAL; n++) {
        struct lp_stats stats;

        shuffled(values, n);
        assert_int_equal(lp_stats_summarise(values, n, &stats), LP_OK);
        assert_true(isnan(stats.ci95_low) && isnan(stats.ci95_high) && isnan(stats.p99));
        assert_true(stats.n == n);
    }
}

static void test_no_samples(void **state)
{
    struct lp_stats stats, before;

    (void)state;
    memset(&stats, 0x5a, sizeof(stats));
    before = stats;
    assert_int_equal(lp_stats_summarise(NULL, 0, &stats), LP_ERR_ARG);
    assert_memory_equal(&stats, &before, sizeof(stats));
    assert_true(isnan(lp_median(NULL, 0)));
}

static void test_order_is_kept(void **state)
{
    double values[100], before[100];
    struct lp_stats stats;

    (void)state;
    shuffled(values, COUNT_OF(values));
    memcpy(before, values, sizeof(values));
    lp_stats_summarise(values, COUNT_OF(values), &stats);
    lp_median(values, COUNT_OF(values));
    assert_memory_equal(values, before, sizeof(values));
}

static void test_max_over_ranks(void **state)
{
    static const double a[] = {1, 5, 3}, b[] = {2, 4, 3}, c[] = {0, 0, 9};
    const double *const ranks[] = {a, b, c};
    double out[3];

    (void)state;
    lp_stats_max_over_ranks(ranks, 3, 3, out);
    assert_true(out[0] == 2 && out[1] == 5 && out[2] == 9);
    lp_stats_max_over_ranks(ranks, 1, 3, out);
    assert_memory_equal(out, a, sizeof(a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_vectors),
        cmocka_unit_test(test_percentiles),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_interval_by_the_book),
        cmocka_unit_test(test_too_few_for_an_interval),
        cmocka_unit_test(test_no_samples),
        cmocka_unit_test(test_order_is_kept),
        cmocka_unit_test(test_max_over_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
