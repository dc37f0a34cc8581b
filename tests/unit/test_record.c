/* Records to JSON and back: for every outcome, of both kinds, through text as a file or journal holds it. */
#include "model/record.h"

#include <math.h>

#include "fixture.h"
#include "unit.h"

static struct lp_record measured(void)
{
    struct lp_record record = {
        .variant = "tree",
        .repeat = 1,
        .round = 2,
        .crew = 7,
        .outcome = LP_DONE,
        .time_us = {.median = 2.5,
                    .p10 = 2.25,
                    .p90 = 3.0,
                    .p99 = (double)NAN,
                    .min = 2.0,
                    .max = 4.0,
                    .ci95_low = 2.25,
                    .ci95_high = 2.75,
                    .n = 8},
        .samples_us = {2.0, 2.25, 2.25, 2.5, 2.5, 2.75, 3.0, 4.0},
        .ops_per_sample = 40,
        .rotated = true,
        .aligned = true,
        .algbw_gbps = 3.5,
        .busbw_gbps = 1.75,
        .link_gbps = (double)NAN,
        .link_same_gbps = 98.5,
        .checked = {.iterations = 7, .first_rank = -1},
        .latency_us = (double)NAN,
        .library_path = "/opt/nccl/libnccl.so.2",
        .log = "/tmp/logs/crew007-tree-rank0.log",
        .measure_s = 0.5,
        .check_s = 0.25,
    };

    record.cell = (struct lp_cell){
        .kind = LP_COLLECTIVE,
        .op = "allreduce",
        .library = "nccl",
        .buffers = "plain",
        .dtype = LP_HALF,
        .redop = LP_MIN,
        .root = -1,
        .requested_bytes = ((size_t)1 << 32) + 3,
        .size_bytes = ((size_t)1 << 32) + 2,
        .count = ((size_t)1 << 31) + 1,
        .placement = LP_IN_PLACE,
        .timing = LP_PIPELINED,
    };
    return record;
}

static struct lp_record copied(int nedges)
{
    struct lp_record record = measured();

    record.cell = (struct lp_cell){.kind = LP_COPY,
                                   .op = "sm_write",
                                   .library = "cuda",
                                   .root = -1,
                                   .requested_bytes = 4096,
                                   .size_bytes = 4096,
                                   .timing = LP_QUEUED,
                                   .pattern = "ring",
                                   .processes = "ipc",
                                   .nedges = nedges};
    for (int i = 0; i < nedges; i++)
        record.cell.edges[i] = (struct lp_edge){nedges - 1 - i, i};
    record.variant[0] = '\0';
    record.repeat = record.round = 0;
    record.aligned = false;
    record.busbw_gbps = (double)NAN;
    record.link_gbps = 365.0;
    record.link_same_gbps = (double)NAN; /* what others are compared with has none */
    record.latency_us = 2.25;
    return record;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void expect_same_cell(const struct lp_cell *a, const struct lp_cell *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_string_equal(a->op, b->op);
    assert_string_equal(a->library, b->library);
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->redop, b->redop);
    assert_int_equal(a->root, b->root);
    assert_true(a->requested_bytes == b->requested_bytes && a->size_bytes == b->size_bytes && a->count == b->count);
    assert_int_equal(a->placement, b->placement);
    assert_int_equal(a->timing, b->timing);
    assert_string_equal(a->pattern, b->pattern);
    assert_string_equal(a->processes, b->processes);
    assert_int_equal(a->nedges, b->nedges);
    assert_memory_equal(a->edges, b->edges, sizeof(a->edges));
}

