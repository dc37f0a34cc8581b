/* The sizes of a sweep. */
#ifndef LP_PLAN_SWEEP_H
#define LP_PLAN_SWEEP_H

#include "base/status.h"

#include <stddef.h>

#define LP_MAX_SIZES 4096

/*
 * min, then times factor (or plus step, when step > 0) up to max; strictly increasing, and it stops before a size would
 * overflow. *sizes is the caller's to free. LP_ERR_ARG when that is more than LP_MAX_SIZES sizes.
 */
enum lp_status lp_sweep_make(size_t min, size_t max, size_t step, size_t factor, size_t **sizes, size_t *n, struct lp_reason *why);

#endif
