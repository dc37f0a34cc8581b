/* Copies that have no good figure: a line for one path, pattern, outcome and reason, with all pairs that it happened to. */
#include "report/view_link_parts.h"

#include "p2p/patterns.h"

#include <string.h>

/* Copies that a note may be about together. */
static bool same_copies(const struct lp_cell *a, const struct lp_cell *b)
{
    return b->kind == LP_COPY && strcmp(a->op, b->op) == 0 && strcmp(a->pattern, b->pattern) == 0 &&
           strcmp(a->processes, b->processes) == 0;
}

static bool same_trouble(const struct lp_record *a, const struct lp_record *b)
{
    return same_copies(&a->cell, &b->cell) && a->outcome == b->outcome && strcmp(a->reason, b->reason) == 0;
}

static bool same_edges(const struct lp_cell *a, const struct lp_cell *b)
{
    return a->nedges == b->nedges && memcmp(a->edges, b->edges, (size_t)a->nedges * sizeof(a->edges[0])) == 0;
}

/* Is this record the first of its trouble, or its pair the first there? Sizes of one pair are one. */
static bool is_new(const struct lp_result *result, size_t index, bool by_pair)
{
    const struct lp_record *record = result->record[index];

    for (size_t i = 0; i < index; i++)
        if (same_trouble(record, result->record[i]) && (!by_pair || same_edges(&record->cell, &result->record[i]->cell)))
            return false;
    return true;
}

/* Whether all copies of this path and pattern have it, and are more than one pair. */
static bool has_all(const struct lp_result *result, const struct lp_record *record)
{
    bool several = false;

    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *other = result->record[i];

        if (!same_copies(&record->cell, &other->cell))
            continue;
        if (!same_trouble(record, other))
            return false;
        several = several || !same_edges(&record->cell, &other->cell);
    }
    return several;
}

static void print_pair(const struct lp_link *link, const struct lp_cell *cell, FILE *out)
{
    char edge[LP_WORD * 2], src[LP_WORD], dst[LP_WORD];

    if (cell->nedges == 1)
        fprintf(out, "%s", lp_link_edge(link, cell->edges[0], edge, sizeof(edge)));
    else
        fprintf(out, "%s and %s", lp_link_end(link, cell->edges[0].src, src, sizeof(src)),
                lp_link_end(link, cell->edges[0].dst, dst, sizeof(dst)));
}

static void print_pairs(const struct lp_link *link, size_t index, FILE *out)
{
    const struct lp_result *result = link->result;
    const char *gap = "";

    if (has_all(result, result->record[index])) {
        fprintf(out, "all pairs");
        return;
    }
    for (size_t i = index; i < result->n; i++)
        if (same_trouble(result->record[index], result->record[i]) && is_new(result, i, true)) {
            fprintf(out, "%s", gap);
            print_pair(link, &result->record[i]->cell, out);
            gap = ", ";
        }
}

static void print_note(const struct lp_link *link, size_t index, FILE *out)
{
    const struct lp_record *record = link->result->record[index];
    const struct lp_cell *cell = &record->cell;
    const struct lp_pattern_kind *pattern = lp_pattern_kind_find(cell->pattern);
    char path[LP_LINK_WORDS], reason[512];

    fprintf(out, "%s: %s, ", lp_link_path(link, cell, path, sizeof(path)), lp_outcome_name(record->outcome));
    if (cell->nedges != 1)
        fprintf(out, "%s", pattern ? pattern->title : cell->pattern);
    if (cell->nedges == 2)
        fprintf(out, ", ");
    if (cell->nedges == 1 || cell->nedges == 2)
        print_pairs(link, index, out);
    fprintf(out, ": %s\n", lp_words_reason(record, reason, sizeof(reason)));
}

void lp_link_notes(const struct lp_link *link, FILE *out)
{
    const struct lp_result *result = link->result;

    for (size_t i = 0; i < result->n; i++)
        if (result->record[i]->cell.kind == LP_COPY && result->record[i]->outcome != LP_DONE && is_new(result, i, false))
            print_note(link, i, out);
}