static void expect_same(const struct lp_record *a, const struct lp_record *b)
{
    const struct lp_stats *x = &a->time_us, *y = &b->time_us;

    expect_same_cell(&a->cell, &b->cell);
    assert_string_equal(a->variant, b->variant);
    assert_true(a->repeat == b->repeat && a->round == b->round && a->crew == b->crew);
    assert_int_equal(a->outcome, b->outcome);
    assert_string_equal(a->reason, b->reason);
    assert_true(x->n == y->n);
    if (x->n > 0) {
        assert_true(same(x->median, y->median) && same(x->p10, y->p10) && same(x->p90, y->p90) && same(x->p99, y->p99));
        assert_true(same(x->min, y->min) && same(x->max, y->max));
        assert_true(same(x->ci95_low, y->ci95_low) && same(x->ci95_high, y->ci95_high));
    }
    assert_memory_equal(a->samples_us, b->samples_us, x->n * sizeof(double));
    assert_int_equal(a->ops_per_sample, b->ops_per_sample);
    assert_true(a->rotated == b->rotated && a->aligned == b->aligned);
    assert_true(same(a->algbw_gbps, b->algbw_gbps) && same(a->busbw_gbps, b->busbw_gbps));
    assert_true(same(a->link_gbps, b->link_gbps) && same(a->latency_us, b->latency_us));
    assert_true(same(a->link_same_gbps, b->link_same_gbps));
    assert_string_equal(a->library_path, b->library_path);
    assert_string_equal(a->log, b->log);
    assert_true(a->measure_s == b->measure_s && a->check_s == b->check_s);
    assert_true(a->checked.iterations == b->checked.iterations && a->checked.wrong_iterations == b->checked.wrong_iterations);
    assert_true(a->checked.wrong_elements == b->checked.wrong_elements && a->checked.first_rank == b->checked.first_rank);
    assert_true(a->checked.first_offset_bytes == b->checked.first_offset_bytes);
}

/* The text of the record; JSON's grammar has no NaN, and neither must it. The caller frees it. */
static char *text_of(const struct lp_record *record)
{
    json_t *json = lp_record_to_json(record);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

    json_decref(json);
    assert_non_null(text);
    assert_null(strstr(text, "NaN"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "nfinity"));
    return text;
}

static void round_trip(const struct lp_record *record)
{
    char *text = text_of(record);
    json_t *json = json_loads(text, 0, NULL);
    struct lp_record back;
    struct lp_reason why = {""};

    memset(&back, 0x5a, sizeof(back));
    assert_non_null(json);
    assert_int_equal(lp_record_from_json(json, record->cell.kind, &back, &why), LP_OK);
    expect_same(record, &back);
    json_decref(json);
    free(text);
}

static void test_every_outcome(void **state)
{
    (void)state;
    for (int o = 0; o < LP_NOUTCOMES; o++)
        for (int kind = 0; kind < 3; kind++) {
            struct lp_record record = kind == 0 ? measured() : copied(kind);

            record.outcome = (enum lp_outcome)o;
            if (o == LP_WRONG)
                record.checked = (struct lp_checked){7, 2, UINT64_C(5000000000), 1, UINT64_C(4294967300)};
            if (o != LP_DONE)
                snprintf(record.reason, sizeof(record.reason), "%s, with a \"quote\", and a comma\n",
                         lp_outcome_name(record.outcome));
            if (o > LP_WRONG) {
                record.time_us = (struct lp_stats){0};
                record.algbw_gbps = record.busbw_gbps = record.latency_us = (double)NAN;
                record.checked = (struct lp_checked){.first_rank = -1};
            }
            round_trip(&record);
            assert_true(lp_record_usable(&record) == (o == LP_DONE));
        }
}

static void test_outcome_names(void **state)
{
    static const char *const names[LP_NOUTCOMES] = {"ok", "wrong", "unsupported", "hang", "crash", "skipped", "failed"};

    (void)state;
    for (int o = 0; o < LP_NOUTCOMES; o++)
        assert_string_equal(lp_outcome_name((enum lp_outcome)o), names[o]);
}

static void test_usable(void **state)
{
    struct lp_record record = measured();

    (void)state;
    assert_true(lp_record_usable(&record));
    record.time_us.n = 0;
    assert_false(lp_record_usable(&record));
}

/* What is no number is null, and what is unknown too; the members are there all the same. */
static void test_nulls(void **state)
{
    static const char *const numbers[] = {"busbw_gbps", "algbw_gbps",  "link_gbps",      "link_same_gbps", "time_us",
                                          "reason",     "first_wrong", "wrong_elements", "evidence"};
    struct lp_record record = measured();
    json_t *json;

    (void)state;
    record.time_us.n = 0;
    record.algbw_gbps = (double)INFINITY;
    record.link_same_gbps = (double)NAN;
    record.busbw_gbps = -(double)NAN;
    record.checked.iterations = 0;
    json = lp_record_to_json(&record);
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        assert_case(numbers[i], json_is_null(json_object_get(json, numbers[i])));
    assert_int_equal(json_array_size(json_object_get(json, "samples_us")), 0);
    json_decref(json);
}

