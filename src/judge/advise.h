/* What to set, spelled as NCCL takes it, from conclusions. Forcing LL128 is never advised: where NCCL would not use it, it can
 * corrupt. */
#ifndef LP_JUDGE_ADVISE_H
#define LP_JUDGE_ADVISE_H

#include "judge/conclude.h"

/* For one collective, type and timing mode, both placements together. */
struct lp_advice {
    size_t family;         /* the first of those it is about */
    size_t setting;        /* what to set; default: keep it */
    size_t from, to;       /* bytes it holds for; 0, 0: there is nothing to say */
    struct lp_claim claim; /* of the setting over those sizes; not judged for default */
    char set[512];         /* "NCCL_ALGO=allreduce:tree"; "" for default */
    char note[768];        /* what else there is to know; "" nothing */
};

struct lp_advices {
    struct lp_advice *item;
    size_t n;
};

/*
 * One advice for each. A setting is advised over the tensor-parallel sizes if its geometric mean there is better in one placement
 * and in none worse; else the winner of the longest range; else default is kept. Never one that had wrong data, that hung or
 * crashed anywhere, or that forces LL128. Empty with fewer than LP_JUDGE_ROUNDS rounds. LP_ERR_MEMORY; free(item) in any case.
 */
enum lp_status lp_advise(const struct lp_result *result, const struct lp_verdicts *verdicts, const struct lp_ranges *winners,
                         struct lp_advices *out);

/* Names LL128 in NCCL_PROTO other than to exclude it, for some collective: that forces it. */
bool lp_env_forces_ll128(const json_t *env);

/*
 * The environment in words: "NCCL_ALGO=allreduce:tree NCCL_X unset". per_collective: lists of algorithms and protocols are given to
 * this collective only (NCCL 2.24 and newer). Lists that exclude, and lists with prefixes, stay as they are. Returns buf.
 */
const char *lp_env_words(const json_t *env, const char *collective, bool per_collective, char *buf, size_t cap);

#endif
