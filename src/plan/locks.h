/* Site locks: what no variant may change on this machine, whoever wrote the matrix. */
#ifndef LP_PLAN_LOCKS_H
#define LP_PLAN_LOCKS_H

#include "model/variant.h"

struct lp_lock {
    char name[128];
    char value[256]; /* must stay; "" with has_value false: must stay as inherited */
    bool has_value;
};

struct lp_locks {
    struct lp_lock item[64];
    size_t n;
};

/*
 * list: LINKPERF_LOCK's text, NAME or NAME=VALUE separated by blanks or commas (NULL: none). nvls: the inherited value of
 * NCCL_NVLS_ENABLE, or NULL: "0" is always a lock. LP_ERR_ARG for text that is neither.
 */
enum lp_status lp_locks_make(const char *list, const char *nvls, struct lp_locks *out, struct lp_reason *why);

/*
 * Marks a variant that would break a lock as skipped ("site lock ..."). Setting a locked variable to its locked value is
 * fine. With NCCL_NVLS_ENABLE locked to 0, NCCL_ALGO may not name NVLS.
 */
void lp_locks_apply(const struct lp_locks *locks, struct lp_variant *variant);

/* The locked values, to be set in every worker whatever the parent's environment has become: {NAME: value}. New reference. */
json_t *lp_locks_env(const struct lp_locks *locks);

/* ["NCCL_NVLS_ENABLE=0", "NAME"]. New reference. */
json_t *lp_locks_json(const struct lp_locks *locks);

#endif
