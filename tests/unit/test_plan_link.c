/* The copies of the plan: who with whom, at what size, in which process, and how many there are on many GPUs. */
#include "plan/plan.h"

#include "p2p/path.h"
#include "p2p/patterns.h"

#include <stdio.h>
#include <stdlib.h>

#include "machines.h"

static struct lp_options p2p_options(void)
{
    struct lp_options options = default_options();

    options.p2p = options.no_collectives = true;
    options.warmup = 0;
    options.checks = 1;
    return options;
}

static bool matches(const struct lp_cell *cell, const char *path, const char *pattern, enum lp_timing timing, size_t bytes)
{
    return strcmp(cell->op, path) == 0 && strcmp(cell->pattern, pattern) == 0 && cell->timing == timing &&
           (bytes == 0 || cell->requested_bytes == bytes);
}

/* How many copies of the plan are that; bytes 0: at any size. */
static size_t count(const struct lp_plan *plan, const char *path, const char *pattern, enum lp_timing timing, size_t bytes)
{
    size_t n = 0;

    for (int g = 0; g < plan->ngroups; g++)
        for (size_t i = 0; i < plan->group[g].copies.n; i++)
            n += matches(&plan->group[g].copies.item[i].cell, path, pattern, timing, bytes);
    return n;
}

static size_t total(const struct lp_plan *plan)
{
    size_t n = 0;

    for (int g = 0; g < plan->ngroups; g++)
        n += plan->group[g].copies.n;
    return n;
}

static const struct lp_cell *find(const struct lp_plan *plan, int group, const char *path, const char *pattern)
{
    for (size_t i = 0; i < plan->group[group].copies.n; i++)
        if (matches(&plan->group[group].copies.item[i].cell, path, pattern, LP_QUEUED, 0))
            return &plan->group[group].copies.item[i].cell;
    return NULL;
}

/* What is true of every copy of every plan. */
static void check_plan(const struct lp_plan *plan, const struct lp_machine *machine)
{
    for (int g = 0; g < plan->ngroups; g++) {
        bool peers = false;

        for (size_t i = 0; i < plan->group[g].copies.n; i++) {
            const struct lp_cell *cell = &plan->group[g].copies.item[i].cell;
            const struct lp_path *path = lp_path_find(cell->op);

            assert_case(cell->op, path && strcmp(path->device, machine->device) == 0 && lp_pattern_kind_find(cell->pattern));
            assert_case(cell->op, cell->kind == LP_COPY && cell->nedges > 0 && cell->nedges <= LP_MAX_TRANSFERS);
            assert_case(cell->op, cell->requested_bytes > 0 && cell->requested_bytes <= plan->group[g].arena_bytes);
            assert_case(cell->op, cell->size_bytes == cell->requested_bytes && cell->requested_bytes % sizeof(float) == 0);
            assert_case(cell->op, strcmp(cell->processes, plan->group[g].one_worker ? "one" : "ipc") == 0);
            peers = peers || path->flags & LP_PATH_PEER;
            if (plan->group[g].one_worker)
                assert_case(cell->op, !peers || path->flags & LP_PATH_PEER); /* nothing without P2P after it was enabled */
            for (int e = 0; e < cell->nedges; e++)
                assert_case(cell->op, (cell->edges[e].src == cell->edges[e].dst) == ((path->flags & LP_PATH_LOCAL) != 0));
        }
    }
}

static void test_main_run_of_two_gpus(void **state)
{
    struct lp_machine machine = machine_of("cuda", 2, 140 * GIB, true);
    struct lp_options options = default_options();
    struct lp_plan plan = plan_of(&options, &machine);
    const struct lp_cell *ring = find(&plan, 1, "sm_write", "ring");
    static const char *const pairs[] = {"ce_staged", "ce_write", "sm_write"};

    (void)state;
    check_plan(&plan, &machine);
    assert_int_equal(plan.ngroups, 2);
    assert_true(plan.group[0].one_worker && !plan.group[1].one_worker && plan.group[0].arena_bytes == 512u << 20);
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        assert_case(pairs[i], count(&plan, pairs[i], "one_way", LP_QUEUED, i ? 512u << 20 : 128u << 20) == 2);
    assert_int_equal(count(&plan, "pinned_staged", "both_ways", LP_QUEUED, 0), 1);
    assert_int_equal(count(&plan, "pinned_to_gpu", "one_way", LP_QUEUED, 0), 0); /* for linkperf p2p */
    assert_non_null(ring);
    assert_true(ring->nedges == 2 && ring->edges[0].dst == 1 && ring->edges[1].src == 1 && ring->edges[1].dst == 0);
    assert_true(ring->size_bytes == 512u << 20 && strcmp(ring->processes, "ipc") == 0);
    lp_plan_release(&plan);
}

