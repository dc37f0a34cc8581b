/* Two GPUs: one table of rates with a line for each path and pattern, and one of latencies. More GPUs have matrices. */
#include "report/view_link_parts.h"

#include "base/units.h"
#include "report/view_title.h"

#include <math.h>

static const struct lp_edge there = {0, 1}, back = {1, 0};

static void add_direction_columns(struct lp_table *table, const char *unit)
{
    char heading[LP_WORD];

    snprintf(heading, sizeof(heading), "0 -> 1\n%s", unit);
    lp_table_column(table, LP_RIGHT, heading);
    snprintf(heading, sizeof(heading), "1 -> 0\n%s", unit);
    lp_table_column(table, LP_RIGHT, heading);
}

static void add_columns(struct lp_table *table)
{
    lp_table_column(table, LP_LEFT, "copy path");
    lp_table_column(table, LP_LEFT, "pattern");
    lp_table_column(table, LP_RIGHT, "size\nbytes");
    add_direction_columns(table, "GB/s");
    lp_table_column(table, LP_RIGHT, "sum of\nboth\nGB/s");
    lp_table_column(table, LP_RIGHT, "both ran\npercent\nof time");
    lp_link_share_columns(table, "slower way");
}

/* The rate of the slower direction; NaN: neither has one. */
static double slower(const struct lp_copies *copies)
{
    return fmin(lp_copies_figure(copies, lp_copies_at(copies, there), there),
                lp_copies_figure(copies, lp_copies_at(copies, back), back));
}

static void add_rates(const struct lp_link *link, const struct lp_copies *copies, struct lp_table *table)
{
    const struct lp_record *record = lp_copies_at(copies, there);
    bool both = record && record->cell.nedges == 2 && lp_record_usable(record);
    double sum = both ? record->sum_gbps : (double)NAN, overlap = both ? record->overlap : (double)NAN;
    char words[LP_LINK_WORDS];

    lp_table_row(table);
    lp_table_cell(table, "%s", lp_link_path(link, copies->like, words, sizeof(words)));
    lp_table_cell(table, "%s", copies->like->nedges == 2 ? "both ways" : "one way");
    lp_table_cell(table, "%s", lp_format_size(copies->bytes, words, sizeof(words)));
    lp_link_cell(copies, there, table);
    lp_link_cell(copies, back, table);
    lp_table_cell(table, "%s", lp_words_number(sum, words, sizeof(words)));
    lp_table_cell(table, "%s", lp_words_percent(overlap, 1.0, words, sizeof(words)));
    lp_link_share_cells(link, copies, there, slower(copies), table);
}

/* Rows of this sort of figures; their number. */
static size_t add_rows(const struct lp_link *link, bool timed,
                       void add(const struct lp_link *, const struct lp_copies *, struct lp_table *), struct lp_table *table)
{
    size_t rows = 0;

    for (size_t i = 0; i < link->copies.n; i++) {
        const struct lp_copies *copies = &link->copies.item[i];

        if (!lp_link_is_of_pairs(copies) || copies->timed != timed)
            continue;
        add(link, copies, table);
        rows++;
    }
    return rows;
}

static void print_rates(const struct lp_link *link, FILE *out, int width)
{
    struct lp_table *table = lp_table_create();

    add_columns(table);
    if (add_rows(link, false, add_rates, table) > 0) {
        fprintf(out, "\nrates between %s 0 and 1 (kind %s), source -> destination, GB/s (10^9 bytes/s)%s\n",
                link->on_host ? "processes" : "GPUs", lp_edge_kind(link->result, there), lp_title_host_note(link->result));
        lp_table_print(table, width, out);
    }
    lp_table_free(table);
}

static void add_latency(const struct lp_link *link, const struct lp_copies *copies, struct lp_table *table)
{
    char words[LP_LINK_WORDS];

    lp_table_row(table);
    lp_table_cell(table, "%s", lp_link_path(link, copies->like, words, sizeof(words)));
    lp_table_cell(table, "%s", lp_link_measure(copies, words, sizeof(words)));
    lp_table_cell(table, "%s", lp_link_unit(copies));
    lp_link_cell(copies, there, table);
    lp_link_cell(copies, back, table);
}

static void print_latencies(const struct lp_link *link, FILE *out, int width)
{
    struct lp_table *table = lp_table_create();

    lp_table_column(table, LP_LEFT, "copy path");
    lp_table_column(table, LP_LEFT, "what is timed");
    lp_table_column(table, LP_LEFT, "unit");
    add_direction_columns(table, "time");
    if (add_rows(link, true, add_latency, table) > 0) {
        fprintf(out, "\nlatencies between %s 0 and 1, source -> destination%s\n", link->on_host ? "processes" : "GPUs",
                lp_title_host_note(link->result));
        lp_table_print(table, width, out);
    }
    lp_table_free(table);
}

void lp_link_two(const struct lp_link *link, FILE *out, int width)
{
    print_rates(link, out, width);
    print_latencies(link, out, width);
}
