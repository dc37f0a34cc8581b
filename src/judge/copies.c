/* Sorting copies. What a figure means for the machine is pairs' and peer's business. */
#include "judge/copies.h"

#include "base/json.h"
#include "p2p/patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_timed(const struct lp_cell *cell)
{
    const struct lp_path *path = lp_path_find(cell->op);

    return cell->requested_bytes <= LP_SMALL_COPY_BYTES || (path && path->flags & LP_PATH_LATENCY);
}

/* Where an end is host memory, or both are one GPU, it is all the same which process holds the others. */
static bool belongs(const struct lp_copies *copies, const struct lp_cell *cell)
{
    return strcmp(copies->like->op, cell->op) == 0 && strcmp(copies->like->pattern, cell->pattern) == 0 &&
           (!lp_edge_joins_two(cell->edges[0]) || strcmp(copies->like->processes, cell->processes) == 0) &&
           copies->timed == is_timed(cell);
}

/* The entry for such a cell, made where there is none; NULL when memory is out. */
static struct lp_copies *entry_for(struct lp_copies_list *list, const struct lp_cell *cell)
{
    struct lp_copies *grown;

    for (size_t i = 0; i < list->n; i++)
        if (belongs(&list->item[i], cell))
            return &list->item[i];
    grown = realloc(list->item, (list->n + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    list->item = grown;
    grown += list->n++;
    *grown =
        (struct lp_copies){.path = lp_path_find(cell->op), .like = cell, .timed = is_timed(cell), .bytes = cell->requested_bytes};
    return grown;
}

static enum lp_status add(struct lp_copies_list *list, const struct lp_record *record)
{
    struct lp_copies *copies = entry_for(list, &record->cell);
    const struct lp_record **grown = copies ? realloc(copies->record, (copies->n + 1) * sizeof(struct lp_record *)) : NULL;

    if (!grown)
        return LP_ERR_MEMORY;
    copies->record = grown;
    grown[copies->n++] = record;
    return LP_OK;
}

static size_t count_size(const struct lp_copies *copies, size_t bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < copies->n; i++)
        n += copies->record[i]->cell.requested_bytes == bytes;
    return n;
}

/* The size that most pairs have; of several the largest, of small copies the least: other sizes are curves of a few pairs. */
static size_t common_size(const struct lp_copies *copies)
{
    bool small = copies->timed && copies->bytes <= LP_SMALL_COPY_BYTES;
    size_t best = copies->bytes, most = 0;

    for (size_t i = 0; i < copies->n; i++) {
        size_t bytes = copies->record[i]->cell.requested_bytes, n = count_size(copies, bytes);

        if (n > most || (n == most && (small ? bytes < best : bytes > best))) {
            most = n;
            best = bytes;
        }
    }
    return best;
}

/* Leaves the records of that size. */
static void keep_common(struct lp_copies *copies)
{
    size_t kept = 0;

    copies->bytes = common_size(copies);
    for (size_t i = 0; i < copies->n; i++)
        if (copies->record[i]->cell.requested_bytes == copies->bytes)
            copies->record[kept++] = copies->record[i];
    copies->n = kept;
    copies->like = &copies->record[0]->cell;
}

/* Unknown ones come last. */
static int path_order(const char *name)
{
    int i = 0;

    while (lp_paths[i] && strcmp(lp_paths[i]->name, name) != 0)
        i++;
    return i;
}

static int pattern_order(const char *name)
{
    int i = 0;

    while (lp_pattern_kinds[i].name && strcmp(lp_pattern_kinds[i].name, name) != 0)
        i++;
    return i;
}

static int by_place(const void *left, const void *right)
{
    const struct lp_copies *a = left, *b = right;
    int order = path_order(a->like->op) - path_order(b->like->op);

    if (order == 0)
        order = strcmp(a->like->op, b->like->op);
    if (order == 0)
        order = pattern_order(a->like->pattern) - pattern_order(b->like->pattern);
    if (order == 0)
        order = strcmp(b->like->processes, a->like->processes); /* "one" before "ipc" */
    return order ? order : (int)a->timed - (int)b->timed;
}

enum lp_status lp_copies_make(const struct lp_result *result, struct lp_copies_list *out)
{
    enum lp_status st = LP_OK;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < result->n && st == LP_OK; i++) {
        const struct lp_cell *cell = &result->record[i]->cell;

        if (cell->kind == LP_COPY && cell->nedges > 0 && cell->timing == LP_QUEUED)
            st = add(out, result->record[i]);
    }
    for (size_t i = 0; i < out->n && st == LP_OK; i++)
        keep_common(&out->item[i]);
    if (out->n)
        qsort(out->item, out->n, sizeof(*out->item), by_place);
    return st;
}

void lp_copies_release(struct lp_copies_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->item[i].record);
    free(list->item);
    memset(list, 0, sizeof(*list));
}

