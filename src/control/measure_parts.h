/* Between the files of a measurement. */
#ifndef LP_CONTROL_MEASURE_PARTS_H
#define LP_CONTROL_MEASURE_PARTS_H

#include "control/measure.h"

/* A cell while it is measured. */
struct lp_measuring {
    struct lp_crew *crew;
    const struct lp_cell *cell;
    const struct lp_limits *limits;
    struct lp_record *record;
    struct lp_loss loss;
    double op_us; /* of one operation, slowest rank; first an estimate, then measured */
};

/* Requests to all workers of the crew. False: run->loss says why, and the crew is broken or the cell cannot be. */
bool lp_ask_cell(struct lp_measuring *run);

/* n blocks of k operations, at most LP_MAX_SAMPLES; samples_us gets the slowest rank's, block by block. */
bool lp_ask_blocks(struct lp_measuring *run, const char *purpose, int k, int n, double *samples_us);

/* mode: "prepare", "last", or NULL for n whole iterations from number `first` on. */
bool lp_ask_check(struct lp_measuring *run, const char *mode, int n, uint32_t first);

/* Warms up, and finds out how long one operation takes. */
bool lp_warm_up(struct lp_measuring *run);

/* The timed blocks: samples, summary, K and histogram in the record. */
bool lp_time_cell(struct lp_measuring *run);

#endif
