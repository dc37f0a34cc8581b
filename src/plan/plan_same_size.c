/*
 * The same-size baseline (DESIGN section 4): for every planned collective, the exchange that moves as many bytes over each link,
 * in the same timing mode. Collectives that move alike share one.
 */
#include "plan/plan_parts.h"

#include "base/units.h"
#include "collectives/coll.h"
#include "p2p/patterns.h"

#include <stdio.h>
#include <string.h>

/* Among the last ones: timing modes follow each other. */
static bool is_planned(const struct lp_planned_list *list, const struct lp_cell *cell)
{
    for (size_t i = list->n; i-- > 0 && list->item[i].cell.timing == cell->timing;)
        if (list->item[i].cell.requested_bytes == cell->requested_bytes)
            return true;
    return false;
}

/* -n and -w are as for the collective; one checked operation before and after, as for every copy of a main run. */
static struct lp_cell exchange_for(const struct lp_machine *machine, const struct lp_cell *collective)
{
    size_t bytes = lp_coll_exchange_bytes(lp_coll_find(collective->op), collective->size_bytes, machine->nranks);
    struct lp_cell cell = {.kind = LP_COPY,
                           .dtype = LP_FLOAT,
                           .root = -1,
                           .requested_bytes = bytes,
                           .size_bytes = bytes,
                           .count = bytes / lp_dtype_size(LP_FLOAT),
                           .timing = collective->timing,
                           .pattern = "ring",
                           .processes = "ipc",
                           .buffers = "plain",
                           .warmup = collective->warmup,
                           .iters = collective->iters,
                           .checks = collective->checks ? 1 : 0};

    snprintf(cell.op, sizeof(cell.op), "%s", lp_machine_is_cuda(machine) ? "sm_exchange" : "cpu_exchange");
    snprintf(cell.library, sizeof(cell.library), "%s", machine->device);
    cell.nedges = lp_pattern_kind_find("ring")->edges(machine->nranks, 0, -1, cell.edges, LP_MAX_TRANSFERS);
    return cell;
}

/* The wire may carry more than the collective's size (AllReduce, from three ranks on): then the arenas grow. */
static enum lp_status add(const struct lp_machine *machine, const struct lp_cell *cell, struct lp_copy_group *group)
{
    size_t most = lp_machine_least_memory(machine) / 2;
    struct lp_planned *planned;
    char need[32], have[32];

    if (cell->nedges == 0 || is_planned(&group->copies, cell))
        return LP_OK;
    planned = lp_planned_append(&group->copies);
    if (!planned)
        return LP_ERR_MEMORY;
    planned->cell = *cell;
    if (cell->requested_bytes > most)
        snprintf(planned->skip, sizeof(planned->skip), "needs two buffers of %s on every rank, %s can be had",
                 lp_format_about(cell->requested_bytes, need, sizeof(need)), lp_format_about(2 * most, have, sizeof(have)));
    else if (cell->requested_bytes > group->arena_bytes)
        group->arena_bytes = cell->requested_bytes;
    return LP_OK;
}

enum lp_status lp_plan_same_size(const struct lp_machine *machine, struct lp_plan *plan)
{
    struct lp_copy_group *group = plan->ngroups ? &plan->group[plan->ngroups - 1] : NULL; /* a process a rank, on any device */
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < plan->cells.n && group && st == LP_OK; i++) {
        struct lp_cell cell;

        if (plan->cells.item[i].skip[0])
            continue;
        cell = exchange_for(machine, &plan->cells.item[i].cell);
        st = add(machine, &cell, group);
    }
    return st;
}
