/* What the parts of lint share; for them only. */
#ifndef LP_PLAN_LINT_PARTS_H
#define LP_PLAN_LINT_PARTS_H

#include "plan/lint.h"
#include "plan/nccl_vars.h"

/* One variant being looked at. */
struct lp_lint {
    const struct lp_variant *variant;
    const struct lp_lint_context *context;
    struct lp_findings *out;
    enum lp_status st; /* LP_ERR_MEMORY once a finding was lost */
};

/* Adds a finding about a change; fix is the value to write (name=fix is said), or NULL. */
void lp_lint_say(struct lp_lint *lint, enum lp_lint_level level, const struct lp_env *env, const char *fix, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* The value that a worker's NCCL finds: of the variant, else inherited, else of a conf file; NULL when there is none. */
const char *lp_lint_effective(const struct lp_lint *lint, const char *name);

/* The same as a number, or fallback when it is not set or empty. */
int64_t lp_lint_effective_number(const struct lp_lint *lint, const char *name, int64_t fallback);

/* The version in words: "this NCCL (2.20.5)", or otherwise when it is not known. Returns buf. */
const char *lp_lint_this_nccl(const struct lp_lint *lint, const char *otherwise, char *buf, size_t cap);

/* Is the value one that NCCL takes as it is meant? Errors here stop the other checks of this variable. False: an error was added.
 */
bool lp_lint_number(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env);
bool lp_lint_word(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env);
bool lp_lint_list(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env);

/* Most channels of that NCCL: 32, and 64 since 2.25. */
int64_t lp_lint_most_channels(int version);

/* A number that people write with a suffix, exponent or separators, or with a leading 0; false when it is none. */
bool lp_lint_meant_number(const char *text, int64_t *value);

/* What NCCL_ALGO or NCCL_PROTO allows one function (NULL: any), by NCCL's rules: bits of words. */
struct lp_lint_allowed {
    unsigned bits;
    bool ll128_forced; /* LL128 is on because of this list, wherever it would be off */
};
struct lp_lint_allowed lp_lint_allowed(const char *list, const struct lp_nccl_word *words, const char *function, int version);

/* What a measured collective can use under the variant. */
struct lp_lint_reach {
    const char *function;   /* NCCL's name, "AllReduce"; NULL: made of send and receive */
    unsigned algos, protos; /* of pairs that exist */
    unsigned algos_alone;   /* whatever the protocols */
    bool ll128_forced;
};
void lp_lint_reach(const struct lp_lint *lint, const char *collective, struct lp_lint_reach *out);

/* Variables without effect, pairs that a collective lacks, LL128 forced, settings that contradict each other. */
void lp_lint_effect(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env);
void lp_lint_together(struct lp_lint *lint);

/* Names that are none of NCCL's. */
void lp_lint_unknown_name(struct lp_lint *lint, const struct lp_env *env);

/* Everything that several variants have in common; adds to out. */
enum lp_status lp_lint_same(const struct lp_variants *list, const struct lp_lint_context *context, struct lp_findings *out);

#endif
