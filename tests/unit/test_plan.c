/* The plan for machines made in memory: copies, cells, variants, and why something is not tried. */
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "unit.h"

#define GIB ((size_t)1 << 30)

static struct lp_machine machine_of(const char *device, int nranks, size_t memory_bytes, bool nvlink)
{
    bool cuda = strcmp(device, "cuda") == 0;
    struct lp_machine machine = {.nranks = nranks, .visible = cuda ? nranks : 1, .nvlink = nvlink};

    strcpy(machine.device, device);
    strcpy(machine.library, cuda ? "nccl" : "host");
    for (int r = 0; r < nranks; r++) {
        machine.rank[r].device = cuda ? r : 0;
        machine.rank[r].at_rank0 = cuda || r == 0 ? r : -1;
        machine.rank[r].memory_bytes = memory_bytes;
    }
    return machine;
}

static struct lp_options defaults(void)
{
    struct lp_options options = {.factor = 2,
                                 .warmup = 5,
                                 .checks = 3,
                                 .timings = 1u << LP_GRAPH,
                                 .placements = 1u << LP_OUT_OF_PLACE | 1u << LP_IN_PLACE,
                                 .device = "auto"};

    return options;
}

static struct lp_plan plan_of(const struct lp_options *options, const struct lp_machine *machine)
{
    struct lp_reason why = {""};
    struct lp_plan plan;

    assert_int_equal(lp_plan_make(options, machine, &plan, &why), LP_OK);
    return plan;
}

static void expect_refused(const struct lp_options *options, const struct lp_machine *machine, const char *says)
{
    struct lp_reason why = {""};
    struct lp_plan plan;

    assert_case(says, lp_plan_make(options, machine, &plan, &why) == LP_ERR_ARG);
    assert_says(why.text, says);
    lp_plan_release(&plan);
}

static int without_locks(void **state)
{
    (void)state;
    unsetenv("LINKPERF_LOCK");
    return 0;
}

/* ---- copies ---- */

static void test_copies_of_two_gpus(void **state)
{
    static const struct {
        const char *name, *path;
        bool one_worker, peer_access;
        size_t copies;
    } want[] = {{"link-p2p-off", "ce_staged", true, false, 2},
                {"link-p2p-on", "ce_write", true, true, 4},
                {"link-ring", "sm_write", false, false, 1}};
    struct lp_machine machine = machine_of("cuda", 2, 140 * GIB, true);
    struct lp_options options = defaults();
    struct lp_plan plan = plan_of(&options, &machine);
    const struct lp_cell *ring = &plan.group[2].copies.item[0].cell;

    (void)state;
    assert_int_equal(plan.ngroups, COUNT_OF(want));
    for (size_t g = 0; g < COUNT_OF(want); g++) {
        assert_string_equal(plan.group[g].name, want[g].name);
        assert_string_equal(plan.group[g].copies.item[0].cell.op, want[g].path);
        assert_case(want[g].name,
                    plan.group[g].one_worker == want[g].one_worker && plan.group[g].peer_access == want[g].peer_access);
        assert_case(want[g].name, plan.group[g].copies.n == want[g].copies && plan.group[g].arena_bytes == 512u << 20);
        for (size_t i = 0; i < plan.group[g].copies.n; i++)
            assert_case(want[g].name, plan.group[g].copies.item[i].skip[0] == '\0');
    }
    assert_true(ring->nedges == 2 && ring->edges[0].dst == 1 && ring->edges[1].src == 1 && ring->edges[1].dst == 0);
    assert_string_equal(ring->pattern, "ring");
    assert_string_equal(ring->processes, "ipc");
    assert_true(ring->kind == LP_COPY && ring->timing == LP_QUEUED && ring->size_bytes == 512u << 20);
    lp_plan_release(&plan);
}

