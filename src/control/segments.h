/*
 * Shared-memory files that a worker has mapped. NCCL unlinks its segments once both sides have them; a worker that is
 * killed in between leaves its file in /dev/shm, where it eats the room of the next crew.
 */
#ifndef LP_CONTROL_SEGMENTS_H
#define LP_CONTROL_SEGMENTS_H

#include <stddef.h>
#include <sys/types.h>

#define LP_MAX_SEGMENTS 64

/* Paths, each owned. All zero is empty. */
struct lp_segments {
    char *path[LP_MAX_SEGMENTS];
    size_t n;
};

/* Adds the files below /dev/shm that the live process maps and that still have a name; only those of NCCL. */
void lp_segments_note(struct lp_segments *segments, pid_t pid);

/* Removes the files, as far as they are still there and this user's, and forgets them. Returns how many it removed. */
size_t lp_segments_remove(struct lp_segments *segments);

#endif
