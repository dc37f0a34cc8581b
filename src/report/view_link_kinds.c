/* Kinds of pairs: for each, the median and the slowest pair of every path, and what that is held against. */
#include "report/view_link_parts.h"

#include "base/json.h"
#include "base/units.h"
#include "report/view_title.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kind and the directed pairs it has. */
struct kind {
    const char *name;
    size_t pairs;
    struct lp_edge first;
    double least, most; /* line rates */
};

static bool has_kind(const struct lp_link *link, int src, int dst, const char *name)
{
    return src != dst && strcmp(lp_edge_kind(link->result, (struct lp_edge){src, dst}), name) == 0;
}

/* Is there no pair of its kind before this one? */
static bool is_first(const struct lp_link *link, struct lp_edge edge)
{
    const char *name = lp_edge_kind(link->result, edge);

    for (int a = 0; a <= edge.src; a++)
        for (int b = 0; b < (a < edge.src ? link->n : edge.dst); b++)
            if (has_kind(link, a, b, name))
                return false;
    return true;
}

/* The kind of its first pair, with all that are of it. */
static struct kind kind_of(const struct lp_link *link, struct lp_edge first)
{
    struct kind kind = {.name = lp_edge_kind(link->result, first), .first = first, .least = (double)NAN, .most = (double)NAN};

    for (int a = 0; a < link->n; a++)
        for (int b = 0; b < link->n; b++) {
            const json_t *facts = lp_pair_facts(link->result, (struct lp_edge){a, b});

            if (!has_kind(link, a, b, kind.name))
                continue;
            kind.pairs++;
            kind.least = fmin(kind.least, lp_json_num(facts, "line_gbps", (double)NAN));
            kind.most = fmax(kind.most, lp_json_num(facts, "line_gbps", (double)NAN));
        }
    return kind;
}

/* "kind NV18: 56 directed pairs, line rate 478.1 GB/s per direction (18 NVLinks x 26.56 GB/s)" */
static void print_heading(const struct lp_link *link, const struct kind *kind, FILE *out)
{
    const char *words = lp_json_str(lp_pair_facts(link->result, kind->first), "line_words", NULL);
    char number[LP_WORD], line[LP_LINK_WORDS];

    fprintf(out, "\nkind %s: %zu directed pair%s", kind->name, kind->pairs, kind->pairs == 1 ? "" : "s");
    if (isfinite(kind->least))
        fprintf(out, ", line rate %s", lp_words_number(kind->least, number, sizeof(number)));
    if (kind->most > kind->least)
        fprintf(out, " to %s", lp_words_number(kind->most, number, sizeof(number)));
    if (isfinite(kind->least))
        fprintf(out, " GB/s per direction");
    if (words)
        fprintf(out, " (%s)", lp_words_line(words, line, sizeof(line)));
    fprintf(out, "%s\n", lp_title_host_note(link->result));
}

/* Median over pairs of what both directions carry together; NaN where the pattern has one. */
static double median_sum(const struct lp_figures *figures, const char *kind)
{
    double *sums = calloc(figures->n + 1, sizeof(*sums)), median;
    size_t n = 0;

    for (size_t i = 0; i < figures->n && sums; i++) {
        const struct lp_figure *figure = &figures->item[i];

        if (strcmp(figure->kind, kind) == 0 && figure->record->cell.nedges == 2 && figure->edge.src < figure->edge.dst)
            sums[n++] = figure->record->sum_gbps;
    }
    median = sums ? lp_median(sums, n) : (double)NAN;
    free(sums);
    return median;
}

static void add_rate(const struct lp_link *link, const struct lp_copies *copies, const struct lp_spread *spread, double sum,
                     struct lp_table *table)
{
    bool both = strcmp(copies->like->pattern, "both_ways") == 0;
    char words[LP_LINK_WORDS];

    lp_table_row(table);
    lp_table_cell(table, "%s", lp_link_path(link, copies->like, words, sizeof(words)));
    lp_table_cell(table, "%s", both ? "both ways" : "one way");
    lp_table_cell(table, "%s", lp_format_size(copies->bytes, words, sizeof(words)));
    lp_table_cell(table, "%s", lp_words_number(sum, words, sizeof(words)));
    lp_table_cell(table, "%s", lp_words_number(spread->median, words, sizeof(words)));
    lp_table_cell(table, "%s", lp_words_number(spread->worst, words, sizeof(words)));
    lp_table_cell(table, "%d -> %d", spread->worst_edge.src, spread->worst_edge.dst);
    lp_link_share_cells(link, copies, spread->worst_edge, spread->worst, table);
}

