/* Small copies, each waited for: the table of a pair, and the distribution that --long adds. */
#include "full_link.h"
#include "unit.h"

#include "printed.h"

static void test_isolated(void **state)
{
    struct lp_result result;
    struct lp_record record = copy_of("ce_staged", 0, 1);
    char *text;

    (void)state;
    result_of_gpus(&result, 2, "NV18", 478.125, NULL);
    add_isolated(&result, "ce_write", 0, 1, 64, 8.0);
    add_isolated(&result, "ce_write", 0, 1, 4, 7.5);
    add_isolated(&result, "ce_staged", 0, 1, 4, 21.0);
    record.cell.timing = LP_ISOLATED;
    record.cell.requested_bytes = 64;
    record.outcome = LP_HANG;
    add_record(&result, record);
    text = printed(lp_view_link, &result, 160);
    assert_line(text, "\nsmall copies, each issued and waited for alone, GPU 0 -> GPU 1 (kind NV18)",
                "us from the call to its end");
    assert_line(text, "copy engine write  ", "driver-staged copy");
    assert_line(text, "P2P on  ", "P2P off");
    assert_line(text, "\nbytes  ", "median us  p99 us  samples           median us  p99 us  samples");
    assert_line(text, "\n    4 ", " 8.75    9.88      200               24.50   27.65      200");
    assert_line(text, "\n   64 ", " 9.33   10.53      200                hang       -        -");
    free(text);
    lp_result_release(&result);
}

static void test_histograms(void **state)
{
    struct lp_result result;
    struct lp_record record = copy_of("ce_write", 0, 1);
    static const double times[] = {2.1, 2.2, 2.2, 2.3, 9.0};
    char *text;

    (void)state;
    result_of_gpus(&result, 2, "NV18", 478.125, NULL);
    record.cell.timing = LP_ISOLATED;
    record.cell.requested_bytes = 4;
    lp_histogram_make(times, COUNT_OF(times), &record.histogram);
    add_record(&result, record);
    text = printed(lp_view_long, &result, 160);
    assert_line(text, "\ncopy engine write, P2P on, GPU 0 -> GPU 1, 4 bytes, each waited for alone",
                "us from the call to its end, 5 samples");
    assert_line(text, "2.00-2.38 us", "   80.0 %  ########################################");
    assert_line(text, "8.00-9.51 us", "   20.0 %  ##########");
    assert_no(text, "2.38-2.83 us");
    free(text);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_isolated),
        cmocka_unit_test(test_histograms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
