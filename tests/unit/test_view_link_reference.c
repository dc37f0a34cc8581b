/* What GPUs reach to and from host memory and on the card, in the link's report. */
#include "report/view_title.h"

#include "full_link.h"
#include "unit.h"

#include "printed.h"

static void test_one_gpu(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill_full(&result, 1, -1);
    json_object_del(result.head, "baseline");
    text = printed(lp_view_link, &result, 160);
    assert_line(text, "\nreferences: ", "GB/s (10^9 bytes/s)");
    assert_line(text, "\npinned host memory to GPU ",
                "host -> GPU              512M   55.30        63.00  PCIe rate                     88");
    assert_line(text, "\non-card copy, bytes counted once ", "2093.0       2400.0  half the memory rate          87");
    assert_no(text, "link between GPUs");
    assert_no(text, "outliers");
    assert_no(text, "peer access");
    free(text);
    lp_result_release(&result);
}

static void test_references(void **state)
{
    struct lp_result result;
    char start[128], *text;

    (void)state;
    fill_full(&result, 12, -1);
    add_bad(&result, "gpu_to_pinned", 12, LP_EDGE_HOST, LP_FAILED, "no memory");
    json_object_del(json_object_get(json_array_get(json_object_get(result.head, "ranks"), 3), "gpu"), "links");
    text = printed(lp_view_link, &result, 160);
    assert_line(text, "\nGPU to pinned host memory ",
                "GPU -> host              512M   55.10    55.10      0        63.00  PCIe rate");
    snprintf(start, sizeof(start), "\n%s ", lp_title_path("pinned_both"));
    assert_line(text, start, "host -> GPU (both run)   512M   43.00    43.00      0 ");
    assert_line(text, "GPU -> host (both run)", "44.60");
    assert_line(text, "GPU to pinned host memory: failed, GPU 12 -> host", "no memory");
    free(text);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_gpu),
        cmocka_unit_test(test_references),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
