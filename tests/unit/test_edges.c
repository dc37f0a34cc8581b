/* Unit tests of what is made of the workers' lanes: rates of edges, their sum and overlap, and answers that do not fit. */
#include "control/edges.h"

#include "p2p/patterns.h"

#include <math.h>
#include <stdlib.h>

#include "fixture.h"
#include "unit.h"

#define EDGES_MAX  8
#define BLOCKS_MAX 4
#define BYTES      1000000
#define BOOT_NS    ((json_int_t)86400 * 365 * 10 * 1000000000) /* a machine that has been up for ten years */

static void begin(struct lp_record *record, int nedges, size_t bytes)
{
    struct lp_cell cell = {.kind = LP_COPY, .op = "ce_write", .nedges = nedges, .size_bytes = bytes, .requested_bytes = bytes};

    for (int e = 0; e < nedges; e++)
        cell.edges[e] = (struct lp_edge){e, (e + 1) % nedges};
    lp_record_begin(record, &cell);
}

static json_t *lane(int edge, json_int_t zero_ns, const double (*spans)[2], size_t blocks)
{
    json_t *starts = json_array(), *times = json_array();

    for (size_t i = 0; i < blocks; i++) {
        json_array_append_new(starts, json_integer(zero_ns + (json_int_t)llround(spans[i][0] * 1e3)));
        json_array_append_new(times, json_real(spans[i][1] - spans[i][0]));
    }
    return json_pack("{s:i, s:o, s:o}", "edge", edge, "start_ns", starts, "us", times);
}

static void release(json_t **replies, int workers)
{
    for (int w = 0; w < workers; w++)
        json_decref(replies[w]);
}

static bool close_to(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) <= 1e-9 * fmax(1.0, fabs(b));
}

/* ---- figures ---- */

/* From when to when each edge ran in each block, in microseconds, and what that comes to for BYTES an edge. */
static const struct {
    const char *name;
    int nedges, k;
    size_t blocks;
    double spans[EDGES_MAX][BLOCKS_MAX][2];
    double edge_gbps[EDGES_MAX], sum_gbps, overlap;
} cases[] = {
    {"together", 2, 1, 1, {{{0, 100}}, {{0, 100}}}, {10, 10}, 20, 1},
    {"one is slower", 2, 1, 1, {{{0, 100}}, {{0, 200}}}, {10, 5}, 10, 0.5},
    {"one is later", 2, 1, 1, {{{0, 100}}, {{50, 150}}}, {10, 10}, 2000 / 150.0, 50 / 150.0},
    {"the first is later", 2, 1, 1, {{{25, 125}}, {{0, 100}}}, {10, 10}, 2000 / 125.0, 75 / 125.0},
    {"one within the other", 2, 1, 1, {{{0, 400}}, {{100, 200}}}, {2.5, 10}, 5, 0.25},
    {"one after the other", 2, 1, 1, {{{0, 100}}, {{100, 200}}}, {10, 10}, 10, 0},
    {"four a block", 2, 4, 1, {{{0, 400}}, {{0, 800}}}, {10, 5}, 10, 0.5},
    {"three edges", 3, 1, 1, {{{0, 100}}, {{20, 120}}, {{50, 250}}}, {10, 10, 5}, 3000 / 250.0, 50 / 250.0},
    {"two of three overlap", 3, 1, 1, {{{0, 100}}, {{50, 150}}, {{100, 200}}}, {10, 10, 10}, 15, 0},
    {"no time at all", 2, 1, 1, {{{0, 0}}, {{0, 0}}}, {NAN, NAN}, NAN, NAN},
    /* every figure by the median of its own: 100 of 100, 100, 500; 200 of 100, 200, 400; and the blocks 100, 200, 500 */
    {"the middle block",
     2,
     1,
     3,
     {{{0, 100}, {1000, 1100}, {2000, 2500}}, {{0, 100}, {1000, 1200}, {2000, 2400}}},
     {10, 5},
     10,
     0.8},
    {"of two blocks the mean", 2, 1, 2, {{{0, 100}, {1000, 1300}}, {{0, 100}, {1000, 1300}}}, {5, 5}, 10, 1},
};

