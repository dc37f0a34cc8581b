/* From the tables of steps to copies: between whom, at what sizes, in which process, and what does not fit. */
#include "plan/plan_parts.h"

#include "base/units.h"
#include "p2p/path.h"
#include "p2p/patterns.h"
#include "plan/link_steps.h"
#include "plan/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE_CUDA  ((size_t)512 << 20) /* nvbandwidth's size: launch overhead and caches are below 1 % of it */
#define LARGE_HOST  ((size_t)16 << 20)
#define LARGE_PCIE  ((size_t)128 << 20) /* ways through the host are slower, and pinned memory is dear */
#define LARGE_PAGES ((size_t)64 << 20)  /* and ordinary memory slower still */
#define SMALL       ((size_t)16)        /* p2pBandwidthLatencyTest's */
#define TURNS_BYTES                                                                                                                \
    ((size_t)160000000) /* as p2pBandwidthLatencyTest: five copies of this size each way; the figure depends on it */
#define TURNS_ITERS   5
#define TRUTH         ((size_t)1 << 20)
#define CURVE_FACTOR  4
#define ISOLATED_MIN  ((size_t)4)
#define ISOLATED_MAX  ((size_t)1 << 20)
#define ISOLATED_STEP 8

/* The plan in the making. */
struct draft {
    const struct lp_options *options;
    const struct lp_machine *machine;
    size_t large;                    /* bytes that every pair is measured at */
    size_t arena;                    /* bytes of an arena: the same, or the largest size of a curve that fits */
    struct lp_copy_group *one, *ipc; /* the same on host memory */
    struct lp_planned_list *list;    /* where cells go; NULL: into the group that can do them */
    size_t *curve, ncurve;           /* sizes */
};

/* ---- sizes ---- */

static const struct lp_path *path_of(const struct lp_step *step)
{
    return lp_path_find(step->path);
}

/* How many edges end at the busiest GPU, each with a place of its own in its arena. */
static size_t places(const struct lp_cell *cell)
{
    size_t most = 1;

    for (int i = 0; i < cell->nedges; i++) {
        size_t here = 0;

        for (int k = 0; k < cell->nedges; k++)
            here += cell->edges[k].dst == cell->edges[i].dst && cell->edges[k].dst != LP_EDGE_HOST;
        if (here > most)
            most = here;
    }
    return most;
}

static size_t large_for(const struct draft *draft, const struct lp_path *path, const struct lp_cell *cell)
{
    size_t bytes = draft->large, most = places(cell);

    if (path->flags & LP_PATH_LATENCY)
        return sizeof(uint32_t);
    if (path->flags & LP_PATH_PAGEABLE && bytes > LARGE_PAGES)
        bytes = LARGE_PAGES;
    if (path->rate == LP_RATE_PCIE && path->release == NULL && bytes > LARGE_PCIE)
        bytes = LARGE_PCIE;
    if (strcmp(path->name, "pinned_both") == 0 && bytes > draft->large / 2)
        bytes = draft->large / 2; /* the GPU's part in it: what comes in, and what is compared of what went out */
    while (bytes > draft->large / most)
        bytes /= 2;
    return bytes;
}

/* ---- cells ---- */

static bool is_visible(const struct draft *draft, int rank)
{
    return rank == LP_EDGE_HOST || draft->machine->rank[rank].at_rank0 >= 0;
}

static bool all_visible(const struct draft *draft, const struct lp_cell *cell)
{
    for (int i = 0; i < cell->nedges; i++)
        if (!is_visible(draft, cell->edges[i].src) || !is_visible(draft, cell->edges[i].dst))
            return false;
    return true;
}

/* Which crew can do it. GPUs that are hidden from rank 0 are reached from their own ranks' processes, by paths that can. */
static struct lp_copy_group *group_for(const struct draft *draft, const struct lp_path *path, const struct lp_cell *cell, bool ipc,
                                       const char **skip)
{
    *skip = "";
    if (ipc || draft->one == draft->ipc)
        return draft->ipc;
    if (all_visible(draft, cell))
        return draft->one;
    if (path->flags & LP_PATH_PEER || path->load || path->flags & LP_PATH_LOCAL)
        return draft->ipc;
    *skip = "peer GPU not visible to this process (CUDA_VISIBLE_DEVICES), and this way needs both in one";
    return draft->one;
}

