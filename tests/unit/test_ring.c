/* NCCL's ring order from the evidence: which ring counts, and when it is only that of the ranks. */
#include "control/ring.h"

#include "fixture.h"
#include "unit.h"

static void test_orders(void **state)
{
    static const struct {
        const char *rings;
        int n;
        const char *order; /* digits; NULL: none */
    } cases[] = {
        {"[]", 4, NULL},
        {"[{'channel': 0, 'ranks': [0, 1]}]", 2, NULL},
        {"[{'channel': 0, 'ranks': [0, 1, 2, 3]}]", 4, NULL},
        {"[{'channel': 0, 'ranks': [2, 3, 0, 1]}]", 4, NULL}, /* turned */
        {"[{'channel': 0, 'ranks': [0, 3, 2, 1]}]", 4, NULL}, /* backwards */
        {"[{'channel': 0, 'ranks': [0, 2, 1, 3]}]", 4, "0213"},
        {"[{'channel': 0, 'ranks': [1, 3, 0, 2]}]", 4, "0213"},
        {"[{'ranks': [0, 1, 2, 3]}, {'ranks': [0, 2, 1, 3]}, {'ranks': [2, 1, 3, 0]}]", 4, "0213"}, /* two of three */
        {"[{'ranks': [0, 1, 2, 3]}, {'ranks': [0, 1, 2, 3]}, {'ranks': [0, 2, 1, 3]}]", 4, NULL},
        {"[{'ranks': [0, 2, 1]}]", 4, NULL},      /* one is missing */
        {"[{'ranks': [0, 2, 2, 3]}]", 4, NULL},   /* one is there twice */
        {"[{'ranks': [0, 2, 1, 4]}]", 4, NULL},   /* beyond the ranks */
        {"[{'ranks': [0, 2, 'x', 3]}]", 4, NULL}, /* 0 twice, as JSON reads it */
        {"[{'channel': 0}, {'ranks': [0, 3, 1, 2]}]", 4, "0312"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        json_t *rings = json_of(cases[i].rings);
        int order[64];
        bool found = lp_ring_order(rings, cases[i].n, order);

        assert_case(cases[i].rings, found == (cases[i].order != NULL));
        for (int k = 0; found && k < cases[i].n; k++)
            assert_case(cases[i].rings, order[k] == cases[i].order[k] - '0');
        json_decref(rings);
    }
    assert_false(lp_ring_order(NULL, 4, (int[64]){0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
