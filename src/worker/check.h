/* Is what arrives what was sent? Every element of an operation's outputs, with data that nothing stale can pass for. */
#ifndef LP_WORKER_CHECK_H
#define LP_WORKER_CHECK_H

#include "worker/bench.h"

struct lp_check {
    uint64_t wrong_elements;
    uint64_t first_offset_bytes; /* from the start of the output; only with wrong_elements > 0 */
};

/*
 * One checked operation: outputs poisoned, inputs filled with the iteration's data, one operation in the bench's mode,
 * every element of this worker's outputs compared. All workers of the crew must call it with the same iteration.
 */
enum lp_status lp_check_once(struct lp_bench *bench, uint32_t iteration, struct lp_check *out, struct lp_reason *why);

/* Fills all inputs, in every slot, so that the outputs of the timed operations can be compared; outputs are poisoned unless they
 * are inputs too. */
enum lp_status lp_check_prepare(struct lp_bench *bench, uint32_t iteration, struct lp_reason *why);

/* Compares the outputs of the last timed operation; only out of place and after lp_check_prepare. */
enum lp_status lp_check_last(struct lp_bench *bench, uint32_t iteration, struct lp_check *out, struct lp_reason *why);

#endif
