/*
 * What losses have in common: the one fact that tells most about them, and what to look at; and figures that cannot be right
 * (judge/self_check.h). From records only; nothing is changed for the user.
 */
#ifndef LP_JUDGE_HINTS_H
#define LP_JUDGE_HINTS_H

#include "model/result.h"

/* A list of sentences, empty where there is nothing to say. New reference. */
json_t *lp_hints(const struct lp_result *result);

#endif
