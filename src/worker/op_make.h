/* Between op.c and the makers of operations. */
#ifndef LP_WORKER_OP_MAKE_H
#define LP_WORKER_OP_MAKE_H

#include "worker/crewmate.h"

enum lp_status lp_op_from_collective(struct lp_crewmate *mate, const struct lp_cell *cell, struct lp_op *out,
                                     struct lp_reason *why);
enum lp_status lp_op_from_copy(struct lp_crewmate *mate, const struct lp_cell *cell, struct lp_op *out, struct lp_reason *why);

/* A lane on the station: its own stream and marks, or new ones when an earlier lane has those. */
enum lp_status lp_op_add_lane(struct lp_op *op, const struct lp_crewmate *mate, struct lp_station *station, struct lp_reason *why);

#endif