static void say_too_large(const struct draft *draft, size_t bytes, char *buf, size_t cap)
{
    char need[32], have[32];

    snprintf(buf, cap, "needs two buffers of %s on every rank, %s can be had", lp_format_about(bytes, need, sizeof(need)),
             lp_format_about(lp_machine_least_memory(draft->machine), have, sizeof(have)));
}

static enum lp_status add(struct draft *draft, const struct lp_step *step, const struct lp_edge *edges, int nedges, size_t bytes,
                          bool ipc)
{
    const struct lp_path *path = path_of(step);
    bool own = draft->options->p2p; /* else -n, -w and -c are the collectives' */
    struct lp_cell cell = {.kind = LP_COPY,
                           .dtype = LP_FLOAT,
                           .root = -1,
                           .timing = step->sizes == LP_AT_ISOLATED ? LP_ISOLATED : LP_QUEUED,
                           .nedges = nedges,
                           .warmup = own ? (int)draft->options->warmup : 0,
                           .iters = step->sizes == LP_AT_TURNS ? TURNS_ITERS
                                    : own                      ? (int)draft->options->iters
                                                               : 0,
                           .checks = own                      ? (int)draft->options->checks
                                     : draft->options->checks ? 1
                                                              : 0};
    struct lp_copy_group *group;
    struct lp_planned *planned;
    const char *skip;

    memcpy(cell.edges, edges, (size_t)nedges * sizeof(*edges));
    snprintf(cell.op, sizeof(cell.op), "%s", step->path);
    snprintf(cell.library, sizeof(cell.library), "%s", draft->machine->device);
    snprintf(cell.buffers, sizeof(cell.buffers), "plain");
    snprintf(cell.pattern, sizeof(cell.pattern), "%s", step->pattern);
    cell.requested_bytes = cell.size_bytes = bytes ? bytes : large_for(draft, path, &cell);
    cell.count = cell.requested_bytes / lp_dtype_size(LP_FLOAT);
    group = group_for(draft, path, &cell, ipc, &skip);
    snprintf(cell.processes, sizeof(cell.processes), "%s", group->one_worker ? "one" : "ipc");
    planned = lp_planned_append(draft->list ? draft->list : &group->copies);
    if (!planned)
        return LP_ERR_MEMORY;
    planned->cell = cell;
    snprintf(planned->skip, sizeof(planned->skip), "%s", skip);
    if (!skip[0] && cell.requested_bytes > draft->arena)
        say_too_large(draft, cell.requested_bytes, planned->skip, sizeof(planned->skip));
    return LP_OK;
}

static size_t fixed_size(const struct draft *draft, const struct lp_step *step)
{
    size_t bytes = step->sizes == LP_AT_SMALL ? SMALL : step->sizes == LP_AT_TRUTH ? TRUTH : TURNS_BYTES;

    return bytes < draft->large ? bytes : draft->large;
}

/* The step for these two ranks, at every size that it has. */
static enum lp_status add_sizes(struct draft *draft, const struct lp_step *step, int a, int b, bool ipc)
{
    const struct lp_pattern_kind *pattern = lp_pattern_kind_find(step->pattern);
    struct lp_edge edges[LP_MAX_TRANSFERS];
    int n = pattern->edges(draft->machine->nranks, a, b, edges, LP_MAX_TRANSFERS);
    enum lp_status st = LP_OK;

    if (n == 0)
        return LP_OK; /* more at once than there is room for: over 16 GPUs to each other */
    if (step->sizes == LP_AT_LARGE)
        return add(draft, step, edges, n, 0, ipc);
    if (step->sizes == LP_AT_SMALL || step->sizes == LP_AT_TRUTH || step->sizes == LP_AT_TURNS)
        return add(draft, step, edges, n, fixed_size(draft, step), ipc);
    for (size_t bytes = ISOLATED_MIN; step->sizes == LP_AT_ISOLATED && bytes <= ISOLATED_MAX && st == LP_OK; bytes *= ISOLATED_STEP)
        st = add(draft, step, edges, n, bytes, ipc);
    for (size_t i = 0; step->sizes == LP_AT_CURVE && i < draft->ncurve && st == LP_OK; i++)
        st = add(draft, step, edges, n, draft->curve[i], ipc);
    return st;
}