/* Sizes and counts are whole numbers, above 2^32 too. */
static void test_integers(void **state)
{
    static const char *const keys[] = {"requested_bytes", "size_bytes",    "count", "wrong_elements", "crew",
                                       "round",           "ops_per_sample"};
    struct lp_record record = measured();
    json_t *json = lp_record_to_json(&record);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        assert_case(keys[i], json_is_integer(json_object_get(json, keys[i])));
    assert_true(json_integer_value(json_object_get(json, "requested_bytes")) == ((json_int_t)1 << 32) + 3);
    json_decref(json);
}

/* Words of other programs come into reasons as they are; half a letter must not cost the record. */
static void test_reason_that_is_not_utf8(void **state)
{
    struct lp_record record = measured();
    char *text;

    (void)state;
    record.outcome = LP_CRASH;
    strcpy(record.reason, "log ends: \xe2\x82");
    text = text_of(&record);
    assert_says(text, "log ends: ??");
    assert_says(text, "\"outcome\":\"crash\"");
    free(text);
}

static void test_src_and_dst(void **state)
{
    struct lp_record pair = copied(1), ring = copied(2);
    json_t *json;

    (void)state;
    pair.cell.edges[0] = (struct lp_edge){3, 1};
    json = lp_record_to_json(&pair);
    assert_int_equal(json_integer_value(json_object_get(json, "src")), 3);
    assert_int_equal(json_integer_value(json_object_get(json, "dst")), 1);
    json_decref(json);
    json = lp_record_to_json(&ring);
    assert_true(json_is_null(json_object_get(json, "src")) && json_is_null(json_object_get(json, "dst")));
    json_decref(json);
}

static void test_most_samples(void **state)
{
    struct lp_record record = measured();

    (void)state;
    record.time_us.n = LP_MAX_SAMPLES;
    for (int i = 0; i < LP_MAX_SAMPLES; i++)
        record.samples_us[i] = i + 0.5;
    round_trip(&record);
}

/* A file written by somebody else, or by a later linkperf. */
static void test_refused(void **state)
{
    static const struct {
        const char *key, *value, *says;
    } cases[] = {
        {"outcome", "\"fine\"", "fine"},    {"outcome", "null", "outcome"},   {"placement", "\"beside\"", "placement"},
        {"timing", "\"sloppy\"", "timing"}, {"datatype", "\"int8\"", "int8"}, {"redop", "\"avg\"", "avg"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_record record = measured(), back;
        json_t *json = lp_record_to_json(&record);
        struct lp_reason why = {""};

        json_object_set_new(json, cases[i].key, json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
        assert_case(cases[i].key, lp_record_from_json(json, LP_COLLECTIVE, &back, &why) != LP_OK);
        assert_says(why.text, cases[i].says);
        json_decref(json);
    }
}

static void test_more_samples_than_fit(void **state)
{
    struct lp_record record = measured(), back;
    json_t *json = lp_record_to_json(&record), *many = json_array();

    (void)state;
    for (int i = 0; i < 3 * LP_MAX_SAMPLES; i++)
        json_array_append_new(many, json_real(1.0));
    json_object_set_new(json, "samples_us", many);
    assert_int_equal(lp_record_from_json(json, LP_COLLECTIVE, &back, NULL), LP_OK);
    assert_true(back.samples_us[LP_MAX_SAMPLES - 1] == 1.0);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_outcome), cmocka_unit_test(test_outcome_names),
        cmocka_unit_test(test_usable),        cmocka_unit_test(test_nulls),
        cmocka_unit_test(test_integers),      cmocka_unit_test(test_reason_that_is_not_utf8),
        cmocka_unit_test(test_src_and_dst),   cmocka_unit_test(test_most_samples),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_more_samples_than_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
