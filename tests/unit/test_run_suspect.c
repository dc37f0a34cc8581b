/* Whole runs in which default hangs: P2P is under suspicion, p2p-off is next, and the machine's answer is there in three minutes.
 */
#include "scripted_run.h"

#define CELLS   "-b", "64", "-e", "256", "--collectives", "allreduce", "--placement", "out"
#define MINUTES 60.0

static const struct {
    const char *device;
    int n;
} scenes[] = {{"cuda", 2}, {"host", 3}, {"cuda", 5}, {"cuda", 8}};

/* The crew's name, by its number. */
static const char *crew_name(const struct scripted_run *run, int crew)
{
    return crew <= run->ncrews ? run->actor[crew][0].name : "";
}

static void expect_crews(const char *name, const struct scripted_run *run, const char *const *names)
{
    int crew = 1;

    for (; names[crew - 1]; crew++)
        if (strcmp(crew_name(run, crew), names[crew - 1]) != 0)
            fail_msg("case \"%s\": crew %d is of %s, not %s", name, crew, crew_name(run, crew), names[crew - 1]);
    assert_case(name, run->ncrews == crew - 1);
}

/* Outcomes of a variant's three cells as letters: o k, h ang, c rash, s kipped. */
static void expect_cells(const char *name, const struct scripted_run *run, const char *variant, int repeat, const char *letters)
{
    for (int i = 0; i < 3; i++) {
        const struct lp_record *record = record_of(run, variant, repeat, (size_t)64 << i);

        if (!record || lp_outcome_name(record->outcome)[0] != letters[i])
            fail_msg("case \"%s\": cell %d of %s is %s (%s), not %c", name, i, variant,
                     record ? lp_outcome_name(record->outcome) : "absent", record ? record->reason : "", letters[i]);
    }
}

/* One hang in default, wherever: p2p-off comes next and in full, then default goes on where it was. */
static void test_p2p_off_is_next(void **state)
{
    static const char *const order[] = {"survey", "default", "p2p-off", "default", "ring", "tree", "default-again", NULL};

    (void)state;
    for (size_t s = 0; s < COUNT_OF(scenes); s++)
        for (int phase = 0; phase < AT_BYE; phase++) {
            bool cell = phase >= AT_CELL;
            struct scripted_run *run = run_create(scenes[s].device, scenes[s].n);
            const char *name = phase_names[phase];

            if (phase != AT_SURVEY && phase != AT_PEERS) {
                run_fault(run, (struct fault){STALLS, (enum phase)phase, scenes[s].n - 1, "default", cell ? 128 : 0, 1});
                run_play(run, (const char *[]){CELLS, "--no-link", "--only", "ring,tree,p2p-off", NULL});
                expect_crews(name, run, order);
                expect_cells(name, run, "default", 0, cell ? "oho" : "hoo");
                expect_cells(name, run, "default", 1, "ooo");
                expect_cells(name, run, "p2p-off", 0, "ooo");
                expect_cells(name, run, "ring", 0, "ooo");
                expect_cells(name, run, "tree", 0, "ooo");
                assert_case(name, run->code == 4 && is_complete(run));
            }
            run_free(run);
        }
}

/* A crash is no sign of P2P: the order stays. */
static void test_crash_changes_no_order(void **state)
{
    static const char *const order[] = {"survey", "default", "default", "ring", "p2p-off", "default-again", NULL};
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run_fault(run, (struct fault){SEGV, AT_WARM_UP, 0, "default", 128, 1});
    run_play(run, (const char *[]){CELLS, "--no-link", "--only", "ring,p2p-off", NULL});
    expect_crews("crash", run, order);
    expect_cells("crash", run, "default", 0, "oco");
    run_free(run);
}

/* Default's first hang counts as one, also where a crash came before it and the two together end default. */
static void test_hang_after_a_crash(void **state)
{
    static const char *const order[] = {"survey", "default", "default", "p2p-off", "ring", "tree", "default-again", NULL};
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run_fault(run, (struct fault){SEGV, AT_WARM_UP, 0, "default", 64, 0});
    run_fault(run, (struct fault){STALLS, AT_WARM_UP, 0, "default", 128, 0});
    run_play(run, (const char *[]){CELLS, "--no-link", "--only", "ring,tree,p2p-off", NULL});
    expect_cells("crash, hang", run, "default", 0, "chs");
    expect_crews("crash, hang", run, order);
    run_free(run);
}

