/* What the report says of NCCL's logs: the table of variants, its notes, and the path column of --long. */
#include "report/views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "unit.h"

#define TITLE "what each variant did, by NCCL's own log"

typedef void view(const struct lp_result *result, FILE *out, int width);

static void make(struct lp_result *result, const char *head)
{
    lp_result_init(result);
    json_decref(result->head);
    result->head = json_of(head);
}

/* What the view prints; the caller frees it. */
static char *printed(view *print, const struct lp_result *result)
{
    char *text = NULL;
    size_t len;
    FILE *memory = open_memstream(&text, &len);

    assert_non_null(memory);
    print(result, memory, 240);
    fclose(memory);
    return text;
}

static char *proof_of(const char *head)
{
    struct lp_result result;
    char *text;

    make(&result, head);
    text = printed(lp_view_proof, &result);
    lp_result_release(&result);
    return text;
}

/* A line that begins with start and holds part. */
static void assert_line(const char *text, const char *start, const char *part)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *at = strstr(line, part);

        line += strspn(line, " ");
        if (strncmp(line, start, strlen(start)) == 0 && at && at < line + strcspn(line, "\n"))
            return;
    }
    fail_msg("no line \"%s... %s\" in:\n%s", start, part, text);
}

static void assert_no(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("\"%s\" should not be in:\n%s", part, text);
}

static void test_nothing_proven(void **state)
{
    static const char *const cases[] = {
        "{}",
        "{'variants': null}",
        "{'variants': []}",
        "{'variants': [], 'same_path': [['a', 'b']]}",
        "{'variants': [{'name': 'ring', 'standing': 'effective', 'standing_words': 'x', 'acknowledged': {}}]}",
        "{'variants': [{'name': 'ring', 'nccl_log': null}, {'nccl_log': 'x'}, {}], 'same_path': [['ring', 'tree']]}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *text = proof_of(cases[i]);

        assert_case(cases[i], text[0] == '\0');
        free(text);
    }
}

static const char full[] =
    "{'same_path': [['default', 'ring', 'default again'], ['simple', 'll']], 'variants': ["
    "{'name': 'default', 'repeat': 0, 'nccl_log': {'transport': 'P2P/CUMEM', 'warnings': []}, 'acknowledged': {}},"
    "{'name': 'ring', 'repeat': 0, 'standing': 'ineffective', 'standing_words': 'the paths are\\nthose of default',"
    " 'acknowledged': {'NCCL_ALGO': {'words': 'asked NCCL_ALGO=Ring, NCCL took Ring'},"
    "  'NCCL_PROTO': {'words': 'asked NCCL_PROTO=LL, NCCL took LL'}},"
    " 'nccl_log': {'transport': 'SHM', 'warnings': []}},"
    "{'name': 'tree', 'repeat': 0, 'standing': 'effective', 'differences': 'rank 0 Tree,\\trank 1 Ring',"
    " 'acknowledged': {'NCCL_ALGO': {'words': null}},"
    " 'nccl_log': {'warnings': [{'text': 'cannot\\nopen'}, 'plain words', {'line': 3}, 7]}},"
    "{'name': 'eager', 'repeat': 0, 'standing': 'effective', 'standing_words': 'not this', 'differences': 'nor this'},"
    "{'name': 'default', 'repeat': 1, 'nccl_log': {}},"
    "{'nccl_log': {}, 'standing_words': 'of a nameless one'}]}";

static void test_table(void **state)
{
    static const struct {
        const char *start, *part;
    } lines[] = {
        {"what each variant did", TITLE},
        {"variant ", " asked and taken"},
        {"default ", " what others are held against "},
        {"default ", " P2P/CUMEM "},
        {"default ", " nothing asked"},
        {"ring ", " ineffective "},
        {"ring ", " SHM "},
        {"ring ", " asked NCCL_ALGO=Ring, NCCL took Ring; asked NCCL_PROTO=LL, NCCL took LL"},
        {"tree ", " effective "},
        {"tree ", " unknown "},
        {"tree ", " NCCL_ALGO"},
        {"default again ", " unproven "},
        {"- ", " unproven "},
        {"one path: ", "one path: default, ring, default again"},
        {"one path: ", "one path: simple, ll"},
        {"ring: ", "ring: the paths are those of default"},
        {"tree: ", "tree: ranks differ: rank 0 Tree, rank 1 Ring"},
        {"tree: ", "tree: NCCL says: cannot open"},
        {"tree: ", "tree: NCCL says: plain words"},
        {"-: ", "-: of a nameless one"},
    };
    static const char *const absent[] = {"eager", "not this", "nor this", "(null)", "default:", "default again:", "NCCL says: \n"};
    char *text;

    (void)state;
    text = proof_of(full);
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        assert_line(text, lines[i].start, lines[i].part);
    for (size_t i = 0; i < COUNT_OF(absent); i++)
        assert_no(text, absent[i]);
    assert_true(strstr(text, "ring: the paths") < strstr(text, "tree: ranks differ"));
    free(text);
}

