/* Everything about every collective cell: nccl-tests' columns, with spread and link share, a table a variant. */
#include "report/views.h"

#include "base/json.h"
#include "model/variant.h"
#include "report/tables.h"
#include "report/view_link_parts.h"
#include "report/view_title.h"
#include "report/view_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The same columns for either placement; a bar and the time's heading say whose they are. */
static void add_placement_columns(struct lp_table *table, const char *placement, bool paths)
{
    char heading[LP_WORD];

    snprintf(heading, sizeof(heading), "%s\ntime\nus", placement);
    lp_table_column(table, LP_LEFT, "|\n|\n|");
    lp_table_column(table, LP_RIGHT, heading);
    lp_table_column(table, LP_RIGHT, "algbw\nGB/s");
    lp_table_column(table, LP_RIGHT, "busbw\nGB/s");
    lp_table_column(table, LP_RIGHT, "#wrong\nelements");
    lp_table_column(table, LP_RIGHT, "spread\npercent");
    lp_table_column(table, LP_RIGHT, "busbw / link\npercent");
    if (paths)
        lp_table_column(table, LP_LEFT, "path\nby NCCL's log");
}

static void add_columns(struct lp_table *table, bool paths)
{
    lp_table_column(table, LP_RIGHT, "size\nbytes");
    lp_table_column(table, LP_RIGHT, "count\nelements");
    lp_table_column(table, LP_LEFT, "type");
    lp_table_column(table, LP_LEFT, "redop");
    lp_table_column(table, LP_RIGHT, "root");
    add_placement_columns(table, "out of place", paths);
    add_placement_columns(table, "in place", paths);
}

static void add_time(struct lp_table *table, const struct lp_record *record)
{
    char number[LP_WORD];

    if (record && record->time_us.n == 0)
        lp_table_cell(table, "%s", lp_words_outcome(record->outcome));
    else
        lp_table_cell(table, "%s", lp_words_number(record ? record->time_us.median : (double)NAN, number, sizeof(number)));
}

/* Wrong elements in all checked iterations together. */
static void add_wrong(struct lp_table *table, const struct lp_record *record)
{
    if (!record || record->time_us.n == 0)
        lp_table_cell(table, "-");
    else if (record->checked.iterations == 0)
        lp_table_cell(table, "N/A");
    else
        lp_table_cell(table, "%" PRIu64, record->checked.wrong_elements);
}

static void add_placement(struct lp_table *table, const struct lp_record *record, double link, bool paths)
{
    bool timed = record && record->time_us.n > 0;
    double busbw = timed ? record->busbw_gbps : (double)NAN;
    double spread = timed && record->time_us.n > 1 ? record->time_us.p90 - record->time_us.p10 : (double)NAN;
    char text[LP_WORD];

    lp_table_cell(table, "|");
    add_time(table, record);
    lp_table_cell(table, "%s", lp_words_number(timed ? record->algbw_gbps : (double)NAN, text, sizeof(text)));
    lp_table_cell(table, "%s", lp_words_number(busbw, text, sizeof(text)));
    add_wrong(table, record);
    lp_table_cell(table, "%s", lp_words_percent(spread, timed ? record->time_us.median : 1.0, text, sizeof(text)));
    lp_table_cell(table, "%s", lp_words_percent(busbw, link, text, sizeof(text)));
    if (paths)
        lp_table_cell(table, "%s", timed && record->evidence.tag[0] ? record->evidence.tag : "-");
}

static void add_row(struct lp_table *table, const struct lp_grid *grid, size_t row, size_t column, bool paths)
{
    const struct lp_record *out_of = lp_grid_at(grid, LP_OUT_OF_PLACE, row, column);
    const struct lp_record *in = lp_grid_at(grid, LP_IN_PLACE, row, column);
    const struct lp_cell *cell = out_of ? &out_of->cell : in ? &in->cell : NULL;

    if (!cell)
        return;
    lp_table_row(table);
    lp_table_cell(table, "%zu", cell->size_bytes ? cell->size_bytes : cell->requested_bytes);
    lp_table_cell(table, "%zu", cell->count);
    lp_table_cell(table, "%s", lp_dtype_name(cell->dtype));
    lp_table_cell(table, "%s", lp_title_reduces(cell->op) ? lp_redop_name(cell->redop) : "none");
    lp_table_cell(table, "%d", cell->root);
    add_placement(table, out_of, lp_grid_link(grid, LP_OUT_OF_PLACE, row), paths);
    add_placement(table, in, lp_grid_link(grid, LP_IN_PLACE, row), paths);
}

/* Has any cell of the run its path? Without NCCL's log (host memory, an eager mode) the columns would be empty. */
static bool has_paths(const struct lp_result *result)
{
    for (size_t i = 0; i < result->n; i++)
        if (result->record[i]->evidence.tag[0])
            return true;
    return false;
}

/* What the variant changes, from the run matrix; NULL: unknown. */
static const char *changes_of(const struct lp_result *result, const struct lp_grid_column *column)
{
    const json_t *variants = json_object_get(result->head, "variants");

    for (size_t i = 0; i < json_array_size(variants); i++) {
        const json_t *variant = json_array_get(variants, i);

        if (strcmp(lp_json_str(variant, "name", ""), column->name) == 0 && lp_json_int(variant, "repeat", 0) == column->repeat)
            return lp_json_str(variant, "env_words", NULL);
    }
    return NULL;
}

static void print_column(const struct lp_result *result, const struct lp_grid *grid, size_t column, FILE *out, int width)
{
    const char *changes = changes_of(result, &grid->column[column]);
    struct lp_table *table = lp_table_create();
    bool paths = has_paths(result);
    char line[1024];

    add_columns(table, paths);
    for (size_t row = 0; row < grid->nrows; row++)
        add_row(table, grid, row, column, paths);
    fprintf(out, "\n%s", grid->column[column].label);
    if (changes)
        fprintf(out, " (%s)", lp_words_line(changes, line, sizeof(line)));
    fprintf(out, ": ");
    lp_title_group(result, grid, LP_NPLACEMENTS, out);
    fprintf(out, "\n");
    lp_table_print(table, width, out);
    lp_table_free(table);
}

static void print_grids(const struct lp_result *result, const struct lp_grids *grids, FILE *out, int width)
{
    if (grids->n)
        fprintf(out,
                "\nall columns: time is the median, spread is (p90 - p10) / median, #wrong counts wrong elements in all checked "
                "iterations (N/A: unchecked), GB/s are 10^9 bytes/s, busbw and link are per direction\n");
    for (size_t i = 0; i < grids->n; i++)
        for (size_t c = 0; c < grids->item[i].ncolumns; c++)
            print_column(result, &grids->item[i], c, out, width);
}

void lp_view_long(const struct lp_result *result, FILE *out, int width)
{
    struct lp_grids grids;

    if (lp_grids_make(result, &grids) == LP_OK)
        print_grids(result, &grids, out, width);
    else
        fprintf(out, "the long tables are missing here: out of memory\n");
    lp_grids_release(&grids);
    lp_view_histograms(result, out);
}
