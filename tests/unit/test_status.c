/* Names of statuses, as they travel, and reasons. */
#include "base/status.h"

#include "unit.h"

static void test_names(void **state)
{
    static const char *const names[] = {"ok",          "argument",    "memory", "io",   "parse",
                                        "environment", "unsupported", "failed", "lost", "signal"};

    (void)state;
    assert_int_equal(COUNT_OF(names), LP_ERR_SIGNAL + 1);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_string_equal(lp_status_name((enum lp_status)i), names[i]);
        assert_int_equal(lp_status_from_name(names[i]), i);
    }
}

static void test_unknown_names(void **state)
{
    static const char *const names[] = {"", "OK", "ok ", "okay", "0"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_int_equal(lp_status_from_name(names[i]), LP_ERR_FAILED);
    assert_int_equal(lp_status_from_name(NULL), LP_ERR_FAILED);
}

static void test_because(void **state)
{
    struct lp_reason why = {""};

    (void)state;
    assert_int_equal(lp_because(&why, LP_ERR_IO, "%s: %d", "file", 5), LP_ERR_IO);
    assert_string_equal(why.text, "file: 5");
    assert_int_equal(lp_because(NULL, LP_ERR_MEMORY, "%s", "nobody reads it"), LP_ERR_MEMORY);
    assert_int_equal(lp_because(&why, LP_OK, "%s", ""), LP_OK);
    assert_string_equal(why.text, "");
}

static void test_long_reason_is_cut(void **state)
{
    struct lp_reason why;

    (void)state;
    lp_because(&why, LP_ERR_ARG, "%0*d", 2000, 0);
    assert_int_equal(strlen(why.text), sizeof(why.text) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_because),
        cmocka_unit_test(test_long_reason_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
