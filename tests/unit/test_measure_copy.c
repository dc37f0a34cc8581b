/* Copies on a crew, over a scripted link: warming up until two agree, latencies of many samples, and figures of each edge. */
#include "control/measure.h"

#include <math.h>

#include "scripted_measure.h"

static void make_copy(struct plot *plot, const char *path, enum lp_timing timing, int nedges)
{
    plot->cell = (struct lp_cell){.kind = LP_COPY,
                                  .library = "cuda",
                                  .buffers = "plain",
                                  .root = -1,
                                  .requested_bytes = 1 << 20,
                                  .size_bytes = 1 << 20,
                                  .count = 1 << 18,
                                  .timing = timing,
                                  .pattern = "one_way",
                                  .processes = "one",
                                  .nedges = nedges,
                                  .edges = {{0, 1}, {1, 0}},
                                  .checks = 1};
    strcpy(plot->cell.op, path);
}

/* How many requests of that purpose worker 0 got. */
static int requests(const struct plot *plot, const char *purpose)
{
    int n = 0;

    for (size_t i = 0; i < plot->stage.script->nsent; i++)
        n += plot->stage.script->sent[i].rank == 0 &&
             strcmp(lp_json_str(plot->stage.script->sent[i].json, "purpose", ""), purpose) == 0;
    return n;
}

static void test_warm_up(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    make_copy(plot, "ce_write", LP_QUEUED, 1);
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.outcome, LP_DONE);
    assert_int_equal(requests(plot, "warm up"), 2); /* the second takes as long as the first */
    assert_true(fabs(plot->record.algbw_gbps - 1048576.0 / (plot->record.time_us.median * 1e3)) < 1e-9);
    assert_true(plot->record.latency_us == plot->record.time_us.median);
    assert_true(isnan(plot->record.busbw_gbps) && isnan(plot->record.sum_gbps) && plot->record.histogram.n == 0);
}

/* A copy that is never the same is not warmed up for ever; nor is one with a number given. */
static void test_warm_up_ends(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    make_copy(plot, "ce_write", LP_QUEUED, 1);
    plot->growth = 1.5;
    assert_true(measure(plot, crew));
    assert_int_equal(requests(plot, "warm up"), 10);
    plot->growth = 1.0;
    plot->cell.warmup = 7;
    assert_true(measure(plot, crew));
    assert_int_equal(requests(plot, "warm up"), 10 + 1);
}

static void test_latency(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);
    size_t counted = 0;

    make_copy(plot, "ce_write", LP_ISOLATED, 1);
    plot->op_us[0] = plot->op_us[1] = 1.0;
    plot->slope = 0.0;
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.time_us.n, 20000);
    assert_true(requests(plot, "time") == 40 && plot->record.ops_per_sample == 1);
    assert_true(plot->record.samples_us[LP_MAX_SAMPLES - 1] == 1.0 && plot->record.time_us.p99 == 1.0);
    for (int i = 0; i < plot->record.histogram.n; i++)
        counted += plot->record.histogram.count[i];
    assert_int_equal(counted, 20000);
}

/* The budget counts samples' time: of slow copies there are fewer, and never fewer than an interval needs. */
static void test_latency_budget(void **state)
{
    static const struct {
        double us;
        size_t n;
    } cases[] = {{10.0, 3000}, {1000.0, 30}, {20e3, LP_MIN_INTERVAL}};
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    make_copy(plot, "ce_write", LP_ISOLATED, 1);
    plot->slope = 0.0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        plot->op_us[0] = plot->op_us[1] = cases[i].us;
        assert_true(measure(plot, crew));
        assert_int_equal(plot->record.time_us.n, cases[i].n);
    }
}

/* A path that only has a latency: the time of a step, and no rate. */
static void test_steps(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    make_copy(plot, "load_latency", LP_QUEUED, 1);
    assert_true(measure(plot, crew));
    assert_true(isnan(plot->record.algbw_gbps));
    assert_true(fabs(plot->record.latency_us - plot->record.time_us.median / 1024) < 1e-12);
}

/* Workers that do not say when each edge was busy: no figure is made up. */
static void test_without_spans(void **state)
{
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    make_copy(plot, "ce_write", LP_QUEUED, 2);
    assert_true(measure(plot, crew));
    assert_int_equal(plot->record.outcome, LP_FAILED);
    assert_says(plot->record.reason, "other samples than asked for");
    assert_true(isnan(plot->record.sum_gbps) && isnan(plot->record.edge_gbps[0]) && isnan(plot->record.overlap));
    assert_false(lp_crew_usable(crew));
}

/* A ring in the modes of collectives: their warm-up and K, a copy's budget, and one figure, of the slowest. */
static void test_ring(void **state)
{
    static const struct {
        enum lp_timing timing;
        int iters, k;
        double us;
        size_t n;
    } cases[] = {
        {LP_PIPELINED, 0, 10, 100.0, 8}, {LP_GRAPH, 0, 10, 100.0, 8},    {LP_GRAPH, 20, 20, 100.0, 8},
        {LP_ISOLATED, 0, 1, 100.0, 40},  {LP_ISOLATED, 0, 1, 1000.0, 8}, {LP_PIPELINED, 0, 1, 60e3, 3},
    };
    struct plot *plot = *state;
    struct lp_crew *crew = ready_crew(&plot->stage, 2);

    plot->slope = 0.0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct lp_record *record = &plot->record;
        int warm_ups = requests(plot, "warm up");

        make_copy(plot, "sm_exchange", cases[i].timing, 2);
        strcpy(plot->cell.pattern, "ring");
        plot->cell.warmup = 5;
        plot->cell.iters = cases[i].iters;
        plot->op_us[0] = plot->op_us[1] = cases[i].us;
        assert_true(measure(plot, crew));
        assert_int_equal(record->outcome, LP_DONE);
        assert_int_equal(requests(plot, "warm up"), warm_ups + 1);
        assert_true(record->ops_per_sample == cases[i].k && record->time_us.n == cases[i].n && record->histogram.n == 0);
        assert_true(fabs(record->algbw_gbps - 1048576.0 / (cases[i].us * 1e3)) < 1e-9);
        assert_true(isnan(record->sum_gbps) && isnan(record->edge_gbps[0]) && isnan(record->overlap) && isnan(record->latency_us));
        assert_true(record->checked.iterations == 3 && record->checked.wrong_iterations == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_warm_up, plot_set_up, plot_tear_down),
        cmocka_unit_test_setup_teardown(test_warm_up_ends, plot_set_up, plot_tear_down),
        cmocka_unit_test_setup_teardown(test_latency, plot_set_up, plot_tear_down),
        cmocka_unit_test_setup_teardown(test_latency_budget, plot_set_up, plot_tear_down),
        cmocka_unit_test_setup_teardown(test_steps, plot_set_up, plot_tear_down),
        cmocka_unit_test_setup_teardown(test_without_spans, plot_set_up, plot_tear_down),
        cmocka_unit_test_setup_teardown(test_ring, plot_set_up, plot_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
