/* Copies that ran at once, each by itself: its rate, and for how long all of them ran. Pure: from the workers' answers. */
#ifndef LP_CONTROL_EDGES_H
#define LP_CONTROL_EDGES_H

#include "model/record.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * replies[w].lanes of `workers` workers (wire.h) say when each edge of out->cell was busy in each of the blocks of k copies. Fills
 * edge_gbps (bytes by the median of its own times), sum_gbps (all bytes by the median time from the first start to the
 * last end: no more than what really passed) and overlap (median over blocks of: time in which all ran / that time). False, with
 * *out unchanged, when an edge is missing or given twice, or does not have that many blocks.
 */
bool lp_edges_read(json_t *const *replies, int workers, size_t blocks, int k, struct lp_record *out);

#endif
