/* Small copies, each issued and waited for: a table for each pair that has them, and their distribution for --long. */
#include "report/view_link_parts.h"

#include "base/units.h"
#include "report/view_title.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BAR 50 /* characters for all samples */

static bool is_isolated(const struct lp_record *record)
{
    const struct lp_cell *cell = &record->cell;

    return cell->kind == LP_COPY && cell->timing == LP_ISOLATED && cell->nedges == 1;
}

static bool has_edge(const struct lp_record *record, struct lp_edge edge)
{
    return record->cell.edges[0].src == edge.src && record->cell.edges[0].dst == edge.dst;
}

/* The first of this pair, path and size; a path NULL or size 0 is any. NULL: none. */
static const struct lp_record *find(const struct lp_result *result, struct lp_edge edge, const char *path, size_t bytes)
{
    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];

        if (is_isolated(record) && has_edge(record, edge) && (!path || strcmp(record->cell.op, path) == 0) &&
            (bytes == 0 || record->cell.requested_bytes == bytes))
            return record;
    }
    return NULL;
}

/* The pair's next size above this one; 0: none. */
static size_t next_size(const struct lp_result *result, struct lp_edge edge, size_t above)
{
    size_t next = 0;

    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];
        size_t bytes = record->cell.requested_bytes;

        if (is_isolated(record) && has_edge(record, edge) && bytes > above && (next == 0 || bytes < next))
            next = bytes;
    }
    return next;
}

/* "copy engine write", "P2P on", "median us" in a line each, then p99 and the number of samples. */
static void add_path_columns(struct lp_table *table, const char *title)
{
    char heading[LP_LINK_WORDS];

    snprintf(heading, sizeof(heading), "%s, median us", title);
    for (char *comma = strstr(heading, ", "); comma; comma = strstr(comma, ", ")) {
        *comma = '\n';
        memmove(comma + 1, comma + 2, strlen(comma + 2) + 1);
    }
    lp_table_column(table, LP_RIGHT, heading);
    lp_table_column(table, LP_RIGHT, "p99 us");
    lp_table_column(table, LP_RIGHT, "samples");
}

static void add_path_cells(struct lp_table *table, const struct lp_record *record)
{
    bool good = record && record->outcome == LP_DONE;
    char number[LP_WORD];

    if (record && !good)
        lp_table_cell(table, "%s", lp_words_outcome(record->outcome));
    else
        lp_table_cell(table, "%s", lp_words_number(good ? record->time_us.median : (double)NAN, number, sizeof(number)));
    lp_table_cell(table, "%s",
                  lp_words_number(good && record->time_us.n ? record->time_us.p99 : (double)NAN, number, sizeof(number)));
    if (good)
        lp_table_cell(table, "%zu", record->time_us.n);
    else
        lp_table_cell(table, "-");
}

static void print_pair(const struct lp_link *link, struct lp_edge edge, FILE *out, int width)
{
    struct lp_table *table = lp_table_create();
    char words[LP_LINK_WORDS];

    lp_table_column(table, LP_RIGHT, "size\nbytes");
    for (size_t p = 0; lp_paths[p]; p++)
        if (find(link->result, edge, lp_paths[p]->name, 0))
            add_path_columns(table, lp_paths[p]->title);
    for (size_t bytes = next_size(link->result, edge, 0); bytes; bytes = next_size(link->result, edge, bytes)) {
        lp_table_row(table);
        lp_table_cell(table, "%s", lp_format_size(bytes, words, sizeof(words)));
        for (size_t p = 0; lp_paths[p]; p++)
            if (find(link->result, edge, lp_paths[p]->name, 0))
                add_path_cells(table, find(link->result, edge, lp_paths[p]->name, bytes));
    }
    fprintf(out, "\nsmall copies, each issued and waited for alone, %s", lp_link_edge(link, edge, words, sizeof(words)));
    fprintf(out, " (kind %s), us from the call to its end%s\n", lp_edge_kind(link->result, edge), lp_title_host_note(link->result));
    lp_table_print(table, width, out);
    lp_table_free(table);
}

void lp_link_isolated(const struct lp_link *link, FILE *out, int width)
{
    const struct lp_result *result = link->result;

    for (size_t i = 0; i < result->n; i++)
        if (is_isolated(result->record[i]) && find(result, result->record[i]->cell.edges[0], NULL, 0) == result->record[i])
            print_pair(link, result->record[i]->cell.edges[0], out, width);
}

static uint64_t samples_in(const struct lp_histogram *histogram)
{
    uint64_t n = 0;

    for (int i = 0; i < histogram->n; i++)
        n += histogram->count[i];
    return n;
}

/* "2.00-2.38 us  81.3 %  #########" */
static void print_bin(const struct lp_histogram *histogram, int i, uint64_t samples, FILE *out)
{
    double share = (double)histogram->count[i] / (double)samples;
    int bar = (int)ceil(share * BAR);
    char low[LP_WORD], high[LP_WORD], range[LP_WORD * 2 + 8];

    snprintf(range, sizeof(range), "%s-%s us", lp_words_number(lp_histogram_edge(histogram, i), low, sizeof(low)),
             lp_words_number(lp_histogram_edge(histogram, i + 1), high, sizeof(high)));
    fprintf(out, "%20s  %5.1f %%  ", range, 100.0 * share);
    for (int c = 0; c < bar; c++)
        fputc('#', out);
    fputc('\n', out);
}

static void print_histogram(const struct lp_link *link, const struct lp_record *record, FILE *out)
{
    uint64_t samples = samples_in(&record->histogram);
    char path[LP_LINK_WORDS], edge[LP_WORD * 2], size[LP_WORD];

    if (samples == 0)
        return;
    fprintf(out, "\n%s, %s, %s bytes, each waited for alone: us from the call to its end, %" PRIu64 " samples%s\n",
            lp_link_path(link, &record->cell, path, sizeof(path)), lp_link_edge(link, record->cell.edges[0], edge, sizeof(edge)),
            lp_format_size(record->cell.requested_bytes, size, sizeof(size)), samples, lp_title_host_note(link->result));
    for (int i = 0; i < record->histogram.n; i++)
        if (record->histogram.count[i] > 0)
            print_bin(&record->histogram, i, samples, out);
}

void lp_view_histograms(const struct lp_result *result, FILE *out)
{
    struct lp_link link = {.result = result, .on_host = lp_title_on_host(result)};

    for (size_t i = 0; i < result->n; i++)
        if (is_isolated(result->record[i]))
            print_histogram(&link, result->record[i], out);
}