/* ---- the same-size baseline ---- */

/* The exchanges of a plan, which are all at the end of the last group; their number. */
static size_t exchanges(const struct lp_plan *plan, const struct lp_planned **first)
{
    const struct lp_copy_group *group = &plan->group[plan->ngroups - 1];
    size_t n = 0;

    while (n < group->copies.n && strstr(group->copies.item[group->copies.n - 1 - n].cell.op, "_exchange"))
        n++;
    *first = &group->copies.item[group->copies.n - n];
    assert_int_equal(n, count(plan, "sm_exchange", "ring", LP_PIPELINED, 0) + count(plan, "sm_exchange", "ring", LP_ISOLATED, 0) +
                            count(plan, "sm_exchange", "ring", LP_GRAPH, 0) + count(plan, "cpu_exchange", "ring", LP_PIPELINED, 0) +
                            count(plan, "cpu_exchange", "ring", LP_ISOLATED, 0) + count(plan, "cpu_exchange", "ring", LP_GRAPH, 0));
    return n;
}

/* On two GPUs AllReduce carries its size and AllGather half of it: all but the largest size are shared, and so are 8 and 4. */
static void test_same_size_of_two_gpus(void **state)
{
    struct lp_machine machine = machine_of("cuda", 2, 140 * GIB, true);
    struct lp_options options = default_options();
    struct lp_plan plan = plan_of(&options, &machine);
    const struct lp_planned *first;

    (void)state;
    check_plan(&plan, &machine);
    assert_int_equal(exchanges(&plan, &first), 25);
    for (int i = 0; i < 25; i++)
        assert_true(first[i].cell.requested_bytes == (size_t)16 << i && first[i].cell.timing == LP_GRAPH && !first[i].skip[0]);
    assert_true(first->cell.nedges == 2 && first->cell.edges[0].dst == 1 && first->cell.edges[1].src == 1);
    assert_true(first->cell.warmup == 5 && first->cell.iters == 0 && first->cell.checks == 1);
    assert_string_equal(first[-1].cell.op, "sm_write"); /* ring and peer truth come before */
    assert_true(plan.group[0].arena_bytes == 512u << 20 && plan.group[1].arena_bytes == 512u << 20);
    lp_plan_release(&plan);
}

/* Every mode of the run, in the order of a crew (a variant's own: test_plan_variants); one collective; -n, -w and -c. */
static void test_same_size_as_asked(void **state)
{
    struct lp_machine machine = machine_of("cuda", 2, 140 * GIB, true);
    struct lp_options options = default_options();
    const struct lp_planned *first;
    struct lp_plan plan;

    (void)state;
    options.timings = 1u << LP_GRAPH | 1u << LP_PIPELINED;
    options.min_bytes = options.max_bytes = 1000;
    options.iters = 7;
    options.warmup = 2;
    options.checks = 0;
    plan = plan_of(&options, &machine);
    assert_int_equal(exchanges(&plan, &first), 4);
    assert_true(first[0].cell.timing == LP_PIPELINED && first[1].cell.timing == LP_PIPELINED && first[2].cell.timing == LP_GRAPH);
    assert_true(first[0].cell.requested_bytes == 1008 && first[1].cell.requested_bytes == 496); /* 1000, and 992 / 2 */
    assert_true(first[0].cell.warmup == 2 && first[0].cell.iters == 7 && first[0].cell.checks == 0);
    lp_plan_release(&plan);
    strcpy(options.collectives, "allgather");
    plan = plan_of(&options, &machine);
    assert_int_equal(exchanges(&plan, &first), 2);
    assert_true(first[0].cell.requested_bytes == 496 && first[1].cell.requested_bytes == 496);
    lp_plan_release(&plan);
}

