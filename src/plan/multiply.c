/* One variant times lists of values. Where the lists are written is the matrix's business. */
#include "plan/multiply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum lp_status lp_axes_add(struct lp_axes *axes, const char *name, struct lp_reason *why)
{
    for (size_t i = 0; i < axes->n; i++)
        if (strcmp(axes->item[i].name, name) == 0)
            return lp_because(why, LP_ERR_ARG, "sweep: '%s' is there twice", name);
    if (axes->n == LP_MAX_AXES)
        return lp_because(why, LP_ERR_ARG, "sweep: more than %d variables", LP_MAX_AXES);
    axes->item[axes->n] = (struct lp_axis){.name = strdup(name)};
    if (!axes->item[axes->n].name)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    axes->n++;
    return LP_OK;
}

enum lp_status lp_axes_add_value(struct lp_axes *axes, const char *value, struct lp_reason *why)
{
    struct lp_axis *axis = &axes->item[axes->n - 1];
    char **grown = realloc(axis->value, (axis->n + 1) * sizeof(*grown));

    if (grown)
        axis->value = grown;
    if (!grown || (value && !(grown[axis->n] = strdup(value))))
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    if (!value)
        grown[axis->n] = NULL;
    axis->n++;
    return LP_OK;
}

void lp_axes_release(struct lp_axes *axes)
{
    for (size_t i = 0; i < axes->n; i++) {
        for (size_t k = 0; k < axes->item[i].n; k++)
            free(axes->item[i].value[k]);
        free(axes->item[i].value);
        free(axes->item[i].name);
    }
    memset(axes, 0, sizeof(*axes));
}

static enum lp_status check_axes(const struct lp_variant *base, const struct lp_axes *axes, size_t *product, struct lp_reason *why)
{
    *product = 1;
    for (size_t i = 0; i < axes->n; i++) {
        const struct lp_axis *axis = &axes->item[i];
        bool found;

        lp_variant_get(base, axis->name, &found);
        if (found)
            return lp_because(why, LP_ERR_ARG, "variant '%s': %s is in env and in sweep", base->name, axis->name);
        if (axis->n == 0)
            return lp_because(why, LP_ERR_ARG, "variant '%s': sweep of %s has no values", base->name, axis->name);
        if (*product > LP_MAX_PRODUCT / axis->n)
            return lp_because(why, LP_ERR_ARG, "variant '%s': sweep gives more than %d variants", base->name, LP_MAX_PRODUCT);
        *product *= axis->n;
    }
    return LP_OK;
}

static const char *value_words(const char *value)
{
    return !value ? "unset" : value[0] ? value : "empty";
}

/* Combination `which` of the base, appended to the list. */
static enum lp_status add_combination(struct lp_variants *list, const struct lp_variant *base, const struct lp_axes *axes,
                                      size_t which, size_t product, struct lp_reason *why)
{
    enum lp_status st = lp_variants_copy(list, base);
    struct lp_variant *variant;
    char name[1024];
    size_t used = (size_t)snprintf(name, sizeof(name), "%s", base->name);

    if (st != LP_OK)
        return lp_because(why, st, "out of memory");
    variant = &list->item[list->n - 1];
    for (size_t i = 0; i < axes->n && st == LP_OK; i++) {
        const struct lp_axis *axis = &axes->item[i];
        const char *value;

        product /= axis->n;
        value = axis->value[which / product % axis->n];
        st = lp_variant_set(variant, axis->name, value, why);
        if (used < sizeof(name))
            used += (size_t)snprintf(name + used, sizeof(name) - used, "-%s", value_words(value));
    }
    if (st == LP_OK && used >= sizeof(variant->name))
        st = lp_because(why, LP_ERR_ARG, "variant '%.60s...': a generated name has over %zu bytes: shorten '%s'", name,
                        sizeof(variant->name) - 1, base->name);
    if (st == LP_OK)
        memcpy(variant->name, name, used + 1);
    return st;
}

enum lp_status lp_variants_multiply(struct lp_variants *list, const struct lp_axes *axes, struct lp_reason *why)
{
    struct lp_variants base = {0};
    enum lp_status st;
    size_t product;

    if (axes->n == 0)
        return LP_OK;
    st = check_axes(&list->item[list->n - 1], axes, &product, why);
    if (st == LP_OK)
        st = lp_variants_copy(&base, &list->item[list->n - 1]);
    if (st == LP_OK)
        lp_variants_drop_last(list);
    for (size_t which = 0; which < product && st == LP_OK; which++)
        st = add_combination(list, &base.item[0], axes, which, product, why);
    lp_variants_release(&base);
    return st;
}
