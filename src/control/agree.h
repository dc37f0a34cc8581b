/* Do the workers of a crew agree? Ranks that differ in a setting or a library measure something that has no name, or hang. */
#ifndef LP_CONTROL_AGREE_H
#define LP_CONTROL_AGREE_H

#include "base/status.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * identity[i]: worker i's {environment: {NAME: value}, "NCCL version": ..., ...}. False with a line that names the first
 * difference and both ranks. Variables that differ by right (CUDA_VISIBLE_DEVICES, NCCL_DEBUG_FILE) are not compared.
 */
bool lp_agree(json_t *const *identity, int n, struct lp_reason *why);

#endif