/* 8 ranks: 7/4 of the size, and 7/8; the arena grows for the largest. What does not fit says so; the collective is still tried. */
static void test_same_size_of_many(void **state)
{
    struct lp_machine machine = machine_of("cuda", 8, 140 * GIB, true);
    struct lp_options options = default_options();
    const struct lp_planned *first;
    struct lp_plan plan;
    size_t n;

    (void)state;
    options.max_bytes = 16 * GIB;
    plan = plan_of(&options, &machine);
    check_plan(&plan, &machine);
    n = exchanges(&plan, &first);
    assert_true(plan.group[1].arena_bytes == 28 * GIB && plan.group[0].arena_bytes == 512u << 20);
    assert_true(n == 32 && first->cell.nedges == 8 && first->cell.requested_bytes == 16 && first[1].cell.requested_bytes == 32);
    assert_true(first[n - 1].cell.requested_bytes == 28 * GIB);
    lp_plan_release(&plan);
    machine = machine_of("cuda", 8, 40 * GIB, true); /* two of 16 GiB fit, two of 28 do not */
    plan = plan_of(&options, &machine);
    n = exchanges(&plan, &first);
    for (size_t i = 0; i < n; i++)
        assert_true((first[i].cell.requested_bytes == 28 * GIB) == (first[i].skip[0] != '\0'));
    assert_true(plan.group[1].arena_bytes == 14 * GIB && plan.arena_bytes == 16 * GIB);
    lp_plan_release(&plan);
}

static void test_same_size_is_for_collectives(void **state)
{
    struct lp_machine machine = machine_of("host", 3, 4 * GIB, false), one = machine_of("cuda", 1, 140 * GIB, true);
    struct lp_options options = default_options();
    const struct lp_planned *first;
    struct lp_plan plan;

    (void)state;
    options.max_bytes = 8;
    plan = plan_of(&options, &machine);
    assert_int_equal(exchanges(&plan, &first), 1); /* 8 x 4/3; AllGather has less than an element for each */
    assert_string_equal(first->cell.op, "cpu_exchange");
    assert_true(first->cell.requested_bytes == 16 && first->cell.nedges == 3);
    lp_plan_release(&plan);
    options.no_collectives = true;
    plan = plan_of(&options, &machine);
    assert_int_equal(exchanges(&plan, &first), 0);
    lp_plan_release(&plan);
    options = default_options();
    options.no_link = true;
    plan = plan_of(&options, &machine);
    assert_int_equal(plan.ngroups, 0);
    lp_plan_release(&plan);
    options = default_options();
    plan = plan_of(&options, &one);
    assert_int_equal(plan.ngroups, 0);
    lp_plan_release(&plan);
    options = p2p_options();
    machine = machine_of("cuda", 2, 140 * GIB, true);
    plan = plan_of(&options, &machine);
    assert_int_equal(exchanges(&plan, &first), 0);
    lp_plan_release(&plan);
}

