/* The journal of a result, which outlives a kill: begun, loaded as far as it got, and finished. */
#include "model/result.h"

#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
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

static char *slurp(const char *path)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_true(getdelim(&text, &len, '\0', file) > 0);
    fclose(file);
    return text;
}

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

/* A journal with head and as many records, left as a kill leaves it. */
static void start_journal(struct scratch *scratch, struct lp_journal *journal, size_t records)
{
    json_t *head = json_of("{'schema': 'linkperf/1', 'complete': false, 'device': 'host'}");

    lp_journal_init(journal);
    assert_int_equal(lp_journal_open(journal, scratch_path(scratch, "out.json"), NULL), LP_OK);
    assert_int_equal(lp_journal_head(journal, head, NULL), LP_OK);
    json_decref(head);
    for (size_t i = 0; i < records; i++) {
        struct lp_record record = record_of(i % 2 ? LP_COPY : LP_COLLECTIVE, 8 << i);

        assert_int_equal(lp_journal_record(journal, &record, NULL), LP_OK);
    }
}

static void test_journal_closed(void **state)
{
    struct lp_record record = record_of(LP_COLLECTIVE, 8);
    struct lp_journal journal;
    struct lp_result result;

    (void)state;
    lp_journal_init(&journal);
    lp_result_init(&result);
    assert_int_equal(lp_journal_head(&journal, result.head, NULL), LP_OK);
    assert_int_equal(lp_journal_record(&journal, &record, NULL), LP_OK);
    assert_int_equal(lp_journal_finish(&journal, &result, NULL), LP_OK);
    lp_result_release(&result);
}

static void test_journal_is_loaded(void **state)
{
    struct lp_journal journal;
    struct lp_result back;
    json_t *head = json_of("{'device': 'cuda', 'warnings': ['later']}");

    start_journal(*state, &journal, 4);
    assert_int_equal(lp_journal_head(&journal, head, NULL), LP_OK); /* merged into the first */
    json_decref(head);
    assert_int_equal(lp_result_load(scratch_path(*state, "out.json.part"), &back, NULL), LP_OK);
    assert_int_equal(back.n, 4);
    assert_string_equal(lp_json_str(back.head, "device", ""), "cuda");
    assert_int_equal(json_array_size(json_object_get(back.head, "warnings")), 1);
    assert_false(lp_json_bool(back.head, "complete", true));
    lp_result_release(&back);
    close(journal.fd);
}

