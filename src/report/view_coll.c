/* Collectives: a table of size by variant for each placement and timing mode, with the link beside it. All columns: view_long. */
#include "report/views.h"

#include "base/json.h"
#include "base/units.h"
#include "judge/judge.h"
#include "report/tables.h"
#include "report/view_title.h"
#include "report/view_words.h"

#include <math.h>
#include <string.h>

/* Up to here people compare microseconds. */
#define SMALL_BYTES ((size_t)64 << 10)

/* One printed table. */
struct sheet {
    const struct lp_grid *grid;
    const struct lp_judgement *judgement;
    enum lp_placement placement;
    bool on_host, linked; /* linked: there is a baseline to compare with */
    bool same_size;       /* there are exchanges of the same size */
    bool narrow;          /* only the columns that is_kept */
    bool judged;          /* rounds enough to say what is best */
};

/* Variants that stay when not all fit: what everybody asks about. */
static bool is_kept(const struct lp_grid_column *column)
{
    static const char *const kept[] = {"default", "ring", "tree"};

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (strcmp(column->name, kept[i]) == 0)
            return true;
    return false;
}

static bool is_shown(const struct sheet *sheet, size_t column)
{
    return lp_grid_has_column(sheet->grid, sheet->placement, column) && (!sheet->narrow || is_kept(&sheet->grid->column[column]));
}

/* Whether the narrow table would leave anything out. */
static bool can_narrow(const struct sheet *sheet)
{
    for (size_t c = 0; c < sheet->grid->ncolumns; c++)
        if (is_shown(sheet, c) && !is_kept(&sheet->grid->column[c]))
            return true;
    return sheet->linked && sheet->same_size; /* the share of the link */
}

static bool has_link(const struct lp_grid *grid, enum lp_placement placement)
{
    for (size_t row = 0; row < grid->nrows && lp_grid_has_busbw(grid); row++)
        if (isfinite(lp_grid_link(grid, placement, row)))
            return true;
    return false;
}

static bool has_same_size(const struct lp_grid *grid, enum lp_placement placement)
{
    for (size_t row = 0; row < grid->nrows && lp_grid_has_busbw(grid); row++)
        if (isfinite(lp_grid_same_size(grid, placement, row)))
            return true;
    return false;
}

/* Beside both baselines the narrow table has room for the share of one: that of the same size. */
static bool has_link_share(const struct sheet *sheet)
{
    return sheet->linked && !(sheet->narrow && sheet->same_size);
}

static void add_columns(struct lp_table *table, const struct sheet *sheet)
{
    char heading[LP_WORD * 2];

    lp_table_column(table, LP_RIGHT, "size\nbytes");
    for (size_t c = 0; c < sheet->grid->ncolumns; c++) {
        snprintf(heading, sizeof(heading), "%s\nGB/s", sheet->grid->column[c].label);
        if (is_shown(sheet, c))
            lp_table_column(table, LP_RIGHT, heading);
    }
    lp_table_column(table, LP_LEFT, sheet->judged ? "best\nvariant" : "fastest (not judged)\nvariant");
    if (sheet->judged)
        lp_table_column(table, LP_RIGHT, "noise\n+/- percent");
    if (sheet->narrow)
        lp_table_column(table, LP_RIGHT, sheet->judged ? "best\nGB/s" : "fastest\nGB/s");
    if (sheet->linked)
        lp_table_column(table, LP_RIGHT,
                        sheet->on_host ? "link baseline\n(host memory)\nGB/s per direction" : "link baseline\nGB/s per direction");
    if (has_link_share(sheet))
        lp_table_column(table, LP_RIGHT, sheet->judged ? "best / link\npercent" : "fastest / link\npercent");
    if (!sheet->same_size)
        return;
    lp_table_column(table, LP_RIGHT, "same-size\nexchange GB/s\nper direction");
    lp_table_column(table, LP_RIGHT, sheet->judged ? "best /\nsame-size\npercent" : "fastest /\nsame-size\npercent");
}

