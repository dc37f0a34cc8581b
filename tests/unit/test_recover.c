/* When a variant is given up: two losses in a row, or three in all. */
#include "control/recover.h"

#include "unit.h"

/* One letter a cell: g good, b bad. goes_on: what the bad ones answer, in order, y or n. */
static void test_histories(void **state)
{
    static const struct {
        const char *cells, *goes_on;
    } cases[] = {
        {"gggg", ""},     {"b", "y"},        {"bb", "yn"},    {"bg", "y"},    {"bgb", "yy"},
        {"bgbgb", "yyn"}, {"gbgbgb", "yyn"}, {"bgbb", "yyn"}, {"ggbb", "yn"}, {"bggggggggbggggggb", "yyn"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_recover history = {0};
        const char *answer = cases[i].goes_on;

        for (const char *cell = cases[i].cells; *cell; cell++) {
            if (*cell == 'g')
                lp_recover_good(&history);
            else
                assert_case(cases[i].cells, lp_recover_bad(&history) == (*answer++ == 'y'));
        }
        assert_case(cases[i].cells, *answer == '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_histories)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
