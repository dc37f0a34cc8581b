/* Element types and reductions by name. */
#include "model/dtype.h"

#include "unit.h"

static void test_types(void **state)
{
    static const struct {
        const char *name;
        enum lp_dtype dtype;
        size_t size;
        long exact_max; /* at most 2^(mantissa bits) */
    } cases[] = {
        {"float", LP_FLOAT, 4, 1L << 24}, {"double", LP_DOUBLE, 8, 1L << 53},    {"int32", LP_INT32, 4, 2147483647},
        {"half", LP_HALF, 2, 1L << 11},   {"bfloat16", LP_BFLOAT16, 2, 1L << 8},
    };

    (void)state;
    assert_int_equal(COUNT_OF(cases), LP_NDTYPES);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        enum lp_dtype dtype = LP_NDTYPES;

        assert_string_equal(lp_dtype_name(cases[i].dtype), cases[i].name);
        assert_int_equal(lp_dtype_size(cases[i].dtype), cases[i].size);
        assert_case(cases[i].name, lp_dtype_exact_max(cases[i].dtype) <= cases[i].exact_max);
        assert_case(cases[i].name, lp_dtype_exact_max(cases[i].dtype) >= 256);
        assert_case(cases[i].name, lp_dtype_parse(cases[i].name, &dtype, NULL) == LP_OK);
        assert_case(cases[i].name, dtype == cases[i].dtype);
    }
}

static void test_reductions(void **state)
{
    static const char *const names[LP_NREDOPS] = {"sum", "min", "max"};

    (void)state;
    for (int i = 0; i < LP_NREDOPS; i++) {
        enum lp_redop redop = LP_NREDOPS;

        assert_string_equal(lp_redop_name((enum lp_redop)i), names[i]);
        assert_int_equal(lp_redop_parse(names[i], &redop, NULL), LP_OK);
        assert_int_equal(redop, i);
    }
}

static void test_unknown_names(void **state)
{
    static const char *const names[] = {"", "Float", "float ", "fp16", "float32", "int8", "avg", "SUM", "0"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        enum lp_dtype dtype = LP_HALF;
        enum lp_redop redop = LP_MAX;
        struct lp_reason why = {""};

        assert_case(names[i], lp_dtype_parse(names[i], &dtype, &why) == LP_ERR_ARG);
        assert_case(names[i], dtype == LP_HALF);
        assert_says(why.text, names[i]);
        for (int d = 0; d < LP_NDTYPES; d++)
            assert_says(why.text, lp_dtype_name((enum lp_dtype)d));
        assert_case(names[i], lp_redop_parse(names[i], &redop, &why) == LP_ERR_ARG);
        assert_case(names[i], redop == LP_MAX);
        assert_says(why.text, names[i]);
        for (int r = 0; r < LP_NREDOPS; r++)
            assert_says(why.text, lp_redop_name((enum lp_redop)r));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_unknown_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
