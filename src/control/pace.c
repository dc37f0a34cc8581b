/* The time that is left, shared out among the cells that are left. */
#include "control/pace.h"

#include <math.h>

double lp_pace_cell_us(const struct lp_pace *pace)
{
    double share;

    if (!(pace->timing > 0.0))
        return pace->cell_us;
    share = (pace->left - pace->beside) / pace->timing;
    return fmin(fmax(pace->cell_us * share, pace->least_us), pace->most_us);
}
