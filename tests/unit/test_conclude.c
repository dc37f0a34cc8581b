/* Winners by size, Ring against Tree with crossovers, P2P on against off, from sweeps whose truth is known. */
#include "judge/conclude.h"

#include "unit.h"

#include "sweep_of.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static const struct crew_noise quiet = {.small = 0.002, .large = 0.002};

/* A sweep from 1K to 64M that was judged. */
struct judged_sweep {
    struct sweep sweep;
    struct lp_result result;
    struct lp_verdicts verdicts;
};

static void begin(struct judged_sweep *judged, const char *a, const char *b, crew_effect *effect)
{
    struct dice dice = {11};

    memset(judged, 0, sizeof(*judged));
    judged->sweep = (struct sweep){.setting = {"default", a, b},
                                   .nsettings = 3,
                                   .nsizes = 17,
                                   .first_bytes = 1024,
                                   .collective = {"allreduce"},
                                   .ncollectives = 1,
                                   .nplacements = 1,
                                   .rounds = 3};
    sweep_make(&judged->sweep, &judged->result);
    sweep_fill(&judged->sweep, &judged->result, &dice, &quiet, effect);
}

static void judge_it(struct judged_sweep *judged)
{
    assert_int_equal(lp_verdicts_make(&judged->result, &judged->verdicts), LP_OK);
}

static void end(struct judged_sweep *judged)
{
    lp_verdicts_release(&judged->verdicts);
    lp_result_release(&judged->result);
}

struct want_range {
    size_t from, to; /* bytes */
    size_t setting;
    enum lp_call call;
    double ratio; /* 0: any */
};

static void assert_ranges(const struct judged_sweep *judged, const struct lp_ranges *ranges, const struct want_range *want,
                          size_t n)
{
    const struct lp_spot *spot = judged->verdicts.times.family[0].spot;

    for (size_t i = 0; i < ranges->n && i < n; i++) {
        const struct lp_range *range = &ranges->item[i];

        if (spot[range->from].bytes != want[i].from || spot[range->to].bytes != want[i].to || range->setting != want[i].setting ||
            range->claim.call != want[i].call)
            fail_msg("range %zu is %zu to %zu, setting %zu, %s", i, spot[range->from].bytes, spot[range->to].bytes, range->setting,
                     lp_call_name(range->claim.call));
        assert_true(want[i].ratio == 0.0 || fabs(range->claim.ratio / want[i].ratio - 1.0) < 0.005);
        if (range->claim.call == LP_BETTER)
            assert_true(range->claim.low > 1.0 && range->claim.high > range->claim.low);
        if (range->claim.call == LP_WORSE)
            assert_true(range->claim.high < 1.0);
    }
    assert_int_equal(ranges->n, n);
}

/* ---- winners ---- */

/* C14: sys wins up to 64K, shm from 1M on; each is 20 % slower elsewhere, and neither differs between. */
static double sys_and_shm(const struct lp_record *record)
{
    bool small = record->cell.requested_bytes <= 64 * KIB, large = record->cell.requested_bytes >= MIB;

    if (strcmp(record->variant, "sys") == 0)
        return small ? -log(1.12) : large ? 0.2 : 0.0;
    if (strcmp(record->variant, "shm") == 0)
        return large ? -log(1.25) : small ? 0.2 : 0.0;
    return 0.0;
}

static void test_by_size(void **state)
{
    static const struct want_range want[] = {
        {KIB, 64 * KIB, 1, LP_BETTER, 1.12}, {128 * KIB, 512 * KIB, 0, LP_NO_DIFFERENCE, 1.0}, {MIB, 64 * MIB, 2, LP_BETTER, 1.25}};
    struct judged_sweep judged;
    struct lp_ranges winners;

    (void)state;
    begin(&judged, "sys", "shm", sys_and_shm);
    judge_it(&judged);
    assert_int_equal(lp_winners(&judged.verdicts, &winners), LP_OK);
    assert_ranges(&judged, &winners, want, COUNT_OF(want));
    lp_ranges_release(&winners);
    end(&judged);
}