const struct lp_copies *lp_copies_find(const struct lp_copies_list *list, const char *path, const char *pattern,
                                       const char *processes, bool timed)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct lp_cell *like = list->item[i].like;

        if (strcmp(like->op, path) == 0 && strcmp(like->pattern, pattern) == 0 && strcmp(like->processes, processes) == 0 &&
            list->item[i].timed == timed)
            return &list->item[i];
    }
    return NULL;
}

/* The edge's number in the cell; -1: it has no such edge. */
static int number_of(const struct lp_cell *cell, struct lp_edge edge)
{
    for (int e = 0; e < cell->nedges; e++)
        if (cell->edges[e].src == edge.src && cell->edges[e].dst == edge.dst)
            return e;
    return -1;
}

const struct lp_record *lp_copies_at(const struct lp_copies *copies, struct lp_edge edge)
{
    for (size_t i = 0; i < copies->n; i++)
        if (number_of(&copies->record[i]->cell, edge) >= 0)
            return copies->record[i];
    return NULL;
}

double lp_copies_figure(const struct lp_copies *copies, const struct lp_record *record, struct lp_edge edge)
{
    int number = record ? number_of(&record->cell, edge) : -1;

    if (number < 0 || !lp_record_usable(record))
        return (double)NAN;
    if (copies->timed)
        return record->latency_us;
    return record->cell.nedges > 1 ? record->edge_gbps[number] : record->algbw_gbps;
}

static void add_figures(const struct lp_result *result, const struct lp_copies *copies, const struct lp_record *record,
                        struct lp_figures *out)
{
    int n = copies->timed ? 1 : record->cell.nedges;

    for (int e = 0; e < n; e++) {
        struct lp_edge edge = record->cell.edges[e];
        double value = lp_copies_figure(copies, record, edge);

        if (isfinite(value) && lp_copies_at(copies, edge) == record)
            out->item[out->n++] =
                (struct lp_figure){.edge = edge, .value = value, .kind = lp_edge_kind(result, edge), .record = record};
    }
}

enum lp_status lp_figures_make(const struct lp_result *result, const struct lp_copies *copies, struct lp_figures *out)
{
    size_t most = 0;

    for (size_t i = 0; i < copies->n; i++)
        most += (size_t)copies->record[i]->cell.nedges;
    *out = (struct lp_figures){.item = calloc(most, sizeof(*out->item))};
    if (!out->item)
        return LP_ERR_MEMORY;
    for (size_t i = 0; i < copies->n; i++)
        add_figures(result, copies, copies->record[i], out);
    return LP_OK;
}

void lp_figures_release(struct lp_figures *figures)
{
    free(figures->item);
    memset(figures, 0, sizeof(*figures));
}

enum lp_status lp_figures_spread(const struct lp_figures *figures, const char *kind, bool timed, struct lp_spread *out)
{
    double *values = calloc(figures->n + 1, sizeof(*values));

    memset(out, 0, sizeof(*out));
    if (!values)
        return LP_ERR_MEMORY;
    for (size_t i = 0; i < figures->n; i++) {
        const struct lp_figure *figure = &figures->item[i];

        if (kind && strcmp(figure->kind, kind) != 0)
            continue;
        if (out->n == 0 || (timed ? figure->value > out->worst : figure->value < out->worst)) {
            out->worst = figure->value;
            out->worst_edge = figure->edge;
        }
        values[out->n++] = figure->value;
    }
    out->median = lp_median(values, out->n);
    free(values);
    return LP_OK;
}

bool lp_copies_by_pair(const struct lp_copies *copies)
{
    return strcmp(copies->like->pattern, "one_way") == 0 || strcmp(copies->like->pattern, "both_ways") == 0;
}

bool lp_copies_tell(const struct lp_copies *copies, double gbps)
{
    return !copies->timed && gbps > 0.0 && (double)copies->bytes / (gbps * 1e3) >= LP_LEAST_RATED_US;
}

bool lp_edge_joins_two(struct lp_edge edge)
{
    return edge.src != LP_EDGE_HOST && edge.dst != LP_EDGE_HOST && edge.src != edge.dst;
}

const json_t *lp_pair_facts(const struct lp_result *result, struct lp_edge edge)
{
    const json_t *pairs = json_object_get(json_object_get(result->head, "topology"), "pairs");

    for (size_t i = 0; i < json_array_size(pairs); i++) {
        const json_t *pair = json_array_get(pairs, i);

        if (lp_json_int(pair, "src", -1) == edge.src && lp_json_int(pair, "dst", -1) == edge.dst)
            return pair;
    }
    return NULL;
}

const char *lp_edge_kind(const struct lp_result *result, struct lp_edge edge)
{
    bool on_host = strcmp(lp_json_str(result->head, "device", ""), "host") == 0;

    if (edge.src == edge.dst)
        return "one GPU";
    if (!lp_edge_joins_two(edge))
        return edge.src == LP_EDGE_HOST ? "host to GPU" : "GPU to host";
    return lp_json_str(lp_pair_facts(result, edge), "kind", on_host ? "host memory" : "unknown");
}
