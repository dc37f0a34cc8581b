/* The data of checks: exact in every type, and different from every mistake it must find. */
#include "model/pattern.h"

#include <stdbool.h>

#include "unit.h"

#define MOST_RANKS 16
#define STRIDE     13u /* of sampled offsets; coprime to the period */

typedef void each(enum lp_dtype dtype, int nranks);

static void for_types_and_ranks(each *check)
{
    for (int d = 0; d < LP_NDTYPES; d++)
        for (int n = 1; n <= MOST_RANKS; n++)
            check((enum lp_dtype)d, n);
}

static void range_is_exact(enum lp_dtype dtype, int nranks)
{
    struct lp_pattern pattern = lp_pattern_make(dtype, LP_SUM, nranks, 0);

    assert_true(pattern.range >= 2);
    assert_true((long)nranks * ((long)pattern.range - 1) <= lp_dtype_exact_max(dtype));
    assert_int_equal(pattern.nranks, nranks);
}

static void sums_are_exact(enum lp_dtype dtype, int nranks)
{
    struct lp_pattern pattern = lp_pattern_make(dtype, LP_SUM, nranks, 12345);

    for (uint64_t offset = 0; offset < LP_PATTERN_PERIOD; offset += STRIDE) {
        uint64_t sum = 0;

        for (int r = 0; r < nranks; r++) {
            assert_true(lp_pattern_input(pattern, r, offset) < pattern.range);
            sum += lp_pattern_input(pattern, r, offset);
        }
        assert_true(lp_pattern_value(pattern, LP_RANK_ALL, offset) == sum);
        assert_true(sum <= (uint64_t)lp_dtype_exact_max(dtype));
    }
}

static void test_range(void **state)
{
    (void)state;
    for_types_and_ranks(range_is_exact);
}

static void test_sums_are_exact(void **state)
{
    (void)state;
    for_types_and_ranks(sums_are_exact);
}

/* The value of a segment's source, one rank's or all reduced. */
static void test_values_by_source(void **state)
{
    static const enum lp_redop redops[] = {LP_SUM, LP_MIN, LP_MAX};

    (void)state;
    for (size_t o = 0; o < COUNT_OF(redops); o++) {
        struct lp_pattern pattern = lp_pattern_make(LP_FLOAT, redops[o], 3, 4);

        for (uint64_t offset = 0; offset < 5000; offset += 7) {
            uint32_t a = lp_pattern_input(pattern, 0, offset), b = lp_pattern_input(pattern, 1, offset);
            uint32_t c = lp_pattern_input(pattern, 2, offset), low = a < b ? a : b, high = a > b ? a : b;
            uint32_t want[] = {[LP_SUM] = a + b + c, [LP_MIN] = low < c ? low : c, [LP_MAX] = high > c ? high : c};

            assert_int_equal(lp_pattern_value(pattern, LP_RANK_ALL, offset), want[redops[o]]);
            assert_int_equal(lp_pattern_value(pattern, 1, offset), b);
        }
    }
}

/* Data of the iteration before passes in no element: inputs always, sums with fewer ranks than the range has values. */
static void stale_differs(enum lp_dtype dtype, int nranks)
{
    uint32_t range = lp_pattern_make(dtype, LP_SUM, nranks, 0).range;
    const uint32_t iterations[] = {0, 1, range - 1, 1000};

    for (size_t i = 0; i < COUNT_OF(iterations); i++) {
        struct lp_pattern now = lp_pattern_make(dtype, LP_SUM, nranks, iterations[i]);
        struct lp_pattern next = lp_pattern_make(dtype, LP_SUM, nranks, iterations[i] + 1);

        for (uint64_t offset = 0; offset < LP_PATTERN_PERIOD; offset += STRIDE) {
            assert_true(lp_pattern_input(now, nranks - 1, offset) != lp_pattern_input(next, nranks - 1, offset));
            if ((uint32_t)nranks < range)
                assert_true(lp_pattern_value(now, LP_RANK_ALL, offset) != lp_pattern_value(next, LP_RANK_ALL, offset));
        }
    }
}

static void test_stale_data_differs(void **state)
{
    (void)state;
    for_types_and_ranks(stale_differs);
}

/* Elements of a period, sampled, that are equal in a of one and b of the other; in parts of 1000. */
static unsigned alike(struct lp_pattern pattern, int rank_a, uint64_t from_a, int rank_b, uint64_t from_b)
{
    unsigned same = 0, all = 0;

    for (uint64_t i = 0; i < LP_PATTERN_PERIOD; i += STRIDE, all++)
        same += lp_pattern_input(pattern, rank_a, from_a + i) == lp_pattern_input(pattern, rank_b, from_b + i);
    return same * 1000 / all;
}

/* As alike as values drawn at random from the range are, which is what a check counts on; and a little more. */
static bool by_chance(struct lp_pattern pattern, unsigned per_mille)
{
    return per_mille <= 1000 / pattern.range + 20;
}

static void ranks_differ(enum lp_dtype dtype, int nranks)
{
    struct lp_pattern pattern = lp_pattern_make(dtype, LP_SUM, nranks, 3);

    for (int r = 1; r < nranks; r++)
        assert_true(by_chance(pattern, alike(pattern, 0, 0, r, 0)));
}

static void test_ranks_differ(void **state)
{
    (void)state;
    for_types_and_ranks(ranks_differ);
}

static void shifts_differ(enum lp_dtype dtype, int nranks)
{
    static const uint64_t factors[] = {1, 3, 7};
    struct lp_pattern pattern = lp_pattern_make(dtype, LP_SUM, nranks, 0);

    for (int shift = 0; shift <= 33; shift += 3)
        for (size_t f = 0; f < COUNT_OF(factors); f++)
            assert_true(by_chance(pattern, alike(pattern, 0, 0, 0, factors[f] << shift)));
}

/* A chunk that lands where another belongs: chunks are powers of two, or thirds and sevenths of sizes that are. */
static void test_shifted_chunks_differ(void **state)
{
    (void)state;
    for_types_and_ranks(shifts_differ);
}

static void test_period(void **state)
{
    struct lp_pattern pattern = lp_pattern_make(LP_FLOAT, LP_SUM, 2, 9);

    (void)state;
    for (unsigned f = 2; f * f <= LP_PATTERN_PERIOD; f++)
        assert_true(LP_PATTERN_PERIOD % f != 0);
    assert_int_equal(alike(pattern, 1, 0, 1, LP_PATTERN_PERIOD), 1000);
    assert_int_equal(alike(pattern, 1, 5, 1, 5 + (uint64_t)LP_PATTERN_PERIOD * 100000), 1000);
}

/* Offsets are 64 bits wide: what is beyond 2^32 elements is not what is at their remainder. */
static void test_beyond_32_bits(void **state)
{
    struct lp_pattern pattern = lp_pattern_make(LP_FLOAT, LP_SUM, 2, 0);

    (void)state;
    assert_true(by_chance(pattern, alike(pattern, 0, 17, 0, 17 + ((uint64_t)1 << 32))));
    assert_int_equal(lp_pattern_input(pattern, 0, ((uint64_t)1 << 40) / LP_PATTERN_PERIOD * LP_PATTERN_PERIOD + 17),
                     lp_pattern_input(pattern, 0, 17));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test(test_values_by_source),
        cmocka_unit_test(test_stale_data_differs),
        cmocka_unit_test(test_ranks_differ),
        cmocka_unit_test(test_shifted_chunks_differ),
        cmocka_unit_test(test_period),
        cmocka_unit_test(test_beyond_32_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