/* ---- who ---- */

/* Is it the first directed pair of its kind? */
static bool stands_for_kind(const struct draft *draft, int src, int dst)
{
    const struct lp_machine *machine = draft->machine;

    for (int a = 0; a < machine->nranks; a++)
        for (int b = 0; b < machine->nranks; b++) {
            if (a == src && b == dst)
                return true;
            if (a != b && machine->kind_of[a][b] == machine->kind_of[src][dst])
                return false;
        }
    return false;
}

static bool takes_pair(const struct draft *draft, const struct lp_step *step, int src, int dst)
{
    bool brief = !draft->options->p2p, sample = step->scope == LP_FOR_KINDS || (brief && step->depth == LP_SAMPLED);

    if (sample && !draft->options->all_pairs)
        return stands_for_kind(draft, src, dst);
    return step->scope != LP_FOR_TWOS || src < dst;
}

static enum lp_status add_pairs(struct draft *draft, const struct lp_step *step, bool ipc)
{
    enum lp_status st = LP_OK;

    for (int src = 0; src < draft->machine->nranks; src++)
        for (int dst = 0; dst < draft->machine->nranks && st == LP_OK; dst++)
            if (src != dst && takes_pair(draft, step, src, dst))
                st = add_sizes(draft, step, src, dst, ipc);
    return st;
}

static enum lp_status add_step(struct draft *draft, const struct lp_step *step, bool ipc)
{
    enum lp_status st = LP_OK;

    if (step->depth == LP_FULL && !draft->options->p2p)
        return LP_OK;
    if (step->scope == LP_FOR_ALL || step->scope == LP_FOR_GPUS) {
        bool ring = strcmp(step->pattern, "ring") == 0;

        if (draft->machine->nranks < (ring ? 2 : 3))
            return LP_OK; /* nobody, or the same as one way or both ways */
        for (int r = 0; r < (step->scope == LP_FOR_ALL ? 1 : draft->machine->nranks) && st == LP_OK; r++)
            st = add_sizes(draft, step, r, -1, ipc);
        return st;
    }
    return add_pairs(draft, step, ipc);
}

static enum lp_status add_steps(struct draft *draft, const struct lp_step *steps, bool ipc)
{
    enum lp_status st = LP_OK;

    for (; steps->path && st == LP_OK; steps++)
        st = add_step(draft, steps, ipc);
    return st;
}

/* Edges between the GPU and the host, or within the GPU. */
static enum lp_status add_reference(struct draft *draft, const struct lp_step *step, int gpu)
{
    const struct lp_edge in = {LP_EDGE_HOST, gpu}, back = {gpu, LP_EDGE_HOST}, both[] = {in, back}, local = {gpu, gpu};
    bool local_path = (path_of(step)->flags & LP_PATH_LOCAL) != 0, to_host = strncmp(step->path, "gpu_to_", 7) == 0;

    if (strcmp(step->pattern, "both_ways") == 0)
        return add(draft, step, both, 2, 0, false);
    return add(draft, step, local_path ? &local : to_host ? &back : &in, 1, 0, false);
}

static enum lp_status add_references(struct draft *draft)
{
    enum lp_status st = LP_OK;

    for (int gpu = 0; gpu < draft->machine->nranks && draft->options->p2p; gpu++)
        for (const struct lp_step *step = lp_steps_references; step->path && st == LP_OK; step++)
            st = add_reference(draft, step, gpu);
    return st;
}

/* ---- the whole ---- */

/* The largest size where it fits: its cells say so where it does not. */
static size_t arena_for(const struct draft *draft)
{
    size_t arena = draft->large, fits = lp_machine_least_memory(draft->machine) / 2;

    for (size_t i = 0; i < draft->ncurve; i++)
        if (draft->curve[i] > arena && draft->curve[i] <= fits)
            arena = draft->curve[i];
    return arena;
}

static struct lp_copy_group *add_group(struct lp_plan *plan, const char *name, bool one_worker, size_t arena)
{
    struct lp_copy_group *group = &plan->group[plan->ngroups++];