static void add_time(const struct lp_link *link, const struct lp_copies *copies, const char *kind, const struct lp_spread *spread,
                     struct lp_table *table)
{
    char words[LP_LINK_WORDS];

    lp_table_row(table);
    lp_table_cell(table, "%s", kind);
    lp_table_cell(table, "%s", lp_link_path(link, copies->like, words, sizeof(words)));
    lp_table_cell(table, "%s", lp_link_measure(copies, words, sizeof(words)));
    lp_table_cell(table, "%s", lp_link_unit(copies));
    lp_table_cell(table, "%s", lp_words_number(lp_link_scaled(copies, spread->median), words, sizeof(words)));
    lp_table_cell(table, "%s", lp_words_number(lp_link_scaled(copies, spread->worst), words, sizeof(words)));
    lp_table_cell(table, "%d -> %d", spread->worst_edge.src, spread->worst_edge.dst);
}

/* The row of one path, unless no pair of the kind has a figure. */
static size_t add_row(const struct lp_link *link, const struct lp_copies *copies, const char *kind, struct lp_table *table)
{
    struct lp_spread spread = {.n = 0};
    struct lp_figures figures;

    if (lp_figures_make(link->result, copies, &figures) == LP_OK)
        lp_figures_spread(&figures, kind, copies->timed, &spread);
    if (spread.n > 0 && copies->timed)
        add_time(link, copies, kind, &spread, table);
    else if (spread.n > 0)
        add_rate(link, copies, &spread, median_sum(&figures, kind), table);
    lp_figures_release(&figures);
    return spread.n > 0;
}

static size_t add_rows(const struct lp_link *link, const char *kind, bool timed, struct lp_table *table)
{
    size_t rows = 0;

    for (size_t i = 0; i < link->copies.n; i++)
        if (lp_link_is_of_pairs(&link->copies.item[i]) && link->copies.item[i].timed == timed)
            rows += add_row(link, &link->copies.item[i], kind, table);
    return rows;
}

static void print_rates(const struct lp_link *link, const struct kind *kind, FILE *out, int width)
{
    struct lp_table *table = lp_table_create();

    lp_table_column(table, LP_LEFT, "copy path");
    lp_table_column(table, LP_LEFT, "pattern");
    lp_table_column(table, LP_RIGHT, "size\nbytes");
    lp_table_column(table, LP_RIGHT, "sum of\nboth ways\nmedian\nGB/s");
    lp_table_column(table, LP_RIGHT, "each\nway\nmedian\nGB/s");
    lp_table_column(table, LP_RIGHT, "each\nway\nslowest\nGB/s");
    lp_table_column(table, LP_RIGHT, "which is\nsrc -> dst");
    lp_link_share_columns(table, "slowest");
    if (add_rows(link, kind->name, false, table) > 0) {
        print_heading(link, kind, out);
        lp_table_print(table, width, out);
    }
    lp_table_free(table);
}

static void add_time_columns(struct lp_table *table)
{
    lp_table_column(table, LP_LEFT, "kind");
    lp_table_column(table, LP_LEFT, "copy path");
    lp_table_column(table, LP_LEFT, "what is timed");
    lp_table_column(table, LP_LEFT, "unit");
    lp_table_column(table, LP_RIGHT, "median pair\ntime");
    lp_table_column(table, LP_RIGHT, "slowest pair\ntime");
    lp_table_column(table, LP_RIGHT, "which is\nsrc -> dst");
}

/* Prints the kind's rates, and adds its times to a table of all kinds. Their number. */
static size_t print_kind(const struct lp_link *link, struct lp_edge first, struct lp_table *times, FILE *out, int width)
{
    struct kind kind = kind_of(link, first);

    print_rates(link, &kind, out, width);
    return add_rows(link, kind.name, true, times);
}

void lp_link_kinds(const struct lp_link *link, FILE *out, int width)
{
    struct lp_table *times = lp_table_create();
    size_t rows = 0;

    add_time_columns(times);
    for (int a = 0; a < link->n; a++)
        for (int b = 0; b < link->n; b++)
            if (a != b && is_first(link, (struct lp_edge){a, b}))
                rows += print_kind(link, (struct lp_edge){a, b}, times, out, width);
    if (rows > 0) {
        fprintf(out, "\nlatencies by kind of pair, source -> destination%s\n", lp_title_host_note(link->result));
        lp_table_print(times, width, out);
    }
    lp_table_free(times);
}
