/* The lists of edges: how many, each once, nobody with itself, and what does not fit. */
#include "p2p/patterns.h"

#include "unit.h"

static void test_lists(void **state)
{
    static const struct {
        const char *name;
        int n, a, b, edges;
    } cases[] = {
        {"one_way", 4, 2, 1, 1},    {"both_ways", 4, 2, 1, 2},    {"ring", 4, 0, 0, 4},       {"ring", 2, 0, 0, 2},
        {"one_to_all", 5, 3, 0, 4}, {"all_to_one", 5, 3, 0, 4},   {"all_pairs", 4, 0, 0, 12}, {"all_pairs", 16, 0, 0, 240},
        {"all_pairs", 17, 0, 0, 0}, {"one_to_all", 64, 0, 0, 63}, {"both_ways", 2, 0, 1, 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_edge edges[LP_MAX_TRANSFERS];
        const struct lp_pattern_kind *kind = lp_pattern_kind_find(cases[i].name);
        int n = kind->edges(cases[i].n, cases[i].a, cases[i].b, edges, LP_MAX_TRANSFERS);

        assert_case(cases[i].name, n == cases[i].edges);
        for (int e = 0; e < n; e++) {
            assert_case(cases[i].name, edges[e].src >= 0 && edges[e].src < cases[i].n && edges[e].src != edges[e].dst);
            assert_case(cases[i].name, edges[e].dst >= 0 && edges[e].dst < cases[i].n);
            for (int k = 0; k < e; k++)
                assert_case(cases[i].name, edges[k].src != edges[e].src || edges[k].dst != edges[e].dst);
        }
    }
    assert_null(lp_pattern_kind_find("zigzag"));
}

/* Ends of the lists with one side in common. */
static void test_sides(void **state)
{
    struct lp_edge edges[LP_MAX_TRANSFERS];

    (void)state;
    lp_pattern_kind_find("one_to_all")->edges(4, 2, 0, edges, LP_MAX_TRANSFERS);
    assert_true(edges[0].src == 2 && edges[1].src == 2 && edges[2].src == 2);
    lp_pattern_kind_find("all_to_one")->edges(4, 2, 0, edges, LP_MAX_TRANSFERS);
    assert_true(edges[0].dst == 2 && edges[1].dst == 2 && edges[2].dst == 2);
    lp_pattern_kind_find("both_ways")->edges(4, 3, 1, edges, LP_MAX_TRANSFERS);
    assert_true(edges[0].src == 3 && edges[0].dst == 1 && edges[1].src == 1 && edges[1].dst == 3);
    assert_int_equal(lp_pattern_kind_find("all_pairs")->edges(4, 0, 0, edges, 11), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_sides)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
