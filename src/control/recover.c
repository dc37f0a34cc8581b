/* Two bad cells in a row, or three in all, end a variant. */
#include "control/recover.h"

void lp_recover_good(struct lp_recover *history)
{
    history->in_a_row = 0;
}

bool lp_recover_bad(struct lp_recover *history)
{
    history->in_a_row++;
    history->in_all++;
    return history->in_a_row < LP_BAD_IN_A_ROW && history->in_all < LP_BAD_IN_ALL;
}
