/* Sizes of a sweep, and where it ends. */
#include "plan/sweep.h"

#include <stdint.h>
#include <stdlib.h>

#include "unit.h"

static void test_sizes(void **state)
{
    static const struct {
        const char *name;
        size_t min, max, step, factor, want[8]; /* ends with 0 */
    } cases[] = {
        {"doubling", 8, 64, 0, 2, {8, 16, 32, 64}},
        {"last not hit", 8, 100, 0, 2, {8, 16, 32, 64}},
        {"one size", 8, 8, 0, 2, {8}},
        {"one size with step", 8, 8, 1, 2, {8}},
        {"odd start", 3, 50, 0, 4, {3, 12, 48}},
        {"from one", 1, 9, 0, 3, {1, 3, 9}},
        {"step", 10, 40, 10, 2, {10, 20, 30, 40}},
        {"step does not hit", 10, 45, 10, 2, {10, 20, 30, 40}},
        {"step above the last", 10, 45, 50, 2, {10}},
        {"step beats factor", 1, 4, 1, 0, {1, 2, 3, 4}},
        {"up to 2^63", (size_t)1 << 61, (size_t)INT64_MAX, 0, 2, {(size_t)1 << 61, (size_t)1 << 62}},
        {"before overflow", (size_t)1 << 62, SIZE_MAX, 0, 2, {(size_t)1 << 62, (size_t)1 << 63}},
        {"factor overflows", (size_t)1 << 60, SIZE_MAX, 0, 1024, {(size_t)1 << 60}},
        {"step overflows", SIZE_MAX - 5, SIZE_MAX, 4, 2, {SIZE_MAX - 5, SIZE_MAX - 1}},
        {"largest step", 8, SIZE_MAX, SIZE_MAX, 2, {8}},
        {"all of it", SIZE_MAX, SIZE_MAX, 0, 2, {SIZE_MAX}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t *sizes = NULL, n = 0, want = 0;

        while (want < COUNT_OF(cases[i].want) && cases[i].want[want])
            want++;
        assert_case(cases[i].name,
                    lp_sweep_make(cases[i].min, cases[i].max, cases[i].step, cases[i].factor, &sizes, &n, NULL) == LP_OK);
        assert_case(cases[i].name, n == want);
        assert_case(cases[i].name, memcmp(sizes, cases[i].want, n * sizeof(*sizes)) == 0);
        free(sizes);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *name;
        size_t min, max, step, factor;
        const char *says;
    } cases[] = {
        {"no first size", 0, 64, 0, 2, "0 to 64"},
        {"first above last", 65, 64, 0, 2, "65 to 64"},
        {"factor that goes nowhere", 8, 64, 0, 1, ""},
        {"factor 0", 8, 64, 0, 0, ""},
        {"too many", 1, LP_MAX_SIZES + 1, 1, 2, "larger step"},
        {"far too many", 1, SIZE_MAX, 1, 2, "larger step"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t *sizes = NULL, n = 0;
        struct lp_reason why = {""};

        assert_case(cases[i].name,
                    lp_sweep_make(cases[i].min, cases[i].max, cases[i].step, cases[i].factor, &sizes, &n, &why) == LP_ERR_ARG);
        assert_says(why.text, cases[i].says);
        assert_case(cases[i].name, why.text[0] != '\0');
        assert_null(sizes);
    }
}

static void test_most_sizes(void **state)
{
    size_t *sizes = NULL, n = 0;

    (void)state;
    assert_int_equal(lp_sweep_make(1, LP_MAX_SIZES, 1, 2, &sizes, &n, NULL), LP_OK);
    assert_int_equal(n, LP_MAX_SIZES);
    for (size_t i = 0; i < n; i++)
        assert_true(sizes[i] == i + 1);
    free(sizes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_most_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
