/* The real clock. The scripted one lives with the tests. */
#include "base/clock.h"

#include <time.h>

static int64_t real_now(void *self)
{
    struct timespec ts;

    (void)self;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * LP_SECOND + ts.tv_nsec;
}

const struct lp_clock lp_clock_real = {.now_ns = real_now};

int lp_clock_poll_ms(const struct lp_clock *clock, int64_t deadline_ns)
{
    int64_t left = deadline_ns - lp_clock_now(clock);

    if (left <= 0)
        return 0;
    if (left > 3600 * LP_SECOND)
        left = 3600 * LP_SECOND;
    return (int)((left + LP_MILLISECOND - 1) / LP_MILLISECOND);
}

const char *lp_clock_iso(char *buf, unsigned cap)
{
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    strftime(buf, cap, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return buf;
}
