/* The table of variants where crews were disturbed, and where they were not. */
#include "report/views.h"

#include "fixture.h"
#include "unit.h"

#include "printed.h"

#define VARIANTS                                                                                                                   \
    "'variants': [{'name': 'default', 'repeat': 0, 'outcome': 'ok'}, {'name': 'ring', 'repeat': 0, 'outcome': 'ok'},"              \
    " {'name': 'default', 'repeat': 1, 'outcome': 'ok'}]"

/* What the view prints of such a head; the caller frees it. */
static char *print_head(const char *head)
{
    struct lp_result result;
    char *text;

    lp_result_init(&result);
    json_decref(result.head);
    result.head = json_of(head);
    text = printed(lp_view_variants, &result, 160);
    lp_result_release(&result);
    return text;
}

static void test_quiet(void **state)
{
    static const char *const heads[] = {
        "{" VARIANTS "}",
        "{" VARIANTS ", 'crews': null}",
        "{" VARIANTS ", 'crews': [null, {}, {'variant': null, 'contended': null}]}",
        "{" VARIANTS ", 'crews': [{'crew': 2, 'variant': 'ring', 'repeat': 0, 'contended': false, 'throttled': false}]}",
        "{" VARIANTS
        ", 'crews': [{'crew': 2, 'variant': null, 'repeat': 0, 'contended': true, 'throttled': false}]}", /* the link */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(heads); i++) {
        char *text = print_head(heads[i]);

        assert_line(text, "\nring ", "ring           ok           0       0 ");
        assert_no(text, "environment");
        assert_no(text, "contended");
        assert_no(text, "claims");
        free(text);
    }
}

/* Three rounds: ring was contended in one and throttled in another, default's last crew in all of them. */
static void test_marks(void **state)
{
    char *text =
        print_head("{" VARIANTS ", 'crews': ["
                   "{'crew': 2, 'variant': 'default', 'repeat': 0, 'contended': false, 'throttled': false, 'reasons': []},"
                   "{'crew': 3, 'variant': 'ring', 'repeat': 0, 'contended': false, 'throttled': false, 'reasons': []},"
                   "{'crew': 4, 'variant': 'default', 'repeat': 1, 'contended': true, 'throttled': true,"
                   " 'reasons': ['GPU 1 was used', 'GPU 0 was throttled']},"
                   "{'crew': 5, 'variant': 'ring', 'repeat': 0, 'contended': true, 'throttled': false, 'reasons': ['a\\nb']},"
                   "{'crew': 6, 'variant': 'ring', 'repeat': 0, 'contended': false, 'throttled': true, 'reasons': [null]}]}");

    (void)state;
    assert_line(text, "variant  ", "outcome  environment");
    assert_line(text, "\ndefault   ", " ok       -   ");
    assert_line(text, "\nring   ", " ok       contended, throttled (2 of 3 crews) ");
    assert_line(text, "\ndefault again ", " ok       contended, throttled   ");
    assert_line(text, "\nring: crew 5 ", "ring: crew 5 contended: a b; no part in claims");
    assert_line(text, "\nring: crew 6 ", "ring: crew 6 throttled: -; no part in claims");
    assert_line(text, "\ndefault again: ", "crew 4 contended, throttled: GPU 1 was used; GPU 0 was throttled; no part in claims");
    assert_no(text, "default: crew");
    assert_int_equal(count_lines(text, "ring: "), 2);
    free(text);
}

static void print_time(const struct lp_result *result, FILE *out, int width)
{
    (void)width;
    lp_view_time(result, out);
}

static void test_time(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    lp_result_init(&result);
    text = printed(print_time, &result, 160); /* a journal that was cut off, or an older file */
    assert_string_equal(text, "");
    free(text);
    json_object_set_new(result.head, "seconds",
                        json_of("{'survey': 0.26, 'link': 7, 'start': 2.0, 'init': 8.04, 'measure': 20.06, 'check': 3,"
                                " 'evidence': 5, 'wait': 1, 'other': 0.1, 'total': 46.46}"));
    text = printed(print_time, &result, 160);
    assert_string_equal(text, "\ntime: 46.5 s: survey 0.3, link 7.0, start 2.0, init 8.0, measure 20.1, check 3.0, evidence 5.0, "
                              "wait 1.0, other 0.1\n");
    free(text);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
