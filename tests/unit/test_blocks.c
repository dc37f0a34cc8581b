/* Operations of a block and blocks of a batch. */
#include "control/blocks.h"

#include <math.h>

#include "unit.h"

static void test_ops(void **state)
{
    static const struct {
        const char *name;
        enum lp_timing timing;
        int fixed;
        double op_us;
        int k;
    } cases[] = {
        {"isolated", LP_ISOLATED, 0, 1.0, 1},
        {"isolated, whatever -n says", LP_ISOLATED, 20, 1.0, 1},
        {"-n", LP_GRAPH, 20, 1.0, 20},
        {"-n above the usual most", LP_PIPELINED, 5000, 1.0, 5000},
        {"-n of one", LP_QUEUED, 1, 1.0, 1},
        {"fast", LP_GRAPH, 0, 0.1, 64},
        {"64 fill a millisecond", LP_GRAPH, 0, 15.625, 64},
        {"just slower", LP_GRAPH, 0, 16.0, 63},
        {"100 us", LP_PIPELINED, 0, 100.0, 10},
        {"rounded up", LP_PIPELINED, 0, 300.0, 4},
        {"1 ms: four, for the cold first one", LP_QUEUED, 0, 1000.0, 4},
        {"four in 20 ms", LP_QUEUED, 0, 5000.0, 4},
        {"two in 20 ms", LP_GRAPH, 0, 8000.0, 2},
        {"one is 20 ms", LP_GRAPH, 0, 20e3, 1},
        {"slow", LP_QUEUED, 0, 1e6, 1},
        {"no time", LP_GRAPH, 0, 0.0, 1},
        {"negative", LP_GRAPH, 0, -1.0, 1},
        {"not a number", LP_GRAPH, 0, (double)NAN, 1},
        {"endless", LP_GRAPH, 0, (double)INFINITY, 1},
        {"next to nothing", LP_GRAPH, 0, 1e-300, 64},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_case(cases[i].name, lp_blocks_ops(cases[i].timing, cases[i].fixed, cases[i].op_us) == cases[i].k);
}

static void test_first_batch(void **state)
{
    static const struct {
        const char *name;
        double block_us, budget_us;
        int n;
    } cases[] = {
        {"a third of 30 ms", 1e3, 30e3, 10},
        {"short", 10.0, 30e3, 64},
        {"long", 20e3, 30e3, 8},
        {"exactly 8", 1250.0, 30e3, 8},
        {"exactly 64", 156.25, 30e3, 64},
        {"not quite slow", 50e3, 30e3, 8},
        {"slow", 50001.0, 30e3, 3},
        {"very slow", 1e9, 30e3, 3},
        {"no time", 0.0, 30e3, 64},
        {"negative", -5.0, 30e3, 64},
        {"not a number", (double)NAN, 30e3, 64},
        {"no budget", 1e3, 0.0, 8},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_case(cases[i].name, lp_blocks_next(cases[i].block_us, cases[i].budget_us, NULL) == cases[i].n);
}

static void test_next_batch(void **state)
{
    static const struct {
        const char *name;
        double block_us, low, high; /* of a median of 100 us */
        size_t have;
        int n;
    } cases[] = {
        {"settled", 1e3, 99.5, 100.5, 10, 0},
        {"exactly 1 % to either side", 1e3, 99.0, 101.0, 10, 0},
        {"not settled: the rest of 30 ms", 1e3, 90.0, 101.0, 10, 20},
        {"at most a request's", 100.0, 90.0, 110.0, 64, 64},
        {"budget spent", 1e3, 50.0, 150.0, 30, 0},
        {"less than a block is left", 7e3, 50.0, 150.0, 4, 0},
        {"slow", 60e3, 50.0, 150.0, 3, 0},
        {"no interval yet", 1e3, (double)NAN, (double)NAN, 5, 25},
        {"enough to keep", 1.0, 50.0, 150.0, LP_MAX_SAMPLES, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_stats stats = {.median = 100.0, .ci95_low = cases[i].low, .ci95_high = cases[i].high, .n = cases[i].have};

        assert_case(cases[i].name, lp_blocks_next(cases[i].block_us, 30e3, &stats) == cases[i].n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ops),
        cmocka_unit_test(test_first_batch),
        cmocka_unit_test(test_next_batch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
