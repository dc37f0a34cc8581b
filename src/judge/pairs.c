/* Outliers. Which records are alike is copies' business; how they are said is the views'. */
#include "judge/pairs.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which pairs of GPUs were judged so far, by source and destination. */
struct seen {
    bool judged[LP_MAX_RANKS][LP_MAX_RANKS], compared[LP_MAX_RANKS][LP_MAX_RANKS];
};

const char *lp_fault_name(enum lp_fault fault)
{
    static const char *const names[] = {
        [LP_FAULT_SLOW] = "slow", [LP_FAULT_ASYMMETRIC] = "asymmetric", [LP_FAULT_LATENCY] = "slow latency"};

    return names[fault];
}

/* Of the other direction; NaN where there is none, or where an end is not a GPU's. */
static double way_back(const struct lp_figures *figures, struct lp_edge edge)
{
    for (size_t i = 0; i < figures->n && lp_edge_joins_two(edge); i++)
        if (figures->item[i].edge.src == edge.dst && figures->item[i].edge.dst == edge.src)
            return figures->item[i].value;
    return (double)NAN;
}

/* Counts the pair once, however many paths were judged. */
static void count(struct lp_edge edge, bool compared, struct seen *seen, struct lp_outliers *out)
{
    bool *judged_here, *compared_here;

    if (!lp_edge_joins_two(edge) || edge.src >= LP_MAX_RANKS || edge.dst >= LP_MAX_RANKS)
        return;
    judged_here = &seen->judged[edge.src][edge.dst];
    compared_here = &seen->compared[edge.src][edge.dst];
    out->pairs += !*judged_here;
    out->compared += compared && !*compared_here;
    *judged_here = true;
    *compared_here = *compared_here || compared;
}

static enum lp_status add(struct lp_outliers *out, const struct lp_outlier *outlier)
{
    struct lp_outlier *grown = realloc(out->item, (out->n + 1) * sizeof(*grown));

    if (!grown)
        return LP_ERR_MEMORY;
    out->item = grown;
    grown[out->n++] = *outlier;
    return LP_OK;
}

/* The figure as an outlier of which only the fault is not known yet. */
static struct lp_outlier describe(const struct lp_copies *copies, const struct lp_figure *figure, const struct lp_spread *spread)
{
    return (struct lp_outlier){.path = copies->like->op,
                               .pattern = copies->like->pattern,
                               .processes = copies->like->processes,
                               .kind = figure->kind,
                               .bytes = copies->bytes,
                               .edge = figure->edge,
                               .value = figure->value,
                               .median = spread->n < LP_PAIRS_FEWEST ? (double)NAN : spread->median,
                               .back = (double)NAN,
                               .figures = spread->n};
}

/* Against the others of its kind. */
static enum lp_status judge_kind(const struct lp_copies *copies, struct lp_outlier outlier, struct lp_outliers *out)
{
    outlier.fault = copies->timed ? LP_FAULT_LATENCY : LP_FAULT_SLOW;
    outlier.badness = copies->timed ? outlier.median / outlier.value : outlier.value / outlier.median;
    return outlier.badness < LP_PAIRS_SLOW ? add(out, &outlier) : LP_OK;
}

/* Against the way back. */
static enum lp_status judge_direction(const struct lp_figures *figures, struct lp_outlier outlier, struct lp_outliers *out)
{
    outlier.fault = LP_FAULT_ASYMMETRIC;
    outlier.back = way_back(figures, outlier.edge);
    outlier.badness = outlier.value / outlier.back;
    if (!(outlier.back > outlier.value) || outlier.back - outlier.value < LP_PAIRS_SKEWED * outlier.back)
        return LP_OK;
    return add(out, &outlier);
}

