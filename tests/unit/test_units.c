/* Sizes, whole numbers and rates as text. */
#include "base/units.h"

#include <limits.h>
#include <math.h>

#include "unit.h"

#define BIG 9223372036854775807u /* 2^63 - 1 */

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        enum lp_status st;
        size_t bytes;
    } cases[] = {
        {"0", LP_OK, 0},
        {"8", LP_OK, 8},
        {"010", LP_OK, 10}, /* never octal */
        {"1K", LP_OK, 1024},
        {"1k", LP_OK, 1024},
        {"4KiB", LP_OK, 4096},
        {"4kib", LP_OK, 4096},
        {"4KIB", LP_OK, 4096},
        {"256M", LP_OK, 256u << 20},
        {"256m", LP_OK, 256u << 20},
        {"128MiB", LP_OK, 128u << 20},
        {"1G", LP_OK, 1u << 30},
        {"3g", LP_OK, (size_t)3 << 30},
        {"2GiB", LP_OK, (size_t)2 << 30},
        {"4294967297", LP_OK, ((size_t)1 << 32) + 1},
        {"9223372036854775807", LP_OK, BIG},
        {"8589934591G", LP_OK, (size_t)8589934591u << 30},
        {"9223372036854775808", LP_ERR_ARG, 0},
        {"8589934592G", LP_ERR_ARG, 0},
        {"17179869184G", LP_ERR_ARG, 0}, /* 2^64: would be 0 */
        {"99999999999G", LP_ERR_ARG, 0},
        {"18446744073709551616", LP_ERR_ARG, 0},
        {"99999999999999999999999", LP_ERR_ARG, 0},
        {"", LP_ERR_ARG, 0},
        {" 8", LP_ERR_ARG, 0},
        {"8 ", LP_ERR_ARG, 0},
        {"1 K", LP_ERR_ARG, 0},
        {"\t8", LP_ERR_ARG, 0},
        {"-1", LP_ERR_ARG, 0},
        {"+1", LP_ERR_ARG, 0},
        {"1.5G", LP_ERR_ARG, 0},
        {"1,5G", LP_ERR_ARG, 0},
        {"1e3", LP_ERR_ARG, 0},
        {"0x10", LP_ERR_ARG, 0},
        {"K", LP_ERR_ARG, 0},
        {"4KB", LP_ERR_ARG, 0},
        {"128MB", LP_ERR_ARG, 0},
        {"1GB", LP_ERR_ARG, 0},
        {"1T", LP_ERR_ARG, 0},
        {"4Ki", LP_ERR_ARG, 0},
        {"1KK", LP_ERR_ARG, 0},
        {"8B", LP_ERR_ARG, 0},
        {"two", LP_ERR_ARG, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_reason why = {""};
        size_t bytes = 77;

        assert_case(cases[i].text, lp_parse_size(cases[i].text, &bytes, &why) == cases[i].st);
        assert_case(cases[i].text, bytes == (cases[i].st == LP_OK ? cases[i].bytes : 77));
        if (cases[i].st != LP_OK)
            assert_says(why.text, cases[i].text);
        assert_case(cases[i].text, lp_parse_size(cases[i].text, &bytes, NULL) == cases[i].st);
    }
}

/* The refusal says what is taken: for one that is no size the forms, for a large one the limit. */
static void test_size_refusals(void **state)
{
    struct lp_reason why;
    size_t bytes;

    (void)state;
    lp_parse_size("128MB", &bytes, &why);
    assert_says(why.text, "K, M or G");
    assert_says(why.text, "MiB");
    lp_parse_size("99999999999G", &bytes, &why);
    assert_says(why.text, "too large");
}

static void test_format(void **state)
{
    static const struct {
        size_t bytes;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {1000, "1000"},
        {1023, "1023"},
        {1024, "1K"},
        {1536, "1536"},
        {3 << 9, "1536"},
        {1 << 20, "1M"},
        {(1 << 20) + 1024, "1025K"},
        {3u << 29, "1536M"},
        {(size_t)1 << 40, "1024G"},
        {BIG, "9223372036854775807"},
    };
    char buf[32];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(lp_format_size(cases[i].bytes, buf, sizeof(buf)), cases[i].text);
}

