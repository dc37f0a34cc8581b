/* Whole runs in which the copies of the link go wrong: the product of kind, phase and crew, what is given up, and the baseline. */
#include "scripted_run.h"

#include <math.h>

enum { OFF, ON, RING, HOST, NGROUPS };

/* Crews of copies: on cuda three, on host one with two paths and the ring. */
static const struct {
    const char *crew, *device;
    bool one_worker, p2p;
} groups[NGROUPS] = {
    [OFF] = {"link-p2p-off", "cuda", true, false},
    [ON] = {"link-p2p-on", "cuda", true, true},
    [RING] = {"link-ring", "cuda", false, true},
    [HOST] = {"link", "host", false, false},
};

static int copies_of(int group, int n)
{
    int pairs = n * (n - 1);

    return group == OFF ? pairs : group == ON ? 2 * pairs : group == RING ? 1 : 2 * pairs + 1;
}

static int group_of(const struct lp_record *record)
{
    if (strcmp(record->cell.library, "host") == 0)
        return HOST;
    return strcmp(record->cell.pattern, "ring") == 0 ? RING : strcmp(record->cell.op, "ce_staged") == 0 ? OFF : ON;
}

static bool same_copy(const struct lp_cell *a, const struct lp_cell *b)
{
    return strcmp(a->op, b->op) == 0 && a->nedges == b->nedges &&
           memcmp(a->edges, b->edges, sizeof(a->edges[0]) * (size_t)a->nedges) == 0;
}

/* ---- rules ---- */

static bool refuses(enum kind kind)
{
    return kind >= FAILS && kind <= MEMORY;
}

static bool ends_all(enum kind kind)
{
    return kind == WEDGED || kind == AGENT_LOST || kind == SIGNALLED;
}

static bool in_cell(enum phase phase)
{
    return phase >= AT_CELL && phase < AT_BYE;
}

/* A limit grows with the bytes of a copy, so that LATE has no one meaning. */
static bool makes_sense(enum kind kind, enum phase phase)
{
    bool verdict = phase == AT_CHECK || phase == AT_AFTER || phase == AT_LAST;

    if (phase == AT_SURVEY || kind == LATE || kind >= OTHER_ENV)
        return phase != AT_SURVEY && (kind == AGENT_LOST || kind == SIGNALLED);
    if (kind == NOT_STARTED)
        return phase == AT_START;
    if (refuses(kind))
        return phase != AT_START && phase != AT_BYE;
    if (kind == GARBLED)
        return verdict || phase == AT_WARM_UP || phase == AT_TIME;
    return kind < WRONG_FIRST || verdict;
}

static enum lp_outcome outcome_of(enum kind kind)
{
    if (kind <= WEDGED)
        return LP_HANG;
    if (kind == SLOW)
        return LP_DONE;
    if (kind <= NOT_STARTED)
        return LP_CRASH;
    if (kind >= WRONG_FIRST && kind <= WRONG_ONCE)
        return LP_WRONG;
    return kind == UNSUPPORTED ? LP_UNSUPPORTED : kind == MEMORY ? LP_SKIPPED : LP_FAILED;
}

/* Of copy i of the struck group; -1: no record. The fault is in the first copy, or in every one. */
static int expected_here(const struct fault *fault, bool p2p, bool all_ranks, int i)
{
    enum lp_outcome outcome = outcome_of(fault->kind);
    bool unable = fault->kind == UNSUPPORTED && all_ranks && in_cell(fault->phase);

    if (fault->phase == AT_BYE || fault->kind == SLOW)
        return LP_DONE;
    if (ends_all(fault->kind))
        return i == 0 && fault->kind == WEDGED ? LP_HANG : -1;
    if (outcome == LP_WRONG || unable)
        return (int)outcome; /* the crew goes on, and so does the fault */
    if (i == 0)
        return (int)outcome;
    if ((outcome == LP_HANG && p2p) || (refuses(fault->kind) && !in_cell(fault->phase)))
        return LP_SKIPPED;
    if (fault->times)
        return LP_DONE;
    return i == 1 ? (int)outcome : LP_SKIPPED;
}

static int expected(const struct fault *fault, int struck, bool all_ranks, int group, int i)
{
    if (group == struck)
        return expected_here(fault, groups[group].p2p, all_ranks, i);
    if (group > struck && ends_all(fault->kind))
        return -1;
    if (group > struck && groups[group].p2p && groups[struck].p2p && fault->kind <= STOPS && fault->phase != AT_BYE)
        return LP_SKIPPED; /* a copy with P2P hung before */
    return LP_DONE;
}

static int expected_code(const struct fault *fault)
{
    enum lp_outcome outcome = outcome_of(fault->kind);

    if (fault->kind == SIGNALLED)
        return 128 + SIGTERM;
    if (ends_all(fault->kind))
        return 4;
    if (fault->phase == AT_BYE || outcome == LP_DONE || outcome == LP_UNSUPPORTED || outcome == LP_SKIPPED)
        return 0;
    return outcome == LP_WRONG ? 6 : outcome == LP_FAILED ? 3 : 4;
}

/* ---- the product ---- */

