/* Whole runs in which several cells of a variant go wrong: every pattern of them, held against "two in a row or three in all". */
#include "scripted_run.h"

#define CELLS 6

static const size_t sizes[CELLS] = {64, 128, 256, 512, 1024, 2048};

/* What can become of a cell; u and w leave the crew as it is. */
static const struct {
    char letter;
    enum kind kind;
    enum phase phase;
    enum lp_outcome outcome;
    bool costs_crew;
} fates[] = {
    {'.', NKINDS, AT_TIME, LP_DONE, false},         {'h', STALLS, AT_WARM_UP, LP_HANG, true},
    {'c', SEGV, AT_TIME, LP_CRASH, true},           {'f', FAILS, AT_CHECK, LP_FAILED, true},
    {'m', MEMORY, AT_WARM_UP, LP_SKIPPED, true},    {'u', UNSUPPORTED, AT_CELL, LP_UNSUPPORTED, false},
    {'w', WRONG_MIDDLE, AT_AFTER, LP_WRONG, false},
};

static size_t fate_of(char letter)
{
    size_t i = 0;

    while (fates[i].letter != letter)
        i++;
    return i;
}

/* How many cells of the pattern are tried before the variant is over. */
static int tried(const char *pattern)
{
    int in_a_row = 0, in_all = 0;

    for (int i = 0; i < CELLS; i++) {
        bool bad = fates[fate_of(pattern[i])].costs_crew;

        in_a_row = bad ? in_a_row + 1 : 0;
        in_all += bad;
        if (in_a_row == 2 || in_all == 3)
            return i + 1;
    }
    return CELLS;
}

static void play_pattern(const char *pattern)
{
    struct scripted_run *run = run_create("host", 2);
    int end = tried(pattern);

    for (int i = 0; i < CELLS; i++) {
        size_t fate = fate_of(pattern[i]);

        if (fates[fate].kind != NKINDS)
            run_fault(run, (struct fault){fates[fate].kind, fates[fate].phase, fates[fate].kind == UNSUPPORTED ? -1 : 1, "ring",
                                          sizes[i], 0});
    }
    run_play(run, (const char *[]){"-b", "64", "-e", "2K", "--collectives", "allreduce", "--placement", "out", "--no-link",
                                   "--only", "ring", NULL});
    for (int i = 0; i < CELLS; i++) {
        const struct lp_record *record = record_of(run, "ring", 0, sizes[i]);

        assert_case(pattern, record && record->outcome == (i < end ? fates[fate_of(pattern[i])].outcome : LP_SKIPPED));
        if (i >= end)
            assert_says(record->reason, "not tried: the variant keeps failing");
        for (int repeat = 0; repeat < 2; repeat++) {
            record = record_of(run, "default", repeat, sizes[i]);
            assert_case(pattern, record && record->outcome == LP_DONE);
        }
    }
    run_free(run);
}

/* All patterns of these letters. */
static void play_all(const char *letters)
{
    size_t n = strlen(letters), patterns = 1;

    for (int i = 0; i < CELLS; i++)
        patterns *= n;
    for (size_t p = 0; p < patterns; p++) {
        char pattern[CELLS + 1] = "";
        size_t rest = p;

        for (int i = 0; i < CELLS; i++, rest /= n)
            pattern[i] = letters[rest % n];
        play_pattern(pattern);
    }
}

static void test_hangs(void **state)
{
    (void)state;
    play_all(".h");
}

static void test_crashes(void **state)
{
    (void)state;
    play_all(".c");
}

static void test_refusals_and_hangs(void **state)
{
    (void)state;
    play_all("fh");
}

/* What all ranks cannot do is no failure, and breaks a row. */
static void test_unsupported_between(void **state)
{
    (void)state;
    play_all("hu");
}

static void test_wrong_data_between(void **state)
{
    (void)state;
    play_all("cw");
}

/* An allocation that fails in the middle costs its crew as any other loss. */
static void test_memory(void **state)
{
    (void)state;
    play_all(".m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hangs),
        cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_refusals_and_hangs),
        cmocka_unit_test(test_unsupported_between),
        cmocka_unit_test(test_wrong_data_between),
        cmocka_unit_test(test_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
