/* Whole runs in which workers say no: failed, unsupported, out of memory, unlike the others; on one rank or on all, in every phase.
 */
#include "scripted_rules.h"

static void test_failed(void **state)
{
    (void)state;
    play_product(FAILS, FAILS, false);
}

static void test_environment(void **state)
{
    (void)state;
    play_product(ENVIRONMENT, ENVIRONMENT, false);
}

static void test_unsupported(void **state)
{
    (void)state;
    play_product(UNSUPPORTED, UNSUPPORTED, false);
}

static void test_memory(void **state)
{
    (void)state;
    play_product(MEMORY, MEMORY, false);
}

static void test_garbled(void **state)
{
    (void)state;
    play_product(GARBLED, GARBLED, false);
}

static void test_ranks_disagree(void **state)
{
    (void)state;
    play_product(OTHER_ENV, OTHER_NCCL, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failed), cmocka_unit_test(test_environment), cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_memory), cmocka_unit_test(test_garbled),     cmocka_unit_test(test_ranks_disagree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