static void check_figures(const char *name, size_t i, const struct lp_record *record)
{
    for (int e = 0; e < cases[i].nedges; e++)
        if (!close_to(record->edge_gbps[e], cases[i].edge_gbps[e]))
            fail_msg("case \"%s\", %s: edge %d has %.9g GB/s, not %.9g", cases[i].name, name, e, record->edge_gbps[e],
                     cases[i].edge_gbps[e]);
    if (!close_to(record->sum_gbps, cases[i].sum_gbps))
        fail_msg("case \"%s\", %s: the sum is %.9g, not %.9g", cases[i].name, name, record->sum_gbps, cases[i].sum_gbps);
    if (!close_to(record->overlap, cases[i].overlap))
        fail_msg("case \"%s\", %s: the overlap is %.9g, not %.9g", cases[i].name, name, record->overlap, cases[i].overlap);
}

static void test_one_worker(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int backwards = 0; backwards < 2; backwards++) {
            json_t *lanes = json_array(), *reply = json_pack("{s:o}", "lanes", lanes);
            struct lp_record record;

            begin(&record, cases[i].nedges, BYTES);
            for (int n = 0; n < cases[i].nedges; n++) {
                int e = backwards ? cases[i].nedges - 1 - n : n;

                json_array_append_new(lanes, lane(e, BOOT_NS, cases[i].spans[e], cases[i].blocks));
            }
            assert_true(lp_edges_read(&reply, 1, cases[i].blocks, cases[i].k, &record));
            check_figures(backwards ? "backwards" : "in order", i, &record);
            json_decref(reply);
        }
}

/* Edges shared out among three workers in every way; one that has none says so, or says nothing of lanes. */
static void test_many_workers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int way = 0; way < 27; way++) {
            json_t *replies[3];
            struct lp_record record;
            int rest = way;

            begin(&record, cases[i].nedges, BYTES);
            for (int w = 0; w < 3; w++)
                replies[w] = w == 1 ? json_object() : json_pack("{s:[]}", "lanes");
            for (int e = 0; e < cases[i].nedges; e++, rest /= 3) {
                json_t *reply = replies[rest % 3];

                if (!json_object_get(reply, "lanes"))
                    json_object_set_new(reply, "lanes", json_array());
                json_array_append_new(json_object_get(reply, "lanes"), lane(e, BOOT_NS, cases[i].spans[e], cases[i].blocks));
            }
            assert_true(lp_edges_read(replies, 3, cases[i].blocks, cases[i].k, &record));
            check_figures("three workers", i, &record);
            release(replies, 3);
        }
}

/* Half a microsecond of overlap is seen however long the machine has been up; a clock may also have begun just now. */
static void test_clocks(void **state)
{
    static const json_int_t zeros[] = {1, 1000, BOOT_NS, INT64_MAX - 10000};
    static const double spans[][1][2] = {{{0.0, 1.0}}, {{0.5, 1.5}}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(zeros); i++)
        for (int first = 0; first < 2; first++) {
            json_t *reply = json_pack("{s:[o, o]}", "lanes", lane(first, zeros[i], spans[first], 1),
                                      lane(1 - first, zeros[i], spans[1 - first], 1));
            struct lp_record record;

            begin(&record, 2, 64);
            assert_true(lp_edges_read(&reply, 1, 1, 1, &record));
            assert_true(close_to(record.edge_gbps[0], 0.064) && close_to(record.edge_gbps[1], 0.064));
            assert_true(close_to(record.sum_gbps, 0.128 / 1.5) && close_to(record.overlap, 0.5 / 1.5));
            json_decref(reply);
        }
}

