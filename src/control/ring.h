/* The order of NCCL's rings, from what its log says. Pure. */
#ifndef LP_CONTROL_RING_H
#define LP_CONTROL_RING_H

#include <jansson.h>
#include <stdbool.h>

/*
 * rings: [{channel, ranks: [...]}, ...] as the evidence has them. Writes the order that most channels have, from rank 0 on. False
 * where no ring names each of the nranks ranks once, or the order is that of the ranks, forth or back: then the same links
 * are busy as in a ring of ranks.
 */
bool lp_ring_order(const json_t *rings, int nranks, int *order);

#endif