static void test_format_round_trip(void **state)
{
    (void)state;
    for (int shift = 0; shift < 63; shift++)
        for (int k = -1; k <= 1; k++) {
            size_t bytes = ((size_t)1 << shift) + (size_t)k, back = 1;
            char buf[32];

            assert_int_equal(lp_parse_size(lp_format_size(bytes, buf, sizeof(buf)), &back, NULL), LP_OK);
            assert_true(back == bytes);
        }
}

static void test_about(void **state)
{
    static const struct {
        size_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {980u << 20, "980 MiB"},
        {3u << 29, "1.5 GiB"},
        {(size_t)139 << 30, "139 GiB"},
        {(size_t)5 << 40, "5.0 TiB"},
    };
    char buf[32];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(lp_format_about(cases[i].bytes, buf, sizeof(buf)), cases[i].text);
}

static void test_long(void **state)
{
    static const struct {
        const char *text;
        long min, max;
        enum lp_status st;
        long value;
    } cases[] = {
        {"0", 0, 10, LP_OK, 0},
        {"10", 0, 10, LP_OK, 10},
        {"010", 0, 10, LP_OK, 10},
        {"-5", -5, 5, LP_OK, -5},
        {"9223372036854775807", LONG_MIN, LONG_MAX, LP_OK, LONG_MAX},
        {"-9223372036854775808", LONG_MIN, LONG_MAX, LP_OK, LONG_MIN},
        {"9223372036854775808", LONG_MIN, LONG_MAX, LP_ERR_ARG, 0},
        {"11", 0, 10, LP_ERR_ARG, 0},
        {"-1", 0, 10, LP_ERR_ARG, 0},
        {"", 0, 10, LP_ERR_ARG, 0},
        {"-", -9, 10, LP_ERR_ARG, 0},
        {"--5", -9, 10, LP_ERR_ARG, 0},
        {"+5", 0, 10, LP_ERR_ARG, 0},
        {" 5", 0, 10, LP_ERR_ARG, 0},
        {"5 ", 0, 10, LP_ERR_ARG, 0},
        {"5x", 0, 10, LP_ERR_ARG, 0},
        {"0x5", 0, 10, LP_ERR_ARG, 0},
        {"1.0", 0, 10, LP_ERR_ARG, 0},
        {"two", 0, 10, LP_ERR_ARG, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_reason why = {""};
        long value = 77;

        assert_case(cases[i].text, lp_parse_long(cases[i].text, cases[i].min, cases[i].max, &value, &why) == cases[i].st);
        assert_case(cases[i].text, value == (cases[i].st == LP_OK ? cases[i].value : 77));
        if (cases[i].st != LP_OK)
            assert_says(why.text, cases[i].text);
    }
}

static void test_long_names_the_range(void **state)
{
    struct lp_reason why;
    long value;

    (void)state;
    lp_parse_long("1025", 2, 1024, &value, &why);
    assert_says(why.text, "from 2 to 1024");
}

static void test_gbps(void **state)
{
    (void)state;
    assert_true(lp_gbps(1e9, 1e6) == 1.0);
    assert_true(lp_gbps(478e9, 1e6) == 478.0);
    assert_true(lp_gbps(0.0, 5.0) == 0.0);
    assert_true(fabs(lp_gbps((double)((size_t)8 << 30), 1e6) - 8.589934592) < 1e-12);
    assert_true(isnan(lp_gbps(8.0, 0.0)));
    assert_true(isnan(lp_gbps(8.0, -1.0)));
    assert_true(isnan(lp_gbps(8.0, (double)NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_size_refusals),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_round_trip),
        cmocka_unit_test(test_about),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_long_names_the_range),
        cmocka_unit_test(test_gbps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
