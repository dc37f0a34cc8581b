/* Reading site locks and holding variants against them. */
#include "plan/locks.h"

#include "base/json.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

static const struct lp_lock *find(const struct lp_locks *locks, const char *name)
{
    for (size_t i = 0; i < locks->n; i++)
        if (strcmp(locks->item[i].name, name) == 0)
            return &locks->item[i];
    return NULL;
}

static enum lp_status add(struct lp_locks *locks, const char *word, struct lp_reason *why)
{
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    struct lp_lock *lock = &locks->item[locks->n];

    if (locks->n == sizeof(locks->item) / sizeof(locks->item[0]))
        return lp_because(why, LP_ERR_ARG, "LINKPERF_LOCK names more than %zu variables", locks->n);
    if (len == 0 || len >= sizeof(lock->name) || (equals && strlen(equals + 1) >= sizeof(lock->value)) ||
        !(isalpha((unsigned char)word[0]) || word[0] == '_') || strspn(word, NAME_BYTES) < len || !lp_json_takes(word))
        return lp_because(why, LP_ERR_ARG, "LINKPERF_LOCK: '%s' is neither NAME nor NAME=VALUE", word);
    memset(lock, 0, sizeof(*lock));
    memcpy(lock->name, word, len);
    if (find(locks, lock->name))
        return LP_OK;
    lock->has_value = equals != NULL;
    snprintf(lock->value, sizeof(lock->value), "%s", equals ? equals + 1 : "");
    locks->n++;
    return LP_OK;
}

/* Also where LINKPERF_LOCK names the variable alone: as inherited, that is 0. */
static enum lp_status lock_nvls_off(struct lp_locks *locks, struct lp_reason *why)
{
    for (size_t i = 0; i < locks->n; i++)
        if (strcmp(locks->item[i].name, "NCCL_NVLS_ENABLE") == 0 && !locks->item[i].has_value) {
            locks->item[i].has_value = true;
            snprintf(locks->item[i].value, sizeof(locks->item[i].value), "0");
        }
    return add(locks, "NCCL_NVLS_ENABLE=0", why);
}

enum lp_status lp_locks_make(const char *list, const char *nvls, struct lp_locks *out, struct lp_reason *why)
{
    char *copy = strdup(list ? list : ""), *save = NULL;
    enum lp_status st = copy ? LP_OK : lp_because(why, LP_ERR_MEMORY, "out of memory");

    memset(out, 0, sizeof(*out));
    for (char *word = st == LP_OK ? strtok_r(copy, " \t,", &save) : NULL; word && st == LP_OK; word = strtok_r(NULL, " \t,", &save))
        st = add(out, word, why);
    if (st == LP_OK && nvls && strcmp(nvls, "0") == 0)
        st = lock_nvls_off(out, why);
    free(copy);
    return st;
}

/* Does a list of NCCL_ALGO's form ("ring,nvls" or "allreduce:nvls;allgather:ring") ask for NVLS? "^" excludes. */
static bool names_nvls(const char *algo)
{
    char copy[512], *save = NULL;

    snprintf(copy, sizeof(copy), "%s", algo);
    for (char *entry = strtok_r(copy, ";", &save); entry; entry = strtok_r(NULL, ";", &save)) {
        const char *colon = strchr(entry, ':'), *names = colon ? colon + 1 : entry;

        names += strspn(names, " \t");
        if (names[0] != '^' && strcasestr(names, "nvls"))
            return true;
    }
    return false;
}

static bool nvls_is_off(const struct lp_locks *locks)
{
    const struct lp_lock *lock = find(locks, "NCCL_NVLS_ENABLE");

    return lock && lock->has_value && strcmp(lock->value, "0") == 0;
}

void lp_locks_apply(const struct lp_locks *locks, struct lp_variant *variant)
{
    for (size_t i = 0; i < variant->nenv && !variant->skip[0]; i++) {
        const struct lp_env *env = &variant->env[i];
        const struct lp_lock *lock = find(locks, env->name);

        if (lock && !(lock->has_value && env->value && strcmp(lock->value, env->value) == 0))
            snprintf(variant->skip, sizeof(variant->skip), "site lock %s%s%s", lock->name, lock->has_value ? "=" : "", lock->value);
        else if (strcmp(env->name, "NCCL_ALGO") == 0 && env->value && nvls_is_off(locks) && names_nvls(env->value))
            snprintf(variant->skip, sizeof(variant->skip), "site lock NCCL_NVLS_ENABLE=0 (NCCL_ALGO=%.100s names NVLS)",
                     env->value);
    }
}

json_t *lp_locks_env(const struct lp_locks *locks)
{
    json_t *env = json_object();

    for (size_t i = 0; i < locks->n; i++)
        if (locks->item[i].has_value)
            json_object_set_new(env, locks->item[i].name, json_string(locks->item[i].value));
    return env;
}

json_t *lp_locks_json(const struct lp_locks *locks)
{
    json_t *list = json_array();

    for (size_t i = 0; i < locks->n; i++)
        json_array_append_new(
            list, json_sprintf("%s%s%s", locks->item[i].name, locks->item[i].has_value ? "=" : "", locks->item[i].value));
    return list;
}
