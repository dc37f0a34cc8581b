/* What is advised, how it is spelled, and what never is. */
#include "judge/judge.h"

#include "unit.h"

#include "sweep_of.h"

static const struct crew_noise quiet = {.small = 0.002, .large = 0.002};

static void test_spelling(void **state)
{
    static const struct {
        const char *env, *collective;
        bool per_collective;
        const char *words;
    } cases[] = {
        {"{'NCCL_ALGO': 'Tree'}", "allreduce", true, "NCCL_ALGO=allreduce:tree"},
        {"{'NCCL_ALGO': 'Tree'}", "allreduce", false, "NCCL_ALGO=Tree"},
        {"{'NCCL_ALGO': 'Ring,Tree', 'NCCL_PROTO': 'LL'}", "allgather", true,
         "NCCL_ALGO=allgather:ring,tree NCCL_PROTO=allgather:ll"},
        {"{'NCCL_PROTO': '^LL128'}", "allreduce", true, "NCCL_PROTO=^LL128"},
        {"{'NCCL_ALGO': 'ring;allreduce:tree'}", "allreduce", true, "NCCL_ALGO=ring;allreduce:tree"},
        {"{'NCCL_ALGO': 'Ring'}", "alltoall", true, "NCCL_ALGO=Ring"},
        {"{'NCCL_MIN_NCHANNELS': '32', 'NCCL_PROTO': null}", "allreduce", true, "NCCL_MIN_NCHANNELS=32 NCCL_PROTO unset"},
        {"{}", "allreduce", true, ""},
    };
    char words[256];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        json_t *env = json_of(cases[i].env);

        assert_string_equal(lp_env_words(env, cases[i].collective, cases[i].per_collective, words, sizeof(words)), cases[i].words);
        json_decref(env);
    }
}

static void test_short_buffer(void **state)
{
    json_t *env = json_of("{'NCCL_ALGO': 'Tree', 'NCCL_PROTO': 'Simple'}");
    char words[12];

    (void)state;
    assert_string_equal(lp_env_words(env, "allreduce", true, words, sizeof(words)), "NCCL_ALGO=a");
    json_decref(env);
}

static void test_forcing(void **state)
{
    static const struct {
        const char *env;
        bool forces;
    } cases[] = {
        {"{'NCCL_PROTO': 'LL128'}", true},
        {"{'NCCL_PROTO': 'LL,ll128,Simple'}", true},
        {"{'NCCL_PROTO': '^LL128'}", false},
        {"{'NCCL_PROTO': '^LL,LL128'}", false},
        {"{'NCCL_PROTO': 'LL'}", false},
        {"{'NCCL_PROTO': null}", false},
        {"{'NCCL_PROTO': 'allreduce:LL128'}", true},
        {"{'NCCL_PROTO': 'allreduce:^LL128'}", false},
        {"{'NCCL_ALGO': 'Ring'}", false},
        {"{'NCCL_PROTO': '^LL128;allgather:LL128'}", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        json_t *env = json_of(cases[i].env);

        assert_case(cases[i].env, lp_env_forces_ll128(env) == cases[i].forces);
        json_decref(env);
    }
}

/* ---- of sweeps ---- */

/* The better the later in the alphabet: tree 4 % on AllReduce, w 8 % everywhere but 8K to 32K, where it is 10 % slower. */
static double effects(const struct lp_record *record)
{
    bool allreduce = strcmp(record->cell.op, "allreduce") == 0;

    if (strcmp(record->variant, "tree") == 0)
        return allreduce ? -log(1.04) : 0.0;
    if (strcmp(record->variant, "w") == 0)
        return record->cell.requested_bytes <= 32 << 10 ? 0.10 : allreduce ? -log(1.08) : 0.03;
    return 0.0;
}

static void begin(struct sweep *sweep, struct lp_result *result, int rounds)
{
    struct dice dice = {21};

    *sweep = (struct sweep){.setting = {"default", "tree", "w"},
                            .nsettings = 3,
                            .nsizes = 14,
                            .first_bytes = 8 << 10,
                            .collective = {"allreduce", "allgather"},
                            .ncollectives = 2,
                            .nplacements = 2,
                            .rounds = rounds};
    sweep_make(sweep, result);
    sweep_fill(sweep, result, &dice, &quiet, effects);
    sweep_env(result, "tree", "{'NCCL_ALGO': 'Tree'}");
    sweep_env(result, "w", "{'NCCL_MIN_NCHANNELS': '32'}");
}

/* The advice on a collective; fails without one. */
static const struct lp_advice *advice_on(const struct lp_judgement *judgement, const char *collective)
{
    for (size_t i = 0; i < judgement->advices.n; i++)
        if (strcmp(judgement->verdicts.times.family[judgement->advices.item[i].family].like->op, collective) == 0)
            return &judgement->advices.item[i];
    fail_msg("no advice on %s", collective);
    return NULL;
}

/* The best mean, with what is to be known of it; a collective for which nothing is better keeps default. */
static void test_best_mean(void **state)
{
    struct sweep sweep;
    struct lp_result result;
    struct lp_judgement judgement;
    const struct lp_advice *advice;

    (void)state;
    begin(&sweep, &result, 3);
    assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
    assert_int_equal(judgement.advices.n, 2);
    advice = advice_on(&judgement, "allreduce");
    assert_string_equal(advice->set, "NCCL_MIN_NCHANNELS=32");
    assert_int_equal(advice->from, 8 << 10);
    assert_int_equal(advice->to, 64 << 20);
    assert_int_equal(advice->claim.call, LP_BETTER);
    assert_says(advice->note, "slower in 6 cells of 8K to 32K");
    assert_says(advice->note, "allgather gets it too, and is slower: 0.9");
    advice = advice_on(&judgement, "allgather");
    assert_int_equal(advice->setting, 0);
    assert_string_equal(advice->set, "");
    lp_judgement_release(&judgement);
    lp_result_release(&result);
}

/* w hung once, somewhere: then tree, for AllReduce alone; with a release that knows no prefixes, plainly. */
static void test_never_what_hangs(void **state)
{
    static const struct {
        const char *version, *set;
    } cases[] = {{"2.28.3", "NCCL_ALGO=allreduce:tree"}, {"2.23.4", "NCCL_ALGO=Tree"}};
    struct sweep sweep;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_result result;
        struct lp_judgement judgement;
        size_t at = 0;

        begin(&sweep, &result, 3);
        json_object_set_new(result.head, "versions", json_pack("{s:s}", "nccl_loaded", cases[i].version));
        while (strcmp(result.record[at]->variant, "w") != 0)
            at++;
        result.record[at]->outcome = LP_HANG;
        assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
        assert_string_equal(advice_on(&judgement, "allreduce")->set, cases[i].set);
        assert_string_equal(advice_on(&judgement, "allreduce")->note, "");
        lp_judgement_release(&judgement);
        lp_result_release(&result);
    }
}

