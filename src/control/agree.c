/* Comparing what workers said of themselves. */
#include "control/agree.h"

#include "base/json.h"

#include <string.h>

static bool differs_by_right(const char *name)
{
    return strcmp(name, "CUDA_VISIBLE_DEVICES") == 0 || strncmp(name, "NCCL_DEBUG", 10) == 0;
}

static bool same_value(const json_t *a, const json_t *b, const char *key)
{
    const char *left = lp_json_str(a, key, NULL), *right = lp_json_str(b, key, NULL);

    return left && right ? strcmp(left, right) == 0 : left == right;
}

static void say(struct lp_reason *why, const char *what, const json_t *first, const json_t *other, const char *key, int rank)
{
    const char *left = lp_json_str(first, key, NULL), *right = lp_json_str(other, key, NULL);

    lp_because(why, LP_ERR_ENV, "ranks differ in %s: rank 0 has %s%.150s%s, rank %d has %s%.150s%s", what, left ? "'" : "",
               left ? left : "none", left ? "'" : "", rank, right ? "'" : "", right ? right : "none", right ? "'" : "");
}

/* Keys of either object: one that only the other has counts too. */
static bool same_environment(json_t *first, json_t *other, int rank, struct lp_reason *why)
{
    json_t *all = first ? json_copy(first) : json_object();
    const char *name;
    json_t *value;
    bool same = true;

    json_object_update_missing(all, other);
    json_object_foreach(all, name, value)
    {
        if (!same || differs_by_right(name) || same_value(first, other, name))
            continue;
        same = false;
        say(why, name, first, other, name, rank);
    }
    json_decref(all);
    return same;
}

bool lp_agree(json_t *const *identity, int n, struct lp_reason *why)
{
    /* mixed GPU models are warned of by the survey, and measured */
    static const char *const facts[] = {"CUDA driver", "NCCL version", "NCCL library"};

    for (int i = 1; i < n; i++) {
        if (!same_environment(json_object_get(identity[0], "environment"), json_object_get(identity[i], "environment"), i, why))
            return false;
        for (size_t f = 0; f < sizeof(facts) / sizeof(facts[0]); f++)
            if (!same_value(identity[0], identity[i], facts[f])) {
                say(why, facts[f], identity[0], identity[i], facts[f], i);
                return false;
            }
    }
    return true;
}
