/* Which pairs are named as slower than others of their kind, or slower one way than back; and that no other is. */
#include "judge/pairs.h"

#include "copies.h"
#include "unit.h"

/* Four GPUs of one kind at 26.3 GB/s, but 2 and 3 at 13.1 both ways, and 0 -> 1 at 6.5. */
static void fill_four(struct lp_result *result)
{
    result_of_gpus(result, 4, "PIX", 31.5, NULL);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            if (a != b)
                add_rate(result, "sm_write", a, b, a + b == 5 ? 13.1 : a == 0 && b == 1 ? 6.5 : 26.3);
}

static void test_named(void **state)
{
    static const struct {
        enum lp_fault fault;
        struct lp_edge edge;
        double value, median, back;
    } want[] = {
        {LP_FAULT_SLOW, {0, 1}, 6.5, 26.3, NAN},
        {LP_FAULT_ASYMMETRIC, {0, 1}, 6.5, 26.3, 26.3},
        {LP_FAULT_SLOW, {2, 3}, 13.1, 26.3, NAN},
        {LP_FAULT_SLOW, {3, 2}, 13.1, 26.3, NAN},
    };
    struct lp_result result;
    struct lp_outliers found;

    (void)state;
    fill_four(&result);
    assert_int_equal(lp_outliers_find(&result, &found), LP_OK);
    assert_int_equal(found.n, COUNT_OF(want));
    assert_int_equal(found.pairs, 12);
    assert_int_equal(found.compared, 12);
    for (size_t i = 0; i < found.n; i++) {
        const struct lp_outlier *outlier = &found.item[i];

        assert_int_equal(outlier->fault, want[i].fault);
        assert_memory_equal(&outlier->edge, &want[i].edge, sizeof(outlier->edge));
        assert_true(outlier->value == want[i].value && outlier->median == want[i].median);
        assert_true(isnan(want[i].back) ? isnan(outlier->back) : outlier->back == want[i].back);
        assert_string_equal(outlier->kind, "PIX");
        assert_string_equal(outlier->path, "sm_write");
        assert_int_equal(outlier->figures, 12);
    }
    lp_outliers_release(&found);
    lp_result_release(&result);
}

static void test_json(void **state)
{
    struct lp_result result;
    json_t *list, *want;

    (void)state;
    fill_four(&result);
    add_latency(&result, "load_latency", 0, 1, 1.0);
    add_latency(&result, "load_latency", 0, 2, 1.0);
    add_latency(&result, "load_latency", 0, 3, 8.0);
    list = lp_pairs_json(&result);
    assert_int_equal(json_array_size(list), 5);
    want = json_of("{'what': 'slow latency', 'path': 'load_latency', 'pattern': 'one_way', 'processes': 'one', 'size_bytes': 16,"
                   " 'src': 0, 'dst': 3, 'kind': 'PIX', 'unit': 'us', 'value': 8.0, 'median': 1.0, 'back': null}");
    assert_true(json_equal(json_array_get(list, 0), want));
    json_decref(want);
    want = json_of("{'what': 'asymmetric', 'path': 'sm_write', 'pattern': 'one_way', 'processes': 'one', 'size_bytes': 536870912,"
                   " 'src': 0, 'dst': 1, 'kind': 'PIX', 'unit': 'GB/s', 'value': 6.5, 'median': 26.3, 'back': 26.3}");
    assert_true(json_equal(json_array_get(list, 2), want));
    json_decref(want);
    json_decref(list);
    lp_result_release(&result);
}

static void test_odd_pairs(void **state)
{
    struct lp_edge odd[4];
    struct lp_result result;

    (void)state;
    fill_four(&result);
    add_rate(&result, "ce_write", 0, 1, 6.0);
    add_rate(&result, "ce_write", 1, 0, 26.0);
    assert_int_equal(lp_pairs_odd(&result, odd, COUNT_OF(odd)), 3);
    assert_true(odd[0].src == 0 && odd[0].dst == 1);
    assert_true(odd[1].src == 2 && odd[1].dst == 3);
    assert_true(odd[2].src == 3 && odd[2].dst == 2);
    assert_int_equal(lp_pairs_odd(&result, odd, 1), 1);
    assert_int_equal(lp_pairs_odd(&result, odd, 0), 0);
    lp_result_release(&result);
}

/* The figures that must be named, of few GPUs: a letter a fault (s, a, l) with its edge. */
static void check(const char *name, const struct lp_result *result, const char *want)
{
    struct lp_outliers found;
    char got[256] = "";

    assert_case(name, lp_outliers_find(result, &found) == LP_OK);
    for (size_t i = 0; i < found.n; i++)
        sprintf(got + strlen(got), "%s%c%d>%d", i ? " " : "", "sal"[found.item[i].fault], found.item[i].edge.src,
                found.item[i].edge.dst);
    if (strcmp(got, want) != 0)
        fail_msg("case \"%s\": \"%s\", not \"%s\"", name, got, want);
    lp_outliers_release(&found);
}

static void test_one_gpu(void **state)
{
    struct lp_result result;
    struct lp_outliers found;

    (void)state;
    result_of_gpus(&result, 1, "NV18", 478.0, NULL);
    check("nothing", &result, "");
    add_rate(&result, "on_card", 0, 0, 2000.0);
    add_rate(&result, "pinned_to_gpu", LP_EDGE_HOST, 0, 55.0);
    check("one GPU", &result, "");
    assert_int_equal(lp_outliers_find(&result, &found), LP_OK);
    assert_int_equal(found.pairs, 0);
    lp_outliers_release(&found);
    lp_result_release(&result);
}