static bool has_hint(const struct scripted_run *run, const char *words)
{
    const json_t *hints = json_object_get(run->result.head, "hints");
    bool found = false;

    for (size_t i = 0; i < json_array_size(hints); i++)
        found = found || strstr(json_string_value(json_array_get(hints, i)), words);
    return found;
}

/* All that uses P2P hangs, always: default has two tries, the others one, p2p-off all. */
static void test_p2p_hangs_always(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(scenes); s++)
        for (int phase = AT_OPEN; phase < AT_BYE; phase += 1 + (phase == AT_OPEN)) { /* AT_PEERS is the link's */
            struct scripted_run *run = run_create(scenes[s].device, scenes[s].n);
            const char *name = phase_names[phase];
            const struct lp_record *again;

            run_fault(run, (struct fault){STALLS, (enum phase)phase, -1, P2P_CREWS, 0, 0});
            run_play(run, (const char *[]){CELLS, "--no-link", "--only", "ring,tree,p2p-off", NULL});
            assert_string_equal(crew_name(run, 2), "default");
            assert_string_equal(crew_name(run, 3), "p2p-off");
            expect_cells(name, run, "p2p-off", 0, "ooo");
            expect_cells(name, run, "default", 0, "hhs");
            expect_cells(name, run, "ring", 0, "hss");
            expect_cells(name, run, "tree", 0, "hss");
            again = record_of(run, "tree", 0, 128);
            assert_case(name, again && strstr(again->reason, "default hangs too"));
            again = record_of(run, "default", 1, 128);
            expect_cells(name, run, "default", 1, again && again->outcome == LP_HANG ? "hhs" : "hss");
            assert_case(name, crews_of(run, "ring") == 1 && crews_of(run, "p2p-off") == 1);
            assert_case(name, has_hint(run, "IOMMU") == (strcmp(scenes[s].device, "cuda") == 0));
            assert_case(name, run->code == 4 && is_complete(run));
            run_free(run);
        }
}

/* Variants with an error of their own: p2p-off is held to the usual rule, a variant that fails otherwise too. */
static void test_others_under_suspicion(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run_fault(run, (struct fault){STALLS, AT_WARM_UP, 0, "default", 64, 0});
    run_fault(run, (struct fault){STALLS, AT_WARM_UP, 0, "p2p-off", 128, 0});
    run_fault(run, (struct fault){SEGV, AT_WARM_UP, 0, "ring", 64, 0});
    run_fault(run, (struct fault){STALLS, AT_WARM_UP, 0, "tree", 128, 0});
    run_play(run, (const char *[]){CELLS, "--no-link", "--only", "ring,tree,p2p-off", NULL});
    expect_cells("mixed", run, "default", 0, "hoo");
    expect_cells("mixed", run, "p2p-off", 0, "oho");
    expect_cells("mixed", run, "ring", 0, "coo");
    expect_cells("mixed", run, "tree", 0, "ohs");
    expect_cells("mixed", run, "default", 1, "ooo");
    run_free(run);
}

/* Only the last crew of default hangs: nothing is run twice. */
static void test_second_default_hangs(void **state)
{
    static const char *const order[] = {"survey", "default", "ring", "p2p-off", "default-again", "default-again", NULL};
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run_fault(run, (struct fault){STALLS, AT_TIME, 1, "default-again", 128, 0});
    run_play(run, (const char *[]){CELLS, "--no-link", "--only", "ring,p2p-off", NULL});
    expect_crews("again", run, order);
    expect_cells("again", run, "default", 1, "oho");
    assert_int_equal(run->result.n, 12);
    run_free(run);
}

/* ---- three minutes ---- */