static void test_p2p_of_two_gpus(void **state)
{
    static const struct {
        const char *path, *pattern;
        enum lp_timing timing;
        size_t bytes, n;
    } want[] = {
        {"ce_write", "one_way", LP_QUEUED, 512u << 20, 2},
        {"ce_read", "one_way", LP_QUEUED, 512u << 20, 2},
        {"memcpy", "one_way", LP_QUEUED, 512u << 20, 2},
        {"sm_write", "one_way", LP_QUEUED, 512u << 20, 2},
        {"sm_read", "one_way", LP_QUEUED, 512u << 20, 2},
        {"ce_write", "both_ways", LP_QUEUED, 512u << 20, 1},
        {"sm_read", "both_ways", LP_QUEUED, 512u << 20, 1},
        {"pinned_staged", "one_way", LP_QUEUED, 512u << 20, 2},
        {"pinned_staged", "both_ways", LP_QUEUED, 0, 1},
        {"ce_staged", "both_ways", LP_QUEUED, 128u << 20, 1},
        {"ce_staged_turns", "both_ways", LP_QUEUED, 0, 1},
        {"ce_write", "one_way", LP_QUEUED, 16, 2},
        {"ce_staged", "one_way", LP_QUEUED, 16, 2},
        {"load_latency", "one_way", LP_QUEUED, 0, 2},
        {"flag_latency", "both_ways", LP_QUEUED, 0, 1},
        {"pinned_to_gpu", "one_way", LP_QUEUED, 128u << 20, 2},
        {"gpu_to_pinned", "one_way", LP_QUEUED, 0, 2},
        {"pinned_both", "both_ways", LP_QUEUED, 128u << 20, 2},
        {"pageable_to_gpu", "one_way", LP_QUEUED, 64u << 20, 2},
        {"gpu_to_pageable", "one_way", LP_QUEUED, 0, 2},
        {"on_card", "one_way", LP_QUEUED, 512u << 20, 2},
        {"ce_write", "one_way", LP_ISOLATED, 0, 7},
        {"ce_staged", "one_way", LP_ISOLATED, 0, 7},
        {"ce_write", "one_way", LP_ISOLATED, 1u << 20, 1},
        {"sm_write", "ring", LP_QUEUED, 512u << 20, 1},
        {"sm_write", "one_way", LP_QUEUED, 1u << 20, 3}, /* 1 of a curve */
        {"sm_write", "one_way", LP_QUEUED, 64u << 10, 1},
        {"ce_write", "all_pairs", LP_QUEUED, 0, 0},
        {"ce_write", "one_to_all", LP_QUEUED, 0, 0},
    };
    struct lp_machine machine = machine_of("cuda", 2, 140 * GIB, true);
    struct lp_options options = p2p_options();
    struct lp_plan plan = plan_of(&options, &machine);

    (void)state;
    check_plan(&plan, &machine);
    for (size_t i = 0; i < COUNT_OF(want); i++)
        if (count(&plan, want[i].path, want[i].pattern, want[i].timing, want[i].bytes) != want[i].n)
            fail_msg("%s %s, %zu bytes: %zu, not %zu", want[i].path, want[i].pattern, want[i].bytes,
                     count(&plan, want[i].path, want[i].pattern, want[i].timing, want[i].bytes), want[i].n);
    assert_true(plan.cells.n == 0 && plan.variants.n == 0 && plan.seconds > 1.0 && plan.seconds < 30.0);
    lp_plan_release(&plan);
}

/* Pairs grow with the square; curves, long latencies and the rest only with the kinds. */
static void test_cost_is_bounded(void **state)
{
    struct lp_options options = p2p_options();
    size_t curve_cells[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        int n = i ? 16 : 8;
        struct lp_machine machine = machine_of("cuda", n, 140 * GIB, true);
        struct lp_plan plan = plan_of(&options, &machine);
        const struct lp_cell *all = find(&plan, 0, "ce_write", "all_pairs"), *one = find(&plan, 0, "ce_write", "all_to_one");

        check_plan(&plan, &machine);
        assert_int_equal(count(&plan, "ce_write", "one_way", LP_QUEUED, 512u << 20), n * (n - 1));
        assert_int_equal(count(&plan, "sm_read", "both_ways", LP_QUEUED, 0), n * (n - 1) / 2);
        assert_int_equal(count(&plan, "ce_write", "one_way", LP_ISOLATED, 0), 7);
        curve_cells[i] = count(&plan, "ce_write", "one_way", LP_QUEUED, 4u << 20);
        assert_int_equal(all->nedges, n * (n - 1));
        assert_true((size_t)(n - 1) * all->requested_bytes <= 512u << 20 && one->requested_bytes == all->requested_bytes);
        assert_true(plan.seconds < 300.0);
        lp_plan_release(&plan);
    }
    assert_true(curve_cells[0] == 1 && curve_cells[1] == 1);
}

/* GPU 3 is joined otherwise than the first three: one pair of each of the kinds has curves; with --all-pairs every one. */
static void test_one_pair_of_each_kind(void **state)
{
    struct lp_machine machine = machine_of("cuda", 4, 140 * GIB, true);
    struct lp_options options = p2p_options();
    struct lp_plan plan;

    (void)state;
    machine.nkinds = 2;
    for (int r = 0; r < 3; r++)
        machine.kind_of[r][3] = machine.kind_of[3][r] = 1;
    plan = plan_of(&options, &machine);
    assert_int_equal(count(&plan, "sm_write", "one_way", LP_QUEUED, 4u << 20), 2);
    assert_int_equal(count(&plan, "pinned_plain", "one_way", LP_QUEUED, 0), 2);
    lp_plan_release(&plan);
    options.all_pairs = true;
    plan = plan_of(&options, &machine);
    check_plan(&plan, &machine);
    assert_int_equal(count(&plan, "sm_write", "one_way", LP_QUEUED, 4u << 20), 12);
    assert_int_equal(count(&plan, "ce_write", "one_way", LP_ISOLATED, 1u << 20), 12);
    lp_plan_release(&plan);
}

