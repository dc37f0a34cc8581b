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
 *   no-peer fake-peer                  the driver says no; says yes, and enabling peer access fails
 *   corrupt-peer stall-peer            copies between GPUs that go by peer access (or a peer's mapped memory) only
 *   slow-peer                          the same copies take several times as long
 *   no-ipc                             memory of another process cannot be mapped
 *   stall-end                          when the communicator is destroyed
 *   ignore-term                        SIGTERM is ignored from the start, and the worker does not leave
 *
 *   rank=N        only in this rank's worker        size=SIZE, size>=SIZE   only operations of so many bytes
 *   after=N       not in the first N of those       at=first|middle|last    the element to corrupt
 *   seconds=N     of the slow ones
 *   from=N, to=N  only the pair of these GPUs, for the faults of peers
 *
 * LINKPERF_FAKE_GPUS=N makes a device kind "cuda" of N GPUs out of host memory (fake_gpus.c), which a run then takes for GPUs.
 * LINKPERF_FAKE_HIDDEN=1: every worker sees only that of its own rank, as schedulers have it.
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
    FAULT_NO_PEER,
    FAULT_FAKE_PEER,
    FAULT_CORRUPT_PEER,
    FAULT_STALL_PEER,
    FAULT_SLOW_PEER,
    FAULT_NO_IPC,
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
    int from, to; /* -1: any */
};

/* This worker's fault, read once. A text that makes no sense ends the process with exit code 99: the test is wrong. */
const struct fault *fault_get(void);

/* This worker's rank. */
int fault_rank(void);

/* Does this worker have that fault? */
bool fault_is(enum fault_kind kind);

/* The same for an operation of so many bytes, which is counted. */
bool fault_hits(enum fault_kind kind, size_t bytes);

/* ... of a pair of GPUs; nothing is counted. */
bool fault_hits_pair(enum fault_kind kind, int from, int to);

/* Never returns. */
void fault_stall(void) __attribute__((noreturn));

/* Spoils one element of the operation's output, where the fault says. */
void fault_spoil(void *output, size_t bytes, size_t element);

#endif
