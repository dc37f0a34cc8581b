/* Figures of one run that cannot both be right. */
#ifndef LP_JUDGE_SELF_CHECK_H
#define LP_JUDGE_SELF_CHECK_H

#include "model/result.h"

#include <stddef.h>

/*
 * A call by itself holds the wait for its end, which calls back to back do not: isolated takes at least as long as pipelined. A
 * sentence on the cells of one crew where it takes clearly less (nine tenths of its samples below nine tenths of the other's); ""
 * where all is well. Returns buf.
 */
const char *lp_self_check(const struct lp_result *result, char *buf, size_t cap);

#endif