/* What a pair that turned out to differ gets, in the crew that is there. */
static void test_pair_that_differs(void **state)
{
    struct lp_machine machine = machine_of("cuda", 4, 140 * GIB, true);
    struct lp_options options = p2p_options();
    struct lp_plan plan = plan_of(&options, &machine);
    struct lp_planned_list list = {0};

    (void)state;
    assert_int_equal(lp_plan_pair(&options, &machine, &plan.group[0], (struct lp_edge){2, 1}, &list), LP_OK);
    assert_true(list.n > 20);
    for (size_t i = 0; i < list.n; i++) {
        const struct lp_cell *cell = &list.item[i].cell;

        assert_true(cell->nedges == 1 && cell->edges[0].src == 2 && cell->edges[0].dst == 1);
        assert_true(lp_path_find(cell->op)->flags & LP_PATH_PEER && strcmp(cell->processes, "one") == 0);
    }
    free(list.item);
    lp_plan_release(&plan);
}

static void test_sizes_of_curves(void **state)
{
    struct lp_machine machine = machine_of("cuda", 2, 140 * GIB, true);
    struct lp_options options = p2p_options();
    struct lp_plan plan;
    struct lp_reason why;

    (void)state;
    options.min_bytes = 1u << 20;
    options.max_bytes = 8u << 20;
    options.factor_given = true;
    plan = plan_of(&options, &machine);
    assert_int_equal(count(&plan, "ce_read", "one_way", LP_QUEUED, 0), 4 + 2);
    lp_plan_release(&plan);
    options.factor_given = false;
    options.step_bytes = 1u << 20;
    plan = plan_of(&options, &machine);
    assert_int_equal(count(&plan, "ce_read", "one_way", LP_QUEUED, 0), 8 + 2);
    lp_plan_release(&plan);
    options = p2p_options();
    options.min_bytes = options.max_bytes = 5 * GIB; /* beyond the size of the pairs: the arena grows */
    plan = plan_of(&options, &machine);
    check_plan(&plan, &machine);
    assert_true(plan.group[0].arena_bytes == 5 * GIB && count(&plan, "sm_write", "one_way", LP_QUEUED, 5 * GIB) == 1);
    assert_int_equal(count(&plan, "sm_write", "one_way", LP_QUEUED, 512u << 20), 2);
    lp_plan_release(&plan);
    options.min_bytes = options.max_bytes = 100 * GIB; /* does not fit, and says so */
    plan = plan_of(&options, &machine);
    assert_true(plan.group[0].arena_bytes == 512u << 20 && count(&plan, "sm_write", "one_way", LP_QUEUED, 100 * GIB) == 1);
    for (size_t i = 0; i < plan.group[0].copies.n; i++)
        assert_true((plan.group[0].copies.item[i].cell.requested_bytes == 100 * GIB) ==
                    (plan.group[0].copies.item[i].skip[0] != '\0'));
    lp_plan_release(&plan);
    options = default_options(); /* there -b and -e are the collectives' */
    options.min_bytes = options.max_bytes = 8;
    plan = plan_of(&options, &machine);
    assert_int_equal(count(&plan, "ce_write", "one_way", LP_QUEUED, 64u << 10), 1);
    assert_int_equal(count(&plan, "ce_write", "one_way", LP_QUEUED, 8), 0);
    lp_plan_release(&plan);
    machine = machine_of("host", 1, 4 * GIB, false);
    options = p2p_options();
    assert_int_equal(lp_plan_make(&options, &machine, &plan, &why), LP_ERR_ARG);
    assert_says(why.text, "start two");
    lp_plan_release(&plan);
}

/* One GPU has no link, but a way to the host and memory of its own. */
static void test_one_gpu(void **state)
{
    struct lp_machine machine = machine_of("cuda", 1, 140 * GIB, true);
    struct lp_options options = p2p_options();
    struct lp_plan plan = plan_of(&options, &machine);

    (void)state;
    check_plan(&plan, &machine);
    assert_int_equal(total(&plan), 6);
    assert_int_equal(count(&plan, "on_card", "one_way", LP_QUEUED, 0), 1);
    lp_plan_release(&plan);
}

