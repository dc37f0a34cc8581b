/* Which exchange stands beside a collective, and what rate it gives. */
#include "judge/same_size.h"

#include <math.h>

#include "unit.h"

static void add_exchange(struct lp_result *result, const char *path, enum lp_timing timing, size_t bytes, double us,
                         enum lp_outcome outcome)
{
    struct lp_cell cell = {.kind = LP_COPY, .pattern = "ring", .timing = timing, .requested_bytes = bytes, .size_bytes = bytes};
    struct lp_record record;

    snprintf(cell.op, sizeof(cell.op), "%s", path);
    lp_record_begin(&record, &cell);
    record.outcome = outcome;
    record.time_us = (struct lp_stats){.median = us, .n = outcome == LP_HANG ? 0 : 8};
    assert_int_equal(lp_result_add(result, &record), LP_OK);
}

static double beside(const struct lp_result *result, const char *op, enum lp_timing timing, size_t bytes, int nranks)
{
    struct lp_cell cell = {.kind = LP_COLLECTIVE, .timing = timing, .requested_bytes = bytes, .size_bytes = bytes};

    snprintf(cell.op, sizeof(cell.op), "%s", op);
    return lp_same_size_gbps(result, &cell, nranks);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void test_same_size(void **state)
{
    struct lp_result result;

    (void)state;
    lp_result_init(&result);
    add_exchange(&result, "sm_write", LP_GRAPH, 1024, 0.1, LP_DONE);
    add_exchange(&result, "sm_exchange", LP_GRAPH, 1024, 2.0, LP_DONE);
    add_exchange(&result, "sm_exchange", LP_PIPELINED, 1024, 4.0, LP_DONE);
    add_exchange(&result, "sm_exchange", LP_GRAPH, 16, 1.0, LP_DONE);
    add_exchange(&result, "sm_exchange", LP_GRAPH, 4096, 2.0, LP_WRONG);
    add_exchange(&result, "sm_exchange", LP_GRAPH, 8192, 2.0, LP_HANG);
    assert_true(near(beside(&result, "allreduce", LP_GRAPH, 1024, 2), 0.512));
    assert_true(near(beside(&result, "allgather", LP_GRAPH, 2048, 2), 0.512)); /* half of it is on the wire */
    assert_true(near(beside(&result, "allreduce", LP_PIPELINED, 1024, 2), 0.256));
    assert_true(near(beside(&result, "allreduce", LP_GRAPH, 8, 2), 0.008)); /* its own bytes, in the time of 16 */
    assert_true(near(beside(&result, "allreduce", LP_GRAPH, 1020, 2), 0.51));
    assert_true(near(beside(&result, "allgather", LP_GRAPH, 1168, 8), 0.511)); /* 1022 by 7/8: those of 1024 */
    assert_true(isnan(beside(&result, "allreduce", LP_ISOLATED, 1024, 2)));
    assert_true(isnan(beside(&result, "allreduce", LP_GRAPH, 512, 2)));
    assert_true(isnan(beside(&result, "allreduce", LP_GRAPH, 4096, 2)));
    assert_true(isnan(beside(&result, "allreduce", LP_GRAPH, 8192, 2)));
    assert_true(isnan(beside(&result, "allreduce", LP_GRAPH, 1024, 1)));
    assert_true(isnan(beside(&result, "alltoall", LP_GRAPH, 1024, 2)));
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_size)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