/* Every pair of 16 at once: 240 edges of 16 workers, by their sources. */
static void test_most_edges(void **state)
{
    json_t *replies[16];
    struct lp_record record;

    (void)state;
    begin(&record, 2, BYTES);
    record.cell.nedges = lp_pattern_kind_find("all_pairs")->edges(16, 0, -1, record.cell.edges, LP_MAX_TRANSFERS);
    assert_int_equal(record.cell.nedges, 240);
    for (int w = 0; w < 16; w++)
        replies[w] = json_pack("{s:[]}", "lanes");
    for (int e = 0; e < 240; e++) {
        double spans[2][2] = {{e, 1000.0 + 2 * e}, {5000.0 + e, 6000.0 + 2 * e}};

        json_array_append_new(json_object_get(replies[record.cell.edges[e].src], "lanes"), lane(e, BOOT_NS, spans, 2));
    }
    assert_true(lp_edges_read(replies, 16, 2, 1, &record));
    for (int e = 0; e < 240; e++)
        assert_true(close_to(record.edge_gbps[e], 1000.0 / (1000.0 + e)));
    assert_true(close_to(record.sum_gbps, 240 * 1000.0 / 1478.0) && close_to(record.overlap, (1000.0 - 239.0) / 1478.0));
    for (int e = 240; e < LP_MAX_TRANSFERS; e++)
        assert_true(isnan(record.edge_gbps[e]));
    release(replies, 16);
}

/* Spans that have an instant in common, whole microseconds long, counted microsecond by microsecond. */
static void test_against_counting(void **state)
{
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 500; round++) {
        int nedges = 2 + round % (EDGES_MAX - 1), any = 0, all = 0;
        json_t *lanes = json_array(), *reply = json_pack("{s:o}", "lanes", lanes);
        double spans[EDGES_MAX][1][2];
        struct lp_record record;

        begin(&record, nedges, BYTES);
        for (int e = 0; e < nedges; e++) {
            spans[e][0][0] = rand_r(&seed) % 50;
            spans[e][0][1] = 51 + rand_r(&seed) % 50;
            json_array_append_new(lanes, lane(e, BOOT_NS, spans[e], 1));
        }
        for (int t = 0; t < 101; t++) {
            int running = 0;

            for (int e = 0; e < nedges; e++)
                running += spans[e][0][0] <= t && t + 1 <= spans[e][0][1];
            any += running > 0;
            all += running == nedges;
        }
        assert_true(lp_edges_read(&reply, 1, 1, 1, &record));
        assert_true(close_to(record.sum_gbps, nedges * 1e3 / any) && close_to(record.overlap, (double)all / any));
        for (int e = 0; e < nedges; e++) /* a sum that is less than its largest part would be no sum */
            assert_true(record.sum_gbps >= record.edge_gbps[e] * nedges * (1.0 - 1e-9) || record.overlap < 1.0);
        json_decref(reply);
    }
}

/* ---- answers that do not fit ---- */

