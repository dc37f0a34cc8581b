/* A variant in a run: its crews and cells, whatever happens to them. When which one is on is run_rounds'. */
#ifndef LP_CONTROL_RUN_COURSE_H
#define LP_CONTROL_RUN_COURSE_H

#include "control/run_parts.h"

/* A variant while it runs, round by round. One that is interrupted goes on later where it was. */
struct lp_course {
    struct lp_job *job;
    const struct lp_variant *variant;
    json_t *entry; /* of head.variants; borrowed */
    struct lp_crew *crew;
    int last_crew;
    int leaving;               /* its crew that may still be on the way out; 0: none */
    struct lp_opening opening; /* of the crew */
    struct lp_recover history;
    struct lp_seconds seconds;
    size_t outcomes[LP_NOUTCOMES];
    int round;   /* from 1 */
    size_t next; /* cell of the plan, in this round */
    bool done;   /* with this round */
    bool begun;
    size_t first_record;      /* of the result, in the first round */
    struct lp_proven *proven; /* what its logs show; NULL: nothing */
    bool over;                /* no more crews */
    char why[512];            /* why it is over */
    enum lp_outcome rest;     /* outcome of the cells that are left then */
};

/* Goes on with the cells of this round until they are done, the run ends, or default's first hang lets others go first. */
void lp_course_run(struct lp_course *course);

/* Outcome and seconds so far, into the entry. */
void lp_course_note(struct lp_course *course);

/* Default's first crew of a round; the second is a variant like others. */
bool lp_course_is_default(const struct lp_course *course);

bool lp_course_without_p2p(const struct lp_course *course);

#endif
