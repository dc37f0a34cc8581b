/*
 * Elements in host memory: the data of checks and the arithmetic of reductions, for the host device and library. When that
 * happens, streams and ranks are theirs to know.
 */
#ifndef LP_WORKER_HOST_DATA_H
#define LP_WORKER_HOST_DATA_H

#include "worker/device.h"

/* Element i of ptr becomes rank's input i. LP_ERR_MEMORY when there is no room for one period of the pattern. */
enum lp_status lp_host_fill(void *ptr, enum lp_dtype dtype, size_t count, struct lp_pattern pattern, int rank,
                            struct lp_reason *why);

/* Compares bits, so that a negative zero is wrong too; *found is added to as device.h says. */
enum lp_status lp_host_verify(const void *ptr, enum lp_dtype dtype, struct lp_pattern pattern, const struct lp_segment *segments,
                              size_t nsegments, struct lp_mismatch *found, struct lp_reason *why);

/*
 * out[i] = a[i] op b[i]. out may be a or b. half and bfloat16 are rounded to nearest even after every operation, as a GPU
 * does that adds in the type; int32 wraps.
 */
void lp_host_reduce(void *out, const void *a, const void *b, size_t count, enum lp_dtype dtype, enum lp_redop redop);

#endif
