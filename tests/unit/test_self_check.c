/* Isolated calls that are quicker than calls back to back: said, and only then. */
#include "judge/hints.h"
#include "judge/self_check.h"

#include "unit.h"

#include <string.h>

static void add(struct lp_result *result, enum lp_timing timing, int crew, size_t bytes, double us)
{
    struct lp_record record = {
        .outcome = LP_DONE, .crew = crew, .time_us = {.median = us, .p10 = us - 0.5, .p90 = us + 0.5, .n = 20}};

    record.cell =
        (struct lp_cell){.kind = LP_COLLECTIVE, .op = "allreduce", .timing = timing, .requested_bytes = bytes, .size_bytes = bytes};
    record.checked.iterations = 3;
    strcpy(record.variant, "ring");
    assert_int_equal(lp_result_add(result, &record), LP_OK);
}

/* One pair of figures, crews 2 and `crew`. */
static void says(double pipelined_us, double isolated_us, int crew, const char *words)
{
    struct lp_result result;
    char text[512];

    lp_result_init(&result);
    add(&result, LP_PIPELINED, 2, 1024, pipelined_us);
    add(&result, LP_GRAPH, 2, 1024, 99.0);
    add(&result, LP_ISOLATED, crew, 1024, isolated_us);
    lp_self_check(&result, text, sizeof(text));
    if (words && !strstr(text, words))
        fail_msg("'%s' is not in '%s'", words, text);
    if (!words)
        assert_string_equal(text, "");
    lp_result_release(&result);
}

static void test_one(void **state)
{
    (void)state;
    says(6.0, 15.0, 2, NULL);
    says(6.0, 6.0, 2, NULL);
    says(6.0, 5.5, 2, NULL); /* within what samples differ by */
    says(6.0, 4.0, 2, "under 'ring' takes 4 us by itself and 6 us back to back: ");
    says(6.0, 4.0, 3, NULL); /* another process */
}

static void test_several(void **state)
{
    struct lp_result result;
    json_t *hints;

    (void)state;
    lp_result_init(&result);
    for (size_t bytes = 8; bytes <= 32; bytes *= 2) {
        add(&result, LP_PIPELINED, 2, bytes, 6.0);
        add(&result, LP_ISOLATED, 2, bytes, 4.0);
    }
    result.record[5]->outcome = LP_WRONG; /* no figure */
    hints = lp_hints(&result);
    assert_int_equal(json_array_size(hints), 1);
    assert_non_null(strstr(json_string_value(json_array_get(hints, 0)), "back to back, and 1 more cell like it: "));
    json_decref(hints);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_several),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
