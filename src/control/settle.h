/*
 * Between crews: after a kill the driver needs a moment to give the GPU's memory back, and a crew that starts before that
 * measures, or fails, on less.
 */
#ifndef LP_CONTROL_SETTLE_H
#define LP_CONTROL_SETTLE_H

#include "base/clock.h"
#include "machine/survey.h"

struct lp_settle; /* NULL where there are no GPUs or no NVML: then every call is a no-op */

/* Remembers what is in use on the ranks' GPUs before any crew. */
struct lp_settle *lp_settle_create(const struct lp_machine *machine);
void lp_settle_free(struct lp_settle *settle);

/*
 * Waits until no GPU has more than 64 MiB above what was in use at first; at most ten seconds. Returns the rank whose GPU
 * still has more, with how much, or -1.
 */
int lp_settle_wait(struct lp_settle *settle, const struct lp_clock *clock, long long *excess_bytes);

#endif
