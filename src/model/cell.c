/* Cells to and from JSON, and in words. */
#include "model/cell.h"

#include "base/json.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[] = {[LP_COLLECTIVE] = "collective", [LP_COPY] = "copy"};
static const char *const timings[LP_NTIMINGS] = {
    [LP_GRAPH] = "graph", [LP_PIPELINED] = "pipelined", [LP_ISOLATED] = "isolated", [LP_QUEUED] = "queued"};
static const char *const placements[LP_NPLACEMENTS] = {[LP_OUT_OF_PLACE] = "out_of_place", [LP_IN_PLACE] = "in_place"};

const char *lp_timing_name(enum lp_timing timing)
{
    return timings[timing];
}

const char *lp_placement_name(enum lp_placement placement)
{
    return placements[placement];
}

enum lp_status lp_timing_parse(const char *text, enum lp_timing *out, struct lp_reason *why)
{
    for (int i = 0; i < LP_QUEUED; i++)
        if (strcmp(text, timings[i]) == 0) {
            *out = (enum lp_timing)i;
            return LP_OK;
        }
    return lp_because(why, LP_ERR_ARG, "unknown timing '%s': use graph, pipelined or isolated", text);
}

/* Index of the member's text in names, or -1. */
static int choice(const json_t *json, const char *key, const char *const *names, int n)
{
    const char *text = lp_json_str(json, key, "");

    for (int i = 0; i < n; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    return -1;
}

static json_t *edges_to_json(const struct lp_cell *cell)
{
    json_t *list = json_array();

    for (int i = 0; i < cell->nedges; i++)
        json_array_append_new(list, json_pack("[i,i]", cell->edges[i].src, cell->edges[i].dst));
    return list;
}

json_t *lp_cell_to_json(const struct lp_cell *cell)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:o, s:i, s:i, s:i}", "kind",
                     kinds[cell->kind], "op", cell->op, "library", cell->library, "buffers", cell->buffers, "datatype",
                     lp_dtype_name(cell->dtype), "redop", lp_redop_name(cell->redop), "root", cell->root, "requested_bytes",
                     (json_int_t)cell->requested_bytes, "size_bytes", (json_int_t)cell->size_bytes, "count",
                     (json_int_t)cell->count, "placement", placements[cell->placement], "timing", timings[cell->timing], "pattern",
                     cell->pattern, "processes", cell->processes, "edges", edges_to_json(cell), "warmup", cell->warmup, "iters",
                     cell->iters, "checks", cell->checks);
}

static bool is_end(int rank)
{
    return rank == LP_EDGE_HOST || (rank >= 0 && rank < LP_MAX_RANKS);
}

static enum lp_status edges_from_json(const json_t *list, struct lp_cell *out, struct lp_reason *why)
{
    size_t n = json_array_size(list);

    if (n > LP_MAX_TRANSFERS)
        return lp_because(why, LP_ERR_PARSE, "cell: %zu edges, at most %d", n, LP_MAX_TRANSFERS);
    out->nedges = (int)n;
    for (size_t i = 0; i < n; i++) {
        const json_t *edge = json_array_get(list, i);

        out->edges[i].src = (int)json_integer_value(json_array_get(edge, 0));
        out->edges[i].dst = (int)json_integer_value(json_array_get(edge, 1));
        if (!is_end(out->edges[i].src) || !is_end(out->edges[i].dst))
            return lp_because(why, LP_ERR_PARSE, "cell: edge %zu is out of range", i);
    }
    return LP_OK;
}

enum lp_status lp_cell_from_json(const json_t *json, struct lp_cell *out, struct lp_reason *why)
{
    int kind = choice(json, "kind", kinds, 2);
    int timing = choice(json, "timing", timings, LP_NTIMINGS);
    int placement = choice(json, "placement", placements, LP_NPLACEMENTS);
    enum lp_status st;

    memset(out, 0, sizeof(*out));
    if (kind < 0 || timing < 0 || placement < 0)
        return lp_because(why, LP_ERR_PARSE, "cell: '%s' is missing or unknown",
                          kind < 0     ? "kind"
                          : timing < 0 ? "timing"
                                       : "placement");
    out->kind = (enum lp_kind)kind;
    out->timing = (enum lp_timing)timing;
    out->placement = (enum lp_placement)placement;
    lp_json_copy(json, "op", out->op, sizeof(out->op));
    lp_json_copy(json, "library", out->library, sizeof(out->library));
    lp_json_copy(json, "buffers", out->buffers, sizeof(out->buffers));
    lp_json_copy(json, "pattern", out->pattern, sizeof(out->pattern));
    lp_json_copy(json, "processes", out->processes, sizeof(out->processes));
    out->root = (int)lp_json_int(json, "root", -1);
    out->requested_bytes = (size_t)lp_json_int(json, "requested_bytes", 0);
    out->size_bytes = (size_t)lp_json_int(json, "size_bytes", 0);
    out->count = (size_t)lp_json_int(json, "count", 0);
    out->warmup = (int)lp_json_int(json, "warmup", 0);
    out->iters = (int)lp_json_int(json, "iters", 0);
    out->checks = (int)lp_json_int(json, "checks", 0);
    if (!out->op[0] || !out->library[0])
        return lp_because(why, LP_ERR_PARSE, "cell: '%s' is missing", out->op[0] ? "library" : "op");
    st = lp_dtype_parse(lp_json_str(json, "datatype", ""), &out->dtype, why);
    if (st == LP_OK)
        st = lp_redop_parse(lp_json_str(json, "redop", ""), &out->redop, why);
    return st == LP_OK ? edges_from_json(json_object_get(json, "edges"), out, why) : LP_ERR_PARSE;
}

bool lp_cell_same(const struct lp_cell *a, const struct lp_cell *b)
{
    return a->kind == b->kind && strcmp(a->op, b->op) == 0 && strcmp(a->buffers, b->buffers) == 0 && a->dtype == b->dtype &&
           a->redop == b->redop && a->root == b->root && a->requested_bytes == b->requested_bytes && a->placement == b->placement &&
           a->timing == b->timing;
}

const char *lp_edge_end_name(int rank, char *buf, size_t cap)
{
    if (rank == LP_EDGE_HOST)
        snprintf(buf, cap, "host");
    else
        snprintf(buf, cap, "%d", rank);
    return buf;
}

const char *lp_cell_words(const struct lp_cell *cell, char *buf, size_t cap)
{
    char size[32], from[16], to[16];

    lp_format_size(cell->size_bytes ? cell->size_bytes : cell->requested_bytes, size, sizeof(size));
    if (cell->kind == LP_COPY && cell->nedges == 1)
        snprintf(buf, cap, "%s %s->%s %s", cell->op, lp_edge_end_name(cell->edges[0].src, from, sizeof(from)),
                 lp_edge_end_name(cell->edges[0].dst, to, sizeof(to)), size);
    else if (cell->kind == LP_COPY)
        snprintf(buf, cap, "%s %s %s%s%s", cell->op, cell->pattern, size, cell->timing == LP_QUEUED ? "" : " ",
                 cell->timing == LP_QUEUED ? "" : timings[cell->timing]);
    else
        snprintf(buf, cap, "%s %s %s %s", cell->op, size, cell->placement == LP_IN_PLACE ? "in place" : "out of place",
                 timings[cell->timing]);
    return buf;
}
