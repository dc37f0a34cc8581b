/* Built-in variants, --variant, and what no variant may do. YAML is matrix_yaml's. */
#include "plan/matrix.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *device, *text;
    enum lp_when when;
} builtin[] = {
    {"cuda", "ring: NCCL_ALGO=Ring", LP_WHEN_ALWAYS},
    {"cuda", "tree: NCCL_ALGO=Tree", LP_WHEN_ALWAYS},
    /* P2P off does not switch NVLS off, which uses the same links */
    {"cuda", "p2p-off: NCCL_P2P_DISABLE=1 NCCL_NVLS_ENABLE=0", LP_WHEN_ALWAYS},
    /* on NVLink these two are one path: they show that the level changes nothing, and how much noise looks like a change */
    {"cuda", "p2p-nvl: NCCL_P2P_LEVEL=NVL", LP_WHEN_NVLINK},
    {"cuda", "p2p-pix: NCCL_P2P_LEVEL=PIX", LP_WHEN_PCIE},
    {"cuda", "p2p-phb: NCCL_P2P_LEVEL=PHB", LP_WHEN_PCIE},
    {"cuda", "p2p-sys: NCCL_P2P_LEVEL=SYS", LP_WHEN_ALWAYS},
    {"cuda", "proto-ll: NCCL_PROTO=LL", LP_WHEN_ALWAYS},
    {"cuda", "proto-ll128: NCCL_PROTO=LL128", LP_WHEN_ALWAYS},
    {"cuda", "proto-simple: NCCL_PROTO=Simple", LP_WHEN_ALWAYS},
    {"cuda", "channels-32: NCCL_MIN_NCHANNELS=32 NCCL_MAX_NCHANNELS=32", LP_WHEN_ALWAYS},
    {"host", "ring: NCCL_ALGO=Ring", LP_WHEN_ALWAYS},
    {"host", "tree: NCCL_ALGO=Tree", LP_WHEN_ALWAYS},
    {"host", "p2p-off: NCCL_P2P_DISABLE=1", LP_WHEN_ALWAYS},
};

enum lp_status lp_matrix_builtin(const char *device, struct lp_variants *list)
{
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < sizeof(builtin) / sizeof(builtin[0]) && st == LP_OK; i++)
        if (strcmp(builtin[i].device, device) == 0) {
            st = lp_matrix_add_text(builtin[i].text, list, NULL);
            if (st == LP_OK)
                list->item[list->n - 1].when = builtin[i].when;
        }
    return st;
}

static enum lp_status add_words(struct lp_variant *variant, char *words, struct lp_reason *why)
{
    enum lp_status st = LP_OK;
    char *save = NULL;

    for (char *word = strtok_r(words, " \t", &save); word && st == LP_OK; word = strtok_r(NULL, " \t", &save)) {
        char *equals = strchr(word, '=');

        if (equals)
            *equals = '\0';
        st = lp_variant_set(variant, word, equals ? equals + 1 : NULL, why);
    }
    return st;
}

enum lp_status lp_matrix_add_text(const char *text, struct lp_variants *list, struct lp_reason *why)
{
    size_t name_len = strcspn(text, ":=");
    char *copy = strdup(text);
    struct lp_variant *variant;
    enum lp_status st;

    if (!copy)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    if (text[name_len] == ':' && name_len >= LP_NAME_MAX) {
        free(copy);
        return lp_because(why, LP_ERR_ARG, "--variant '%.80s': a name has at most %d bytes", text, LP_NAME_MAX - 1);
    }
    if (text[name_len] != ':' || name_len == 0) {
        free(copy);
        return lp_because(why, LP_ERR_ARG, "--variant '%s': write it as 'name: NCCL_X=value ...'", text);
    }
    copy[name_len] = '\0';
    variant = lp_variants_add(list, copy);
    st = variant ? add_words(variant, copy + name_len + 1, why) : lp_because(why, LP_ERR_MEMORY, "out of memory");
    free(copy);
    return st;
}

/* Variables that linkperf sets for its crews; a variant that did too would measure something else than it says. */
static bool is_ours(const char *name)
{
    static const char *const names[] = {"NCCL_COMM_BLOCKING", "CUDA_VISIBLE_DEVICES", "LD_PRELOAD", "LINKPERF_LOCK"};

    if (strncmp(name, "NCCL_DEBUG", 10) == 0)
        return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* It stands in tables, lists of names and the names of log files. */
static bool is_good_name(const char *name)
{
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f || *p == ',' || *p == '/')
            return false;
    return lp_json_takes(name);
}

static enum lp_status check_env(const struct lp_variant *variant, struct lp_reason *why)
{
    for (size_t i = 0; i < variant->nenv; i++) {
        const struct lp_env *env = &variant->env[i];

        if (is_ours(env->name))
            return lp_because(why, LP_ERR_ARG, "variant '%s': %s is set by linkperf and cannot be part of a variant", variant->name,
                              env->name);
        if (env->value && !lp_json_takes(env->value))
            return lp_because(why, LP_ERR_ARG, "variant '%s': the value of %s is not UTF-8", variant->name, env->name);
    }
    return LP_OK;
}

enum lp_status lp_matrix_check(const struct lp_variants *list, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < list->n && st == LP_OK; i++) {
        const struct lp_variant *variant = &list->item[i];

        if (strcmp(variant->name, "default") == 0)
            return lp_because(why, LP_ERR_ARG,
                              "a variant cannot be called 'default': that is the inherited environment, measured "
                              "first and last in any case");
        for (size_t k = 0; k < i; k++)
            if (strcmp(list->item[k].name, variant->name) == 0)
                return lp_because(why, LP_ERR_ARG, "variant '%s' is there twice", variant->name);
        if (!is_good_name(variant->name))
            return lp_because(why, LP_ERR_ARG, "the name of variant %zu is not UTF-8, or has a control character, ',' or '/'",
                              i + 1);
        if (strcmp(variant->name, "default again") == 0)
            return lp_because(why, LP_ERR_ARG, "a variant cannot be called 'default again': that is the second crew of default");
        st = check_env(variant, why);
    }
    return st;
}