static void check_copies(struct scripted_run *run, const char *name, const struct fault *fault, int struck)
{
    bool all_ranks = fault->rank < 0 || groups[struck].one_worker;
    int seen[NGROUPS] = {0}, planned[NGROUPS] = {0};

    for (size_t r = 0; r < run->result.n; r++) {
        const struct lp_record *record = run->result.record[r];
        int group = group_of(record), want;

        if (record->cell.kind != LP_COPY)
            continue;
        want = expected(fault, struck, all_ranks, group, seen[group]);
        if ((int)record->outcome != want)
            fail_msg("case \"%s\": copy %d of %s is %s (%s), not %s", name, seen[group], groups[group].crew,
                     lp_outcome_name(record->outcome), record->reason,
                     want < 0 ? "absent" : lp_outcome_name((enum lp_outcome)want));
        seen[group]++;
        for (size_t k = 0; k < r; k++)
            assert_case(name, !same_copy(&record->cell, &run->result.record[k]->cell));
    }
    for (int group = 0; group < NGROUPS; group++) {
        for (int i = 0; i < copies_of(group, run->link.nranks); i++)
            planned[group] += expected(fault, struck, all_ranks, group, i) >= 0;
        if (strcmp(groups[group].device, run->device) == 0 && seen[group] != planned[group])
            fail_msg("case \"%s\": %d copies of %s, not %d", name, seen[group], groups[group].crew, planned[group]);
    }
}

/* There is one as soon as there is a record of the ring; a figure only where it is good. */
static void check_baseline(struct scripted_run *run, const char *name)
{
    const json_t *baseline = json_object_get(run->result.head, "baseline");
    const struct lp_record *ring = NULL;

    for (size_t r = 0; r < run->result.n; r++)
        if (strcmp(run->result.record[r]->cell.pattern, "ring") == 0)
            ring = run->result.record[r];
    assert_case(name, (baseline != NULL) == (ring != NULL));
    if (!ring)
        return;
    assert_case(name, json_is_number(json_object_get(baseline, "gbps")) == (ring->outcome == LP_DONE));
    assert_case(name, ring->outcome == LP_DONE || strcmp(lp_json_str(baseline, "reason", ""), ring->reason) == 0);
}

static void play_copies(const struct fault *fault, int struck, int n)
{
    struct scripted_run *run = run_create(groups[struck].device, n);
    char name[160];

    snprintf(name, sizeof(name), "%s at %s in %s, rank %d of %d%s", kind_names[fault->kind], phase_names[fault->phase],
             groups[struck].crew, fault->rank, n, fault->times ? "" : ", always");
    run_fault(run, *fault);
    run_play(run, (const char *[]){"-b", "64", "-e", "64", "--collectives", "allreduce", "--placement", "out", "--only", "default",
                                   NULL});
    assert_case(name, run->written);
    check_copies(run, name, fault, struck);
    check_baseline(run, name);
    for (int repeat = 0; repeat < 2; repeat++) {
        const struct lp_record *record = record_of(run, "default", repeat, 64);

        assert_case(name, ends_all(fault->kind) ? !record : record && record->outcome == LP_DONE);
    }
    if (run->code != expected_code(fault))
        fail_msg("case \"%s\": exit code %d, not %d", name, run->code, expected_code(fault));
    assert_case(name, is_complete(run) == !ends_all(fault->kind));
    run_free(run);
}

/* With two ranks everything, once and always; more have many copies, and so only one kind of each sort, once, in some phases. */
static void play_group(int group, int n, int rank)
{
    static const enum kind sorts[] = {STOPS, WEDGED, SEGV, FAILS, UNSUPPORTED, MEMORY, GARBLED, WRONG_ONCE, AGENT_LOST, SIGNALLED};

    for (size_t k = 0; k < (n > 2 ? COUNT_OF(sorts) : NKINDS); k++)
        for (int phase = 0; phase < NPHASES; phase++)
            for (int times = n > 2; times < 2; times++) {
                enum kind kind = n > 2 ? sorts[k] : (enum kind)k;
                struct fault fault = {kind, (enum phase)phase, rank, groups[group].crew, 0, times};

                if (makes_sense(kind, fault.phase) && !(rank < 0 && kind == AGENT_LOST) && (n < 3 || phase % (n < 5 ? 2 : 4) == 0))
                    play_copies(&fault, group, n);
            }
}

static void test_without_p2p(void **state)
{
    (void)state;
    play_group(OFF, 2, 0);
    play_group(OFF, 3, 0);
}

static void test_with_p2p(void **state)
{
    (void)state;
    play_group(ON, 2, 0);
    play_group(ON, 3, 0);
}

static void test_ring(void **state)
{
    (void)state;
    play_group(RING, 2, 1);
    play_group(RING, 3, -1);
    play_group(RING, 5, 4);
    play_group(RING, 8, 0);
}

static void test_host(void **state)
{
    (void)state;
    play_group(HOST, 2, 1);
    play_group(HOST, 3, -1);
}

/* P2P that hangs somewhere is tried once, whatever else there is to copy. */
static void test_p2p_is_tried_once(void **state)
{
    (void)state;
    for (int n = 2; n <= 8; n += 3) {
        struct scripted_run *run = run_create("cuda", n);

        run_fault(run, (struct fault){STOPS, AT_WARM_UP, -1, P2P_CREWS, 0, 0});
        run_play(run, (const char *[]){"--no-collectives", NULL});
        assert_int_equal(crews_of(run, "link-p2p-off"), 1);
        assert_int_equal(crews_of(run, "link-p2p-on"), 1);
        assert_int_equal(crews_of(run, "link-ring"), 0);
        assert_int_equal(run->result.n, 3 * n * (n - 1) + 1);
        for (size_t i = 0; i < run->result.n; i++)
            if (run->result.record[i]->outcome == LP_SKIPPED)
                assert_string_equal(run->result.record[i]->reason, "not tried: a copy with P2P hung before");
        run_free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_p2p), cmocka_unit_test(test_with_p2p),          cmocka_unit_test(test_ring),
        cmocka_unit_test(test_host),        cmocka_unit_test(test_p2p_is_tried_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
