/* Whole runs with wrong data: at the first, middle and last offset, stale, in one of several iterations; in every check, on 2 to 8
 * ranks. */
#include "scripted_rules.h"

static void test_first(void **state)
{
    (void)state;
    play_product(WRONG_FIRST, WRONG_FIRST, false);
}

static void test_middle(void **state)
{
    (void)state;
    play_product(WRONG_MIDDLE, WRONG_MIDDLE, false);
}

static void test_last(void **state)
{
    (void)state;
    play_product(WRONG_LAST, WRONG_LAST, false);
}

static void test_stale(void **state)
{
    (void)state;
    play_product(STALE, STALE, false);
}

static void test_once(void **state)
{
    (void)state;
    play_product(WRONG_ONCE, WRONG_ONCE, false);
}

static void test_in_every_cell(void **state)
{
    (void)state;
    play_product(WRONG_FIRST, WRONG_ONCE, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first), cmocka_unit_test(test_middle), cmocka_unit_test(test_last),
        cmocka_unit_test(test_stale), cmocka_unit_test(test_once),   cmocka_unit_test(test_in_every_cell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
