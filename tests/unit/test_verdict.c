/* Verdicts of whole sweeps made up for the purpose: what is found, what is not, and what may not be said. */
#include "judge/verdict.h"

#include "unit.h"

#include "sweep_of.h"

#define AT_64K  13 /* sizes from 8 bytes on, doubling */
#define AT_1M   17
#define AT_64M  23
#define VARIANT 2

static const struct crew_noise quiet = {.small = 0.002, .large = 0.002};

static struct sweep sweep_of(int rounds)
{
    return (struct sweep){.setting = {"default", "a", "b", "c"},
                          .nsettings = 4,
                          .nsizes = 26,
                          .first_bytes = 8,
                          .collective = {"allreduce"},
                          .ncollectives = 1,
                          .nplacements = 1,
                          .rounds = rounds};
}

/* b is 10 % faster from 1M on, and c 1 % slower everywhere. */
static double planted(const struct lp_record *record)
{
    if (strcmp(record->variant, "b") == 0 && record->cell.requested_bytes >= 1 << 20)
        return -log(1.10);
    return strcmp(record->variant, "c") == 0 ? 0.01 : 0.0;
}

static const struct lp_claim *claim_of(const struct lp_verdicts *verdicts, size_t spot, size_t setting)
{
    return &lp_verdicts_find(verdicts, LP_OF_CELL, 0, spot, setting)->claim;
}

static size_t count_calls(const struct lp_verdicts *verdicts, enum lp_call call)
{
    size_t n = 0;

    for (size_t i = 0; i < verdicts->n; i++)
        n += verdicts->item[i].claim.call == call;
    return n;
}

/* Whatever was found, the interval says the same. */
static void assert_consistent(const struct lp_verdicts *verdicts)
{
    for (size_t i = 0; i < verdicts->n; i++) {
        const struct lp_claim *claim = &verdicts->item[i].claim;

        switch (claim->call) {
        case LP_BETTER:
            assert_true(claim->low > 1.0 && claim->ratio > claim->low && claim->high > claim->ratio);
            break;
        case LP_WORSE:
            assert_true(claim->high < 1.0 && claim->ratio < claim->high && claim->low < claim->ratio);
            break;
        case LP_NO_DIFFERENCE:
            assert_true(claim->low <= 1.0 && claim->high >= 1.0);
            break;
        case LP_NOT_JUDGED:
            assert_true(isnan(claim->ratio) && claim->reason[0]);
            break;
        default:
            assert_true(claim->low > 1.0 || claim->high < 1.0);
        }
    }
}

static void test_found(void **state)
{
    struct sweep sweep = sweep_of(3);
    struct dice dice = {1};
    struct lp_result result;
    struct lp_verdicts verdicts;

    (void)state;
    sweep_make(&sweep, &result);
    sweep_fill(&sweep, &result, &dice, &quiet, planted);
    assert_int_equal(lp_verdicts_make(&result, &verdicts), LP_OK);
    assert_int_equal(verdicts.tests, 3 * 26 + 3);
    for (size_t i = 0; i < 26; i++) {
        assert_int_equal(claim_of(&verdicts, i, 1)->call, LP_NO_DIFFERENCE);
        assert_int_equal(claim_of(&verdicts, i, 2)->call, i >= AT_1M ? LP_BETTER : LP_NO_DIFFERENCE);
    }
    assert_true(fabs(claim_of(&verdicts, AT_64M, 2)->ratio - 1.10) < 0.01);
    assert_true(claim_of(&verdicts, AT_64M, 2)->low > 1.07 && claim_of(&verdicts, AT_64M, 2)->high < 1.13);
    assert_int_equal(lp_verdicts_find(&verdicts, LP_OF_MEAN, 0, 0, 2)->claim.call, LP_BETTER);
    assert_int_equal(lp_verdicts_find(&verdicts, LP_OF_MEAN, 0, 0, 1)->claim.call, LP_NO_DIFFERENCE);
    assert_true(count_calls(&verdicts, LP_WORSE) > 13); /* most of c's */
    assert_consistent(&verdicts);
    lp_verdicts_release(&verdicts);
    lp_result_release(&result);
}

/* C14: 1 % in a spread of 3 % is no difference; the noise says how little could have been found. */
static void test_inside_noise(void **state)
{
    static const struct crew_noise wide = {.small = 0.03, .large = 0.03};
    struct sweep sweep = sweep_of(3);
    struct dice dice = {2};
    struct lp_result result;
    struct lp_verdicts verdicts;

    (void)state;
    sweep_make(&sweep, &result);
    sweep_fill(&sweep, &result, &dice, &wide, planted);
    assert_int_equal(lp_verdicts_make(&result, &verdicts), LP_OK);
    for (size_t i = 0; i < 26; i++) {
        assert_int_equal(claim_of(&verdicts, i, 3)->call, LP_NO_DIFFERENCE);
        assert_true(lp_verdicts_noise_percent(&verdicts, 0, i) > 5.0);
    }
    assert_consistent(&verdicts);
    lp_verdicts_release(&verdicts);
    lp_result_release(&result);
}

