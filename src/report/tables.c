/* Tables on libsmartcols, plain ASCII without colours. Knows no numbers and no units. */
#include "report/tables.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libsmartcols.h>

struct lp_table {
    struct libscols_table *scols;
    struct libscols_line *line; /* the row being filled */
    char **heading;             /* not given to libsmartcols, which would take all its lines for one */
    size_t ncolumns, next;
    bool headed, broken; /* broken: memory ran out */
};

struct lp_table *lp_table_create(void)
{
    struct lp_table *table = calloc(1, sizeof(*table));

    if (table)
        table->scols = scols_new_table();
    if (!table || !table->scols) {
        free(table);
        return NULL;
    }
    scols_table_enable_ascii(table->scols, 1);
    scols_table_enable_noheadings(table->scols, 1); /* ours have several lines: they are rows */
    scols_table_set_column_separator(table->scols, "  ");
    scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_ALWAYS); /* the width is told, not looked up */
    return table;
}

void lp_table_free(struct lp_table *table)
{
    if (!table)
        return;
    for (size_t c = 0; c < table->ncolumns; c++)
        free(table->heading[c]);
    free(table->heading);
    scols_unref_table(table->scols);
    free(table);
}

/* Without SCOLS_FL_TRUNC and SCOLS_FL_WRAP libsmartcols (2.38) leaves a column its full width on any terminal. */
void lp_table_column(struct lp_table *table, enum lp_align align, const char *heading)
{
    char **grown = table ? realloc(table->heading, (table->ncolumns + 1) * sizeof(*grown)) : NULL;
    char *copy = grown ? strdup(heading) : NULL;

    if (grown)
        table->heading = grown;
    if (copy && scols_table_new_column(table->scols, NULL, 0, align == LP_RIGHT ? SCOLS_FL_RIGHT : 0)) {
        table->heading[table->ncolumns++] = copy;
        return;
    }
    free(copy);
    if (table)
        table->broken = true;
}

static size_t lines_in(const char *text)
{
    size_t n = 1;

    for (const char *p = text; *p; p++)
        n += *p == '\n';
    return n;
}

/* Line number `index` of `height` of a column's heading, which stands at the bottom. */
static void add_heading_cell(struct lp_table *table, const char *heading, size_t index, size_t height)
{
    size_t blank = height - lines_in(heading);

    if (index < blank) {
        lp_table_cell(table, "%s", "");
        return;
    }
    for (; index > blank; index--)
        heading = strchr(heading, '\n') + 1;
    lp_table_cell(table, "%.*s", (int)strcspn(heading, "\n"), heading);
}

static void start_line(struct lp_table *table)
{
    table->line = scols_table_new_line(table->scols, NULL);
    table->next = 0;
    table->broken = table->broken || !table->line;
}

static void add_headings(struct lp_table *table)
{
    size_t height = 0;

    table->headed = true;
    for (size_t c = 0; c < table->ncolumns; c++)
        if (lines_in(table->heading[c]) > height)
            height = lines_in(table->heading[c]);
    for (size_t i = 0; i < height; i++) {
        start_line(table);
        for (size_t c = 0; c < table->ncolumns; c++)
            add_heading_cell(table, table->heading[c], i, height);
    }
}

void lp_table_row(struct lp_table *table)
{
    if (!table)
        return;
    if (!table->headed)
        add_headings(table);
    start_line(table);
}

void lp_table_cell(struct lp_table *table, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    int len;

    if (!table || !table->line || table->next >= table->ncolumns)
        return;
    va_start(args, fmt);
    len = vasprintf(&text, fmt, args);
    va_end(args);
    if (len < 0 || scols_line_refer_data(table->line, table->next++, text) != 0)
        table->broken = true; /* the line owns text otherwise */
}

/* The table as text of at most this width where it can be; NULL when memory is out. The caller frees it. */
static char *to_text(struct lp_table *table, size_t width)
{
    char *text = NULL;

    if (!table || table->ncolumns == 0)
        return NULL;
    if (!table->headed)
        add_headings(table);
    scols_table_set_termwidth(table->scols, width);
    if (table->broken || scols_print_table_to_string(table->scols, &text) != 0)
        return NULL;
    return text;
}

/* Length of the first line without the blanks that pad it. */
static size_t trimmed(const char *line)
{
    size_t len = strcspn(line, "\n");

    while (len > 0 && line[len - 1] == ' ')
        len--;
    return len;
}

size_t lp_table_width(struct lp_table *table)
{
    char *text = to_text(table, 1u << 20);
    size_t longest = 0;

    for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (trimmed(line) > longest)
            longest = trimmed(line);
    free(text);
    return longest;
}

void lp_table_print(struct lp_table *table, int width, FILE *out)
{
    char *text = to_text(table, width > 0 ? (size_t)width : 1);

    if (!text)
        fprintf(out, "(a table is missing here: out of memory)\n");
    for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
        fprintf(out, "%.*s\n", (int)trimmed(line), line);
    free(text);
}
