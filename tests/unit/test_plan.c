/* The plan for machines made in memory: cells, variants, and why something is not tried. Copies are in test_plan_link. */
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "machines.h"

static void expect_refused(const struct lp_options *options, const struct lp_machine *machine, const char *says)
{
    struct lp_reason why = {""};
    struct lp_plan plan;

    assert_case(says, lp_plan_make(options, machine, &plan, &why) == LP_ERR_ARG);
    assert_says(why.text, says);
    lp_plan_release(&plan);
}

/* ---- with and without the link, which test_plan_link looks into ---- */

static void test_no_link(void **state)
{
    struct lp_machine two = machine_of("cuda", 2, 140 * GIB, true), one = machine_of("cuda", 1, 140 * GIB, true);
    struct lp_options options = default_options();
    struct lp_plan plan = plan_of(&options, &one);

    (void)state;
    assert_int_equal(plan.ngroups, 0); /* nobody to copy to */
    assert_true(plan.cells.n > 0);
    lp_plan_release(&plan);
    options.no_link = true;
    plan = plan_of(&options, &two);
    assert_int_equal(plan.ngroups, 0);
    assert_true(plan.cells.n > 0);
    lp_plan_release(&plan);
    options = default_options();
    options.no_collectives = true;
    plan = plan_of(&options, &two);
    assert_true(plan.ngroups == 2 && plan.cells.n == 0 && plan.variants.n == 0);
    lp_plan_release(&plan);
}

/* ---- cells ---- */

static size_t count_cells(const struct lp_plan *plan, const char *op, enum lp_timing timing)
{
    size_t n = 0;

    for (size_t i = 0; i < plan->cells.n; i++)
        n += strcmp(plan->cells.item[i].cell.op, op) == 0 && plan->cells.item[i].cell.timing == timing;
    return n;
}

static void test_cells_by_default(void **state)
{
    static const struct {
        const char *device;
        size_t max, sizes;
    } cases[] = {{"cuda", 256u << 20, 26}, {"host", 16u << 20, 22}};
    struct lp_options options = default_options();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_machine machine = machine_of(cases[i].device, 2, 8 * GIB, true);
        struct lp_plan plan = plan_of(&options, &machine);

        assert_int_equal(count_cells(&plan, "allreduce", LP_GRAPH), 2 * cases[i].sizes);
        assert_int_equal(count_cells(&plan, "allgather", LP_GRAPH), 2 * cases[i].sizes);
        assert_int_equal(plan.cells.n, 4 * cases[i].sizes);
        assert_true(plan.cells.item[0].cell.requested_bytes == 8);
        assert_true(plan.arena_bytes == cases[i].max && plan.need_bytes >= 2 * cases[i].max);
        assert_string_equal(plan.cells.item[0].cell.library, machine.library);
        assert_true(plan.cells.item[0].cell.warmup == 5 && plan.cells.item[0].cell.checks == 3 &&
                    plan.cells.item[0].cell.iters == 0);
        assert_true(plan.seconds > 0.0);
        lp_plan_release(&plan);
    }
}

static void test_cells_as_asked(void **state)
{
    struct lp_machine machine = machine_of("host", 2, 8 * GIB, false);
    struct lp_options options = default_options();
    struct lp_plan plan;

    (void)state;
    options.min_bytes = 1000;
    options.max_bytes = 1200;
    options.step_bytes = 100;
    options.dtype = LP_DOUBLE;
    options.redop = LP_MAX;
    options.placements = 1u << LP_IN_PLACE;
    options.iters = 7;
    options.warmup = 0;
    options.checks = 0;
    strcpy(options.collectives, "allgather");
    plan = plan_of(&options, &machine);
    assert_int_equal(plan.cells.n, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct lp_cell *cell = &plan.cells.item[i].cell;

        assert_string_equal(cell->op, "allgather");
        assert_true(cell->requested_bytes == 1000 + 100 * i && cell->size_bytes <= cell->requested_bytes);
        assert_true(cell->dtype == LP_DOUBLE && cell->redop == LP_MAX && cell->placement == LP_IN_PLACE);
        assert_true(cell->iters == 7 && cell->warmup == 0 && cell->checks == 0);
    }
    assert_true(plan.cells.item[0].cell.size_bytes == 992 && plan.cells.item[0].cell.count == 62);
    lp_plan_release(&plan);
}

