/* `sweep` in a run matrix: lists of values that multiply one variant into many. */
#ifndef LP_PLAN_MULTIPLY_H
#define LP_PLAN_MULTIPLY_H

#include "model/variant.h"

#define LP_MAX_AXES    8
#define LP_MAX_PRODUCT 1024

/* A variable and the values it takes; a NULL value removes the variable. All strings are the axis's. */
struct lp_axis {
    char *name;
    char **value;
    size_t n;
};

struct lp_axes {
    struct lp_axis item[LP_MAX_AXES];
    size_t n;
};

/* LP_ERR_ARG for a variable that is there twice or one axis too many, LP_ERR_MEMORY. */
enum lp_status lp_axes_add(struct lp_axes *axes, const char *name, struct lp_reason *why);

/* Adds a value to the last axis. */
enum lp_status lp_axes_add_value(struct lp_axes *axes, const char *value, struct lp_reason *why);

void lp_axes_release(struct lp_axes *axes);

/*
 * Replaces the last variant of the list by one for every combination, the last axis changing fastest, named
 * "NAME-value-value" ("unset" and "empty" for values without text). No axes: nothing changes. LP_ERR_ARG for a name of over
 * 63 bytes, an axis without values, a variable that `env` sets too, or more than LP_MAX_PRODUCT combinations. After an error the
 * list may hold part of the product.
 */
enum lp_status lp_variants_multiply(struct lp_variants *list, const struct lp_axes *axes, struct lp_reason *why);

#endif
