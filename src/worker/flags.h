/* The words by which the ranks of a ring tell each other that data has arrived. They are in memory that no data goes to. */
#ifndef LP_WORKER_FLAGS_H
#define LP_WORKER_FLAGS_H

#include <stdint.h>

/* Of one rank; all zero before the first round. Two lines, since two GPUs write at once. */
struct lp_flags {
    uint32_t arrived; /* the last round whose data is here: written by the rank before, read by this one */
    uint32_t unused[31];
    uint32_t passed; /* this rank's own last round */
    uint32_t blocks; /* of its kernel that have copied their part of this round; 0 between rounds */
    uint32_t rest[30];
};

#endif
