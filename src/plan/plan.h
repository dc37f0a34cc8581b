/* The whole run before anything is measured: copies, cells, variants, memory and time. */
#ifndef LP_PLAN_PLAN_H
#define LP_PLAN_PLAN_H

#include "machine/survey.h"
#include "model/variant.h"
#include "plan/locks.h"
#include "plan/options.h"

/* A cell, and why it is not tried when that is known now. */
struct lp_planned {
    struct lp_cell cell;
    char skip[256]; /* "": it is tried */
};

struct lp_planned_list {
    struct lp_planned *item;
    size_t n;
};

/* Copies that one kind of crew measures. */
struct lp_copy_group {
    char name[LP_NAME_MAX]; /* for logs: "link-ipc" */
    bool one_worker;        /* one worker opens all GPUs; else one per rank, joined by IPC or shared memory */
    size_t arena_bytes;
    struct lp_planned_list copies;
};

#define LP_MAX_COPY_GROUPS 2
#define LP_OUTLIERS_MAX    4 /* pairs that get curves of their own because they differ from others of their kind */

struct lp_plan {
    int nranks;
    char device[16], library[16];
    struct lp_copy_group group[LP_MAX_COPY_GROUPS];
    int ngroups;
    struct lp_planned_list cells; /* of a variant with the run's own timings; graph cells last */
    struct lp_variants variants;  /* in the order they run: default, ..., default again */
    struct lp_locks locks;
    size_t arena_bytes; /* of the collectives: two on every rank */
    size_t need_bytes;  /* device memory per rank, most that is held at once */
    double seconds;     /* estimate of the whole run */
};

/* The cells of one variant, which may name its own timing modes: those of plan->cells with that timing. */
bool lp_plan_has(const struct lp_variant *variant, const struct lp_options *options, const struct lp_cell *cell);

/*
 * Makes the plan; release it in any case. LP_ERR_ARG for a matrix, size or name that makes no sense, with one line.
 */
enum lp_status lp_plan_make(const struct lp_options *options, const struct lp_machine *machine, struct lp_plan *out,
                            struct lp_reason *why);
void lp_plan_release(struct lp_plan *plan);

/* The curves and latencies of one pair, in the group of the plan, for a pair that turned out to differ. Free out->item.
 * LP_ERR_MEMORY. */
enum lp_status lp_plan_pair(const struct lp_options *options, const struct lp_machine *machine, const struct lp_copy_group *group,
                            struct lp_edge pair, struct lp_planned_list *out);

/* Estimated seconds of one variant. */
double lp_plan_variant_seconds(const struct lp_plan *plan, const struct lp_options *options, const struct lp_variant *variant);

#endif
