/* What the parts of the link's report say alike. Prints no table. */
#include "report/view_link_parts.h"

#include "base/json.h"
#include "base/units.h"
#include "report/view_title.h"

#include <math.h>
#include <string.h>

const char *lp_link_end(const struct lp_link *link, int rank, char *buf, size_t cap)
{
    if (rank == LP_EDGE_HOST)
        snprintf(buf, cap, "host");
    else
        snprintf(buf, cap, "%s %d", link->on_host ? "process" : "GPU", rank);
    return buf;
}

const char *lp_link_edge(const struct lp_link *link, struct lp_edge edge, char *buf, size_t cap)
{
    char src[LP_WORD], dst[LP_WORD];

    snprintf(buf, cap, "%s -> %s", lp_link_end(link, edge.src, src, sizeof(src)), lp_link_end(link, edge.dst, dst, sizeof(dst)));
    return buf;
}

const char *lp_link_path(const struct lp_link *link, const struct lp_cell *cell, char *buf, size_t cap)
{
    bool ipc = !link->on_host && lp_edge_joins_two(cell->edges[0]) && strcmp(cell->processes, "ipc") == 0;

    snprintf(buf, cap, "%s%s", lp_title_path(cell->op), ipc ? ", between processes (CUDA IPC)" : "");
    return buf;
}

static bool both_ways(const struct lp_copies *copies)
{
    return strcmp(copies->like->pattern, "both_ways") == 0;
}

/* Does the path have a latency only? Else its times are of small copies. */
static bool has_latency_only(const struct lp_copies *copies)
{
    return copies->path && copies->path->flags & LP_PATH_LATENCY;
}

const char *lp_link_measure(const struct lp_copies *copies, char *buf, size_t cap)
{
    char size[LP_WORD];

    lp_format_size(copies->bytes, size, sizeof(size));
    if (has_latency_only(copies) && copies->path->flags & LP_PATH_READ)
        snprintf(buf, cap, "the destination loads from the source's memory, one load after the other");
    else if (has_latency_only(copies))
        snprintf(buf, cap, "half of the round trip between the two");
    else
        snprintf(buf, cap, "%s%s bytes%s", both_ways(copies) ? "each way while the other runs, " : "", size,
                 copies->timed ? ", back to back, time of one copy" : "");
    return buf;
}

/* Loads take some hundred nanoseconds; other times are longer. */
static bool in_ns(const struct lp_copies *copies)
{
    return has_latency_only(copies) && copies->path->flags & LP_PATH_READ;
}

const char *lp_link_unit(const struct lp_copies *copies)
{
    if (!copies->timed)
        return "GB/s";
    return in_ns(copies) ? "ns" : "us";
}

double lp_link_scaled(const struct lp_copies *copies, double figure)
{
    return copies->timed && in_ns(copies) ? 1e3 * figure : figure;
}

double lp_link_value(const struct lp_copies *copies, const struct lp_record *record, struct lp_edge edge)
{
    return lp_link_scaled(copies, lp_copies_figure(copies, record, edge));
}

void lp_link_cell(const struct lp_copies *copies, struct lp_edge edge, struct lp_table *table)
{
    const struct lp_record *record = lp_copies_at(copies, edge);
    char number[LP_WORD];

    if (record && record->outcome != LP_DONE)
        lp_table_cell(table, "%s", lp_words_outcome(record->outcome));
    else
        lp_table_cell(table, "%s", lp_words_number(lp_link_value(copies, record, edge), number, sizeof(number)));
}

bool lp_link_is_of_pairs(const struct lp_copies *copies)
{
    return lp_copies_by_pair(copies) && lp_edge_joins_two(copies->like->edges[0]);
}

static const json_t *gpu_of(const struct lp_link *link, int rank)
{
    return json_object_get(json_array_get(json_object_get(link->result->head, "ranks"), (size_t)rank), "gpu");
}

static double pcie_gbps(const struct lp_link *link, int rank)
{
    return lp_json_num(json_object_get(gpu_of(link, rank), "links"), "pcie_gbps", (double)NAN);
}

/* The way through the host is as fast as the slower of the GPUs it passes; unknown when one of them is. */
static double way_through_host(const struct lp_link *link, struct lp_edge edge)
{
    double from = edge.src == LP_EDGE_HOST ? (double)INFINITY : pcie_gbps(link, edge.src);
    double to = edge.dst == LP_EDGE_HOST ? (double)INFINITY : pcie_gbps(link, edge.dst);

    return isnan(from) || isnan(to) ? (double)NAN : fmin(from, to);
}

/* The pair's own line rate; results that know none by pair have one for all. */
static double line_of(const struct lp_link *link, struct lp_edge edge)
{
    const json_t *facts = lp_pair_facts(link->result, edge);

    return json_object_get(facts, "line_gbps") ? lp_json_num(facts, "line_gbps", (double)NAN) : lp_title_line_gbps(link->result);
}

struct lp_held lp_link_held(const struct lp_link *link, const struct lp_copies *copies, struct lp_edge edge)
{
    struct lp_held held = {(double)NAN, ""};
    enum lp_rate rate = copies->path && !copies->timed ? copies->path->rate : LP_RATE_NONE;

    if (rate == LP_RATE_LINK)
        held = (struct lp_held){line_of(link, edge), "line rate"};
    else if (rate == LP_RATE_PCIE)
        held = (struct lp_held){way_through_host(link, edge), "PCIe rate"};
    else if (rate == LP_RATE_MEMORY)
        held = (struct lp_held){lp_json_num(gpu_of(link, edge.src), "memory_gbps", (double)NAN) / 2.0, "half the memory rate"};
    if (isnan(held.gbps))
        held.what = "";
    return held;
}

void lp_link_share_columns(struct lp_table *table, const char *whose)
{
    char heading[LP_WORD];

    lp_table_column(table, LP_RIGHT, "theoretical\none way\nGB/s");
    lp_table_column(table, LP_LEFT, "which is");
    snprintf(heading, sizeof(heading), "%s\nin percent\nof that", whose);
    lp_table_column(table, LP_RIGHT, heading);
}

void lp_link_share_cells(const struct lp_link *link, const struct lp_copies *copies, struct lp_edge edge, double gbps,
                         struct lp_table *table)
{
    struct lp_held held = lp_link_held(link, copies, edge);
    double part = lp_copies_tell(copies, gbps) ? gbps : (double)NAN;
    char number[LP_WORD];

    lp_table_cell(table, "%s", lp_words_number(held.gbps, number, sizeof(number)));
    lp_table_cell(table, "%s", held.what);
    lp_table_cell(table, "%s", lp_words_percent(part, held.gbps, number, sizeof(number)));
}