static enum lp_status judge(const struct lp_copies *copies, const struct lp_figures *figures, struct seen *seen,
                            struct lp_outliers *out)
{
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < figures->n && st == LP_OK; i++) {
        const struct lp_figure *figure = &figures->item[i];
        struct lp_outlier outlier;
        struct lp_spread spread;

        if (!copies->timed && !lp_copies_tell(copies, figure->value))
            continue;
        st = lp_figures_spread(figures, figure->kind, copies->timed, &spread);
        outlier = describe(copies, figure, &spread);
        count(figure->edge, spread.n >= LP_PAIRS_FEWEST, seen, out);
        if (st == LP_OK)
            st = judge_kind(copies, outlier, out);
        if (st == LP_OK && !copies->timed && strcmp(copies->like->library, "host") != 0) /* there it is who got the CPU */
            st = judge_direction(figures, outlier, out);
    }
    return st;
}

static int by_badness(const void *left, const void *right)
{
    const struct lp_outlier *a = left, *b = right;
    int order = (a->badness > b->badness) - (a->badness < b->badness);

    if (order == 0)
        order = a->edge.src - b->edge.src;
    if (order == 0)
        order = a->edge.dst - b->edge.dst;
    if (order == 0)
        order = strcmp(a->path, b->path);
    return order ? order : (int)a->fault - (int)b->fault;
}

enum lp_status lp_outliers_find(const struct lp_result *result, struct lp_outliers *out)
{
    struct seen seen = {0};
    struct lp_copies_list list;
    enum lp_status st = lp_copies_make(result, &list);

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < list.n && st == LP_OK; i++) {
        struct lp_figures figures;

        if (!lp_copies_by_pair(&list.item[i]))
            continue;
        st = lp_figures_make(result, &list.item[i], &figures);
        if (st == LP_OK)
            st = judge(&list.item[i], &figures, &seen, out);
        lp_figures_release(&figures);
    }
    if (out->n)
        qsort(out->item, out->n, sizeof(*out->item), by_badness);
    lp_copies_release(&list);
    return st;
}

void lp_outliers_release(struct lp_outliers *outliers)
{
    free(outliers->item);
    memset(outliers, 0, sizeof(*outliers));
}

static json_t *end_json(int rank)
{
    return rank == LP_EDGE_HOST ? json_null() : json_integer(rank);
}

static json_t *outlier_json(const struct lp_outlier *outlier)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:s, s:s, s:o, s:o, s:o}", "what", lp_fault_name(outlier->fault), "path",
                     outlier->path, "pattern", outlier->pattern, "processes", outlier->processes, "size_bytes",
                     (json_int_t)outlier->bytes, "src", end_json(outlier->edge.src), "dst", end_json(outlier->edge.dst), "kind",
                     outlier->kind, "unit", outlier->fault == LP_FAULT_LATENCY ? "us" : "GB/s", "value",
                     lp_json_real(outlier->value), "median", lp_json_real(outlier->median), "back", lp_json_real(outlier->back));
}

json_t *lp_pairs_json(const struct lp_result *result)
{
    struct lp_outliers outliers;
    json_t *list = lp_outliers_find(result, &outliers) == LP_OK ? json_array() : json_null();

    for (size_t i = 0; i < outliers.n; i++)
        json_array_append_new(list, outlier_json(&outliers.item[i]));
    lp_outliers_release(&outliers);
    return list;
}

static bool is_listed(const struct lp_edge *list, size_t n, struct lp_edge edge)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].src == edge.src && list[i].dst == edge.dst)
            return true;
    return false;
}

size_t lp_pairs_odd(const struct lp_result *result, struct lp_edge *out, size_t most)
{
    struct lp_outliers outliers;
    enum lp_status st = lp_outliers_find(result, &outliers);
    size_t n = 0;

    for (size_t i = 0; i < outliers.n && n < most && st == LP_OK; i++)
        if (lp_edge_joins_two(outliers.item[i].edge) && !is_listed(out, n, outliers.item[i].edge))
            out[n++] = outliers.item[i].edge;
    lp_outliers_release(&outliers);
    return n;
}