/* Seconds from the start of the run until p2p-off's crew had said bye to its last cell. */
static double answered_after(const struct scripted_run *run)
{
    double last = -1.0;

    for (int c = 1; c <= run->ncrews; c++)
        if (strcmp(run->actor[c][0].name, "p2p-off") == 0)
            last = (double)(run->actor[c][0].ended_ns - SECONDS(1000)) / 1e9;
    return last;
}

/* Where P2P hangs. What hangs in being opened hangs one process when it enables peer access. */
enum extent { EVERYWHERE, BETWEEN_PROCESSES, IN_VARIANTS };

static void hang_p2p(struct scripted_run *run, enum kind kind, enum phase phase, enum extent extent)
{
    static const char *const variants[] = {"default", "default-again", "ring", "tree", "p2p-sys"};

    if (extent != IN_VARIANTS)
        run_fault(run, (struct fault){kind, phase, 0, P2P_CREWS, 0, 0});
    if (extent == EVERYWHERE && phase == AT_OPEN)
        run_fault(run, (struct fault){kind, AT_PEERS, 0, P2P_CREWS, 0, 0});
    for (size_t i = 0; i < COUNT_OF(variants) && extent == IN_VARIANTS; i++)
        run_fault(run, (struct fault){kind, phase, 0, variants[i], 0, 0});
}

/* The default run with all its sizes on a PCIe machine whose P2P hangs: copies too, and collectives at once or in a cell. */
static void test_three_minutes(void **state)
{
    static const struct {
        const char *name, *timing;
        enum kind kind;
        enum phase phase;
        enum extent extent;
        int most; /* ranks */
    } cases[] = {
        {"open", "graph", STALLS, AT_OPEN, EVERYWHERE, 8},
        {"open, stopped", "graph", STOPS, AT_OPEN, EVERYWHERE, 8},
        {"open between processes", "graph", STALLS, AT_OPEN, BETWEEN_PROCESSES, 4}, /* 56 pairs at 20 GB/s take a minute */
        {"open, link passes", "graph", STALLS, AT_OPEN, IN_VARIANTS, 8},
        {"warm up", "graph", STALLS, AT_WARM_UP, EVERYWHERE, 8},
        {"cell", "graph", STOPS, AT_CELL, EVERYWHERE, 8},
        {"check", "graph", STALLS, AT_CHECK, EVERYWHERE, 8},
        {"timed blocks", "graph", STALLS, AT_TIME, EVERYWHERE, 8},
        {"pipelined open", "pipelined", STALLS, AT_OPEN, EVERYWHERE, 8},
        {"pipelined", "pipelined", STALLS, AT_WARM_UP, EVERYWHERE, 8},
    };
    static const int ranks[] = {2, 4, 8};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t n = 0; n < COUNT_OF(ranks) && ranks[n] <= cases[i].most; n++) {
            struct scripted_run *run = run_create("cuda", ranks[n]);
            char name[64];

            snprintf(name, sizeof(name), "%s, %d ranks", cases[i].name, ranks[n]);
            run->op_us = 50.0;
            run->gbps = 20.0; /* PCIe 4 */
            hang_p2p(run, cases[i].kind, cases[i].phase, cases[i].extent);
            run_play(run, (const char *[]){"--timing", cases[i].timing, "--only", "ring,tree,p2p-off,p2p-sys", NULL});
            for (size_t r = 0; r < run->result.n; r++) {
                const struct lp_record *record = run->result.record[r];

                if (strcmp(record->variant, "p2p-off") == 0 && !strstr(record->reason, "less than one element"))
                    assert_case(name, record->outcome == LP_DONE);
            }
            if (!(answered_after(run) > 0.0 && answered_after(run) < 3 * MINUTES))
                fail_msg("case \"%s\": p2p-off is done after %.0f s", name, answered_after(run));
            run_free(run);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_p2p_off_is_next),        cmocka_unit_test(test_crash_changes_no_order),
        cmocka_unit_test(test_hang_after_a_crash),     cmocka_unit_test(test_p2p_hangs_always),
        cmocka_unit_test(test_others_under_suspicion), cmocka_unit_test(test_second_default_hangs),
        cmocka_unit_test(test_three_minutes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
