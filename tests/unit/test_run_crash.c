/* Whole runs in which a worker dies, an agent goes or a signal comes: in every phase, on 2 to 8 ranks. */
#include "scripted_rules.h"

static void test_segv(void **state)
{
    (void)state;
    play_product(SEGV, SEGV, false);
}

static void test_fpe(void **state)
{
    (void)state;
    play_product(FPE, FPE, false);
}

static void test_leaves_with_0(void **state)
{
    (void)state;
    play_product(LEAVES, LEAVES, false);
}

static void test_not_started(void **state)
{
    (void)state;
    play_product(NOT_STARTED, NOT_STARTED, false);
}

static void test_agent_lost(void **state)
{
    (void)state;
    play_product(AGENT_LOST, AGENT_LOST, false);
}

static void test_signal(void **state)
{
    (void)state;
    play_product(SIGNALLED, SIGNALLED, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segv),        cmocka_unit_test(test_fpe),        cmocka_unit_test(test_leaves_with_0),
        cmocka_unit_test(test_not_started), cmocka_unit_test(test_agent_lost), cmocka_unit_test(test_signal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
