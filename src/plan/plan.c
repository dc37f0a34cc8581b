/* From options and machine to everything that will be measured. Nothing here touches a device. */
#include "plan/plan.h"

#include "base/units.h"
#include "collectives/coll.h"
#include "plan/matrix.h"
#include "plan/plan_parts.h"
#include "plan/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Estimates, for the plan and its printed time only. */
#define CELL_SECONDS      0.05
#define CREW_SECONDS_CUDA 3.0
#define CREW_SECONDS_HOST 0.2

#define MEMORY_SHARE 0.85 /* of a device's memory that arenas may take: context and library need the rest */

struct lp_planned *lp_planned_append(struct lp_planned_list *list)
{
    struct lp_planned *grown = realloc(list->item, (list->n + 1) * sizeof(*grown));

    if (!grown)
        return NULL;
    list->item = grown;
    memset(&grown[list->n], 0, sizeof(*grown));
    return &grown[list->n++];
}

size_t lp_machine_least_memory(const struct lp_machine *machine)
{
    size_t least = machine->rank[0].memory_bytes;

    for (int r = 1; r < machine->nranks; r++)
        if (machine->rank[r].memory_bytes < least)
            least = machine->rank[r].memory_bytes;
    return (size_t)((double)least * MEMORY_SHARE);
}

bool lp_machine_is_cuda(const struct lp_machine *machine)
{
    return strcmp(machine->device, "cuda") == 0;
}

/* ---- collectives ---- */

static enum lp_status add_cell(const struct lp_options *options, const struct lp_machine *machine, const struct lp_coll *coll,
                               enum lp_timing timing, enum lp_placement placement, size_t size, struct lp_plan *plan)
{
    struct lp_planned *planned = lp_planned_append(&plan->cells);
    size_t limit = lp_machine_least_memory(machine) / 2;
    struct lp_shape shape;
    struct lp_cell *cell;

    if (!planned)
        return LP_ERR_MEMORY;
    coll->shape(size, options->dtype, machine->nranks, &shape);
    cell = &planned->cell;
    *cell = (struct lp_cell){
        .kind = LP_COLLECTIVE,
        .dtype = options->dtype,
        .redop = options->redop,
        .root = -1,
        .requested_bytes = size,
        .size_bytes = shape.size_bytes,
        .count = shape.count,
        .placement = placement,
        .timing = timing,
        .warmup = (int)options->warmup,
        .iters = (int)options->iters,
        .checks = (int)options->checks,
    };
    snprintf(cell->op, sizeof(cell->op), "%s", coll->name);
    snprintf(cell->library, sizeof(cell->library), "%s", machine->library);
    snprintf(cell->buffers, sizeof(cell->buffers), "plain");
    if (shape.count == 0)
        snprintf(planned->skip, sizeof(planned->skip), "%zu bytes is less than one element for each of %d ranks", size,
                 machine->nranks);
    else if (size > limit) {
        char need[32], have[32];

        snprintf(planned->skip, sizeof(planned->skip), "needs two buffers of %s on every rank, %s can be had",
                 lp_format_about(size, need, sizeof(need)), lp_format_about(2 * limit, have, sizeof(have)));
    } else if (size > plan->arena_bytes) {
        plan->arena_bytes = size;
    }
    return LP_OK;
}

static enum lp_status plan_cells(const struct lp_options *options, const struct lp_machine *machine, const size_t *sizes, size_t n,
                                 unsigned timings, struct lp_plan *plan)
{
    /* graphs last: NCCL keeps what a capture registered, and eager modes should not see it */
    static const enum lp_timing order[] = {LP_PIPELINED, LP_ISOLATED, LP_GRAPH};
    enum lp_status st = LP_OK;

    for (size_t t = 0; t < sizeof(order) / sizeof(order[0]); t++)
        for (size_t c = 0; lp_colls[c] && timings & 1u << order[t]; c++)
            for (size_t s = 0; s < n && (!options->collectives[0] || lp_list_has(options->collectives, lp_colls[c]->name)); s++)
                for (int p = 0; p < LP_NPLACEMENTS && st == LP_OK; p++)
                    if (options->placements & 1u << p && (p == LP_OUT_OF_PLACE || lp_colls[c]->flags & LP_COLL_IN_PLACE))
                        st = add_cell(options, machine, lp_colls[c], order[t], (enum lp_placement)p, sizes[s], plan);
    return st;
}

/* ---- variants ---- */

static void skip_where_not_meant(struct lp_variant *variant, const struct lp_machine *machine)
{
    bool fits =
        variant->when == LP_WHEN_ALWAYS || (lp_machine_is_cuda(machine) && (variant->when == LP_WHEN_NVLINK) == machine->nvlink);

    if (!fits && !variant->skip[0])
        snprintf(variant->skip, sizeof(variant->skip), "not applicable: for machines with %s",
                 variant->when == LP_WHEN_NVLINK ? "NVLink" : "GPUs on PCIe only");
}

static enum lp_status check_only(const struct lp_options *options, const struct lp_variants *list, struct lp_reason *why)
{
    char copy[sizeof(options->only)], *save = NULL;

    snprintf(copy, sizeof(copy), "%s", options->only);
    for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save))
        if (strcmp(word, "default") != 0 && !lp_variants_find(list, word, 0))
            return lp_because(why, LP_ERR_ARG, "--only: there is no variant '%s'; --dry-run lists them", word);
    return LP_OK;
}

