/* Keeping a run within its time: what a cell may take, from how the run has gone so far. Reads no clock. */
#ifndef LP_CONTROL_PACE_H
#define LP_CONTROL_PACE_H

/* Seconds. "Beside": of a crew, all but the timing of its cells. */
struct lp_pace {
    double left;              /* of the run's budget; may be below 0 */
    double beside;            /* for all crews to come, as the crews so far took */
    double timing;            /* for all cells to come, as the cells so far took */
    double cell_us;           /* what a cell may take now, microseconds */
    double least_us, most_us; /* and at least and at most */
};

/* What a cell may take from now on. Before anything was timed: what it may take now. */
double lp_pace_cell_us(const struct lp_pace *pace);

#endif
