/* How records of copies are sorted: which size stands for a path, in which order, and which figure an edge has. */
#include "judge/copies.h"

#include "copies.h"
#include "unit.h"

static void add_size(struct lp_result *result, const char *path, size_t bytes, enum lp_timing timing)
{
    struct lp_record record = copy_of(path, 0, 1);

    record.cell.timing = timing;
    record.cell.requested_bytes = record.cell.size_bytes = bytes;
    record.algbw_gbps = (double)bytes;
    record.latency_us = (double)bytes;
    add_record(result, record);
}

static void test_sizes(void **state)
{
    struct lp_result result;
    struct lp_copies_list list;
    const struct lp_copies *copies;

    (void)state;
    result_of_gpus(&result, 2, "NV18", 478.0, NULL);
    add_size(&result, "ce_write", 1 << 20, LP_QUEUED);
    add_size(&result, "ce_write", LARGE, LP_QUEUED);
    add_size(&result, "ce_write", 64 << 20, LP_QUEUED);
    add_size(&result, "ce_write", 1024, LP_QUEUED);
    add_size(&result, "ce_write", 16, LP_QUEUED);
    add_size(&result, "ce_write", 4, LP_ISOLATED);
    add_size(&result, "ce_write", 2 * LARGE, LP_ISOLATED);
    assert_int_equal(lp_copies_make(&result, &list), LP_OK);
    assert_int_equal(list.n, 2);
    copies = lp_copies_find(&list, "ce_write", "one_way", "one", false);
    assert_non_null(copies);
    assert_true(copies->bytes == LARGE && copies->n == 1 && copies->path == lp_path_find("ce_write"));
    assert_true(lp_copies_figure(copies, copies->record[0], (struct lp_edge){0, 1}) == (double)LARGE);
    copies = lp_copies_find(&list, "ce_write", "one_way", "one", true);
    assert_non_null(copies);
    assert_true(copies->bytes == 16 && copies->n == 1);
    assert_null(lp_copies_find(&list, "ce_write", "one_way", "ipc", false));
    lp_copies_release(&list);
    lp_result_release(&result);
}

static void test_order(void **state)
{
    static const char *const want[] = {"ce_write one_way one", "ce_write one_way ipc",     "ce_write both_ways one",
                                       "sm_read one_way one",  "load_latency one_way one", "a_later_path one_way one"};
    struct lp_result result;
    struct lp_copies_list list;
    struct lp_record ipc = copy_of("ce_write", 0, 1);
    char got[256];

    (void)state;
    result_of_gpus(&result, 2, "NV18", 478.0, NULL);
    add_rate(&result, "a_later_path", 0, 1, 1.0);
    add_rate(&result, "load_latency", 0, 1, NAN);
    add_rate(&result, "sm_read", 0, 1, 1.0);
    add_record(&result, both_of("ce_write", 0, 1, 1.0, 1.0));
    strcpy(ipc.cell.processes, "ipc");
    add_record(&result, ipc);
    add_rate(&result, "ce_write", 0, 1, 1.0);
    assert_int_equal(lp_copies_make(&result, &list), LP_OK);
    assert_int_equal(list.n, COUNT_OF(want));
    for (size_t i = 0; i < list.n; i++) {
        const struct lp_cell *like = list.item[i].like;

        snprintf(got, sizeof(got), "%.60s %.60s %.7s", like->op, like->pattern, like->processes);
        assert_string_equal(got, want[i]);
        assert_int_equal(list.item[i].timed, strcmp(like->op, "load_latency") == 0);
    }
    lp_copies_release(&list);
    lp_result_release(&result);
}

/* Each edge once, what was measured first; of both ways each direction, of a flag's round trip one time. */
static void test_figures(void **state)
{
    struct lp_result result;
    struct lp_record flag = both_of("flag_latency", 0, 1, NAN, NAN), hang = both_of("ce_write", 0, 2, 1.0, 1.0);
    struct lp_copies_list list;
    struct lp_figures figures;
    struct lp_spread spread;

    (void)state;
    result_of_gpus(&result, 3, "NV18", 478.0, NULL);
    add_record(&result, both_of("ce_write", 0, 1, 300.0, 200.0));
    add_record(&result, both_of("ce_write", 0, 1, 100.0, 100.0));
    hang.outcome = LP_HANG;
    add_record(&result, hang);
    flag.latency_us = 1.5;
    add_record(&result, flag);
    assert_int_equal(lp_copies_make(&result, &list), LP_OK);
    assert_int_equal(lp_figures_make(&result, lp_copies_find(&list, "ce_write", "both_ways", "one", false), &figures), LP_OK);
    assert_int_equal(figures.n, 2);
    assert_true(figures.item[0].value == 300.0 && figures.item[1].value == 200.0 && figures.item[1].edge.src == 1);
    assert_int_equal(lp_figures_spread(&figures, "NV18", false, &spread), LP_OK);
    assert_true(spread.n == 2 && spread.median == 250.0 && spread.worst == 200.0 && spread.worst_edge.dst == 0);
    assert_int_equal(lp_figures_spread(&figures, "SYS", false, &spread), LP_OK);
    assert_int_equal(spread.n, 0);
    lp_figures_release(&figures);
    assert_int_equal(lp_figures_make(&result, lp_copies_find(&list, "flag_latency", "both_ways", "one", true), &figures), LP_OK);
    assert_int_equal(figures.n, 1);
    assert_true(figures.item[0].value == 1.5);
    lp_figures_release(&figures);
    lp_copies_release(&list);
    lp_result_release(&result);
}

static void test_kinds(void **state)
{
    static const struct {
        const char *head;
        struct lp_edge edge;
        const char *kind;
    } cases[] = {
        {"{'device': 'cuda', 'topology': {'pairs': [{'src': 0, 'dst': 1, 'kind': 'PIX'}]}}", {0, 1}, "PIX"},
        {"{'device': 'cuda', 'topology': {'pairs': [{'src': 0, 'dst': 1, 'kind': 'PIX'}]}}", {1, 0}, "unknown"},
        {"{'device': 'cuda', 'topology': {'pairs': [{'src': 0, 'dst': 1, 'kind': null}]}}", {0, 1}, "unknown"},
        {"{}", {0, 1}, "unknown"},
        {"{'device': 'host'}", {0, 1}, "host memory"},
        {"{}", {0, 0}, "one GPU"},
        {"{}", {LP_EDGE_HOST, 0}, "host to GPU"},
        {"{}", {0, LP_EDGE_HOST}, "GPU to host"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_result result;

        result_of(&result, cases[i].head);
        assert_string_equal(lp_edge_kind(&result, cases[i].edge), cases[i].kind);
        lp_result_release(&result);
    }
}

/* 390 GB/s: 1 MiB takes 3 us, which is mostly start. */
static void test_what_tells(void **state)
{
    struct lp_copies copies = {.bytes = 1 << 20};

    (void)state;
    assert_false(lp_copies_tell(&copies, 390.0));
    assert_true(lp_copies_tell(&copies, 26.0));
    assert_false(lp_copies_tell(&copies, (double)NAN));
    copies.bytes = LARGE;
    assert_true(lp_copies_tell(&copies, 390.0));
    copies.timed = true;
    assert_false(lp_copies_tell(&copies, 390.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes), cmocka_unit_test(test_order),      cmocka_unit_test(test_figures),
        cmocka_unit_test(test_kinds), cmocka_unit_test(test_what_tells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
