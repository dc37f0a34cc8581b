/* Reading with defaults, and writing what JSON cannot hold. */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>

#include "fixture.h"
#include "unit.h"

static void test_readers(void **state)
{
    json_t *object = json_of("{'s': 'x', 'i': 4294967296, 'r': 1.5, 'yes': true, 'no': false, 'n': null, 'list': [1]}");

    (void)state;
    assert_string_equal(lp_json_str(object, "s", "-"), "x");
    assert_string_equal(lp_json_str(object, "i", "-"), "-");
    assert_string_equal(lp_json_str(object, "n", "-"), "-");
    assert_string_equal(lp_json_str(object, "absent", "-"), "-");
    assert_null(lp_json_str(object, "list", NULL));
    assert_true(lp_json_int(object, "i", 7) == INT64_C(4294967296));
    assert_int_equal(lp_json_int(object, "r", 7), 7);
    assert_int_equal(lp_json_int(object, "s", 7), 7);
    assert_int_equal(lp_json_int(object, "yes", 7), 7);
    assert_int_equal(lp_json_int(object, "n", 7), 7);
    assert_true(lp_json_num(object, "r", 7.0) == 1.5);
    assert_true(lp_json_num(object, "i", 7.0) == 4294967296.0);
    assert_true(isnan(lp_json_num(object, "n", (double)NAN)));
    assert_true(lp_json_num(object, "s", 7.0) == 7.0);
    assert_true(lp_json_bool(object, "yes", false));
    assert_false(lp_json_bool(object, "no", true));
    assert_true(lp_json_bool(object, "i", true));
    assert_false(lp_json_bool(object, "n", false));
    json_decref(object);
}

/* Members of what is no object, or is not there, are their defaults too. */
static void test_readers_of_no_object(void **state)
{
    json_t *list = json_of("[1]");
    const json_t *none[] = {NULL, list};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        assert_string_equal(lp_json_str(none[i], "s", "-"), "-");
        assert_int_equal(lp_json_int(none[i], "s", 7), 7);
        assert_true(lp_json_num(none[i], "s", 7.0) == 7.0);
        assert_true(lp_json_bool(none[i], "s", true));
    }
    json_decref(list);
}

static void test_reals(void **state)
{
    static const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    json_t *real = lp_json_real(0.0);

    (void)state;
    assert_true(json_is_real(real));
    json_decref(real);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        real = lp_json_real(bad[i]);
        assert_true(json_is_null(real));
        json_decref(real);
    }
}

/* Bytes that are not UTF-8 never cost the record; ASCII around them stays. */
static void test_text(void **state)
{
    static const struct {
        const char *text, *out;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"Z\xc3\xbcrich", "Z\xc3\xbcrich"},
        {"a\xff", "a?"},
        {"a\xff\xfe"
         "b",
         "a??b"},
        {"cut \xe2\x82", "cut ??"}, /* the first two of three bytes */
        {"\xc0\x80", "??"},         /* overlong */
        {"\xed\xa0\x80", "???"},    /* a surrogate */
        {"quote \" \\ \n", "quote \" \\ \n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        json_t *text = lp_json_text(cases[i].text);

        assert_non_null(text);
        assert_string_equal(json_string_value(text), cases[i].out);
        json_decref(text);
    }
    assert_true(json_is_null(lp_json_text(NULL)));
}

static void test_copy(void **state)
{
    json_t *object = json_of("{'s': 'abcdef', 'n': null, 'empty': ''}");
    char buf[4] = "zzz";

    (void)state;
    assert_true(lp_json_copy(object, "s", buf, sizeof(buf)));
    assert_string_equal(buf, "abc");
    assert_false(lp_json_copy(object, "n", buf, sizeof(buf)));
    assert_string_equal(buf, "");
    strcpy(buf, "zzz");
    assert_true(lp_json_copy(object, "empty", buf, sizeof(buf)));
    assert_string_equal(buf, "");
    strcpy(buf, "zzz");
    assert_false(lp_json_copy(NULL, "s", buf, sizeof(buf)));
    assert_string_equal(buf, "");
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers), cmocka_unit_test(test_readers_of_no_object),
        cmocka_unit_test(test_reals),   cmocka_unit_test(test_text),
        cmocka_unit_test(test_copy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
