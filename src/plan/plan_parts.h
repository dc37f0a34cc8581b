/* Between the files of the plan. */
#ifndef LP_PLAN_PLAN_PARTS_H
#define LP_PLAN_PLAN_PARTS_H

#include "plan/plan.h"

/* One more of them, zeroed; NULL when memory is out. */
struct lp_planned *lp_planned_append(struct lp_planned_list *list);

/* Bytes that two arenas together may take on the rank that has least. */
size_t lp_machine_least_memory(const struct lp_machine *machine);

bool lp_machine_is_cuda(const struct lp_machine *machine);

/* The copies of the link: fills groups. LP_ERR_ARG for sizes that make no sense. */
enum lp_status lp_plan_link(const struct lp_options *options, const struct lp_machine *machine, struct lp_plan *plan,
                            struct lp_reason *why);

/* After links and cells: the exchanges of the same size, at the end of the last group. */
enum lp_status lp_plan_same_size(const struct lp_machine *machine, struct lp_plan *plan);

/* Estimated time of those that are tried. */
double lp_plan_copies_seconds(const struct lp_planned_list *copies);

#endif
