/*
 * Identical settings, C39: of 200 sweeps of realistic size, however their crews differ, at most 5 of 100 claim anything at all. The
 * dice are the tests' own, so that every run sees the same sweeps.
 */
#include "judge/verdict.h"

#include "unit.h"

#include "sweep_of.h"

#define SWEEPS  200
#define ALLOWED (SWEEPS * 5 / 100)

static const struct sweep whole = {.setting = {"default", "ring", "tree", "c", "d", "e", "f", "g", "h", "i", "j"},
                                   .nsettings = 11,
                                   .nsizes = 26,
                                   .first_bytes = 8,
                                   .collective = {"allreduce", "allgather"},
                                   .ncollectives = 2,
                                   .nplacements = 2,
                                   .rounds = 3};

static bool any_claim(const struct lp_result *result)
{
    struct lp_verdicts verdicts;
    bool any = false;

    assert_int_equal(lp_verdicts_make(result, &verdicts), LP_OK);
    assert_true(verdicts.tests > 0);
    for (size_t i = 0; i < verdicts.n; i++)
        any = any || verdicts.item[i].claim.call == LP_BETTER || verdicts.item[i].claim.call == LP_WORSE;
    lp_verdicts_release(&verdicts);
    return any;
}

/* settings and rounds: those of the sweep; group: variants that are in default's same path group. */
static void expect_few(const char *name, const struct crew_noise *noise, size_t settings, int rounds, size_t group)
{
    struct sweep sweep = whole;
    struct dice dice = {20250101};
    struct lp_result result;
    json_t *same = json_pack("[s]", "default");
    int claimed = 0;

    sweep.nsettings = settings;
    sweep.rounds = rounds;
    sweep_make(&sweep, &result);
    for (size_t i = 1; i <= group; i++)
        json_array_append_new(same, json_string(sweep.setting[i]));
    json_object_set_new(result.head, "same_path", json_pack("[o]", same));
    for (int i = 0; i < SWEEPS; i++) {
        sweep_fill(&sweep, &result, &dice, noise, NULL);
        claimed += any_claim(&result);
    }
    print_message("%s, %zu variants, %d rounds, %zu of default's path: %d of %d sweeps claim something\n", name, settings - 1,
                  rounds, group, claimed, SWEEPS);
    if (claimed > ALLOWED)
        fail_msg("%s: %d of %d sweeps of identical settings claim something", name, claimed, SWEEPS);
    lp_result_release(&result);
}

static void test_normal(void **state)
{
    static const struct crew_noise noise = {.small = 0.007, .large = 0.003};

    (void)state;
    expect_few("normal", &noise, 11, 3, 0);
    expect_few("normal", &noise, 2, 3, 0);
}

static void test_heavy_tails(void **state)
{
    static const struct crew_noise noise = {.small = 0.007, .large = 0.003, .heavy = 3.0};

    (void)state;
    expect_few("heavy tails", &noise, 11, 3, 0);
}

static void test_drift(void **state)
{
    static const struct crew_noise noise = {.small = 0.007, .large = 0.003, .drift = 0.03};

    (void)state;
    expect_few("drift of 3 % over the run", &noise, 11, 3, 0);
}

static void test_slow_ranks(void **state)
{
    static const struct crew_noise noise = {.small = 0.007, .large = 0.003, .slow_share = 0.05, .slow_log = 0.05};

    (void)state;
    expect_few("a slow rank in 5 % of crews", &noise, 11, 3, 0);
}

/* 7 us in one process, 12 in the next: at every share. */
static void test_two_modes(void **state)
{
    static const double shares[] = {0.05, 0.15, 0.3, 0.5};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        struct crew_noise noise = {.small = 0.02, .large = 0.003, .modes = shares[i], .mode_log = 0.5};
        char name[64];

        snprintf(name, sizeof(name), "two modes, %g of crews", shares[i]);
        expect_few(name, &noise, 11, 3, i == 1 ? 3 : 0);
        expect_few(name, &noise, 2, i == 2 ? 5 : 3, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal),     cmocka_unit_test(test_heavy_tails), cmocka_unit_test(test_drift),
        cmocka_unit_test(test_slow_ranks), cmocka_unit_test(test_two_modes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
