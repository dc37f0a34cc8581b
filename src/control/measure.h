/* One cell on one crew: warm up, check, time, check, and the record that comes of it. */
#ifndef LP_CONTROL_MEASURE_H
#define LP_CONTROL_MEASURE_H

#include "control/crew.h"
#include "model/record.h"

struct lp_limits {
    int64_t init_ns;   /* of a start-up step */
    int64_t cell_ns;   /* least limit of a step of a cell */
    int64_t end_ns;    /* for a crew to leave by itself */
    double slowness;   /* of this machine; already in the above, used for estimates */
    double budget_us;  /* for the timed blocks of a cell */
    double copy_us;    /* for those of a copy: its time is steadier than a collective's */
    double latency_us; /* for the samples of an isolated copy */
};

/* Where the time of a variant went. */
struct lp_seconds {
    double start, init, measure, check, end;
};

/* The outcome that a loss gives a cell: what does not fit is skipped, what the library cannot do is unsupported. */
enum lp_outcome lp_outcome_of_loss(const struct lp_loss *loss);

/*
 * Measures the cell. *out is filled in any case (outcome, reason, and whatever was measured until then), except variant,
 * repeat, round, link_gbps, link_same_gbps and library_path, which are the caller's. False when the run itself is at an end
 * (signal, agent gone): then there is no record. The crew is broken after hang, crash and failed (lp_crew_usable). clock and
 * seconds: for the phases. iteration: number of the next check; goes up.
 */
bool lp_measure_cell(struct lp_crew *crew, const struct lp_clock *clock, const struct lp_cell *cell, const struct lp_limits *limits,
                     uint32_t *iteration, struct lp_seconds *seconds, struct lp_record *out);

/* Runs the cell once, in its mode and buffers, and times nothing. False when the crew did not do it; it may be broken then. */
bool lp_measure_once(struct lp_crew *crew, const struct lp_cell *cell, const struct lp_limits *limits);

#endif
