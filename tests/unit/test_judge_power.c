/* A true 3 % at one small and one large size is found in at least 95 of 100 sweeps of three rounds, and nothing else is. */
#include "judge/verdict.h"

#include "unit.h"

#include "sweep_of.h"

#define SWEEPS 200
#define NEEDED (SWEEPS * 95 / 100)

static const struct sweep whole = {.setting = {"default", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"},
                                   .nsettings = 11,
                                   .nsizes = 26,
                                   .first_bytes = 8,
                                   .collective = {"allreduce", "allgather"},
                                   .ncollectives = 2,
                                   .nplacements = 2,
                                   .rounds = 3};

static bool is_planted(const struct lp_cell *cell, const char *variant)
{
    return strcmp(variant, "j") == 0 && strcmp(cell->op, "allreduce") == 0 && cell->placement == LP_IN_PLACE &&
           (cell->requested_bytes == 64 << 10 || cell->requested_bytes == 64 << 20);
}

static double three_percent(const struct lp_record *record)
{
    return is_planted(&record->cell, record->variant) ? -log(1.03) : 0.0;
}

/* What one sweep found: of the two plants, and besides (a mean over sizes may well be said to differ where some of them do). */
struct found {
    int small, large, false_ones;
};

static void look(const struct lp_result *result, struct found *found)
{
    struct lp_verdicts verdicts;
    bool any = false;

    assert_int_equal(lp_verdicts_make(result, &verdicts), LP_OK);
    for (size_t i = 0; i < verdicts.n; i++) {
        const struct lp_verdict *verdict = &verdicts.item[i];
        const struct lp_spot *spot = &verdicts.times.family[verdict->family].spot[verdict->spot];

        if (verdict->claim.call != LP_BETTER && verdict->claim.call != LP_WORSE)
            continue;
        if (verdict->subject == LP_OF_CELL && verdict->claim.call == LP_BETTER &&
            is_planted(spot->like, verdicts.times.setting[verdict->setting].name))
            *(spot->bytes == 64 << 10 ? &found->small : &found->large) += 1;
        else
            any = any || verdict->subject == LP_OF_CELL;
    }
    found->false_ones += any;
    lp_verdicts_release(&verdicts);
}

/* group: variants that are in default's same path group, as three or four of the built-in matrix are on NVLink. */
static void expect_found(const char *name, const struct crew_noise *noise, size_t group)
{
    struct dice dice = {20250202};
    struct lp_result result;
    struct found found = {0};
    json_t *same = json_pack("[s]", "default");

    sweep_make(&whole, &result);
    for (size_t i = 1; i <= group; i++)
        json_array_append_new(same, json_string(whole.setting[i]));
    json_object_set_new(result.head, "same_path", json_pack("[o]", same));
    for (int i = 0; i < SWEEPS; i++) {
        sweep_fill(&whole, &result, &dice, noise, three_percent);
        look(&result, &found);
    }
    print_message("%s, %zu of default's path: 3 %% at 64K found in %d, at 64M in %d of %d sweeps; something else claimed in %d\n",
                  name, group, found.small, found.large, SWEEPS, found.false_ones);
    assert_true(found.small >= NEEDED);
    assert_true(found.large >= NEEDED);
    assert_true(found.false_ones <= SWEEPS - NEEDED);
    lp_result_release(&result);
}

static void test_quiet(void **state)
{
    static const struct crew_noise noise = {.small = 0.005, .large = 0.003};

    (void)state;
    expect_found("crews that differ by 0.5 % and 0.3 %", &noise, 0);
}

static void test_with_group(void **state)
{
    static const struct crew_noise noise = {.small = 0.006, .large = 0.003};

    (void)state;
    expect_found("crews that differ by 0.6 % and 0.3 %", &noise, 4);
}

static void test_drift(void **state)
{
    static const struct crew_noise noise = {.small = 0.004, .large = 0.003, .drift = 0.03};

    (void)state;
    expect_found("crews that differ by 0.4 % and 0.3 %, with a drift of 3 % over the run", &noise, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_with_group),
        cmocka_unit_test(test_drift),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