    *group = (struct lp_copy_group){.one_worker = one_worker, .arena_bytes = arena};
    snprintf(group->name, sizeof(group->name), "%s", name);
    return group;
}

/* -b, -e, -f and -i are the collectives' in a main run. The largest size is measured for every pair already. */
static enum lp_status make_curve(struct draft *draft, struct lp_reason *why)
{
    const struct lp_options *options = draft->options;
    bool cuda = lp_machine_is_cuda(draft->machine), own = options->p2p;
    size_t min = own && options->min_bytes ? options->min_bytes : (size_t)(cuda ? 64 : 4) << 10;
    size_t max = own && options->max_bytes ? options->max_bytes : draft->large / 2;

    if (min > max && own && options->min_bytes && !options->max_bytes)
        max = min;
    if (min > max)
        min = max;
    return lp_sweep_make(min, max, own ? options->step_bytes : 0,
                         own && options->factor_given ? (size_t)options->factor : CURVE_FACTOR, &draft->curve, &draft->ncurve, why);
}

static enum lp_status fill_cuda(struct draft *draft)
{
    enum lp_status st = add_steps(draft, lp_steps_before_peers, false);

    if (st == LP_OK)
        st = add_references(draft);
    if (st == LP_OK)
        st = add_steps(draft, lp_steps_with_peers, false);
    if (st == LP_OK)
        st = add_steps(draft, lp_steps_curves, false);
    return st == LP_OK ? add_steps(draft, lp_steps_between_processes, true) : st;
}

enum lp_status lp_plan_link(const struct lp_options *options, const struct lp_machine *machine, struct lp_plan *plan,
                            struct lp_reason *why)
{
    bool cuda = lp_machine_is_cuda(machine);
    struct draft draft = {.options = options, .machine = machine, .large = cuda ? LARGE_CUDA : LARGE_HOST};
    enum lp_status st;

    while (2 * draft.large > lp_machine_least_memory(machine) && draft.large > ((size_t)1 << 20))
        draft.large /= 2;
    if (machine->nranks < 2 && options->p2p && !cuda)
        return lp_because(why, LP_ERR_ARG, "one rank on host memory has no link to measure: start two (--ranks 2, mpirun -np 2)");
    if (machine->nranks < 2 && !options->p2p)
        return LP_OK;
    st = make_curve(&draft, why);
    draft.arena = arena_for(&draft);
    if (cuda)
        draft.one = add_group(plan, "link", true, draft.arena);
    draft.ipc = add_group(plan, cuda ? "link-ipc" : "link", false, draft.arena);
    if (!cuda)
        draft.one = draft.ipc;
    if (st == LP_OK)
        st = cuda ? fill_cuda(&draft) : add_steps(&draft, lp_steps_on_host, false);
    free(draft.curve);
    return st;
}

enum lp_status lp_plan_pair(const struct lp_options *options, const struct lp_machine *machine, const struct lp_copy_group *group,
                            struct lp_edge pair, struct lp_planned_list *out)
{
    struct lp_copy_group same = *group;
    struct draft draft = {.options = options,
                          .machine = machine,
                          .large = group->arena_bytes,
                          .arena = group->arena_bytes,
                          .one = &same,
                          .ipc = &same,
                          .list = out};
    enum lp_status st = make_curve(&draft, NULL);

    for (const struct lp_step *step = lp_steps_curves; step->path && st == LP_OK; step++)
        if (step->depth != LP_FULL || options->p2p)
            st = add_sizes(&draft, step, pair.src, pair.dst, false);
    free(draft.curve);
    return st;
}

/* From runs on two H200s: warm-up, checks and at least 8 blocks. */
static double cell_seconds(const struct lp_cell *cell)
{
    const struct lp_path *path = lp_path_find(cell->op);

    if (cell->timing == LP_ISOLATED)
        return 0.05;
    if (cell->requested_bytes < LARGE_PAGES)
        return 0.03;
    return path && path->rate == LP_RATE_PCIE ? 0.15 : 0.06;
}

double lp_plan_copies_seconds(const struct lp_planned_list *copies)
{
    double seconds = 0.0;

    for (size_t i = 0; i < copies->n; i++)
        if (!copies->item[i].skip[0])
            seconds += cell_seconds(&copies->item[i].cell);
    return seconds;
}
