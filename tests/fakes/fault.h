/*
 * Which fault a worker has: LINKPERF_FAULT=KIND[@NAME=VALUE,...], for tests only. What a fault does is done by the
 * library and device that lists_faulty.c puts around those of host memory.
 *
 *   no-device no-library               the survey finds it so
 *   slow-init stall-init fail-init     when a communicator is made (slow: SECONDS, 1 by default)
 *   stall-coll segv fpe exit0          instead of a collective
 *   slow-coll                          before a collective, SECONDS
 *   corrupt stale                      after a collective: one element is wrong; the output is the previous operation's
 *   stall-copy corrupt-copy            the same for the copies of the link
 *   stall-end                          when the communicator is destroyed
 *   ignore-term                        SIGTERM is ignored from the start, and the worker does not leave
 *
 *   rank=N        only in this rank's worker        size=SIZE, size>=SIZE   only operations of so many bytes
 *   after=N       not in the first N of those       at=first|middle|last    the element to corrupt
 *   seconds=N     of the slow ones
 */
#ifndef LP_FAKES_FAULT_H
#define LP_FAKES_FAULT_H

#include <stdbool.h>
#include <stddef.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_NO_DEVICE,
    FAULT_NO_LIBRARY,
    FAULT_SLOW_INIT,
    FAULT_STALL_INIT,
    FAULT_FAIL_INIT,
    FAULT_SLOW_COLL,
    FAULT_STALL_COLL,
    FAULT_SEGV,
    FAULT_FPE,
    FAULT_EXIT0,
    FAULT_CORRUPT,
    FAULT_STALE,
    FAULT_STALL_COPY,
    FAULT_CORRUPT_COPY,
    FAULT_STALL_END,
    FAULT_IGNORE_TERM,
};

enum fault_where { FAULT_FIRST, FAULT_MIDDLE, FAULT_LAST };

struct fault {
    enum fault_kind kind;
    int rank; /* -1: any */
    size_t size;
    bool at_least; /* size is the least one */
    enum fault_where where;
    long after, seconds;
};

/* This worker's fault, read once. A text that makes no sense ends the process with exit code 99: the test is wrong. */
const struct fault *fault_get(void);

/* Does this worker have that fault? */
bool fault_is(enum fault_kind kind);

/* The same for an operation of so many bytes, which is counted. */
bool fault_hits(enum fault_kind kind, size_t bytes);

/* Never returns. */
void fault_stall(void) __attribute__((noreturn));

/* Spoils one element of the operation's output, where the fault says. */
void fault_spoil(void *output, size_t bytes, size_t element);

#endif
