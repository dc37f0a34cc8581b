/* Tables of text, and the width they are printed for. */
#include "report/tables.h"
#include "report/term.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The table as printed for that width; the caller frees it. */
static char *printed(struct lp_table *table, int width)
{
    char *text = NULL;
    size_t len;
    FILE *memory = open_memstream(&text, &len);

    assert_non_null(memory);
    lp_table_print(table, width, memory);
    fclose(memory);
    return text;
}

static struct lp_table *two_columns(void)
{
    struct lp_table *table = lp_table_create();

    lp_table_column(table, LP_RIGHT, "size\nbytes");
    lp_table_column(table, LP_LEFT, "variant");
    lp_table_row(table);
    lp_table_cell(table, "%d", 8);
    lp_table_cell(table, "default");
    lp_table_row(table);
    lp_table_cell(table, "%s", "123456789");
    lp_table_cell(table, "p2p-off");
    return table;
}

static void test_alignment_and_headings(void **state)
{
    struct lp_table *table = two_columns();
    char *text = printed(table, 80);

    (void)state;
    assert_string_equal(text, "     size\n"
                              "    bytes  variant\n"
                              "        8  default\n"
                              "123456789  p2p-off\n");
    free(text);
    lp_table_free(table);
}

static void test_never_cut(void **state)
{
    static const int widths[] = {80, 18, 10, 1, 0, -1};
    struct lp_table *table = two_columns();
    char *wide = printed(table, 80);

    (void)state;
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        char *text = printed(table, widths[i]);

        assert_string_equal(text, wide);
        free(text);
    }
    free(wide);
    lp_table_free(table);
}

static void test_width(void **state)
{
    struct lp_table *table = two_columns();

    (void)state;
    assert_int_equal(lp_table_width(table), strlen("123456789  p2p-off"));
    lp_table_free(table);
}

static void test_missing_and_surplus_cells(void **state)
{
    struct lp_table *table = lp_table_create();
    char *text;

    (void)state;
    lp_table_column(table, LP_LEFT, "a");
    lp_table_column(table, LP_RIGHT, "b");
    lp_table_cell(table, "before any row: ignored");
    lp_table_row(table);
    lp_table_row(table);
    lp_table_cell(table, "x");
    lp_table_cell(table, "1");
    lp_table_cell(table, "too many");
    text = printed(table, 80);
    assert_string_equal(text, "a  b\n\nx  1\n");
    free(text);
    lp_table_free(table);
}

static void test_headings_alone(void **state)
{
    struct lp_table *table = lp_table_create();
    char *text;

    (void)state;
    lp_table_column(table, LP_LEFT, "alone");
    text = printed(table, 80);
    assert_string_equal(text, "alone\n");
    free(text);
    lp_table_free(table);
}

/* What a view does after lp_table_create has failed. */
static void test_no_table(void **state)
{
    char *text;

    (void)state;
    lp_table_column(NULL, LP_LEFT, "a");
    lp_table_row(NULL);
    lp_table_cell(NULL, "x");
    assert_int_equal(lp_table_width(NULL), 0);
    text = printed(NULL, 80);
    assert_non_null(strstr(text, "missing"));
    free(text);
    lp_table_free(NULL);
}

/* With stdout away from any terminal COLUMNS decides; a parent's terminal may, so under mpirun only the sign is known. */
static void test_term_width(void **state)
{
    static const struct {
        const char *columns;
        int width;
    } cases[] = {{"77", 77}, {"0", LP_WIDTH_DEFAULT}, {"wide", LP_WIDTH_DEFAULT}, {"", LP_WIDTH_DEFAULT}, {NULL, LP_WIDTH_DEFAULT}};
    int saved, null = open("/dev/null", O_WRONLY);

    (void)state;
    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    dup2(null, STDOUT_FILENO);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (cases[i].columns)
            setenv("COLUMNS", cases[i].columns, 1);
        else
            unsetenv("COLUMNS");
        assert_int_equal(lp_term_width(false), cases[i].width);
        assert_true(lp_term_width(true) > 0);
    }
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(null);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment_and_headings),
        cmocka_unit_test(test_never_cut),
        cmocka_unit_test(test_width),
        cmocka_unit_test(test_missing_and_surplus_cells),
        cmocka_unit_test(test_headings_alone),
        cmocka_unit_test(test_no_table),
        cmocka_unit_test(test_term_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
