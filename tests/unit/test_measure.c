/* One cell on one crew, over a scripted link: the requests in order, and what becomes of good answers. */
#include "control/measure.h"

#include "control/blocks.h"

#include <math.h>

#include "scripted_measure.h"

/* ---- a good cell ---- */

static void test_good_cell(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);
    const struct lp_record *record = &plot->record;
    /* the warm-up's later half took 100.02, 100.03, 100.04 us on the slower rank */
    int k = lp_blocks_ops(LP_GRAPH, 0, 100.03), n = lp_blocks_next(100.03 * k, 30e3, NULL);

    assert_true(measure(plot, crew));
    assert_int_equal(record->outcome, LP_DONE);
    assert_string_equal(record->reason, "");
    assert_int_equal(record->crew, lp_crew_id(crew));
    assert_int_equal(record->ops_per_sample, k);
    assert_int_equal(record->time_us.n, n);
    for (int i = 0; i < n; i++)
        assert_true(record->samples_us[i] == 100.0 + 0.01 * i); /* the slower rank's */
    assert_true(fabs(record->time_us.median - 100.0 - 0.01 * (n - 1) / 2.0) < 1e-9 && record->time_us.min == 100.0);
    assert_true(record->rotated && record->aligned);
    assert_true(fabs(record->algbw_gbps - 1048576.0 / (record->time_us.median * 1e3)) < 1e-9);
    assert_true(record->busbw_gbps == record->algbw_gbps); /* allreduce on 2 */
    assert_true(isnan(record->link_gbps) && isnan(record->latency_us));
    assert_int_equal(record->checked.iterations, 3 + 1 + 3);
    assert_true(record->checked.wrong_iterations == 0 && record->checked.first_rank == -1);
    assert_true(lp_record_usable(record) && lp_crew_usable(crew));
}

static void test_requests_in_order(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);
    struct lp_cell cell;

    assert_true(measure(plot, crew));
    assert_string_equal(lp_json_str(asked(plot, STEP_CELL), "do", ""), "cell");
    assert_int_equal(lp_cell_from_json(json_object_get(asked(plot, STEP_CELL), "cell"), &cell, NULL), LP_OK);
    assert_true(cell.timing == LP_GRAPH && cell.size_bytes == 1 << 20);
    assert_int_equal(json_array_size(json_object_get(asked(plot, STEP_CELL), "ranks")), 2);
    assert_string_equal(lp_json_str(asked(plot, STEP_WARM_UP), "do", ""), "blocks");
    assert_true(lp_json_int(asked(plot, STEP_WARM_UP), "k", 0) == 1 && lp_json_int(asked(plot, STEP_WARM_UP), "n", 0) == 5);
    assert_string_equal(lp_json_str(asked(plot, STEP_CHECK), "do", ""), "check");
    assert_true(lp_json_int(asked(plot, STEP_CHECK), "first", 0) == 7 &&
                lp_json_int(asked(plot, STEP_CHECK), "iterations", 0) == 3);
    assert_true(lp_json_bool(asked(plot, STEP_PREPARE), "prepare", false));
    assert_int_equal(lp_json_int(asked(plot, STEP_PREPARE), "first", 0), 10);
    assert_string_equal(lp_json_str(asked(plot, STEP_TIME), "do", ""), "blocks");
    assert_int_equal(lp_json_int(asked(plot, STEP_TIME), "k", 0), plot->record.ops_per_sample);
    assert_true(lp_json_bool(asked(plot, STEP_LAST), "last", false));
    assert_int_equal(lp_json_int(asked(plot, STEP_LAST), "first", 0), 10); /* what the timed operations were prepared with */
    assert_true(lp_json_int(asked(plot, STEP_AFTER), "first", 0) == 11 &&
                lp_json_int(asked(plot, STEP_AFTER), "iterations", 0) == 3);
    assert_null(asked(plot, STEP_AFTER + 1));
    assert_int_equal(plot->iteration, 14); /* never the same data twice */
}