/* Words of any length are cut, or wide, but never too much for a buffer. */
static void test_long_words(void **state)
{
    char words[3000], head[4 * sizeof(words) + 512], *text;

    (void)state;
    memset(words, 'w', sizeof(words) - 1);
    words[sizeof(words) - 1] = '\0';
    snprintf(head, sizeof(head),
             "{'variants': [{'name': 'v', 'nccl_log': {'warnings': ['%s']}, 'standing_words': '%s',"
             " 'acknowledged': {'A': {'words': '%s'}, 'B': {'words': '%s'}, 'C': {'words': 'z'}}}]}",
             words, words, words, words);
    text = proof_of(head);
    assert_line(text, "v ", " wwww");
    assert_line(text, "v: wwww", "wwww");
    assert_line(text, "v: NCCL says: wwww", "wwww");
    free(text);
}

static void add(struct lp_result *result, const char *variant, enum lp_placement placement, const char *tag)
{
    struct lp_record record = {.algbw_gbps = 10.0, .busbw_gbps = 10.0, .link_gbps = (double)NAN, .latency_us = (double)NAN};

    record.cell.kind = LP_COLLECTIVE;
    record.cell.root = -1;
    record.cell.timing = LP_GRAPH;
    record.cell.placement = placement;
    record.cell.requested_bytes = record.cell.size_bytes = 1024;
    record.cell.count = 256;
    strcpy(record.cell.op, "allreduce");
    strcpy(record.cell.library, "nccl");
    strcpy(record.cell.buffers, "plain");
    strcpy(record.variant, variant);
    record.time_us = (struct lp_stats){.median = 100.0, .p10 = 98.0, .p90 = 103.0, .n = 8};
    record.checked = (struct lp_checked){.iterations = 6, .first_rank = -1};
    record.evidence.read = tag != NULL;
    record.evidence.channels = -1;
    strcpy(record.evidence.tag, tag ? tag : "");
    assert_int_equal(lp_result_add(result, &record), LP_OK);
}

static void test_path_column(void **state)
{
    static const struct {
        const char *name, *tag[2], *in_place; /* of default and ring out of place, and of ring in place */
        bool column;
    } cases[] = {
        {"no log", {NULL, NULL}, NULL, false},
        {"a log that says nothing", {"", ""}, "", false},
        {"one has a path", {NULL, "Ring/LL x1"}, NULL, true},
        {"in place only", {NULL, NULL}, "Ring/LL128 x2", true},
        {"all", {"NVLS/Simple x16", "Ring/LL x1"}, "Ring/LL x1", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_result result;
        char *text;

        make(&result, "{'device': 'cuda', 'variants': [{'name': 'default'}, {'name': 'ring'}]}");
        add(&result, "default", LP_OUT_OF_PLACE, cases[i].tag[0]);
        add(&result, "ring", LP_OUT_OF_PLACE, cases[i].tag[1]);
        add(&result, "ring", LP_IN_PLACE, cases[i].in_place);
        text = printed(lp_view_long, &result);
        assert_case(cases[i].name, strstr(text, "100.0") != NULL);
        assert_case(cases[i].name, (strstr(text, "by NCCL's log") != NULL) == cases[i].column);
        for (int t = 0; t < 2; t++)
            assert_case(cases[i].name, !cases[i].tag[t] || strstr(text, cases[i].tag[t]));
        assert_case(cases[i].name, !cases[i].in_place || strstr(text, cases[i].in_place));
        free(text);
        lp_result_release(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_proven),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_path_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
