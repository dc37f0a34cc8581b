/* Text tables: headings, alignment, rows. The only place that knows libsmartcols; what the cells say is the views' business. */
#ifndef LP_REPORT_TABLES_H
#define LP_REPORT_TABLES_H

#include <stddef.h>
#include <stdio.h>

enum lp_align { LP_LEFT, LP_RIGHT };

struct lp_table;

/*
 * An empty table; NULL when memory is out. Every call below takes NULL: views need not check, and printing says that a
 * table is missing.
 */
struct lp_table *lp_table_create(void);
void lp_table_free(struct lp_table *table);

/* Adds a column; all of them before the first row. A heading may have several lines ("size\nbytes"); they end at the bottom. */
void lp_table_column(struct lp_table *table, enum lp_align align, const char *heading);

/* Starts a row. Cells that are not set stay empty. */
void lp_table_row(struct lp_table *table);

/* The next cell of the row, one line of text; a cell too many is ignored. */
void lp_table_cell(struct lp_table *table, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Characters that the longest line takes. */
size_t lp_table_width(struct lp_table *table);

/* Prints for a terminal of this many columns. A table that is wider sticks out: no cell is ever cut. */
void lp_table_print(struct lp_table *table, int width, FILE *out);

#endif