/* Those that the user and the machine know, before "default" is put around them. */
static enum lp_status gather_variants(const struct lp_options *options, const struct lp_machine *machine, struct lp_variants *list,
                                      struct lp_reason *why)
{
    enum lp_status st = options->matrix ? lp_matrix_read(options->matrix, list, why) : lp_matrix_builtin(machine->device, list);

    if (st == LP_ERR_IO)
        st = LP_ERR_ARG; /* a file that the user named */
    for (size_t i = 0; i < options->nvariants && st == LP_OK; i++)
        st = lp_matrix_add_text(options->variants[i], list, why);
    if (st == LP_OK)
        st = lp_matrix_check(list, why);
    return st == LP_OK ? check_only(options, list, why) : st;
}

static enum lp_status plan_variants(const struct lp_options *options, const struct lp_machine *machine, struct lp_plan *plan,
                                    struct lp_reason *why)
{
    struct lp_variants found = {0};
    enum lp_status st = lp_locks_make(getenv("LINKPERF_LOCK"), machine->nvls_set ? machine->nvls : NULL, &plan->locks, why);

    if (st == LP_OK)
        st = gather_variants(options, machine, &found, why);
    if (st == LP_OK && !lp_variants_add(&plan->variants, "default"))
        st = LP_ERR_MEMORY;
    for (size_t i = 0; i < found.n && st == LP_OK; i++) {
        if (options->only[0] && !lp_list_has(options->only, found.item[i].name))
            continue;
        lp_locks_apply(&plan->locks, &found.item[i]);
        skip_where_not_meant(&found.item[i], machine);
        st = lp_variants_copy(&plan->variants, &found.item[i]);
    }
    if (st == LP_OK && lp_variants_add(&plan->variants, "default"))
        plan->variants.item[plan->variants.n - 1].repeat = 1;
    lp_variants_release(&found);
    return st;
}

static unsigned all_timings(const struct lp_options *options, const struct lp_variants *variants)
{
    unsigned all = options->timings;

    for (size_t i = 0; i < variants->n; i++)
        all |= variants->item[i].timings;
    return all;
}

bool lp_plan_has(const struct lp_variant *variant, const struct lp_options *options, const struct lp_cell *cell)
{
    return ((variant->timings ? variant->timings : options->timings) & 1u << cell->timing) != 0;
}

/* ---- estimates ---- */

static double crew_seconds(const struct lp_plan *plan)
{
    return strcmp(plan->device, "cuda") == 0 ? CREW_SECONDS_CUDA : CREW_SECONDS_HOST;
}

double lp_plan_variant_seconds(const struct lp_plan *plan, const struct lp_options *options, const struct lp_variant *variant)
{
    double seconds = variant->skip[0] ? 0.0 : crew_seconds(plan);

    for (size_t i = 0; i < plan->cells.n && !variant->skip[0]; i++)
        if (!plan->cells.item[i].skip[0] && lp_plan_has(variant, options, &plan->cells.item[i].cell))
            seconds += CELL_SECONDS;
    return seconds;
}

static void estimate(const struct lp_options *options, struct lp_plan *plan)
{
    plan->need_bytes = 2 * plan->arena_bytes;
    plan->seconds = crew_seconds(plan); /* the survey */
    for (int g = 0; g < plan->ngroups; g++) {
        plan->seconds += crew_seconds(plan) + lp_plan_copies_seconds(&plan->group[g].copies);
        if (2 * plan->group[g].arena_bytes > plan->need_bytes)
            plan->need_bytes = 2 * plan->group[g].arena_bytes;
    }
    for (size_t i = 0; i < plan->variants.n; i++)
        plan->seconds += (double)options->rounds * lp_plan_variant_seconds(plan, options, &plan->variants.item[i]);
}

static enum lp_status plan_collectives(const struct lp_options *options, const struct lp_machine *machine, struct lp_plan *out,
                                       struct lp_reason *why)
{
    size_t smallest = options->max_bytes && options->max_bytes < 8 ? options->max_bytes : 8;
    size_t min = options->min_bytes ? options->min_bytes : smallest, n = 0, *sizes = NULL;
    size_t usual_max = lp_machine_is_cuda(machine) ? (size_t)256 << 20 : (size_t)16 << 20;
    size_t max = options->max_bytes ? options->max_bytes : min > usual_max ? min : usual_max;
    enum lp_status st = plan_variants(options, machine, out, why);

    if (st == LP_OK)
        st = lp_sweep_make(min, max, options->step_bytes, (size_t)options->factor, &sizes, &n, why);
    if (st == LP_OK)
        st = plan_cells(options, machine, sizes, n, all_timings(options, &out->variants), out);
    free(sizes);
    return st;
}

enum lp_status lp_plan_make(const struct lp_options *options, const struct lp_machine *machine, struct lp_plan *out,
                            struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    memset(out, 0, sizeof(*out));
    lp_because(why, LP_OK, "out of memory"); /* what the steps below do not say themselves */
    out->nranks = machine->nranks;
    snprintf(out->device, sizeof(out->device), "%s", machine->device);
    snprintf(out->library, sizeof(out->library), "%s", machine->library);
    if (!options->no_link)
        st = lp_plan_link(options, machine, out, why);
    if (st == LP_OK && !options->no_collectives)
        st = plan_collectives(options, machine, out, why);
    if (st == LP_OK)
        st = lp_plan_same_size(machine, out);
    estimate(options, out);
    return st;
}

void lp_plan_release(struct lp_plan *plan)
{
    for (int g = 0; g < plan->ngroups; g++)
        free(plan->group[g].copies.item);
    free(plan->cells.item);
    lp_variants_release(&plan->variants);
    memset(plan, 0, sizeof(*plan));
}