/* However well it is known, what is below the floor is no difference. */
static void test_floor(void **state)
{
    static const struct crew_noise none = {.small = 1e-5, .large = 1e-5};
    struct sweep sweep = sweep_of(3);
    struct dice dice = {3};
    struct lp_result result;
    struct lp_verdicts verdicts;

    (void)state;
    sweep_make(&sweep, &result);
    sweep_fill(&sweep, &result, &dice, &none, planted);
    for (size_t i = 0; i < result.n; i++)
        if (strcmp(result.record[i]->variant, "a") == 0)
            sweep_time(result.record[i], 0.9955 * sweep_base_us(result.record[i]->cell.size_bytes));
    assert_int_equal(lp_verdicts_make(&result, &verdicts), LP_OK);
    assert_int_equal(claim_of(&verdicts, AT_1M, 1)->call, LP_NO_DIFFERENCE);
    assert_int_equal(claim_of(&verdicts, AT_1M, 3)->call, LP_WORSE);
    assert_consistent(&verdicts);
    lp_verdicts_release(&verdicts);
    lp_result_release(&result);
}

/* Fewer rounds: candidates at best. */
static void test_candidates(void **state)
{
    struct dice dice = {4};

    (void)state;
    for (int rounds = 1; rounds < LP_JUDGE_ROUNDS; rounds++) {
        struct sweep sweep = sweep_of(rounds);
        struct lp_result result;
        struct lp_verdicts verdicts;

        sweep_make(&sweep, &result);
        sweep_fill(&sweep, &result, &dice, &quiet, planted);
        assert_int_equal(lp_verdicts_make(&result, &verdicts), LP_OK);
        assert_int_equal(verdicts.tests, 0);
        assert_int_equal(count_calls(&verdicts, LP_BETTER) + count_calls(&verdicts, LP_WORSE), 0);
        assert_int_equal(claim_of(&verdicts, AT_64M, 2)->call, LP_CANDIDATE);
        assert_true(claim_of(&verdicts, AT_64M, 2)->ratio > 1.05);
        assert_consistent(&verdicts);
        lp_verdicts_release(&verdicts);
        lp_result_release(&result);
    }
}

/* Takes a record out of judging. */
static void leave_out(struct lp_record *record)
{
    record->outcome = LP_WRONG;
}

/* C14: 30 % faster, but one size is wrong: out as a whole. If it is default that was wrong, nothing can be held against it. */
static void test_wrong(void **state)
{
    static const struct {
        const char *variant, *reason_a, *reason_b;
    } cases[] = {{"b", "", "wrong data"}, {"default", "default: wrong data", "default: wrong data"}};
    struct sweep sweep = sweep_of(3);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct dice dice = {5};
        struct lp_result result;
        struct lp_verdicts verdicts;
        size_t at = 0;

        sweep_make(&sweep, &result);
        sweep_fill(&sweep, &result, &dice, &quiet, planted);
        while (strcmp(result.record[at]->variant, cases[i].variant) != 0 || result.record[at]->cell.requested_bytes != 4096)
            at++;
        leave_out(result.record[at]);
        assert_int_equal(lp_verdicts_make(&result, &verdicts), LP_OK);
        assert_string_equal(claim_of(&verdicts, AT_64M, 1)->reason, cases[i].reason_a);
        assert_string_equal(claim_of(&verdicts, AT_64M, 2)->reason, cases[i].reason_b);
        assert_int_equal(claim_of(&verdicts, AT_64M, 2)->call, LP_NOT_JUDGED);
        assert_int_equal(lp_verdicts_find(&verdicts, LP_OF_MEAN, 0, 0, 2)->claim.call, LP_NOT_JUDGED);
        assert_consistent(&verdicts);
        lp_verdicts_release(&verdicts);
        lp_result_release(&result);
    }
}

static void slow_down(struct lp_result *result, int crew, double factor)
{
    for (size_t i = 0; i < result->n; i++)
        if (result->record[i]->crew == crew)
            sweep_time(result->record[i], factor * result->record[i]->time_us.median);
}

/* The crew of a variant in a round. */
static int crew_of(const struct lp_result *result, const char *variant, int round)
{
    for (size_t i = 0; i < result->n; i++)
        if (strcmp(result->record[i]->variant, variant) == 0 && result->record[i]->round == round)
            return result->record[i]->crew;
    return -1;
}

