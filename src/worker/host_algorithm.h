/*
 * The host library's algorithms: who takes what from whom, step by step. Only numbers; how the bytes then move, and who waits
 * for whom, is lib_host's.
 */
#ifndef LP_WORKER_HOST_ALGORITHM_H
#define LP_WORKER_HOST_ALGORITHM_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What a rank consumes in one step: elements first .. first + count - 1 of the source's receive buffer, or of its send
 * buffer, go to the same place in its own receive buffer, reduced with what it has.
 */
struct lp_host_take {
    int source;
    size_t first, count; /* count 0: nothing */
    bool from_send;
    bool reduce, with_send; /* reduce with its own input rather than with what its receive buffer holds */
};

/*
 * An algorithm is the list of what each rank takes. In one step no rank takes what the source writes in that step, and none
 * gives to two; so a barrier between steps is all the order there is, and who gives what follows from the takes.
 */
struct lp_host_algorithm {
    int (*steps)(int nranks);
    /* For count elements: of the vector, or for a gather of one rank's part. */
    struct lp_host_take (*take)(size_t count, int nranks, int rank, int step);
    bool gathers; /* a rank's own part is put in its place before the first step; otherwise nothing is */
};

extern const struct lp_host_algorithm lp_host_ring_all_reduce, lp_host_tree_all_reduce, lp_host_ring_all_gather;

#endif
