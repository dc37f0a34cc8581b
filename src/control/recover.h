/* What a bad cell means for the rest of its variant. Pure: the history goes in, the decision comes out. */
#ifndef LP_CONTROL_RECOVER_H
#define LP_CONTROL_RECOVER_H

#include <stdbool.h>

#define LP_BAD_IN_A_ROW 2
#define LP_BAD_IN_ALL   3

/* All zero at the start of a variant. */
struct lp_recover {
    int in_a_row, in_all;
};

/* A cell that ended without costing its crew: any outcome but hang, crash and failed. */
void lp_recover_good(struct lp_recover *history);

/* A cell (or a start-up) that cost its crew. True: start a new crew and go on with the next cell; false: the variant is over. */
bool lp_recover_bad(struct lp_recover *history);

#endif
