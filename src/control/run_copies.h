/* Measuring lists of copies. Which lists, and what their figures come to, is run_link's. */
#ifndef LP_CONTROL_RUN_COPIES_H
#define LP_CONTROL_RUN_COPIES_H

#include "control/run_parts.h"

/* A group on its way: the crew, what it may do, and how the copies with and without P2P fared. */
struct lp_tour {
    struct lp_job *job;
    const struct lp_copy_group *group;
    struct lp_crew *crew;
    struct lp_opening opening;
    struct lp_seconds seconds;
    bool peers;                   /* the crew has enabled peer access */
    bool refused;                 /* a worker said no to the crew, and would again */
    struct lp_recover history[2]; /* without, with P2P */
    bool over[2];
};

/*
 * A record for every copy of the list, unless the run comes to an end. Crews are started when there is none, and after losses;
 * the last one stays for the next list.
 */
void lp_tour_measure(struct lp_tour *tour, const struct lp_planned_list *list);

/* Ends the crew that is there; none is fine. */
void lp_tour_end_crew(struct lp_tour *tour);

#endif