static void test_copies_of_eight_gpus(void **state)
{
    struct lp_machine machine = machine_of("cuda", 8, 140 * GIB, true);
    struct lp_options options = defaults();
    struct lp_plan plan = plan_of(&options, &machine);

    (void)state;
    assert_int_equal(plan.group[0].copies.n, 56);
    assert_int_equal(plan.group[1].copies.n, 112);
    assert_int_equal(plan.group[2].copies.item[0].cell.nedges, 8);
    for (size_t i = 0; i < 56; i++)
        assert_true(plan.group[0].copies.item[i].cell.edges[0].src != plan.group[0].copies.item[i].cell.edges[0].dst);
    lp_plan_release(&plan);
}

static void test_copies_on_host(void **state)
{
    struct lp_machine machine = machine_of("host", 3, 4 * GIB, false);
    struct lp_options options = defaults();
    struct lp_plan plan = plan_of(&options, &machine);

    (void)state;
    assert_int_equal(plan.ngroups, 1);
    assert_false(plan.group[0].one_worker);
    assert_int_equal(plan.group[0].copies.n, 6 + 6 + 1);
    assert_string_equal(plan.group[0].copies.item[0].cell.op, "cpu_write");
    assert_string_equal(plan.group[0].copies.item[6].cell.op, "cpu_bounce");
    assert_string_equal(plan.group[0].copies.item[12].cell.pattern, "ring");
    assert_true(plan.group[0].arena_bytes == 16u << 20);
    for (size_t i = 0; i < plan.group[0].copies.n; i++)
        assert_string_equal(plan.group[0].copies.item[i].skip, "");
    lp_plan_release(&plan);
}

/* Each rank sees its own GPU only: pairs in one process cannot be, the ring between processes can. */
static void test_hidden_gpus(void **state)
{
    struct lp_machine machine = machine_of("cuda", 3, 140 * GIB, true);
    struct lp_options options = defaults();
    struct lp_plan plan;

    (void)state;
    machine.rank[1].at_rank0 = -1;
    plan = plan_of(&options, &machine);
    for (int g = 0; g < 2; g++)
        for (size_t i = 0; i < plan.group[g].copies.n; i++) {
            const struct lp_planned *planned = &plan.group[g].copies.item[i];
            bool hidden = planned->cell.edges[0].src == 1 || planned->cell.edges[0].dst == 1;

            assert_true(hidden == (planned->skip[0] != '\0'));
            if (hidden)
                assert_says(planned->skip, "not visible");
        }
    assert_string_equal(plan.group[2].copies.item[0].skip, "");
    lp_plan_release(&plan);
}

static void test_arena_fits_small_memory(void **state)
{
    static const struct {
        size_t memory, arena;
    } cases[] = {{2 * GIB, 512u << 20}, {GIB, 256u << 20}, {256u << 20, 64u << 20}, {3u << 20, 1u << 20}};
    struct lp_options options = defaults();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_machine machine = machine_of("cuda", 2, cases[i].memory, true);
        struct lp_plan plan = plan_of(&options, &machine);

        assert_true(plan.group[0].arena_bytes == cases[i].arena);
        lp_plan_release(&plan);
    }
}

static void test_no_link(void **state)
{
    struct lp_machine two = machine_of("cuda", 2, 140 * GIB, true), one = machine_of("cuda", 1, 140 * GIB, true);
    struct lp_options options = defaults();
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
    options = defaults();
    options.no_collectives = true;
    plan = plan_of(&options, &two);
    assert_true(plan.ngroups == 3 && plan.cells.n == 0 && plan.variants.n == 0);
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
    struct lp_options options = defaults();

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
    struct lp_options options = defaults();
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
    struct lp_options options = defaults();
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
    struct lp_options options = defaults();
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
    struct lp_options options = defaults();
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
    struct lp_options options = defaults();
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
        cmocka_unit_test(test_copies_of_two_gpus),
        cmocka_unit_test(test_copies_of_eight_gpus),
        cmocka_unit_test(test_copies_on_host),
        cmocka_unit_test(test_hidden_gpus),
        cmocka_unit_test(test_arena_fits_small_memory),
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