/* C24: what forces LL128 may win, and is not advised; the winner of a range may be where no mean is better. */
static void test_never_ll128(void **state)
{
    struct sweep sweep;
    struct lp_result result;
    struct lp_judgement judgement;
    const struct lp_advice *advice;

    (void)state;
    begin(&sweep, &result, 3);
    sweep_env(&result, "w", "{'NCCL_PROTO': 'LL,LL128,Simple'}");
    assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
    advice = advice_on(&judgement, "allreduce");
    assert_string_equal(advice->set, "NCCL_ALGO=allreduce:tree");
    assert_says(advice->note, "w wins somewhere, but naming LL128 forces it");
    assert_says(advice->note, "not for production");
    lp_judgement_release(&judgement);
    sweep_env(&result, "tree", "{'NCCL_PROTO': 'LL128'}");
    assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
    assert_int_equal(advice_on(&judgement, "allreduce")->setting, 0);
    lp_judgement_release(&judgement);
    lp_result_release(&result);
}

/* 12 % slower up to 256K and 20 % faster from 32M on: the mean is worse, the range is good. */
static double only_large(const struct lp_record *record)
{
    if (strcmp(record->variant, "w") != 0)
        return 0.0;
    return record->cell.requested_bytes <= 256 << 10 ? 0.12 : record->cell.requested_bytes >= 32 << 20 ? -log(1.20) : 0.0;
}

static void test_range(void **state)
{
    struct dice dice = {22};
    struct sweep sweep;
    struct lp_result result;
    struct lp_judgement judgement;
    const struct lp_advice *advice;

    (void)state;
    begin(&sweep, &result, 3);
    sweep_fill(&sweep, &result, &dice, &quiet, only_large);
    assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
    advice = advice_on(&judgement, "allgather");
    assert_int_equal(advice->setting, 2);
    assert_int_equal(advice->from, 32 << 20);
    assert_int_equal(advice->to, 64 << 20);
    assert_true(fabs(advice->claim.ratio - 1.20) < 0.01);
    lp_judgement_release(&judgement);
    lp_result_release(&result);
}

static void test_nothing_to_say(void **state)
{
    struct sweep sweep;
    struct lp_result result;
    struct lp_judgement judgement;

    (void)state;
    begin(&sweep, &result, 2);
    assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
    assert_int_equal(judgement.advices.n, 0);
    lp_judgement_release(&judgement);
    lp_result_release(&result);
    begin(&sweep, &result, 3);
    for (size_t i = 0; i < result.n; i++)
        result.record[i]->checked.iterations = 0;
    assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
    assert_int_equal(advice_on(&judgement, "allreduce")->setting, 0);
    assert_says(advice_on(&judgement, "allreduce")->note, "nothing here could be judged");
    lp_judgement_release(&judgement);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spelling),  cmocka_unit_test(test_short_buffer),     cmocka_unit_test(test_forcing),
        cmocka_unit_test(test_best_mean), cmocka_unit_test(test_never_what_hangs), cmocka_unit_test(test_never_ll128),
        cmocka_unit_test(test_range),     cmocka_unit_test(test_nothing_to_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
