/* References: what each GPU reaches to and from host memory, and within its own. Pairs of GPUs are the other parts'. */
#include "report/view_link_parts.h"

#include "base/units.h"
#include "report/view_title.h"

#include <math.h>
#include <string.h>

#define MOST_COLUMNS 8 /* GPUs; with more of them the median and the slowest stand for all */

/* The same edge of another GPU. */
static struct lp_edge edge_of(struct lp_edge like, int gpu)
{
    return (struct lp_edge){like.src == LP_EDGE_HOST ? LP_EDGE_HOST : gpu, like.dst == LP_EDGE_HOST ? LP_EDGE_HOST : gpu};
}

static const char *direction(const struct lp_cell *cell, struct lp_edge edge)
{
    bool both = cell->nedges > 1;

    if (edge.src == LP_EDGE_HOST)
        return both ? "host -> GPU (both run)" : "host -> GPU";
    if (edge.dst == LP_EDGE_HOST)
        return both ? "GPU -> host (both run)" : "GPU -> host";
    return "on the GPU";
}

/* Middle and slowest of this edge over the GPUs. */
static struct lp_spread spread_of(const struct lp_link *link, const struct lp_copies *copies, struct lp_edge like)
{
    double values[LP_MAX_RANKS];
    struct lp_spread spread = {.n = 0, .worst = (double)NAN, .worst_edge = edge_of(like, 0)};

    for (int g = 0; g < link->n && g < LP_MAX_RANKS; g++) {
        struct lp_edge edge = edge_of(like, g);
        double value = lp_copies_figure(copies, lp_copies_at(copies, edge), edge);

        if (!isfinite(value))
            continue;
        values[spread.n++] = value;
        if (isnan(spread.worst) || value < spread.worst) {
            spread.worst = value;
            spread.worst_edge = edge;
        }
    }
    spread.median = lp_median(values, spread.n);
    return spread;
}

static void add_figures(const struct lp_link *link, const struct lp_copies *copies, struct lp_edge like,
                        const struct lp_spread *spread, struct lp_table *table)
{
    char number[LP_WORD];

    for (int g = 0; g < link->n && link->n <= MOST_COLUMNS; g++)
        lp_link_cell(copies, edge_of(like, g), table);
    if (link->n <= MOST_COLUMNS)
        return;
    lp_table_cell(table, "%s", lp_words_number(spread->median, number, sizeof(number)));
    lp_table_cell(table, "%s", lp_words_number(spread->worst, number, sizeof(number)));
    lp_table_cell(table, "%d", spread->worst_edge.src == LP_EDGE_HOST ? spread->worst_edge.dst : spread->worst_edge.src);
}

static void add_row(const struct lp_link *link, const struct lp_copies *copies, struct lp_edge like, struct lp_table *table)
{
    struct lp_spread spread = spread_of(link, copies, like);
    char words[LP_LINK_WORDS];

    lp_table_row(table);
    lp_table_cell(table, "%s", lp_link_path(link, copies->like, words, sizeof(words)));
    lp_table_cell(table, "%s", direction(copies->like, like));
    lp_table_cell(table, "%s", lp_format_size(copies->bytes, words, sizeof(words)));
    add_figures(link, copies, like, &spread, table);
    lp_link_share_cells(link, copies, spread.worst_edge, spread.worst, table);
}

static size_t add_rows(const struct lp_link *link, struct lp_table *table)
{
    size_t rows = 0;

    for (size_t i = 0; i < link->copies.n; i++) {
        const struct lp_copies *copies = &link->copies.item[i];

        if (lp_edge_joins_two(copies->like->edges[0]) || !lp_copies_by_pair(copies) || copies->timed)
            continue;
        for (int e = 0; e < copies->like->nedges; e++, rows++)
            add_row(link, copies, copies->like->edges[e], table);
    }
    return rows;
}

static void add_columns(const struct lp_link *link, struct lp_table *table)
{
    char heading[LP_WORD];

    lp_table_column(table, LP_LEFT, "copy path");
    lp_table_column(table, LP_LEFT, "direction");
    lp_table_column(table, LP_RIGHT, "size\nbytes");
    for (int g = 0; g < link->n && link->n <= MOST_COLUMNS; g++) {
        snprintf(heading, sizeof(heading), "GPU %d\nGB/s", g);
        lp_table_column(table, LP_RIGHT, heading);
    }
    if (link->n > MOST_COLUMNS) {
        lp_table_column(table, LP_RIGHT, "median\nGPU\nGB/s");
        lp_table_column(table, LP_RIGHT, "slowest\nGPU\nGB/s");
        lp_table_column(table, LP_RIGHT, "which\nis\nGPU");
    }
    lp_link_share_columns(table, link->n > 1 ? "slowest" : "GPU");
}

void lp_link_references(const struct lp_link *link, FILE *out, int width)
{
    struct lp_table *table = lp_table_create();

    add_columns(link, table);
    if (add_rows(link, table) > 0) {
        fprintf(out, "\nreferences: between a GPU and host memory, and within a GPU, one GPU at a time, GB/s (10^9 bytes/s)%s\n",
                lp_title_host_note(link->result));
        lp_table_print(table, width, out);
    }
    lp_table_free(table);
}
