/* Whole runs in which workers are late: the full product of how, in which phase, and on which of 2 to 8 ranks. */
#include "scripted_rules.h"

static void test_stall(void **state)
{
    (void)state;
    play_product(STALLS, STALLS, false);
}

static void test_stop(void **state)
{
    (void)state;
    play_product(STOPS, STOPS, false);
}

static void test_late_answer(void **state)
{
    (void)state;
    play_product(LATE, LATE, false);
}

static void test_wedged(void **state)
{
    (void)state;
    play_product(WEDGED, WEDGED, false);
}

static void test_slow_is_not_hung(void **state)
{
    (void)state;
    play_product(SLOW, SLOW, false);
    play_product(SLOW, SLOW, true);
}

/* Who waits for whom is what a user needs: with eight ranks too, all of them, the one that is stopped among them. */
static void test_reason_has_every_rank(void **state)
{
    (void)state;
    for (int phase = AT_CELL; phase < AT_BYE; phase++)
        for (int rank = -1; rank < 8; rank++) {
            struct scripted_run *run = run_create("cuda", 8);
            const struct lp_record *record;
            char name[64], words[64];

            snprintf(name, sizeof(name), "%s on rank %d", phase_names[phase], rank);
            run_fault(run, (struct fault){STOPS, (enum phase)phase, rank, "ring", 64, 1});
            run_play(run, (const char *[]){THREE_CELLS, NULL});
            record = record_of(run, "ring", 0, 64);
            assert_case(name, record && record->outcome == LP_HANG);
            for (int r = 0; r < 8 && record; r++) {
                snprintf(words, sizeof(words), "rank %d %s", r, rank < 0 || r == rank ? "does not answer at all" : "is ");
                if (!strstr(record->reason, words))
                    fail_msg("case \"%s\": \"%s\" does not say \"%s\"", name, record->reason, words);
            }
            run_free(run);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stall),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_late_answer),
        cmocka_unit_test(test_wedged),
        cmocka_unit_test(test_slow_is_not_hung),
        cmocka_unit_test(test_reason_has_every_rank),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
