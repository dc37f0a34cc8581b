/* Time for deadlines: the real monotonic clock, or one that a test moves. Measured times never come from here. */
#ifndef LP_BASE_CLOCK_H
#define LP_BASE_CLOCK_H

#include <stdint.h>

#define LP_SECOND      INT64_C(1000000000)
#define LP_MILLISECOND INT64_C(1000000)

struct lp_clock {
    int64_t (*now_ns)(void *self);
    void *self;
};

/* CLOCK_MONOTONIC. */
extern const struct lp_clock lp_clock_real;

static inline int64_t lp_clock_now(const struct lp_clock *clock)
{
    return clock->now_ns(clock->self);
}

/* Milliseconds until the deadline for poll(): 0 when past, rounded up, at most an hour. */
int lp_clock_poll_ms(const struct lp_clock *clock, int64_t deadline_ns);

/* Wall-clock time as "2026-11-30T16:20:01Z". Returns buf. */
const char *lp_clock_iso(char *buf, unsigned cap);

#endif