/*
 * One rank of one crew is slow, so that all of the crew is: the variant is not worse for it. If the crew is known to have been
 * throttled, it is left out and the other rounds judge; of three rounds two are left, and that is no claim.
 */
static void test_slow_crew(void **state)
{
    static const struct {
        int rounds;
        bool known;
        enum lp_call call;
    } cases[] = {{3, false, LP_NO_DIFFERENCE}, {3, true, LP_CANDIDATE}, {5, true, LP_BETTER}, {5, false, LP_NO_DIFFERENCE}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sweep sweep = sweep_of(cases[i].rounds);
        struct dice dice = {6};
        struct lp_result result;
        struct lp_verdicts verdicts;

        sweep_make(&sweep, &result);
        sweep_fill(&sweep, &result, &dice, &quiet, planted);
        slow_down(&result, crew_of(&result, "a", 2), 1.15);
        slow_down(&result, crew_of(&result, "b", 2), 1.15);
        if (cases[i].known)
            json_object_set_new(result.head, "crews",
                                json_pack("[{s:i, s:b}, {s:i, s:b}]", "crew", crew_of(&result, "a", 2), "throttled", 1, "crew",
                                          crew_of(&result, "b", 2), "contended", 1));
        assert_int_equal(lp_verdicts_make(&result, &verdicts), LP_OK);
        for (size_t s = 0; s < 26; s++)
            assert_true(claim_of(&verdicts, s, 1)->call < LP_BETTER);
        assert_int_equal(claim_of(&verdicts, AT_64M, 2)->call, cases[i].call);
        assert_consistent(&verdicts);
        lp_verdicts_release(&verdicts);
        lp_result_release(&result);
    }
}

/* Drift over the run, many times the noise, cancels. */
static void test_drift(void **state)
{
    static const struct crew_noise drifting = {.small = 0.002, .large = 0.002, .drift = 0.20};
    struct sweep sweep = sweep_of(3);
    struct dice dice = {7};
    struct lp_result result;
    struct lp_verdicts verdicts;

    (void)state;
    sweep_make(&sweep, &result);
    sweep_fill(&sweep, &result, &dice, &drifting, planted);
    assert_int_equal(lp_verdicts_make(&result, &verdicts), LP_OK);
    for (size_t i = 0; i < 26; i++)
        assert_int_equal(claim_of(&verdicts, i, 1)->call, LP_NO_DIFFERENCE);
    assert_int_equal(claim_of(&verdicts, AT_64M, 2)->call, LP_BETTER);
    lp_verdicts_release(&verdicts);
    lp_result_release(&result);
}

/* A variant far from default does not spoil what is known of the others' noise. */
static double far_and_wobbly(const struct lp_record *record)
{
    if (strcmp(record->variant, "a") == 0)
        return 1.0 + 0.3 * (record->crew % 3);
    return planted(record);
}

static void test_far(void **state)
{
    struct sweep sweep = sweep_of(3);
    struct dice dice = {8};
    struct lp_result result;
    struct lp_verdicts verdicts;

    (void)state;
    sweep_make(&sweep, &result);
    sweep_fill(&sweep, &result, &dice, &quiet, far_and_wobbly);
    assert_int_equal(lp_verdicts_make(&result, &verdicts), LP_OK);
    assert_int_equal(claim_of(&verdicts, AT_64K, 1)->call, LP_WORSE);
    assert_int_equal(claim_of(&verdicts, AT_64M, 2)->call, LP_BETTER);
    assert_true(claim_of(&verdicts, AT_64M, 2)->high < 1.13);
    lp_verdicts_release(&verdicts);
    lp_result_release(&result);
}

/* The same records in another order give the same verdicts, to the bit. */
static void test_deterministic(void **state)
{
    struct sweep sweep = sweep_of(3);
    struct dice dice = {9};
    struct lp_result result;
    struct lp_verdicts one, two;

    (void)state;
    sweep_make(&sweep, &result);
    sweep_fill(&sweep, &result, &dice, &quiet, planted);
    assert_int_equal(lp_verdicts_make(&result, &one), LP_OK);
    assert_int_equal(lp_verdicts_make(&result, &two), LP_OK);
    for (size_t i = 0; i < one.n; i++) {
        assert_int_equal(one.item[i].claim.call, two.item[i].claim.call);
        assert_memory_equal(&one.item[i].claim.ratio, &two.item[i].claim.ratio, 3 * sizeof(double));
    }
    lp_verdicts_release(&one);
    lp_verdicts_release(&two);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),      cmocka_unit_test(test_inside_noise), cmocka_unit_test(test_floor),
        cmocka_unit_test(test_candidates), cmocka_unit_test(test_wrong),        cmocka_unit_test(test_slow_crew),
        cmocka_unit_test(test_drift),      cmocka_unit_test(test_far),          cmocka_unit_test(test_deterministic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