/* Any record of the row that has a cell; NULL: none. */
static const struct lp_record *any_record(const struct sheet *sheet, size_t row)
{
    for (size_t c = 0; c < sheet->grid->ncolumns; c++)
        if (lp_grid_at(sheet->grid, sheet->placement, row, c))
            return lp_grid_at(sheet->grid, sheet->placement, row, c);
    return NULL;
}

/* The record of what is judged best: the winner's, or default's where nothing is better; NULL where nothing was judged. */
static const struct lp_record *best_record(const struct sheet *sheet, size_t row, const char *best)
{
    const char *name = strcmp(best, lp_call_name(LP_NO_DIFFERENCE)) == 0 ? "default" : best;

    for (size_t c = 0; c < sheet->grid->ncolumns; c++)
        if (sheet->grid->column[c].repeat == 0 && strcmp(sheet->grid->column[c].name, name) == 0)
            return lp_grid_at(sheet->grid, sheet->placement, row, c);
    return NULL;
}

/* What is best or fastest in the row, its name as a cell of the table, and the noise beside it. */
static const struct lp_record *add_best(struct lp_table *table, const struct sheet *sheet, size_t row)
{
    const struct lp_record *any = any_record(sheet, row), *fastest = lp_grid_fastest(sheet->grid, sheet->placement, row);
    const struct lp_claim *claim;
    const char *best;
    char text[LP_WORD];

    if (!sheet->judged) {
        claim = fastest ? lp_judgement_find(sheet->judgement, &fastest->cell, fastest->variant) : NULL;
        lp_table_cell(table, "%s%s", fastest ? fastest->variant : "-",
                      claim && claim->call == LP_CANDIDATE && claim->ratio > 1.0 ? " (candidate)" : "");
        return fastest;
    }
    best = lp_judgement_best(sheet->judgement, &any->cell);
    lp_table_cell(table, "%s", best);
    lp_table_cell(table, "%s",
                  lp_words_percent(lp_judgement_noise_percent(sheet->judgement, &any->cell), 100.0, text, sizeof(text)));
    return best_record(sheet, row, best);
}

static void add_row(struct lp_table *table, const struct sheet *sheet, size_t row)
{
    const struct lp_grid *grid = sheet->grid;
    double gbps, link = lp_grid_link(grid, sheet->placement, row), same = lp_grid_same_size(grid, sheet->placement, row);
    char text[LP_WORD];

    lp_table_row(table);
    lp_table_cell(table, "%s", lp_format_size(lp_grid_size(grid, sheet->placement, row), text, sizeof(text)));
    for (size_t c = 0; c < grid->ncolumns; c++)
        if (is_shown(sheet, c))
            lp_table_cell(table, "%s", lp_title_cell(grid, lp_grid_at(grid, sheet->placement, row, c), text, sizeof(text)));
    gbps = lp_grid_gbps(grid, add_best(table, sheet, row));
    if (sheet->narrow)
        lp_table_cell(table, "%s", lp_words_number(gbps, text, sizeof(text)));
    if (sheet->linked)
        lp_table_cell(table, "%s", lp_words_number(link, text, sizeof(text)));
    if (has_link_share(sheet))
        lp_table_cell(table, "%s", lp_words_percent(gbps, link, text, sizeof(text)));
    if (!sheet->same_size)
        return;
    lp_table_cell(table, "%s", lp_words_number(same, text, sizeof(text)));
    lp_table_cell(table, "%s", lp_words_percent(gbps, same, text, sizeof(text)));
}

static struct lp_table *make_table(const struct sheet *sheet)
{
    struct lp_table *table = lp_table_create();

    add_columns(table, sheet);
    for (size_t row = 0; row < sheet->grid->nrows; row++)
        if (lp_grid_has_row(sheet->grid, sheet->placement, row))
            add_row(table, sheet, row);
    return table;
}

