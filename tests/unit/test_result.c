/* Results in memory and in files. The journal is test_result_journal's. */
#include "model/result.h"

#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include "fixture.h"
#include "unit.h"

static int set_up(void **state)
{
    static struct scratch scratch;

    scratch_make(&scratch);
    *state = &scratch;
    return 0;
}

static int tear_down(void **state)
{
    scratch_remove(*state);
    return 0;
}

static struct lp_record record_of(enum lp_kind kind, size_t bytes)
{
    struct lp_record record = {.outcome = LP_DONE, .variant = "default", .time_us = {.median = 2.5, .n = 1}, .samples_us = {2.5}};

    record.cell = (struct lp_cell){.kind = kind,
                                   .op = "allreduce",
                                   .library = "host",
                                   .buffers = "plain",
                                   .root = -1,
                                   .requested_bytes = bytes,
                                   .size_bytes = bytes,
                                   .timing = kind == LP_COPY ? LP_QUEUED : LP_GRAPH};
    record.algbw_gbps = 1.5;
    record.busbw_gbps = record.link_gbps = record.latency_us = (double)NAN;
    record.checked.first_rank = -1;
    return record;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- in memory ---- */

static void test_empty(void **state)
{
    struct lp_result result;

    (void)state;
    lp_result_init(&result);
    assert_string_equal(lp_json_str(result.head, "schema", ""), LP_SCHEMA);
    assert_false(lp_json_bool(result.head, "complete", true));
    assert_true(json_is_array(json_object_get(result.head, "variants")));
    assert_null(lp_result_find(&result, "allreduce", NULL, 0, LP_OUT_OF_PLACE, LP_GRAPH, 8));
    lp_result_release(&result);
    assert_null(result.head);
}

static void test_add_and_find(void **state)
{
    struct lp_result result;
    const struct lp_record *found;

    (void)state;
    lp_result_init(&result);
    for (size_t i = 0; i < 1000; i++) {
        struct lp_record record = record_of(LP_COLLECTIVE, i);

        record.repeat = i % 2;
        assert_int_equal(lp_result_add(&result, &record), LP_OK);
    }
    assert_int_equal(result.n, 1000);
    found = lp_result_find(&result, "allreduce", "default", 1, LP_OUT_OF_PLACE, LP_GRAPH, 777);
    assert_ptr_equal(found, result.record[777]);
    assert_ptr_equal(lp_result_find(&result, "allreduce", NULL, 0, LP_OUT_OF_PLACE, LP_GRAPH, 777), found);
    assert_null(lp_result_find(&result, "allreduce", "default", 0, LP_OUT_OF_PLACE, LP_GRAPH, 777));
    assert_null(lp_result_find(&result, "allreduce", "tree", 1, LP_OUT_OF_PLACE, LP_GRAPH, 777));
    assert_null(lp_result_find(&result, "allgather", NULL, 0, LP_OUT_OF_PLACE, LP_GRAPH, 777));
    assert_null(lp_result_find(&result, "allreduce", NULL, 0, LP_IN_PLACE, LP_GRAPH, 777));
    assert_null(lp_result_find(&result, "allreduce", NULL, 0, LP_OUT_OF_PLACE, LP_ISOLATED, 777));
    assert_null(lp_result_find(&result, "allreduce", NULL, 0, LP_OUT_OF_PLACE, LP_GRAPH, 1000));
    lp_result_release(&result);
}

/* ---- files ---- */

static void fill(struct lp_result *result)
{
    lp_result_init(result);
    json_object_set_new(result->head, "complete", json_true());
    json_object_set_new(result->head, "command", json_of("['./linkperf', '-J', 'a \\'file\\', with a comma']"));
    for (size_t i = 0; i < 3; i++) {
        struct lp_record collective = record_of(LP_COLLECTIVE, 8 << i), copy = record_of(LP_COPY, 4096 << i);

        assert_int_equal(lp_result_add(result, &copy), LP_OK);
        assert_int_equal(lp_result_add(result, &collective), LP_OK);
    }
}

static void expect_filled(const struct lp_result *result)
{
    assert_int_equal(result->n, 6);
    assert_true(lp_json_bool(result->head, "complete", false));
    assert_int_equal(json_array_size(json_object_get(result->head, "command")), 3);
    assert_null(json_object_get(result->head, "p2p"));
    assert_null(json_object_get(result->head, "collectives"));
    for (size_t i = 0; i < 3; i++)
        assert_non_null(lp_result_find(result, "allreduce", "default", 0, LP_OUT_OF_PLACE, LP_GRAPH, 8 << i));
}

static void test_save_and_load(void **state)
{
    struct lp_result result, back;
    const char *path = scratch_path(*state, "out.json");

    fill(&result);
    assert_int_equal(lp_result_save(&result, path, NULL), LP_OK);
    assert_int_equal(lp_result_save(&result, path, NULL), LP_OK); /* over the old one */
    assert_int_equal(lp_result_load(path, &back, NULL), LP_OK);
    expect_filled(&back);
    lp_result_release(&back);
    lp_result_release(&result);
    assert_false(exists(scratch_path(*state, "out.json.tmp")));
}

static void test_cannot_save(void **state)
{
    struct lp_result result;
    struct lp_reason why = {""};

    fill(&result);
    assert_int_equal(lp_result_save(&result, scratch_path(*state, "no/such/folder"), &why), LP_ERR_IO);
    assert_says(why.text, "no/such/folder");
    assert_says(why.text, strerror(ENOENT));
    assert_int_equal(mkdir(scratch_path(*state, "folder"), 0700), 0);
    assert_int_equal(lp_result_save(&result, scratch_path(*state, "folder"), &why), LP_ERR_IO);
    assert_false(exists(scratch_path(*state, "folder.tmp")));
    lp_result_release(&result);
}

static void test_not_a_result(void **state)
{
    static const struct {
        const char *name, *text, *says;
    } cases[] = {
        {"empty", "", "not a linkperf result"},
        {"text", "# nccl-tests\n8 2 float sum\n", "not a linkperf result"},
        {"cut", "{\"schema\": \"linkperf/1\", \"p2p\": [", "not a linkperf result"},
        {"scalar", "17", "not a linkperf result"},
        {"nan", "{\"schema\": \"linkperf/1\", \"x\": NaN}", "not a linkperf result"},
        {"list", "[]", "schema"},
        {"other json", "{\"config\": {\"nthreads\": 1}}", "schema"},
        {"later schema", "{\"schema\": \"linkperf/2\"}", "linkperf/2"},
        {"schema of another type", "{\"schema\": 1}", "schema"},
        {"record without outcome", "{\"schema\": \"linkperf/1\", \"p2p\": [{\"path\": \"x\", \"library\": \"host\"}]}", "outcome"},
        {"record that is no object", "{\"schema\": \"linkperf/1\", \"collectives\": [7]}", "cell"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *path = scratch_write(*state, "in.json", cases[i].text, strlen(cases[i].text));
        struct lp_reason why = {""};
        struct lp_result result;

        assert_case(cases[i].name, lp_result_load(path, &result, &why) == LP_ERR_PARSE);
        assert_says(why.text, cases[i].says);
        lp_result_release(&result);
    }
}

static void test_cannot_load(void **state)
{
    struct lp_reason why = {""};
    struct lp_result result;

    assert_int_equal(lp_result_load(scratch_path(*state, "absent"), &result, &why), LP_ERR_IO);
    assert_says(why.text, "absent");
    lp_result_release(&result);
    assert_int_not_equal(lp_result_load(((struct scratch *)*state)->folder, &result, &why), LP_OK);
    assert_true(why.text[0] != '\0');
    lp_result_release(&result);
}

#define test_case(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_case(test_empty),       test_case(test_add_and_find), test_case(test_save_and_load),
        test_case(test_cannot_save), test_case(test_not_a_result), test_case(test_cannot_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
