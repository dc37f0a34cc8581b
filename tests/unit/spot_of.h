/* Spots from tables of numbers, for tests of the judge's arithmetic. Include after unit.h. */
#ifndef LP_TESTS_SPOT_OF_H
#define LP_TESTS_SPOT_OF_H

#include "judge/contrast.h"

#include <math.h>

/* One crew's x; setting 0 is default. */
struct crew_x {
    int setting, round;
    double x;
};

/* Four settings, of which the caller may call some default's path; everything may be judged. */
struct spot_of {
    struct lp_setting setting[4];
    struct lp_crew_times times;
    struct lp_crew_time time[64];
    const char *why[4];
    struct lp_spot spot;
};

static inline void spot_init(struct spot_of *of, const struct crew_x *crews, size_t n, int rounds)
{
    memset(of, 0, sizeof(*of));
    of->setting[0].same = true;
    of->times = (struct lp_crew_times){.setting = of->setting, .nsettings = 4, .rounds = rounds};
    of->spot = (struct lp_spot){.bytes = 1024, .time = of->time, .n = n, .why = of->why};
    for (size_t i = 0; i < n; i++)
        of->time[i] =
            (struct lp_crew_time){.setting = crews[i].setting, .round = crews[i].round, .crew = (int)i, .log_us = crews[i].x};
}

static inline bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

#endif