/* Two figures have no median to be compared with, but directions have each other. */
static void test_two_gpus(void **state)
{
    static const struct {
        double there, back;
        const char *want;
    } cases[] = {{26.3, 26.3, ""}, {26.3, 13.1, "a1>0"}, {95.0, 100.0, "a0>1"}, {95.1, 100.0, ""}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_result result;
        struct lp_outliers found;

        result_of_gpus(&result, 2, "NV18", 478.0, NULL);
        add_rate(&result, "ce_write", 0, 1, cases[i].there);
        add_rate(&result, "ce_write", 1, 0, cases[i].back);
        check(cases[i].want, &result, cases[i].want);
        assert_int_equal(lp_outliers_find(&result, &found), LP_OK);
        assert_int_equal(found.pairs, 2);
        assert_int_equal(found.compared, 0);
        lp_outliers_release(&found);
        lp_result_release(&result);
    }
}

/* A pair over PCI Express among NVLink pairs is slow by nature, not an outlier. */
static void test_kinds_apart(void **state)
{
    static const struct other_kind others[] = {{0, 3, "SYS", 31.5}, {1, 3, "SYS", 31.5}, {2, 3, "SYS", 31.5}, {0, 0, NULL, 0.0}};
    struct lp_result result;

    (void)state;
    result_of_gpus(&result, 4, "NV18", 478.0, others);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            if (a != b)
                add_rate(&result, "ce_write", a, b, a == 3 || b == 3 ? (a == 2 ? 19.0 : 20.0) : 390.0);
    check("kinds", &result, "a2>3");
    lp_result_release(&result);
}

/* Both directions at once are figures of their own; what is not usable, too short to judge, or smaller is no figure. */
static void test_what_counts(void **state)
{
    struct lp_result result;
    struct lp_record record;

    (void)state;
    result_of_gpus(&result, 3, "PIX", 31.5, NULL);
    add_record(&result, both_of("sm_write", 0, 1, 20.0, 20.0));
    add_record(&result, both_of("sm_write", 0, 2, 20.0, 10.0));
    check("both ways", &result, "s2>0 a2>0");
    record = both_of("sm_write", 1, 2, 5.0, 20.0);
    record.outcome = LP_WRONG;
    add_record(&result, record);
    check("wrong data", &result, "s2>0 a2>0");
    record = copy_of("ce_write", 0, 1);
    record.cell.requested_bytes = 64 << 10;
    record.algbw_gbps = 1.0;
    add_record(&result, record);
    add_rate(&result, "ce_write", 0, 1, 26.0);
    add_rate(&result, "ce_write", 1, 0, 26.0);
    check("smaller", &result, "s2>0 a2>0");
    record = copy_of("sm_read", 0, 1);
    record.cell.requested_bytes = 1 << 20;
    record.algbw_gbps = 300.0;
    add_record(&result, record);
    record.cell.edges[0] = (struct lp_edge){1, 0};
    record.algbw_gbps = 100.0;
    add_record(&result, record);
    check("short", &result, "s2>0 a2>0");
    lp_result_release(&result);
}

static void test_latency(void **state)
{
    struct lp_result result;
    struct lp_record record;

    (void)state;
    result_of_gpus(&result, 3, "PIX", 31.5, NULL);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            if (a != b)
                add_latency(&result, "ce_write", a, b, a == 1 && b == 2 ? 3.0 : 2.5);
    check("back to back", &result, "l1>2");
    for (int i = 0; i < 3; i++) {
        record = both_of("flag_latency", i == 2, i == 0 ? 1 : 2, NAN, NAN);
        record.latency_us = i == 1 ? 2.0 : 1.0;
        add_record(&result, record);
    }
    check("flags", &result, "l0>2 l1>2");
    lp_result_release(&result);
}

/* A slot at half speed shows in what its GPU reaches from host memory; it is no pair. */
static void test_host_ends(void **state)
{
    struct lp_edge odd[4];
    struct lp_result result;
    json_t *list;

    (void)state;
    result_of_gpus(&result, 4, "NV18", 478.0, NULL);
    for (int g = 0; g < 4; g++) {
        add_rate(&result, "pinned_to_gpu", LP_EDGE_HOST, g, g == 3 ? 13.0 : 26.0);
        add_record(&result, both_of("pinned_both", LP_EDGE_HOST, g, 20.0, 22.0));
    }
    check("slot", &result, "s-1>3");
    assert_int_equal(lp_pairs_odd(&result, odd, COUNT_OF(odd)), 0);
    list = lp_pairs_json(&result);
    assert_true(json_is_null(json_object_get(json_array_get(list, 0), "src")));
    json_decref(list);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),       cmocka_unit_test(test_json),     cmocka_unit_test(test_odd_pairs),
        cmocka_unit_test(test_one_gpu),     cmocka_unit_test(test_two_gpus), cmocka_unit_test(test_kinds_apart),
        cmocka_unit_test(test_what_counts), cmocka_unit_test(test_latency),  cmocka_unit_test(test_host_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
