/* Whole runs in which every crew of a variant is lost: two in a row end it, and the rest says so; the others are complete. */
#include "scripted_rules.h"

static void test_hangs(void **state)
{
    (void)state;
    play_product(STALLS, LATE, true);
}

static void test_crashes(void **state)
{
    (void)state;
    play_product(SEGV, NOT_STARTED, true);
}

static void test_refusals(void **state)
{
    (void)state;
    play_product(FAILS, GARBLED, true);
    play_product(OTHER_ENV, OTHER_NCCL, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hangs),
        cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
