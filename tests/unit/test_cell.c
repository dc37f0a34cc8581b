/* Cells over the wire and in words. */
#include "model/cell.h"

#include <stdio.h>

#include "fixture.h"
#include "unit.h"

static struct lp_cell collective(void)
{
    struct lp_cell cell = {
        .kind = LP_COLLECTIVE,
        .op = "allgather",
        .library = "nccl",
        .buffers = "plain",
        .dtype = LP_BFLOAT16,
        .redop = LP_MAX,
        .root = -1,
        .requested_bytes = ((size_t)1 << 33) + 1,
        .size_bytes = (size_t)1 << 33,
        .count = (size_t)1 << 31,
        .placement = LP_IN_PLACE,
        .timing = LP_ISOLATED,
        .warmup = 5,
        .iters = 20,
        .checks = 3,
    };

    return cell;
}

static struct lp_cell copy(int nedges)
{
    struct lp_cell cell = {
        .kind = LP_COPY,
        .op = "ce_write",
        .library = "cuda",
        .buffers = "plain",
        .root = -1,
        .requested_bytes = 512u << 20,
        .size_bytes = 512u << 20,
        .count = 128u << 20,
        .timing = LP_QUEUED,
        .pattern = "ring",
        .processes = "ipc",
        .nedges = nedges,
        .warmup = 3,
        .checks = 1,
    };

    for (int i = 0; i < nedges; i++)
        cell.edges[i] = (struct lp_edge){i % LP_MAX_RANKS, (i + 1) % LP_MAX_RANKS};
    return cell;
}

static void expect_same(const struct lp_cell *a, const struct lp_cell *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_string_equal(a->op, b->op);
    assert_string_equal(a->library, b->library);
    assert_string_equal(a->buffers, b->buffers);
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
    assert_int_equal(a->warmup, b->warmup);
    assert_int_equal(a->iters, b->iters);
    assert_int_equal(a->checks, b->checks);
}

/* As the wire does it: into text and back. */
static void round_trip(const struct lp_cell *cell)
{
    json_t *json = lp_cell_to_json(cell);
    char *text = json_dumps(json, JSON_COMPACT);
    json_t *read = json_loads(text, 0, NULL);
    struct lp_cell back;

    memset(&back, 0x5a, sizeof(back));
    assert_int_equal(lp_cell_from_json(read, &back, NULL), LP_OK);
    expect_same(cell, &back);
    json_decref(json);
    json_decref(read);
    free(text);
}

static void test_round_trip(void **state)
{
    struct lp_cell cells[] = {collective(), copy(1), copy(2), copy(LP_MAX_TRANSFERS)};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cells); i++)
        round_trip(&cells[i]);
}

static void test_every_name_comes_back(void **state)
{
    struct lp_cell cell = collective();

    (void)state;
    for (int t = 0; t < LP_NTIMINGS; t++)
        for (int p = 0; p < LP_NPLACEMENTS; p++)
            for (int d = 0; d < LP_NDTYPES; d++)
                for (int r = 0; r < LP_NREDOPS; r++) {
                    cell.timing = (enum lp_timing)t;
                    cell.placement = (enum lp_placement)p;
                    cell.dtype = (enum lp_dtype)d;
                    cell.redop = (enum lp_redop)r;
                    round_trip(&cell);
                }
}

/* Without what says which cell it is there is none; the reason names the member. */
static void test_missing_members(void **state)
{
    static const struct {
        const char *key, *says;
    } cases[] = {
        {"kind", "kind"}, {"timing", "timing"}, {"placement", "placement"}, {"datatype", "data type"}, {"redop", "reduction"}};
    static const char *const values[] = {NULL, "null", "7", "\"other\"", "\"\"", "[]"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t v = 0; v < COUNT_OF(values); v++) {
            struct lp_cell cell = collective(), back;
            json_t *json = lp_cell_to_json(&cell);
            struct lp_reason why = {""};

            if (values[v])
                json_object_set_new(json, cases[i].key, json_loads(values[v], JSON_DECODE_ANY, NULL));
            else
                json_object_del(json, cases[i].key);
            assert_case(cases[i].key, lp_cell_from_json(json, &back, &why) != LP_OK);
            assert_says(why.text, cases[i].says);
            json_decref(json);
        }
}

static void test_no_object(void **state)
{
    json_t *list = json_of("[1]");
    struct lp_cell cell;

    (void)state;
    assert_int_equal(lp_cell_from_json(NULL, &cell, NULL), LP_ERR_PARSE);
    assert_int_equal(lp_cell_from_json(list, &cell, NULL), LP_ERR_PARSE);
    json_decref(list);
}

static void test_bad_edges(void **state)
{
    static const char *const edges[] = {"[[0,64]]", "[[-2,0]]", "[[64,0]]", "[[0,1],[0,-5]]", "[[0,1],[99,0]]"};
    struct lp_cell cell = copy(2), back;
    json_t *many = json_array();

    (void)state;
    for (int i = 0; i <= LP_MAX_TRANSFERS; i++)
        json_array_append_new(many, json_of("[0,1]"));
    for (size_t i = 0; i <= COUNT_OF(edges); i++) {
        json_t *json = lp_cell_to_json(&cell);
        struct lp_reason why = {""};

        json_object_set_new(json, "edges", i < COUNT_OF(edges) ? json_of(edges[i]) : json_incref(many));
        assert_int_equal(lp_cell_from_json(json, &back, &why), LP_ERR_PARSE);
        assert_says(why.text, "edge");
        json_decref(json);
    }
    json_decref(many);
}

static void test_timing_names(void **state)
{
    static const char *const bad[] = {"queued", "Graph", "", "graph,isolated", "graphs"};
    enum lp_timing timing = LP_NTIMINGS;
    struct lp_reason why;

    (void)state;
    for (int t = 0; t < LP_QUEUED; t++) {
        assert_int_equal(lp_timing_parse(lp_timing_name((enum lp_timing)t), &timing, NULL), LP_OK);
        assert_int_equal(timing, t);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_case(bad[i], lp_timing_parse(bad[i], &timing, &why) == LP_ERR_ARG);
        assert_says(why.text, bad[i]);
        assert_says(why.text, "graph, pipelined or isolated");
    }
}

static void test_words(void **state)
{
    struct lp_cell cell = collective(), one = copy(1), ring = copy(3);
    char buf[128];

    (void)state;
    assert_string_equal(lp_cell_words(&cell, buf, sizeof(buf)), "allgather 8G in place isolated");
    cell.size_bytes = 0; /* less than one element a rank */
    cell.requested_bytes = 3;
    cell.placement = LP_OUT_OF_PLACE;
    assert_string_equal(lp_cell_words(&cell, buf, sizeof(buf)), "allgather 3 out of place isolated");
    one.edges[0] = (struct lp_edge){2, 1};
    assert_string_equal(lp_cell_words(&one, buf, sizeof(buf)), "ce_write 2->1 512M");
    assert_string_equal(lp_cell_words(&ring, buf, sizeof(buf)), "ce_write ring 512M");
    assert_int_equal(strlen(lp_cell_words(&ring, buf, 8)), 7);
    ring.timing = LP_GRAPH;
    assert_string_equal(lp_cell_words(&ring, buf, sizeof(buf)), "ce_write ring 512M graph");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_every_name_comes_back),
        cmocka_unit_test(test_missing_members), cmocka_unit_test(test_no_object),
        cmocka_unit_test(test_bad_edges),       cmocka_unit_test(test_timing_names),
        cmocka_unit_test(test_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
