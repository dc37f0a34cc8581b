/* A clock that stands still until a test moves it. */
#ifndef LP_TESTS_SCRIPTED_CLOCK_H
#define LP_TESTS_SCRIPTED_CLOCK_H

#include "base/clock.h"

struct scripted_clock {
    int64_t now_ns;
};

static inline int64_t scripted_now(void *self)
{
    return ((struct scripted_clock *)self)->now_ns;
}

static inline struct lp_clock scripted_clock(struct scripted_clock *self)
{
    return (struct lp_clock){.now_ns = scripted_now, .self = self};
}

#endif