/* C14: one wrong cell of shm, anywhere, and it never wins. */
static void test_wrong_never_wins(void **state)
{
    static const struct want_range want[] = {{KIB, 64 * KIB, 1, LP_BETTER, 1.12}, {128 * KIB, 64 * MIB, 0, LP_NO_DIFFERENCE, 1.0}};
    struct judged_sweep judged;
    struct lp_ranges winners;
    size_t at = 0;

    (void)state;
    begin(&judged, "sys", "shm", sys_and_shm);
    while (strcmp(judged.result.record[at]->variant, "shm") != 0)
        at++;
    judged.result.record[at]->outcome = LP_WRONG;
    judge_it(&judged);
    assert_int_equal(lp_winners(&judged.verdicts, &winners), LP_OK);
    assert_ranges(&judged, &winners, want, COUNT_OF(want));
    lp_ranges_release(&winners);
    end(&judged);
}

/* The one is 10 % faster, the other 10.2, 9.9, ... : one winner, not a patchwork; where both fail nothing is judged. */
static double nearly_alike(const struct lp_record *record)
{
    double wave = record->cell.count % 3 == 0 ? 0.001 : -0.001;

    if (strcmp(record->variant, "default") == 0)
        return 0.0;
    return -log(1.10) + (record->variant[0] == 'a' ? wave : -wave);
}

static void test_no_patchwork(void **state)
{
    struct judged_sweep judged;
    struct lp_ranges winners;

    (void)state;
    begin(&judged, "a", "b", nearly_alike);
    for (size_t i = 0; i < judged.result.n; i++)
        if (strcmp(judged.result.record[i]->variant, "default") != 0 && judged.result.record[i]->cell.requested_bytes >= 32 * MIB)
            judged.result.record[i]->checked.iterations = 0;
    judge_it(&judged);
    assert_int_equal(lp_winners(&judged.verdicts, &winners), LP_OK);
    assert_int_equal(winners.n, 2);
    assert_int_equal(winners.item[0].claim.call, LP_BETTER);
    assert_int_equal(winners.item[0].to, 14);
    assert_true(fabs(winners.item[0].claim.ratio - 1.10) < 0.005);
    assert_int_equal(winners.item[1].claim.call, LP_NOT_JUDGED);
    lp_ranges_release(&winners);
    end(&judged);
}

/* ---- Ring and Tree ---- */

/* Tree is slower below 512K, faster above 2M; between it turns. */
static double tree_later(const struct lp_record *record)
{
    double steps = log2((double)record->cell.requested_bytes / (double)MIB);

    return strcmp(record->variant, "tree") == 0 ? -0.08 * fmax(-1.5, fmin(1.5, steps)) : 0.0;
}

static void test_crossover(void **state)
{
    static const struct want_range want[] = {
        {KIB, 512 * KIB, 2, LP_WORSE, 0.0}, {MIB, MIB, 2, LP_NO_DIFFERENCE, 0.0}, {2 * MIB, 64 * MIB, 2, LP_BETTER, 0.0}};
    struct judged_sweep judged;
    struct lp_ranges rings;
    struct lp_crossovers crossovers;

    (void)state;
    begin(&judged, "ring", "tree", tree_later);
    judge_it(&judged);
    assert_int_equal(judged.verdicts.ring, 1);
    assert_int_equal(lp_ring_ranges(&judged.verdicts, &rings), LP_OK);
    assert_ranges(&judged, &rings, want, COUNT_OF(want));
    assert_int_equal(rings.item[0].reference, 1);
    assert_int_equal(lp_crossovers_find(&judged.verdicts, &crossovers), LP_OK);
    assert_int_equal(crossovers.n, 1);
    assert_true(crossovers.item[0].tree_above);
    assert_int_equal(crossovers.item[0].from, 512 * KIB);
    assert_int_equal(crossovers.item[0].to, 2 * MIB);
    assert_true(crossovers.item[0].bytes > 900 * KIB && crossovers.item[0].bytes < 1150 * KIB);
    free(crossovers.item);
    lp_ranges_release(&rings);
    end(&judged);
}

