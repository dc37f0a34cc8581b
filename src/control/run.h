/* The whole job: survey, plan, link, variants, result, tables. */
#ifndef LP_CONTROL_RUN_H
#define LP_CONTROL_RUN_H

#include "control/link.h"
#include "plan/options.h"

/* How many ranks a local run has: one per visible GPU, or two on host memory. LP_ERR_ENV, or LP_ERR_SIGNAL. */
enum lp_status lp_run_count_ranks(const struct lp_options *options, int *nranks, struct lp_reason *why);

/* Runs on the link and returns the exit code of DESIGN section 6. argv is stored as the command. */
int lp_run(const struct lp_options *options, struct lp_link *link, int argc, char **argv);

#endif