/* The replies of two workers about two edges and two blocks, ' for ". */
static const struct {
    const char *name, *replies[2];
    bool fits;
} answers[] = {
#define LANE(edge)  "{'edge': " #edge ", 'start_ns': [5000, 9000], 'us': [1.0, 2]}"
#define NOTHING     "{'samples_us': [0, 0]}"
#define LANES(list) "{'lanes': [" list "]}"
    {"both from one", {LANES(LANE(0) ", " LANE(1)), NOTHING}, true},
    {"one each", {LANES(LANE(1)), LANES(LANE(0))}, true},
    {"with more than was asked", {LANES(LANE(1)), "{'lanes': [" LANE(0) "], 'aligned': true}"}, true},
    {"no lanes", {NOTHING, NOTHING}, false},
    {"the last is missing", {LANES(LANE(0)), NOTHING}, false},
    {"the first is missing", {NOTHING, LANES(LANE(1))}, false},
    {"empty lists", {LANES(""), LANES("")}, false},
    {"twice from one", {LANES(LANE(0) ", " LANE(1) ", " LANE(0)), NOTHING}, false},
    {"twice from two", {LANES(LANE(0) ", " LANE(1)), LANES(LANE(1))}, false},
    {"one twice, one not at all", {LANES(LANE(0)), LANES(LANE(0))}, false},
    {"an edge too many", {LANES(LANE(0) ", " LANE(1) ", " LANE(2)), NOTHING}, false},
    {"an edge below", {LANES(LANE(0) ", " LANE(1) ", " LANE(-1)), NOTHING}, false},
    {"a huge edge", {LANES(LANE(0) ", " LANE(1) ", " LANE(2147483647)), NOTHING}, false},
    {"no edge", {LANES(LANE(0) ", {'start_ns': [5000, 9000], 'us': [1, 2]}"), NOTHING}, false},
    {"edge in words", {LANES(LANE(0) ", {'edge': '1', 'start_ns': [5000, 9000], 'us': [1, 2]}"), NOTHING}, false},
    {"a start too few", {LANES(LANE(0) ", {'edge': 1, 'start_ns': [5000], 'us': [1, 2]}"), NOTHING}, false},
    {"a time too few", {LANES(LANE(0) ", {'edge': 1, 'start_ns': [5000, 9000], 'us': [1]}"), NOTHING}, false},
    {"a block too few", {LANES(LANE(0) ", {'edge': 1, 'start_ns': [5000], 'us': [1]}"), NOTHING}, false},
    {"a block too many", {LANES(LANE(0) ", {'edge': 1, 'start_ns': [1, 2, 3], 'us': [1, 2, 3]}"), NOTHING}, false},
    {"no block", {LANES(LANE(0) ", {'edge': 1, 'start_ns': [], 'us': []}"), NOTHING}, false},
    {"no starts", {LANES(LANE(0) ", {'edge': 1, 'us': [1, 2]}"), NOTHING}, false},
    {"no times", {LANES(LANE(0) ", {'edge': 1, 'start_ns': [5000, 9000]}"), NOTHING}, false},
    {"a time that is none", {LANES(LANE(0) ", {'edge': 1, 'start_ns': [5000, 9000], 'us': [1, null]}"), NOTHING}, false},
    {"a start that is none", {LANES(LANE(0) ", {'edge': 1, 'start_ns': [null, 9000], 'us': [1, 2]}"), NOTHING}, false},
    {"a start that lost its nanoseconds", {LANES(LANE(0) ", {'edge': 1, 'start_ns': [5e3, 9e3], 'us': [1, 2]}"), NOTHING}, false},
    {"a lane that is none", {LANES(LANE(0) ", " LANE(1) ", 7"), NOTHING}, false},
    {"lanes in words", {"{'lanes': 'two'}", NOTHING}, false},
};

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        json_t *replies[2] = {json_of(answers[i].replies[0]), json_of(answers[i].replies[1])};
        struct lp_record record, before;

        memset(&record, 0, sizeof(record));
        begin(&record, 2, BYTES);
        memcpy(&before, &record, sizeof(record));
        assert_case(answers[i].name, lp_edges_read(replies, 2, 2, 1, &record) == answers[i].fits);
        assert_case(answers[i].name, (memcmp(&before, &record, sizeof(record)) == 0) == !answers[i].fits);
        assert_case(answers[i].name, isfinite(record.sum_gbps) == answers[i].fits);
        release(replies, 2);
    }
}

/* Only the crew's own workers count. */
static void test_no_more_workers_than_there_are(void **state)
{
    json_t *replies[2] = {json_of("{'lanes': [" LANE(0) "]}"), json_of("{'lanes': [" LANE(1) "]}")};
    struct lp_record record;

    (void)state;
    begin(&record, 2, BYTES);
    assert_false(lp_edges_read(replies, 1, 2, 1, &record));
    assert_true(lp_edges_read(replies, 2, 2, 1, &record));
    release(replies, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_worker),
        cmocka_unit_test(test_many_workers),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_most_edges),
        cmocka_unit_test(test_against_counting),
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_no_more_workers_than_there_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
