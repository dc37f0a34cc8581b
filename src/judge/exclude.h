/* What takes no part in judging, and why; and which variants are default's path. */
#ifndef LP_JUDGE_EXCLUDE_H
#define LP_JUDGE_EXCLUDE_H

#include "judge/crew_times.h"

/*
 * Fills env, same, wrong and lost of every setting, and why of every spot. Settings, families and spots are there already.
 * LP_ERR_MEMORY.
 */
enum lp_status lp_exclude(const struct lp_result *result, struct lp_crew_times *times);

/*
 * The environment sets nothing but ways for the data, so that with default's path it is default's setting (DESIGN section 5). True
 * also for one that changes nothing.
 */
bool lp_env_only_path(const json_t *env);

#endif