/* Sizes alone: -b above the usual last size, and -e alone. */
static void test_last_size(void **state)
{
    struct lp_machine machine = machine_of("host", 2, 8 * GIB, false);
    struct lp_options options = default_options();
    struct lp_plan plan;

    (void)state;
    options.min_bytes = 64u << 20;
    plan = plan_of(&options, &machine);
    assert_int_equal(count_cells(&plan, "allreduce", LP_GRAPH), 2);
    lp_plan_release(&plan);
    options.min_bytes = 0;
    options.max_bytes = 32;
    plan = plan_of(&options, &machine);
    assert_int_equal(count_cells(&plan, "allreduce", LP_GRAPH), 6);
    lp_plan_release(&plan);
    options.max_bytes = 4; /* below the usual first size: it becomes the first */
    plan = plan_of(&options, &machine);
    assert_int_equal(count_cells(&plan, "allreduce", LP_GRAPH), 2);
    lp_plan_release(&plan);
    options.min_bytes = 1;
    options.max_bytes = GIB;
    options.step_bytes = 1;
    expect_refused(&options, &machine, "larger step");
}

/* Graphs come after the eager modes, whatever the order of the words. */
static void test_order_of_timings(void **state)
{
    struct lp_machine machine = machine_of("cuda", 2, 140 * GIB, true);
    struct lp_options options = default_options();
    struct lp_plan plan;

    (void)state;
    options.timings = 1u << LP_GRAPH | 1u << LP_PIPELINED | 1u << LP_ISOLATED;
    plan = plan_of(&options, &machine);
    assert_int_equal(plan.cells.item[0].cell.timing, LP_PIPELINED);
    assert_int_equal(plan.cells.item[plan.cells.n / 2].cell.timing, LP_ISOLATED);
    assert_int_equal(plan.cells.item[plan.cells.n - 1].cell.timing, LP_GRAPH);
    lp_plan_release(&plan);
}

/* What does not fit stays in the plan, with what it needs and what there is; the arena is for what fits. */
static void test_sizes_that_do_not_fit(void **state)
{
    struct lp_machine machine = machine_of("cuda", 2, 4 * GIB, true);
    struct lp_options options = default_options();
    struct lp_plan plan;
    size_t skipped = 0;

    (void)state;
    machine.rank[1].memory_bytes = GIB; /* the least one decides: 0.85 GiB for two buffers */
    options.min_bytes = 64u << 20;
    options.max_bytes = 2 * GIB;
    plan = plan_of(&options, &machine);
    for (size_t i = 0; i < plan.cells.n; i++) {
        const struct lp_planned *planned = &plan.cells.item[i];

        assert_true((planned->cell.requested_bytes > 256u << 20) == (planned->skip[0] != '\0'));
        if (planned->skip[0])
            assert_says(planned->skip, "870 MiB");
        if (planned->cell.requested_bytes == GIB)
            assert_says(planned->skip, "1.0 GiB");
        skipped += planned->skip[0] != '\0';
    }
    assert_int_equal(skipped, 3 * 4);
    assert_true(plan.arena_bytes == 256u << 20);
    lp_plan_release(&plan);
}

static void test_sizes_below_an_element(void **state)
{
    struct lp_machine machine = machine_of("host", 4, 4 * GIB, false);
    struct lp_options options = default_options();
    struct lp_plan plan;

    (void)state;
    options.max_bytes = 16;
    plan = plan_of(&options, &machine);
    for (size_t i = 0; i < plan.cells.n; i++) {
        const struct lp_planned *planned = &plan.cells.item[i];
        bool small = strcmp(planned->cell.op, "allgather") == 0 && planned->cell.requested_bytes == 8;

        assert_true(small == (planned->skip[0] != '\0'));
        if (small)
            assert_string_equal(planned->skip, "8 bytes is less than one element for each of 4 ranks");
    }
    lp_plan_release(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_link),
        cmocka_unit_test(test_cells_by_default),
        cmocka_unit_test(test_cells_as_asked),
        cmocka_unit_test(test_last_size),
        cmocka_unit_test(test_order_of_timings),
        cmocka_unit_test(test_sizes_that_do_not_fit),
        cmocka_unit_test(test_sizes_below_an_element),
    };

    return cmocka_run_group_tests(tests, without_locks, NULL);
}
