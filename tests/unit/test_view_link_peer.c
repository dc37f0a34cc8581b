/* How peer truth is said: pairs of one state and reason share a line, and all plain ones share one. */
#include "full_link.h"
#include "unit.h"

#include "printed.h"

/* Three GPUs with the driver's yes, and a checked copy for each pair in one process and between processes. */
static void fill_three(struct lp_result *result)
{
    struct lp_record record;

    result_of_gpus(result, 3, "NV18", 478.125, NULL);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            if (a == b)
                continue;
            add_rate(result, "ce_write", a, b, 390.0);
            record = copy_of("sm_write", a, b);
            strcpy(record.cell.processes, "ipc");
            record.algbw_gbps = 365.0;
            add_record(result, record);
        }
}

static struct lp_record *record_of(struct lp_result *result, int src, int dst, const char *processes)
{
    for (size_t i = 0; i < result->n; i++) {
        struct lp_cell *cell = &result->record[i]->cell;

        if (cell->edges[0].src == src && cell->edges[0].dst == dst && strcmp(cell->processes, processes) == 0)
            return result->record[i];
    }
    abort();
}

static void set_bad(struct lp_result *result, int src, int dst, const char *processes, enum lp_outcome outcome)
{
    struct lp_record *record = record_of(result, src, dst, processes);

    record->outcome = outcome;
    if (outcome == LP_WRONG)
        record->checked = (struct lp_checked){.iterations = 6, .wrong_iterations = 1, .wrong_elements = 4, .first_rank = dst};
    else
        record->checked.iterations = 0;
    strcpy(record->reason, "what\nhappened");
}

/* The driver's entry of a pair, without its word where there is none. */
static void set_word(struct lp_result *result, int src, int dst, json_t *word, const char *reason)
{
    json_t *pairs = json_object_get(json_object_get(result->head, "topology"), "pairs");
    size_t i = 0;

    while (json_integer_value(json_object_get(json_array_get(pairs, i), "src")) != src ||
           json_integer_value(json_object_get(json_array_get(pairs, i), "dst")) != dst)
        i++;
    json_object_set_new(json_array_get(pairs, i), "peer_access", word);
    json_object_set_new(json_array_get(pairs, i), "reason", json_string(reason));
}

static void test_all_plain(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill_three(&result);
    text = printed(lp_view_link, &result, 160);
    assert_says(text,
                "\npeer access: all 6 directed pairs: yes by the driver, by checked copies in one process and between processes "
                "(CUDA IPC)\n");
    assert_int_equal(count_lines(text, "peer "), 1);
    free(text);
    lp_result_release(&result);
}

static void test_each_state(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill_three(&result);
    set_bad(&result, 0, 1, "one", LP_WRONG);
    set_bad(&result, 0, 2, "one", LP_HANG);
    set_bad(&result, 1, 0, "one", LP_CRASH);
    set_bad(&result, 1, 2, "one", LP_SKIPPED);
    set_word(&result, 2, 0, json_false(), "not supported");
    set_bad(&result, 2, 0, "ipc", LP_UNSUPPORTED);
    text = printed(lp_view_link, &result, 160);
    assert_says(
        text,
        "\npeer access in one process: says yes, data wrong: GPU 0 -> GPU 1: copy engine write, P2P on: 4 wrong elements in 1 "
        "of 6 checked copies, first at byte 0 of rank 1\n");
    assert_says(text, "\npeer access in one process: says yes, hangs: GPU 0 -> GPU 2: copy engine write, P2P on: what happened\n");
    assert_says(text, "\npeer access in one process: says yes, fails: GPU 1 -> GPU 0: copy engine write, P2P on: what happened\n");
    assert_says(text, "\npeer access in one process: unknown: GPU 1 -> GPU 2: copy engine write, P2P on: what happened\n");
    assert_says(text, "\npeer access in one process: no: GPU 2 -> GPU 0: the driver says no: not supported\n");
    assert_says(text, "\npeer access in one process: yes by the driver and by checked copies: 1 of 6 directed pairs\n");
    assert_says(text, "\npeer access between processes (CUDA IPC): no: GPU 2 -> GPU 0: the driver says no: not supported\n");
    assert_says(text,
                "\npeer access between processes (CUDA IPC): yes by the driver and by checked copies: 5 of 6 directed pairs\n");
    free(text);
    lp_result_release(&result);
}

/* Each rank sees its own GPU only: the driver is not asked, and copies between processes are all there is. */
static void test_hidden_gpus(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill_three(&result);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            if (a != b) {
                set_bad(&result, a, b, "one", LP_SKIPPED);
                set_word(&result, a, b, json_null(), "not visible together to any rank");
                strcpy(record_of(&result, a, b, "one")->reason, "N/A: peer GPU not visible to this process");
            }
    text = printed(lp_view_link, &result, 160);
    assert_says(
        text,
        "\npeer access in one process: unknown: all 6 directed pairs: copy engine write, P2P on: N/A: peer GPU not visible to "
        "this process\n");
    assert_says(text, "\npeer access between processes (CUDA IPC): yes by checked copies: all 6 directed pairs\n");
    assert_says(text, "\nSM write, P2P on, between processes (CUDA IPC), 512M bytes, source (down) -> destination (across), GB/s");
    assert_says(text, "\ncopy engine write, P2P on: skipped, all pairs: N/A: peer GPU not visible to this process\n");
    assert_no(text, "P2P on, 512M bytes");
    free(text);
    lp_result_release(&result);
}

/* What was not tried is said, with the driver's word. */
static void test_not_tried(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    result_of_gpus(&result, 2, "NV18", 478.125, NULL);
    text = printed(lp_view_link, &result, 160);
    assert_says(text, "peer access in one process: unknown: all 2 directed pairs: not tried; the driver says yes\n");
    assert_says(text,
                "\npeer access between processes (CUDA IPC): unknown: all 2 directed pairs: not tried; the driver says yes\n");
    free(text);
    lp_result_release(&result);
}

static void test_not_used(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill_three(&result);
    add_rate(&result, "ce_staged", 0, 1, 389.0);
    add_rate(&result, "ce_staged", 1, 0, 37.0);
    add_rate(&result, "ce_staged", 2, 1, 400.0);
    text = printed(lp_view_link, &result, 160);
    assert_says(
        text,
        "\npeer path probably not used: GPU 0 -> GPU 1: copy engine write, P2P on 390.0 GB/s, driver-staged copy, P2P off 389.0 "
        "GB/s, 512M bytes\n");
    assert_says(text, "\npeer path probably not used: GPU 2 -> GPU 1: ");
    assert_int_equal(count_lines(text, "peer path"), 2);
    free(text);
    lp_result_release(&result);
}

static void test_many_not_used(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    result_of_gpus(&result, 4, "SYS", 31.5, NULL);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            if (a != b) {
                add_rate(&result, "sm_write", a, b, 25.0);
                add_rate(&result, "ce_staged", a, b, 25.0);
            }
    text = printed(lp_view_link, &result, 160);
    assert_says(text, "\npeer path probably not used: GPU 0 -> GPU 1: SM write, P2P on 25.00 GB/s");
    assert_says(text, "\npeer path probably not used: 12 of 12 directed pairs in all\n");
    assert_int_equal(count_lines(text, "peer path"), 9);
    free(text);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_plain), cmocka_unit_test(test_each_state), cmocka_unit_test(test_hidden_gpus),
        cmocka_unit_test(test_not_tried), cmocka_unit_test(test_not_used),   cmocka_unit_test(test_many_not_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
