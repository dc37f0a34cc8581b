/* The link: every copy of the plan, what the figures say of the pairs, and the baseline that collectives are held against. */
#include "control/run_copies.h"

#include "base/json.h"
#include "judge/pairs.h"
#include "judge/peer.h"
#include "p2p/path.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same copy of one pair. */
static bool same_copy(const struct lp_cell *a, const struct lp_cell *b)
{
    return a->nedges == 1 && b->nedges == 1 && a->timing == b->timing && a->requested_bytes == b->requested_bytes &&
           strcmp(a->op, b->op) == 0 && strcmp(a->processes, b->processes) == 0 && a->edges[0].src == b->edges[0].src &&
           a->edges[0].dst == b->edges[0].dst;
}

/* A pair that stands for its kind has its curves already. */
static void drop_measured(const struct lp_job *job, struct lp_planned_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct lp_cell *cell = &list->item[i].cell;
        bool known = false;

        for (size_t r = 0; r < job->result.n && !known; r++)
            known = same_copy(&job->result.record[r]->cell, cell);
        if (!known)
            list->item[kept++] = list->item[i];
    }
    list->n = kept;
}

/* Pairs that differ from others of their kind get curves of their own while there is a crew that can. */
static void measure_odd_pairs(struct lp_tour *tour)
{
    const struct lp_job *job = tour->job;
    struct lp_edge odd[LP_OUTLIERS_MAX];
    size_t n = job->options->all_pairs ? 0 : lp_pairs_odd(&job->result, odd, LP_OUTLIERS_MAX); /* with it they have them */

    for (size_t i = 0; i < n && lp_job_going(tour->job); i++) {
        struct lp_planned_list list = {0};

        if (lp_plan_pair(job->options, &job->machine, tour->group, odd[i], &list) == LP_OK) {
            drop_measured(job, &list);
            lp_tour_measure(tour, &list);
        }
        free(list.item);
    }
}

static void measure_group(struct lp_job *job, const struct lp_copy_group *group)
{
    struct lp_tour tour = {.job = job, .group = group};

    lp_tour_measure(&tour, &group->copies);
    if (group->one_worker)
        measure_odd_pairs(&tour);
    lp_tour_end_crew(&tour);
}

/* [src, dst] of the edge with the least rate; null where edges have none. */
static json_t *slowest_edge(const struct lp_record *ring)
{
    int slowest = -1;

    for (int i = 0; i < ring->cell.nedges; i++)
        if (isfinite(ring->edge_gbps[i]) && (slowest < 0 || ring->edge_gbps[i] < ring->edge_gbps[slowest]))
            slowest = i;
    return slowest < 0 ? json_null() : json_pack("[i, i]", ring->cell.edges[slowest].src, ring->cell.edges[slowest].dst);
}

/* [0, 3, 1, 2]: the ranks in the order of the ring. */
static json_t *ring_order(const struct lp_record *ring)
{
    json_t *order = json_array();

    for (int i = 0; i < ring->cell.nedges; i++)
        json_array_append_new(order, json_integer(ring->cell.edges[i].src));
    return order;
}

/* The ring exchange, under its full name; without it the reason why. */
static json_t *baseline_json(struct lp_job *job, const struct lp_record *ring, bool order_of_nccl)
{
    const struct lp_path *path = lp_path_find(ring->cell.op);
    bool host = strcmp(job->plan.device, "host") == 0;
    json_t *name = json_sprintf("%s%s, every %s to its next in %s at once%s, GB/s per direction, slowest edge",
                                host ? "host memory: " : "", path ? path->title : ring->cell.op, host ? "process" : "GPU",
                                order_of_nccl ? "NCCL's ring" : "the ring", ring->cell.nedges == 2 ? ", both directions busy" : "");

    if (lp_record_usable(ring))
        job->link_gbps = ring->algbw_gbps;
    return json_pack("{s:{s:o, s:o, s:s, s:s, s:o, s:I, s:o, s:o}}", "baseline", "name", name, "gbps", lp_json_real(job->link_gbps),
                     "path", ring->cell.op, "pattern", ring->cell.pattern, "order", ring_order(ring), "size_bytes",
                     (json_int_t)ring->cell.size_bytes, "slowest_edge", slowest_edge(ring), "reason",
                     lp_record_usable(ring) ? json_null() : lp_json_text(ring->reason));
}

/* The baseline's; those of other modes are beside collectives of their size. */
static bool is_baseline(const struct lp_cell *cell)
{
    return strcmp(cell->pattern, "ring") == 0 && cell->timing == LP_QUEUED;
}

/* The ring of the plan; NULL: there is none. */
static const struct lp_planned *planned_ring(const struct lp_copy_group *group)
{
    for (size_t i = 0; i < group->copies.n; i++)
        if (is_baseline(&group->copies.item[i].cell))
            return &group->copies.item[i];
    return NULL;
}

/* The last record of a ring from number `first` on; NULL: none. */
static const struct lp_record *measured_ring(const struct lp_job *job, size_t first)
{
    for (size_t i = job->result.n; i-- > first;)
        if (is_baseline(&job->result.record[i]->cell))
            return job->result.record[i];
    return NULL;
}

/* What the figures of all pairs together say: outliers, and whether peer access is what the driver says. */
static void judge_link(struct lp_job *job)
{
    json_t *topology = json_object_get(job->result.head, "topology");

    lp_peer_note(topology, &job->result);
    lp_job_head(job, json_pack("{s:O, s:o}", "topology", topology, "outliers", lp_pairs_json(&job->result)));
}

void lp_job_link(struct lp_job *job)
{
    const struct lp_record *ring;

    for (int g = 0; g < job->plan.ngroups && lp_job_going(job); g++)
        measure_group(job, &job->plan.group[g]);
    ring = measured_ring(job, 0);
    if (ring)
        lp_job_head(job, baseline_json(job, ring, false));
    if (job->plan.ngroups > 0)
        judge_link(job);
}

bool lp_job_ring(struct lp_job *job, const int *order)
{
    size_t first = job->result.n;
    bool better;

    for (int g = 0; g < job->plan.ngroups && isfinite(job->link_gbps); g++) {
        const struct lp_planned *planned = planned_ring(&job->plan.group[g]);
        struct lp_planned ring;
        struct lp_tour tour = {.job = job, .group = &job->plan.group[g]};

        if (!planned)
            continue;
        ring = *planned;
        for (int i = 0; i < ring.cell.nedges; i++)
            ring.cell.edges[i] = (struct lp_edge){order[i], order[(i + 1) % ring.cell.nedges]};
        lp_tour_measure(&tour, &(struct lp_planned_list){.item = &ring, .n = 1});
        lp_tour_end_crew(&tour);
    }
    better = measured_ring(job, first) && lp_record_usable(measured_ring(job, first));
    if (better)
        lp_job_head(job, baseline_json(job, measured_ring(job, first), true));
    return better;
}