/* Which columns the narrow table has left out. */
static void print_left_out(const struct sheet *sheet, FILE *out)
{
    const char *gap = "not enough columns here, see --long for: ";

    for (size_t c = 0; c < sheet->grid->ncolumns; c++) {
        if (is_shown(sheet, c) || !lp_grid_has_column(sheet->grid, sheet->placement, c))
            continue;
        fprintf(out, "%s%s", gap, sheet->grid->column[c].label);
        gap = ", ";
    }
    if (sheet->linked && !has_link_share(sheet))
        fprintf(out, "%s%s / link", gap, sheet->judged ? "best" : "fastest");
    fprintf(out, "\n");
}

static bool same_trouble(const struct lp_record *a, const struct lp_record *b)
{
    char why_a[512], why_b[512];

    return a && b && a->outcome == b->outcome &&
           strcmp(lp_words_reason(a, why_a, sizeof(why_a)), lp_words_reason(b, why_b, sizeof(why_b))) == 0;
}

/* The line for one outcome and reason of a variant, with all its sizes; nothing when an earlier row has said it. */
static void print_trouble(const struct sheet *sheet, size_t column, size_t row, FILE *out)
{
    const struct lp_grid *grid = sheet->grid;
    const struct lp_record *record = lp_grid_at(grid, sheet->placement, row, column);
    struct lp_runs runs = {0};
    char sizes[256], reason[512];

    if (!record || record->outcome == LP_DONE)
        return;
    for (size_t other = 0; other < grid->nrows; other++) {
        if (!same_trouble(record, lp_grid_at(grid, sheet->placement, other, column)))
            continue;
        if (other < row)
            return;
        lp_runs_add(&runs, other, lp_grid_size(grid, sheet->placement, other));
    }
    fprintf(out, "%s: %s, %s: %s\n", grid->column[column].label, lp_outcome_name(record->outcome),
            lp_runs_words(&runs, sizes, sizeof(sizes)), lp_words_reason(record, reason, sizeof(reason)));
}

static void print_troubles(const struct sheet *sheet, FILE *out)
{
    for (size_t c = 0; c < sheet->grid->ncolumns; c++)
        for (size_t row = 0; row < sheet->grid->nrows; row++)
            print_trouble(sheet, c, row, out);
}

static void print_above(const char *name, struct lp_runs *runs, const char *meaning, FILE *out)
{
    char sizes[256];

    if (runs->n)
        fprintf(out, "%s: %s: %s\n", name, lp_runs_words(runs, sizes, sizeof(sizes)), meaning);
}

/* A share above 100 % is possible, but never to be read without a word (DESIGN section 4). */
static void print_above_link(const struct sheet *sheet, double line, FILE *out)
{
    struct lp_runs above_link = {0}, above_line = {0};

    for (size_t row = 0; row < sheet->grid->nrows && sheet->linked; row++) {
        const struct lp_record *fastest = lp_grid_fastest(sheet->grid, sheet->placement, row);
        double gbps = lp_grid_gbps(sheet->grid, fastest);

        if (gbps > line)
            lp_runs_add(&above_line, row, lp_grid_size(sheet->grid, sheet->placement, row));
        else if (gbps > lp_grid_link(sheet->grid, sheet->placement, row))
            lp_runs_add(&above_link, row, lp_grid_size(sheet->grid, sheet->placement, row));
    }
    print_above("above link", &above_link,
                sheet->on_host ? "the fastest busbw is above the baseline of host memory: caches can do that"
                               : "the fastest busbw is above the link baseline: copy engines can do that up to the line rate",
                out);
    print_above("above link and above line rate", &above_line,
                "expected where the switch reduces (NVLS); otherwise a reason to distrust the run", out);
}