static void test_copies_on_host(void **state)
{
    struct lp_machine machine = machine_of("host", 3, 4 * GIB, false);
    struct lp_options options = default_options();
    struct lp_plan plan = plan_of(&options, &machine);

    (void)state;
    check_plan(&plan, &machine);
    assert_true(plan.ngroups == 1 && !plan.group[0].one_worker);
    assert_true(plan.group[0].arena_bytes >= 64u << 18 &&
                plan.group[0].arena_bytes % 16 == 0); /* 16 MiB of AllReduce, 4/3 on the wire */
    assert_int_equal(count(&plan, "cpu_write", "one_way", LP_QUEUED, 16u << 20), 6);
    assert_int_equal(count(&plan, "cpu_bounce", "one_way", LP_QUEUED, 16u << 20), 6);
    assert_int_equal(count(&plan, "cpu_write", "ring", LP_QUEUED, 0), 1);
    assert_int_equal(count(&plan, "cpu_flag", "both_ways", LP_QUEUED, 0), 1);
    lp_plan_release(&plan);
    options = p2p_options();
    plan = plan_of(&options, &machine);
    check_plan(&plan, &machine);
    assert_int_equal(count(&plan, "cpu_flag", "both_ways", LP_QUEUED, 0), 3);
    assert_int_equal(count(&plan, "cpu_bounce", "one_way", LP_ISOLATED, 0), 7);
    lp_plan_release(&plan);
}

/* GPUs that rank 0 does not see are reached from their own ranks' processes, by the ways that go between processes. */
static void test_hidden_gpus(void **state)
{
    struct lp_machine machine = machine_of("cuda", 3, 140 * GIB, true);
    struct lp_options options = p2p_options();
    struct lp_plan plan;
    size_t skipped = 0;

    (void)state;
    machine.rank[1].at_rank0 = -1;
    plan = plan_of(&options, &machine);
    check_plan(&plan, &machine);
    for (int g = 0; g < plan.ngroups; g++)
        for (size_t i = 0; i < plan.group[g].copies.n; i++) {
            const struct lp_planned *planned = &plan.group[g].copies.item[i];
            const struct lp_path *path = lp_path_find(planned->cell.op);
            bool hidden = false;

            for (int e = 0; e < planned->cell.nedges; e++)
                hidden = hidden || planned->cell.edges[e].src == 1 || planned->cell.edges[e].dst == 1;
            if (plan.group[g].one_worker)
                assert_case(planned->cell.op, hidden == (planned->skip[0] != '\0'));
            else
                assert_case(planned->cell.op, planned->skip[0] == '\0' && (hidden || path->flags & LP_PATH_PEER));
            skipped += planned->skip[0] != '\0';
            if (planned->skip[0])
                assert_says(planned->skip, "not visible");
        }
    assert_true(skipped > 0);
    assert_int_equal(count(&plan, "ce_write", "one_way", LP_QUEUED, 512u << 20), 6);
    assert_int_equal(count(&plan, "on_card", "one_way", LP_QUEUED, 0), 3);
    lp_plan_release(&plan);
}

static void test_arena_fits_small_memory(void **state)
{
    static const struct {
        size_t memory, arena;
    } cases[] = {{2 * GIB, 512u << 20}, {GIB, 256u << 20}, {256u << 20, 64u << 20}, {3u << 20, 1u << 20}};
    struct lp_options options = p2p_options();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_machine machine = machine_of("cuda", 4, cases[i].memory, true);
        struct lp_plan plan = plan_of(&options, &machine);

        assert_true(plan.group[0].arena_bytes == cases[i].arena);
        check_plan(&plan, &machine);
        lp_plan_release(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_main_run_of_two_gpus),
        cmocka_unit_test(test_same_size_of_two_gpus),
        cmocka_unit_test(test_same_size_as_asked),
        cmocka_unit_test(test_same_size_of_many),
        cmocka_unit_test(test_same_size_is_for_collectives),
        cmocka_unit_test(test_p2p_of_two_gpus),
        cmocka_unit_test(test_cost_is_bounded),
        cmocka_unit_test(test_one_pair_of_each_kind),
        cmocka_unit_test(test_pair_that_differs),
        cmocka_unit_test(test_sizes_of_curves),
        cmocka_unit_test(test_one_gpu),
        cmocka_unit_test(test_copies_on_host),
        cmocka_unit_test(test_hidden_gpus),
        cmocka_unit_test(test_arena_fits_small_memory),
    };

    return cmocka_run_group_tests(tests, without_locks, NULL);
}
