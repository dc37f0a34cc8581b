/* A variant: a named set of environment changes and options that a crew runs under. */
#ifndef LP_MODEL_VARIANT_H
#define LP_MODEL_VARIANT_H

#include "model/cell.h"

#include <jansson.h>
#include <stdbool.h>

/* One environment change. value NULL removes the variable; "" sets it empty. Both strings belong to the variant. */
struct lp_env {
    char *name, *value;
};

/* Where a variant makes sense; elsewhere it is skipped, with that as its reason. */
enum lp_when { LP_WHEN_ALWAYS, LP_WHEN_NVLINK, LP_WHEN_PCIE };

struct lp_variant {
    char name[LP_NAME_MAX];
    struct lp_env *env;
    size_t nenv;
    enum lp_when when;
    unsigned timings; /* bit per enum lp_timing; 0: those of the run */
    char *nccl;       /* path of the library; NULL: that of the run */
    int repeat;       /* 0; 1 for the second crew of "default", which shows the noise */
    char skip[512];   /* why it is not run; empty: it is */
};

/* A growing list that owns its variants. All zero is empty. */
struct lp_variants {
    struct lp_variant *item;
    size_t n;
};

/* Appends an empty variant and returns it; NULL when memory is out. Valid until the next add. */
struct lp_variant *lp_variants_add(struct lp_variants *list, const char *name);

/* Adds or replaces one change of the environment; value NULL removes the variable. LP_ERR_ARG for a name that is no variable name.
 */
enum lp_status lp_variant_set(struct lp_variant *variant, const char *name, const char *value, struct lp_reason *why);

/* The value the variant gives: sets *found, and returns NULL both for "removed" and for "not mentioned". */
const char *lp_variant_get(const struct lp_variant *variant, const char *name, bool *found);

/* The variant of that name and repeat, or NULL. */
struct lp_variant *lp_variants_find(const struct lp_variants *list, const char *name, int repeat);

/* Deep copy of a variant to the end of the list; LP_ERR_MEMORY. */
enum lp_status lp_variants_copy(struct lp_variants *list, const struct lp_variant *from);

/* Removes the last variant of a list that is not empty. */
void lp_variants_drop_last(struct lp_variants *list);

void lp_variants_release(struct lp_variants *list);

/* "NCCL_ALGO=Ring NCCL_PROTO unset", or "no change". Returns buf. */
const char *lp_variant_words(const struct lp_variant *variant, char *buf, size_t cap);

/* {"NCCL_ALGO": "Ring", "NCCL_PROTO": null}. New reference. */
json_t *lp_variant_env_json(const struct lp_variant *variant);

/* "default", and "default again" for its second crew. Returns buf. */
const char *lp_variant_label(const char *name, int repeat, char *buf, size_t cap);

const char *lp_when_name(enum lp_when when); /* "always", "nvlink", "pcie" */

#endif
