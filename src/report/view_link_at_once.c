/* Copies that ran at once: patterns of many edges, and how much of the time copies that should have overlapped did. */
#include "report/view_link_parts.h"

#include "base/units.h"
#include "p2p/patterns.h"
#include "report/view_title.h"

#include <math.h>
#include <string.h>

#define LEAST_OVERLAP 0.90 /* below it the sum is not what the copies carry at once */

/* Over the records of one path and pattern, each of which has its own GPU in the middle, or none. */
struct summary {
    int runs;
    double least_sum, most_sum, least_rate, least_overlap;
    struct lp_edge slowest;
    const struct lp_record *least_overlapping;
    int flagged; /* records below LEAST_OVERLAP */
};

/* NaN compares as false, so an edge without a rate is passed over. */
static void add_edges(const struct lp_record *record, struct summary *out)
{
    for (int e = 0; e < record->cell.nedges; e++)
        if (record->edge_gbps[e] < out->least_rate) {
            out->least_rate = record->edge_gbps[e];
            out->slowest = record->cell.edges[e];
        }
}

static struct summary summarise(const struct lp_copies *copies)
{
    struct summary sum = {
        .least_sum = (double)NAN, .most_sum = (double)NAN, .least_rate = (double)INFINITY, .least_overlap = (double)NAN};

    for (size_t i = 0; i < copies->n; i++) {
        const struct lp_record *record = copies->record[i];

        if (!lp_record_usable(record))
            continue;
        sum.runs++;
        sum.least_sum = fmin(sum.least_sum, record->sum_gbps);
        sum.most_sum = fmax(sum.most_sum, record->sum_gbps);
        add_edges(record, &sum);
        sum.flagged += record->overlap < LEAST_OVERLAP;
        if (isnan(sum.least_overlap) || record->overlap < sum.least_overlap) {
            sum.least_overlap = record->overlap;
            sum.least_overlapping = record;
        }
    }
    return sum;
}

static const char *pattern_title(const struct lp_copies *copies)
{
    const struct lp_pattern_kind *kind = lp_pattern_kind_find(copies->like->pattern);

    return kind ? kind->title : copies->like->pattern;
}

/* "1234.5", or "1200.0 to 1234.5" where they differ in print. */
static void add_sums(const struct summary *sum, struct lp_table *table)
{
    char least[LP_WORD], most[LP_WORD];

    lp_words_number(sum->least_sum, least, sizeof(least));
    lp_words_number(sum->most_sum, most, sizeof(most));
    if (strcmp(least, most) == 0)
        lp_table_cell(table, "%s", least);
    else
        lp_table_cell(table, "%s to %s", least, most);
}

static size_t add_row(const struct lp_link *link, const struct lp_copies *copies, struct lp_table *table)
{
    struct summary sum = summarise(copies);
    char words[LP_LINK_WORDS];

    if (lp_copies_by_pair(copies) || !isfinite(sum.least_rate))
        return 0;
    lp_table_row(table);
    lp_table_cell(table, "%s", lp_link_path(link, copies->like, words, sizeof(words)));
    lp_table_cell(table, "%s", pattern_title(copies));
    lp_table_cell(table, "%s", lp_format_size(copies->bytes, words, sizeof(words)));
    lp_table_cell(table, "%d", copies->like->nedges);
    lp_table_cell(table, "%d", sum.runs);
    add_sums(&sum, table);
    lp_table_cell(table, "%s", lp_words_number(sum.least_rate, words, sizeof(words)));
    lp_table_cell(table, "%d -> %d", sum.slowest.src, sum.slowest.dst);
    lp_table_cell(table, "%s", lp_words_percent(sum.least_overlap, 1.0, words, sizeof(words)));
    return 1;
}

static void add_columns(struct lp_table *table)
{
    lp_table_column(table, LP_LEFT, "copy path");
    lp_table_column(table, LP_LEFT, "pattern");
    lp_table_column(table, LP_RIGHT, "size\nbytes");
    lp_table_column(table, LP_RIGHT, "copies\nat once");
    lp_table_column(table, LP_RIGHT, "runs");
    lp_table_column(table, LP_RIGHT, "sum of copies\nGB/s");
    lp_table_column(table, LP_RIGHT, "slowest\ncopy\nGB/s");
    lp_table_column(table, LP_RIGHT, "which is\nsrc -> dst");
    lp_table_column(table, LP_RIGHT, "all ran\npercent\nof time");
}

void lp_link_at_once(const struct lp_link *link, FILE *out, int width)
{
    struct lp_table *table = lp_table_create();
    size_t rows = 0;

    add_columns(table);
    for (size_t i = 0; i < link->copies.n && link->n > 2; i++)
        rows += add_row(link, &link->copies.item[i], table);
    if (rows > 0) {
        fprintf(out,
                "\nmany copies at once, each source -> destination, GB/s (10^9 bytes/s); one to all and all to one: a run for each "
                "%s%s\n",
                link->on_host ? "process" : "GPU", lp_title_host_note(link->result));
        lp_table_print(table, width, out);
    }
    lp_table_free(table);
}

/* "GPU 0 and GPU 1"; nothing for more than two ends. */
static const char *ends_of(const struct lp_link *link, const struct lp_cell *cell, char *buf, size_t cap)
{
    char src[LP_WORD], dst[LP_WORD];

    buf[0] = '\0';
    if (cell->nedges == 2)
        snprintf(buf, cap, ", %s and %s", lp_link_end(link, cell->edges[0].src, src, sizeof(src)),
                 lp_link_end(link, cell->edges[0].dst, dst, sizeof(dst)));
    return buf;
}

static void print_overlap(const struct lp_link *link, const struct lp_copies *copies, const struct summary *sum, FILE *out)
{
    const struct lp_cell *worst = &sum->least_overlapping->cell;
    char path[LP_LINK_WORDS], ends[LP_WORD * 3], percent[LP_WORD];

    fprintf(out, "overlap: %s, %s%s: the %s did not run at once for %s %% of the time",
            lp_link_path(link, copies->like, path, sizeof(path)), pattern_title(copies), ends_of(link, worst, ends, sizeof(ends)),
            worst->nedges == 2 ? "two directions" : "copies",
            lp_words_percent(1.0 - sum->least_overlap, 1.0, percent, sizeof(percent)));
    if (sum->runs > 1)
        fprintf(out, " (the worst of %d of %d)", sum->flagged, sum->runs);
    fprintf(out, "\n");
}

void lp_link_overlaps(const struct lp_link *link, FILE *out)
{
    for (size_t i = 0; i < link->copies.n; i++) {
        const struct lp_copies *copies = &link->copies.item[i];
        struct summary sum = summarise(copies);

        if (sum.flagged > 0 && !copies->timed)
            print_overlap(link, copies, &sum, out);
    }
}
