/* Cells that go wrong, over a scripted link: the outcome, what is kept of the record, and what becomes of the crew. */
#include "control/measure.h"

#include <math.h>
#include <signal.h>

#include "scripted_measure.h"

/* ---- wrong data ---- */

/* Both ranks find some in the check before, one in the one after: iterations are counted once, elements of all ranks. */
static void test_wrong_data(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);
    const struct lp_checked *checked = &plot->record.checked;

    twist(plot, STEP_CHECK, -1, WRONG);
    twist(plot, STEP_AFTER, 1, WRONG);
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.outcome, LP_WRONG);
    assert_true(checked->iterations == 7 && checked->wrong_iterations == 2);
    assert_true(checked->wrong_elements == 10 + 11 + 11);
    assert_true(checked->first_rank == 0 && checked->first_offset_bytes == 4096);
    assert_says(plot->record.reason, "wrong data in 2 of 7 checked iterations, 32 elements, first on rank 0 at byte 4096");
    assert_true(plot->record.time_us.n > 0 && plot->record.algbw_gbps > 0.0); /* kept, and never ranked */
    assert_false(lp_record_usable(&plot->record));
    assert_true(lp_crew_usable(crew));
}

/* Found in what the timed operations left, on the second rank only. */
static void test_wrong_last_output(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    twist(plot, STEP_LAST, 1, WRONG);
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.outcome, LP_WRONG);
    assert_true(plot->record.checked.wrong_iterations == 1 && plot->record.checked.wrong_elements == 11);
    assert_true(plot->record.checked.first_rank == 1 && plot->record.checked.first_offset_bytes == 8192);
}

/* ---- losses, step by step ---- */

static void test_losses(void **state)
{
    static const struct {
        const char *name;
        int step, rank;
        enum doing doing;
        enum lp_outcome outcome;
        bool usable, timed; /* the crew afterwards; the record has its time */
        const char *says;
    } cases[] = {
        {"hang in the cell", STEP_CELL, 1, SILENT, LP_HANG, false, false, "rank 1 does not answer at all"},
        {"hang in the warm-up", STEP_WARM_UP, -1, SILENT, LP_HANG, false, false, "no answer"},
        {"hang in a check", STEP_CHECK, 0, SILENT, LP_HANG, false, false, "rank 0 does not answer at all"},
        {"hang in the preparation", STEP_PREPARE, 0, SILENT, LP_HANG, false, false, "rank 0 does not answer at all"},
        {"hang in the timed blocks", STEP_TIME, 1, SILENT, LP_HANG, false, false, "rank 1 does not answer at all"},
        {"hang in the last output", STEP_LAST, 1, SILENT, LP_HANG, false, true, "rank 1 does not answer at all"},
        {"hang in the check after", STEP_AFTER, 1, SILENT, LP_HANG, false, true, "rank 1 does not answer at all"},
        {"crash in the cell", STEP_CELL, 0, DIE, LP_CRASH, false, false, "signal 11"},
        {"crash in the warm-up", STEP_WARM_UP, 1, DIE, LP_CRASH, false, false, "rank 1 (pid"},
        {"crash in the timed blocks", STEP_TIME, 1, DIE, LP_CRASH, false, false, "signal 11"},
        {"crash in the check after", STEP_AFTER, 0, DIE, LP_CRASH, false, true, "signal 11"},
        {"unsupported cell", STEP_CELL, -1, UNABLE, LP_UNSUPPORTED, true, false, "no such algorithm"},
        {"unsupported at the warm-up", STEP_WARM_UP, -1, UNABLE, LP_UNSUPPORTED, true, false, "no such algorithm"},
        {"unsupported on one rank", STEP_WARM_UP, 1, UNABLE, LP_UNSUPPORTED, false, false, "no such algorithm"},
        {"failed", STEP_WARM_UP, -1, REFUSE, LP_FAILED, false, false, "out of luck"},
        {"failed on one rank", STEP_TIME, 0, REFUSE, LP_FAILED, false, false, "out of luck"},
        {"a sample too few on one rank", STEP_TIME, 1, TOO_FEW, LP_FAILED, false, false, "other samples"},
        {"a sample too few on all", STEP_TIME, -1, TOO_FEW, LP_FAILED, false, false, "other samples"},
        {"a sample too few of the warm-up", STEP_WARM_UP, 0, TOO_FEW, LP_FAILED, false, false, "other samples"},
    };
    struct plot *plot = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_crew *crew = ready_crew(&plot->stage, 2);
        struct lp_loss why;

        plot->step[0] = plot->step[1] = plot->ntwists = 0;
        twist(plot, cases[i].step, cases[i].rank, cases[i].doing);
        assert_case(cases[i].name, measure(plot, crew));
        assert_case(cases[i].name, plot->record.outcome == cases[i].outcome);
        assert_says(plot->record.reason, cases[i].says);
        assert_case(cases[i].name, (plot->record.time_us.n > 0) == cases[i].timed);
        assert_case(cases[i].name, isnan(plot->record.algbw_gbps) != cases[i].timed);
        assert_case(cases[i].name, !lp_record_usable(&plot->record));
        if (cases[i].doing != TOO_FEW)
            assert_case(cases[i].name, lp_crew_usable(crew) == cases[i].usable);
        assert_true(lp_crew_end(crew, LIMIT, &why));
    }
}