/* The exchange is one kernel or one copy, and a flag after all of its data: that is quick, and not the quickest there can be. */
static void print_above_same_size(const struct sheet *sheet, FILE *out)
{
    struct lp_runs above = {0};

    for (size_t row = 0; row < sheet->grid->nrows && sheet->same_size; row++)
        if (lp_grid_gbps(sheet->grid, lp_grid_fastest(sheet->grid, sheet->placement, row)) >
            lp_grid_same_size(sheet->grid, sheet->placement, row))
            lp_runs_add(&above, row, lp_grid_size(sheet->grid, sheet->placement, row));
    print_above("above same-size", &above,
                sheet->on_host
                    ? "the fastest busbw is above the exchange of as many bytes: caches can do that"
                    : "the fastest busbw is above the exchange of as many bytes: flags sent with the data (LL, LL128) and "
                      "reductions in the switch (NVLS) can do that",
                out);
}

static void print_sheet(const struct lp_result *result, struct sheet *sheet, FILE *out, int width)
{
    struct lp_table *table = make_table(sheet);

    if (width > 0 && lp_table_width(table) > (size_t)width && can_narrow(sheet)) {
        lp_table_free(table);
        sheet->narrow = true;
        table = make_table(sheet);
    }
    fprintf(out, "\n");
    lp_title_group(result, sheet->grid, sheet->placement, out);
    fprintf(out, ": %s\n", lp_title_quantity(sheet->grid));
    lp_table_print(table, width, out);
    lp_table_free(table);
    if (sheet->narrow)
        print_left_out(sheet, out);
    print_troubles(sheet, out);
    print_above_link(sheet, lp_title_line_gbps(result), out);
    print_above_same_size(sheet, out);
}

static void print_grid(const struct lp_result *result, const struct lp_grid *grid, const struct lp_judgement *judgement, FILE *out,
                       int width)
{
    for (int placement = 0; placement < LP_NPLACEMENTS; placement++) {
        struct sheet sheet = {.grid = grid, .placement = (enum lp_placement)placement, .on_host = lp_title_on_host(result)};
        bool any = false;

        sheet.judgement = judgement;
        sheet.judged = lp_judgement_claims(judgement) && judgement->verdicts.times.nsettings > 1;
        sheet.linked = has_link(grid, sheet.placement);
        sheet.same_size = has_same_size(grid, sheet.placement);
        for (size_t c = 0; c < grid->ncolumns; c++)
            any = any || lp_grid_has_column(grid, sheet.placement, c);
        if (any)
            print_sheet(result, &sheet, out, width);
    }
}

/* What the columns of that name are: once, since the path is the same in all tables. */
static void print_same_size(const struct lp_result *result, const struct lp_grids *grids, FILE *out)
{
    bool any = false;

    for (size_t i = 0; i < grids->n; i++)
        any = any || has_same_size(&grids->item[i], LP_OUT_OF_PLACE) || has_same_size(&grids->item[i], LP_IN_PLACE);
    if (any)
        fprintf(out,
                "\nsame-size exchange: every %s to its next in the ring at once, as many bytes as each link carries in the "
                "collective, in the same timing mode, over when a flag says that the data of the one before has arrived\n",
                lp_title_on_host(result) ? "process" : "GPU");
}

void lp_view_collectives(const struct lp_result *result, FILE *out, int width)
{
    struct lp_judgement judgement;
    struct lp_grids grids;
    bool small = false;
    enum lp_status st = lp_judgement_make(result, &judgement), grids_st = lp_grids_merge(result, &grids);

    if (st != LP_OK || grids_st != LP_OK)
        fprintf(out, "the tables of collectives are missing here: out of memory\n");
    else
        for (size_t i = 0; i < grids.n; i++) {
            print_grid(result, &grids.item[i], &judgement, out, width);
            small = small || grids.item[i].requested[0] <= SMALL_BYTES;
        }
    print_same_size(result, &grids, out);
    if (small)
        fprintf(out, "\nup to 64K compare the times in microseconds rather than GB/s: --long has them\n");
    lp_grids_release(&grids);
    lp_judgement_release(&judgement);
}