/* By their environment, whatever their names; three crossings. */
static double back_and_forth(const struct lp_record *record)
{
    static const double effect[17] = {.1, .1, .1, .1, -.1, -.1, -.1, -.1, .1, .1, .1, .1, -.1, -.1, -.1, -.1, -.1};

    return strcmp(record->variant, "x") == 0 ? effect[(int)log2((double)record->cell.requested_bytes) - 10] : 0.0;
}

static void test_many_crossings(void **state)
{
    static const bool tree_above[] = {true, false, true};
    struct judged_sweep judged;
    struct lp_crossovers crossovers;

    (void)state;
    begin(&judged, "x", "y", back_and_forth);
    sweep_env(&judged.result, "x", "{'NCCL_ALGO': 'TREE'}");
    sweep_env(&judged.result, "y", "{'NCCL_ALGO': 'ring'}");
    judge_it(&judged);
    assert_int_equal(judged.verdicts.tree, 1);
    assert_int_equal(judged.verdicts.ring, 2);
    assert_int_equal(lp_crossovers_find(&judged.verdicts, &crossovers), LP_OK);
    assert_int_equal(crossovers.n, COUNT_OF(tree_above));
    for (size_t i = 0; i < COUNT_OF(tree_above); i++) {
        assert_int_equal(crossovers.item[i].tree_above, tree_above[i]);
        assert_int_equal(crossovers.item[i].from, (8 * KIB) << (4 * i));
        assert_int_equal(crossovers.item[i].to, (16 * KIB) << (4 * i));
        assert_true(crossovers.item[i].bytes > crossovers.item[i].from && crossovers.item[i].bytes < crossovers.item[i].to);
    }
    free(crossovers.item);
    end(&judged);
}

static void test_no_tree(void **state)
{
    struct judged_sweep judged;
    struct lp_ranges rings;
    struct lp_crossovers crossovers;

    (void)state;
    begin(&judged, "ring", "b", NULL);
    judge_it(&judged);
    assert_int_equal(lp_ring_ranges(&judged.verdicts, &rings), LP_OK);
    assert_int_equal(lp_crossovers_find(&judged.verdicts, &crossovers), LP_OK);
    assert_int_equal(rings.n + crossovers.n, 0);
    lp_ranges_release(&rings);
    end(&judged);
}

/* ---- P2P ---- */

/* C14: forcing the one way loses at small sizes. */
static double p2p_loses_small(const struct lp_record *record)
{
    if (strcmp(record->variant, "off") != 0)
        return 0.0;
    return record->cell.requested_bytes < 64 * KIB ? -0.1 : 0.7;
}

static void test_p2p(void **state)
{
    static const struct want_range want[] = {{KIB, 32 * KIB, 0, LP_WORSE, 0.904837}, {64 * KIB, 64 * MIB, 0, LP_BETTER, 2.01375}};
    struct judged_sweep judged;
    struct lp_ranges p2p;

    (void)state;
    begin(&judged, "a", "off", p2p_loses_small);
    judge_it(&judged);
    assert_int_equal(lp_p2p_ranges(&judged.verdicts, &p2p), LP_OK);
    assert_int_equal(p2p.n, 0);
    lp_verdicts_release(&judged.verdicts);
    sweep_env(&judged.result, "a", "{'NCCL_P2P_DISABLE': 'true'}");
    sweep_env(&judged.result, "off", "{'NCCL_P2P_DISABLE': '1', 'NCCL_NVLS_ENABLE': '0'}");
    judge_it(&judged);
    assert_int_equal(lp_p2p_off(&judged.verdicts.times), 2);
    assert_int_equal(lp_p2p_ranges(&judged.verdicts, &p2p), LP_OK);
    assert_ranges(&judged, &p2p, want, COUNT_OF(want));
    assert_int_equal(p2p.item[0].reference, 2);
    lp_ranges_release(&p2p);
    end(&judged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_size),   cmocka_unit_test(test_wrong_never_wins), cmocka_unit_test(test_no_patchwork),
        cmocka_unit_test(test_crossover), cmocka_unit_test(test_many_crossings),   cmocka_unit_test(test_no_tree),
        cmocka_unit_test(test_p2p),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