/* What the header promises of a cell that failed: the crew is not asked again. */
static void test_crew_is_broken_after_failed(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    twist(plot, STEP_TIME, 1, TOO_FEW);
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.outcome, LP_FAILED);
    assert_false(lp_crew_usable(crew));
}

/* A sample that is null (voided, or no number) is not a time of zero. */
static void test_null_sample(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    twist(plot, STEP_TIME, -1, NULL_SAMPLE);
    assert_true(measure(plot, crew));
    assert_int_not_equal(plot->record.outcome, LP_DONE);
}

/* A worker that says nothing about its data has not checked it. */
static void test_check_without_a_verdict(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    twist(plot, STEP_CHECK, 1, NO_VERDICT);
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.outcome, LP_FAILED);
}

/* ---- limits ---- */

static void test_limits(void **state)
{
    static const struct {
        const char *name;
        int step;
        size_t bytes;
        double slowness, seconds; /* from the request to the loss */
    } cases[] = {
        {"cell", STEP_CELL, 8, 1.0, 10.0},
        {"small", STEP_WARM_UP, 8, 1.0, 10.0},
        {"1 GiB at 0.5 GB/s, 5 operations, 20 times, and the first call", STEP_WARM_UP, (size_t)1 << 30, 1.0,
         20 * 5 * 1.073741824 * 2 + 2},
        {"the same on a slow machine", STEP_WARM_UP, (size_t)1 << 30, 2.0, 2 * (20 * 5 * 1.073741824 * 2 + 2)},
        {"measured by then", STEP_TIME, (size_t)1 << 30, 1.0, 10.0},
    };
    struct plot *plot = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_crew *crew = ready_crew(&plot->stage, 2);
        int64_t start = plot->stage.script->time.now_ns;
        struct lp_loss why;
        double waited;

        plot->step[0] = plot->step[1] = plot->ntwists = 0;
        twist(plot, cases[i].step, 0, SILENT);
        plot->cell.requested_bytes = plot->cell.size_bytes = cases[i].bytes;
        plot->limits.slowness = cases[i].slowness;
        assert_true(measure(plot, crew));
        /* less a second for the control threads to say where they are */
        waited = (double)(plot->stage.script->time.now_ns - start) / 1e9 - 0.01 * (cases[i].step - 1) - 1.0;
        assert_case(cases[i].name, plot->record.outcome == LP_HANG);
        assert_case(cases[i].name, fabs(waited - cases[i].seconds) < 0.01);
        assert_true(lp_crew_end(crew, LIMIT, &why));
    }
}

/* ---- the run is over ---- */

static void test_signal(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    script_event(plot->stage.script, at(0.035), (struct lp_event){.kind = LP_EVENT_SIGNAL, .signal = SIGTERM});
    assert_false(measure(plot, crew));
    assert_int_equal(lp_crews_signal(plot->stage.crews), SIGTERM);
    assert_true(plot->stage.script->time.now_ns == at(0.035));
    assert_false(lp_crew_usable(crew));
}

static void test_agent_lost(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    script_event(plot->stage.script, at(0.035), (struct lp_event){.kind = LP_EVENT_LOST, .rank = 1, .words = "gone"});
    assert_false(measure(plot, crew));
    assert_false(lp_crew_usable(crew));
}

/* After a cell that cannot be done, the next one on the same crew is measured as if nothing had been. */
static void test_next_cell_after_unsupported(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    twist(plot, STEP_WARM_UP, -1, UNABLE);
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.outcome, LP_UNSUPPORTED);
    assert_int_equal(plot->iteration, 7);
    plot->step[0] = plot->step[1] = plot->ntwists = 0;
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.outcome, LP_DONE);
    assert_string_equal(plot->record.reason, "");
}

#define test_case(test) cmocka_unit_test_setup_teardown(test, plot_set_up, plot_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_case(test_wrong_data),  test_case(test_wrong_last_output),
        test_case(test_losses),      test_case(test_crew_is_broken_after_failed),
        test_case(test_null_sample), test_case(test_check_without_a_verdict),
        test_case(test_limits),      test_case(test_signal),
        test_case(test_agent_lost),  test_case(test_next_cell_after_unsupported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