/* A cell that is not steady gets what its budget gives, in a second batch, and all of its samples count. */
static void test_unsteady_cell(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);
    int k, first;

    plot->slope = 1.0;
    assert_true(measure(plot, crew));
    k = lp_blocks_ops(LP_GRAPH, 0, 103.0);
    first = lp_blocks_next(103.0 * k, 30e3, NULL);
    assert_int_equal(lp_json_int(asked(plot, STEP_TIME), "n", 0), first);
    assert_string_equal(lp_json_str(asked(plot, STEP_TIME + 1), "purpose", ""), "time");
    assert_int_equal(plot->record.time_us.n, first + lp_json_int(asked(plot, STEP_TIME + 1), "n", 0));
    assert_true(plot->record.samples_us[first] == 100.0); /* the second batch begins where the first ends */
    assert_true(lp_json_bool(asked(plot, STEP_TIME + 2), "last", false));
}

/* Where the time went: seven requests of 10 ms each. */
static void test_seconds(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    plot->seconds = (struct lp_seconds){.measure = 1.0, .check = 2.0, .end = 3.0};
    assert_true(measure(plot, crew));
    assert_true(fabs(plot->seconds.measure - 1.03) < 1e-9 && fabs(plot->seconds.check - 2.04) < 1e-9);
    assert_true(plot->seconds.end == 3.0);
    assert_true(fabs(plot->record.measure_s - 0.03) < 1e-9 && fabs(plot->record.check_s - 0.04) < 1e-9);
}

/* In place the timed operations' outputs are their inputs: there is no last one to compare. */
static void test_in_place(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    plot->cell.placement = LP_IN_PLACE;
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.checked.iterations, 6);
    assert_null(asked(plot, 7));
}

static void test_unchecked(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    plot->cell.checks = 0;
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.outcome, LP_DONE);
    assert_int_equal(plot->record.checked.iterations, 0);
    assert_int_equal(plot->iteration, 7);
    assert_null(asked(plot, 4));
}

static void test_bus_bandwidth(void **state)
{
    static const struct {
        const char *op;
        enum lp_kind kind;
        double factor; /* NaN: none */
    } cases[] = {{"allreduce", LP_COLLECTIVE, 1.0}, {"allgather", LP_COLLECTIVE, 0.5}, {"sm_write", LP_COPY, (double)NAN}};
    struct plot *plot = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_crew *crew = ready_crew(&plot->stage, 2);
        struct lp_loss why;

        plot->step[0] = plot->step[1] = 0;
        strcpy(plot->cell.op, cases[i].op);
        plot->cell.kind = cases[i].kind;
        assert_true(measure(plot, crew));
        assert_case(cases[i].op, plot->record.algbw_gbps > 0.0);
        if (isnan(cases[i].factor))
            assert_case(cases[i].op, isnan(plot->record.busbw_gbps));
        else
            assert_case(cases[i].op, plot->record.busbw_gbps == plot->record.algbw_gbps * cases[i].factor);
        assert_true(lp_crew_end(crew, LIMIT, &why));
    }
}

static void test_one_rank_has_no_bus(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 1);

    assert_true(measure(plot, crew));
    assert_true(plot->record.algbw_gbps > 0.0 && isnan(plot->record.busbw_gbps));
}

static void test_iters_and_warmup_as_asked(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    plot->cell.iters = 20;
    plot->cell.warmup = 0; /* one is done all the same: its time is needed */
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.ops_per_sample, 20);
    assert_int_equal(lp_json_int(asked(plot, STEP_WARM_UP), "n", 0), 1);
    assert_int_equal(lp_json_int(asked(plot, STEP_TIME), "k", 0), 20);
}

static void test_long_warmup(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    plot->cell.warmup = 1000000;
    assert_true(measure(plot, crew));
    assert_true(lp_json_int(asked(plot, STEP_WARM_UP), "n", 0) <= LP_MAX_SAMPLES);
    assert_int_equal(plot->record.outcome, LP_DONE);
}

#define test_case(test) cmocka_unit_test_setup_teardown(test, plot_set_up, plot_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_case(test_good_cell),
        test_case(test_requests_in_order),
        test_case(test_unsteady_cell),
        test_case(test_seconds),
        test_case(test_in_place),
        test_case(test_unchecked),
        test_case(test_bus_bandwidth),
        test_case(test_long_warmup),
        test_case(test_iters_and_warmup_as_asked),
        test_case(test_one_rank_has_no_bus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