static void test_journal_refuses_an_old_part(void **state)
{
    struct lp_journal journal, second;
    struct lp_reason why = {""};
    char *before, *after;

    start_journal(*state, &journal, 2);
    close(journal.fd);
    before = slurp(scratch_path(*state, "out.json.part"));
    lp_journal_init(&second);
    assert_int_equal(lp_journal_open(&second, scratch_path(*state, "out.json"), &why), LP_ERR_IO);
    assert_true(second.fd < 0);
    assert_says(why.text, "out.json.part");
    assert_says(why.text, "linkperf show");
    after = slurp(scratch_path(*state, "out.json.part"));
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* Adds bytes to the journal's end as a killed or broken writer would. */
static void append_raw(struct scratch *scratch, const char *text)
{
    FILE *file = fopen(scratch_path(scratch, "out.json.part"), "a");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static void test_journal_with_a_cut_line(void **state)
{
    static const char *const cut[] = {"{", "{\"collective\": {\"collective\": \"allre", "{\"head\": {}}", " "};

    for (size_t i = 0; i < COUNT_OF(cut); i++) {
        struct lp_journal journal;
        struct lp_result back;

        start_journal(*state, &journal, 3);
        close(journal.fd);
        append_raw(*state, cut[i]);
        assert_case(cut[i], lp_result_load(scratch_path(*state, "out.json.part"), &back, NULL) == LP_OK);
        assert_case(cut[i], back.n == 3);
        assert_false(lp_json_bool(back.head, "complete", true));
        lp_result_release(&back);
        unlink(scratch_path(*state, "out.json.part"));
    }
}

static void test_journal_with_garbage(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"hello\n", "not JSON"}, {"\n", "not JSON"}, {"{\"other\": 1}\n", "neither"}, {"{\"p2p\": {}}\n", "'op' is missing"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_journal journal;
        struct lp_result back;
        struct lp_reason why = {""};

        start_journal(*state, &journal, 3);
        append_raw(*state, cases[i].text);
        close(journal.fd);
        assert_case(cases[i].text, lp_result_load(scratch_path(*state, "out.json.part"), &back, &why) == LP_ERR_PARSE);
        assert_says(why.text, cases[i].says);
        assert_case(cases[i].text, back.n == 3);
        lp_result_release(&back);
        unlink(scratch_path(*state, "out.json.part"));
    }
}

static void test_journal_finish(void **state)
{
    struct lp_journal journal;
    struct lp_result result, back;

    start_journal(*state, &journal, 1);
    fill(&result);
    assert_int_equal(lp_journal_finish(&journal, &result, NULL), LP_OK);
    assert_true(journal.fd < 0);
    assert_false(exists(scratch_path(*state, "out.json.part")));
    assert_int_equal(lp_result_load(scratch_path(*state, "out.json"), &back, NULL), LP_OK);
    expect_filled(&back);
    lp_result_release(&back);
    assert_int_equal(lp_journal_finish(&journal, &result, NULL), LP_OK); /* closed by now */
    lp_result_release(&result);
}

/* The name was taken by a folder while the run lasted: the part is all there is, so it stays. */
static void test_journal_that_cannot_finish(void **state)
{
    struct lp_journal journal;
    struct lp_result result;
    struct lp_reason why = {""};

    start_journal(*state, &journal, 1);
    fill(&result);
    assert_int_equal(mkdir(scratch_path(*state, "out.json"), 0700), 0);
    assert_int_equal(lp_journal_finish(&journal, &result, &why), LP_ERR_IO);
    assert_says(why.text, "out.json");
    assert_true(exists(scratch_path(*state, "out.json.part")));
    assert_true(journal.fd < 0);
    lp_result_release(&result);
}

static void test_journal_refused_paths(void **state)
{
    struct scratch *scratch = *state;
    char absent[200], long_path[5000];
    const char *const paths[] = {"/dev/null", "/dev/full", scratch->folder, absent, long_path};

    snprintf(absent, sizeof(absent), "%s/no/such/folder", scratch->folder);
    memset(long_path, 'x', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        struct lp_journal journal;
        struct lp_reason why = {""};

        lp_journal_init(&journal);
        assert_case(paths[i], lp_journal_open(&journal, paths[i], &why) == LP_ERR_IO);
        assert_case(paths[i], journal.fd < 0);
        assert_case(paths[i], why.text[0] != '\0');
    }
    assert_false(exists("/dev/null.part"));
}

/* A disk that is full: said once, by the call that met it. */
static void test_journal_on_a_full_disk(void **state)
{
    struct lp_record record = record_of(LP_COLLECTIVE, 8);
    struct lp_journal journal;
    struct lp_reason why = {""};
    int full;

    if (symlink("/dev/full", scratch_path(*state, "full.json.part")) != 0)
        fail();
    lp_journal_init(&journal);
    assert_int_equal(lp_journal_open(&journal, scratch_path(*state, "full.json"), &why), LP_ERR_IO); /* it exists */
    unlink(scratch_path(*state, "full.json.part"));
    assert_int_equal(lp_journal_open(&journal, scratch_path(*state, "full.json"), &why), LP_OK);
    full = open("/dev/full", O_WRONLY);
    assert_true(dup2(full, journal.fd) >= 0);
    close(full);
    assert_int_equal(lp_journal_record(&journal, &record, &why), LP_ERR_IO);
    assert_says(why.text, strerror(ENOSPC));
    close(journal.fd);
}

#define test_case(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_case(test_journal_closed),
        test_case(test_journal_is_loaded),
        test_case(test_journal_refuses_an_old_part),
        test_case(test_journal_with_a_cut_line),
        test_case(test_journal_with_garbage),
        test_case(test_journal_finish),
        test_case(test_journal_that_cannot_finish),
        test_case(test_journal_refused_paths),
        test_case(test_journal_on_a_full_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
