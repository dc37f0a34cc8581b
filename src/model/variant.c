/* Variants in memory. Where they come from is plan/matrix. */
#include "model/variant.h"

#include "base/json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lp_variant *lp_variants_add(struct lp_variants *list, const char *name)
{
    struct lp_variant *grown = realloc(list->item, (list->n + 1) * sizeof(*grown));
    struct lp_variant *added;

    if (!grown)
        return NULL;
    list->item = grown;
    added = &grown[list->n++];
    memset(added, 0, sizeof(*added));
    snprintf(added->name, sizeof(added->name), "%s", name);
    return added;
}

static bool is_variable_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            return false;
    return true;
}

static struct lp_env *find_env(const struct lp_variant *variant, const char *name)
{
    for (size_t i = 0; i < variant->nenv; i++)
        if (strcmp(variant->env[i].name, name) == 0)
            return &variant->env[i];
    return NULL;
}

enum lp_status lp_variant_set(struct lp_variant *variant, const char *name, const char *value, struct lp_reason *why)
{
    struct lp_env *slot = find_env(variant, name);
    char *copy = value ? strdup(value) : NULL;

    if (value && !copy)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    if (!is_variable_name(name)) {
        free(copy);
        return lp_because(why, LP_ERR_ARG, "variant '%s': '%s' is not the name of a variable (letters, digits and '_')",
                          variant->name, name);
    }
    if (!slot) {
        struct lp_env *grown = realloc(variant->env, (variant->nenv + 1) * sizeof(*grown));
        char *own_name = strdup(name);

        if (grown)
            variant->env = grown;
        if (!grown || !own_name) {
            free(own_name);
            free(copy);
            return lp_because(why, LP_ERR_MEMORY, "out of memory");
        }
        slot = &variant->env[variant->nenv++];
        *slot = (struct lp_env){.name = own_name};
    }
    free(slot->value);
    slot->value = copy;
    return LP_OK;
}

const char *lp_variant_get(const struct lp_variant *variant, const char *name, bool *found)
{
    const struct lp_env *slot = find_env(variant, name);

    *found = slot != NULL;
    return slot ? slot->value : NULL;
}

struct lp_variant *lp_variants_find(const struct lp_variants *list, const char *name, int repeat)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->item[i].name, name) == 0 && list->item[i].repeat == repeat)
            return &list->item[i];
    return NULL;
}

enum lp_status lp_variants_copy(struct lp_variants *list, const struct lp_variant *from)
{
    struct lp_variant source = *from; /* the list may move, and from may lie in it */
    struct lp_variant *to = lp_variants_add(list, source.name);
    enum lp_status st = to ? LP_OK : LP_ERR_MEMORY;

    if (st != LP_OK)
        return st;
    to->when = source.when;
    to->timings = source.timings;
    to->repeat = source.repeat;
    snprintf(to->skip, sizeof(to->skip), "%s", source.skip);
    if (source.nccl && !(to->nccl = strdup(source.nccl)))
        return LP_ERR_MEMORY;
    for (size_t i = 0; i < source.nenv && st == LP_OK; i++)
        st = lp_variant_set(to, source.env[i].name, source.env[i].value, NULL);
    return st;
}

void lp_variants_drop_last(struct lp_variants *list)
{
    struct lp_variant *last = &list->item[--list->n];

    for (size_t i = 0; i < last->nenv; i++) {
        free(last->env[i].name);
        free(last->env[i].value);
    }
    free(last->env);
    free(last->nccl);
}

void lp_variants_release(struct lp_variants *list)
{
    while (list->n > 0)
        lp_variants_drop_last(list);
    free(list->item);
    memset(list, 0, sizeof(*list));
}

const char *lp_variant_words(const struct lp_variant *variant, char *buf, size_t cap)
{
    size_t used = 0;

    snprintf(buf, cap, "%s", variant->nenv ? "" : "no change");
    for (size_t i = 0; i < variant->nenv && used < cap; i++) {
        const struct lp_env *env = &variant->env[i];

        used += (size_t)snprintf(buf + used, cap - used, "%s%s%s%s", i ? " " : "", env->name, env->value ? "=" : " unset",
                                 env->value ? env->value : "");
    }
    return buf;
}

json_t *lp_variant_env_json(const struct lp_variant *variant)
{
    json_t *env = json_object();

    for (size_t i = 0; i < variant->nenv; i++)
        json_object_set_new(env, variant->env[i].name, lp_json_text(variant->env[i].value));
    return env;
}

const char *lp_variant_label(const char *name, int repeat, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s%s", name, repeat ? " again" : "");
    return buf;
}

const char *lp_when_name(enum lp_when when)
{
    static const char *const names[] = {[LP_WHEN_ALWAYS] = "always", [LP_WHEN_NVLINK] = "nvlink", [LP_WHEN_PCIE] = "pcie"};

    return names[when];
}
