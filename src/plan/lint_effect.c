/* Values that NCCL reads right and that still do nothing, too much, or not what the name says, on what is measured. */
#include "plan/lint_parts.h"

#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "Ring, Tree" of bits. */
static const char *names_of(const struct lp_nccl_word *words, unsigned bits, char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    for (; words->name && used < cap; words++)
        if (bits & words->bit)
            used += (size_t)snprintf(buf + used, cap - used, "%s%s", used ? ", " : "", words->name);
    return buf;
}

static void append(char *buf, size_t cap, const char *word)
{
    size_t used = strlen(buf);

    snprintf(buf + used, cap - used, "%s%s", used ? ", " : "", word);
}

static bool touches(unsigned on, unsigned group, unsigned there)
{
    return (on & group) == 0 || (on & there) != 0;
}

/* Collectives that a variable does not reach, and why; "" for none. */
struct unreached {
    char sendrecv[128], algos[128], protos[128];
    bool some_reached;
};

static void find_unreached(const struct lp_lint *lint, unsigned on, struct unreached *out)
{
    memset(out, 0, sizeof(*out));
    for (const char *const *name = lint->context->collectives; name && *name; name++) {
        struct lp_lint_reach reach;

        lp_lint_reach(lint, *name, &reach);
        if (!reach.algos) /* nothing is left at all: said at the list */
            continue;
        if (!touches(on, LP_ON_ALGORITHMS, reach.algos))
            append(reach.function ? out->algos : out->sendrecv, sizeof(out->algos), reach.function ? reach.function : *name);
        else if (!touches(on, LP_ON_PROTOCOLS, reach.protos))
            append(out->protos, sizeof(out->protos), reach.function ? reach.function : *name);
        else
            out->some_reached = true;
    }
}

static void look_at_operations(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    struct unreached unreached;
    enum lp_lint_level level;
    char words[160];

    if (!(var->on & (LP_ON_ALGORITHMS | LP_ON_PROTOCOLS)))
        return;
    find_unreached(lint, var->on, &unreached);
    level = unreached.some_reached ? LP_LINT_NOTE : LP_LINT_WARNING;
    if (unreached.sendrecv[0])
        lp_lint_say(lint, level, env, NULL, "no effect on %s, which is made of sends and receives", unreached.sendrecv);
    if (unreached.algos[0] && (var->on & LP_ON_COLLS))
        lp_lint_say(lint, level, env, NULL, "no effect on %s: it acts on %s only, which is not used there", unreached.algos,
                    names_of(lp_nccl_algos, var->on, words, sizeof(words)));
    else if (unreached.algos[0])
        lp_lint_say(lint, level, env, NULL, "no effect on %s: it acts on sends and receives only", unreached.algos);
    if (unreached.protos[0])
        lp_lint_say(lint, level, env, NULL, "no effect on %s: it acts on protocol %s only, which is not used there",
                    unreached.protos, names_of(lp_nccl_protos, var->on, words, sizeof(words)));
}

static bool is_level_loc(const char *level)
{
    return level && (strcmp(level, "LOC") == 0 || (level[0] >= '0' && level[0] <= '9' && lp_nccl_read_number(level).value == 0));
}

static bool p2p_is_off(const struct lp_lint *lint)
{
    return lp_lint_effective_number(lint, "NCCL_P2P_DISABLE", 0) == 1 || is_level_loc(lp_lint_effective(lint, "NCCL_P2P_LEVEL"));
}

static void look_at_transport(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    bool p2p_off = p2p_is_off(lint), shm_off = lp_lint_effective_number(lint, "NCCL_SHM_DISABLE", 0) == 1;
    bool one_host = lint->context->nhosts == 1 && !lp_lint_effective(lint, "NCCL_HOSTID");
    enum lp_lint_level level = one_host ? LP_LINT_WARNING : LP_LINT_NOTE;

    if (var->on & LP_ON_P2P && var->kind == LP_VAR_LEVEL && lp_lint_effective_number(lint, "NCCL_P2P_DISABLE", 0) == 1)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "no effect: NCCL_P2P_DISABLE=1 goes first");
    else if (var->on & LP_ON_P2P && var->kind != LP_VAR_LEVEL && p2p_off)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "no effect: P2P is off");
    if (var->on & LP_ON_SHM && shm_off)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "no effect: transport through host memory is off");
    if ((var->on & LP_ON_HOSTS || (var->on & LP_ON_NET && !(p2p_off && shm_off))) && lint->context->nhosts < 2)
        lp_lint_say(lint, level, env, NULL, "acts between hosts%s",
                    var->on & LP_ON_HOSTS ? " only" : ", or inside one where P2P and host memory are both off");
    if (var->on & LP_ON_START)
        lp_lint_say(lint, LP_LINT_NOTE, env, NULL, "acts on start, logs or health, not on the time of an operation");
    if (var->on & LP_ON_WINDOWS)
        lp_lint_say(lint, LP_LINT_NOTE, env, NULL, "acts on buffers that the program registers, where it does");
}

static bool too_few_for_nvls(const struct lp_lint *lint)
{
    const struct lp_lint_context *context = lint->context;

    return context->nranks && context->nranks <= 2 && context->version && context->version < 22807;
}

/* The entry of the variant, or NULL. */
static const struct lp_env *entry_of(const struct lp_lint *lint, const char *name)
{
    for (size_t i = 0; i < lint->variant->nenv; i++)
        if (strcmp(lint->variant->env[i].name, name) == 0 && lint->variant->env[i].value)
            return &lint->variant->env[i];
    return NULL;
}

/* Is it this list that leaves the collective nothing? Of two lists that agree on nothing, NCCL_PROTO is the one that is told. */
static bool leaves_nothing(const struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_lint_reach *reach)
{
    if (var->kind == LP_VAR_PROTO)
        return reach->algos_alone && !reach->algos;
    return !reach->algos_alone || (!reach->algos && !entry_of(lint, "NCCL_PROTO"));
}

/* NCCL_ALGO or NCCL_PROTO leaves a measured collective nothing. */
static void look_at_pairs(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    int version = lint->context->version;
    char without[160] = "", with[160] = "", fix[192] = "";

    for (const char *const *name = lint->context->collectives; name && *name; name++) {
        struct lp_lint_reach reach;

        lp_lint_reach(lint, *name, &reach);
        if (reach.function && leaves_nothing(lint, var, &reach))
            append(without, sizeof(without), reach.function);
        else if (reach.function && reach.algos)
            append(with, sizeof(with), *name);
    }
    if (!without[0])
        return;
    if (with[0] && !strchr(with, ',') && !strchr(env->value, ':')) /* one collective has it: the list for that one */
        snprintf(fix, sizeof(fix), "%s:%.100s", with, env->value);
    lp_lint_say(lint, LP_LINT_WARNING, env, fix[0] ? fix : NULL, "NCCL has none of these for %s%s%s: %s%s%s%s", without,
                var->kind == LP_VAR_PROTO ? " with the algorithms that are left" : "",
                strcasestr(env->value, "nvls") && too_few_for_nvls(lint) ? " (NVLS takes more than two GPUs before 2.28.7)" : "",
                version == 0      ? "from 2.24 on it refuses the call (unsupported), before it uses Ring without a word"
                : version < 22400 ? "this release uses Ring without a word"
                                  : "it refuses the call (unsupported)",
                fix[0] ? "; for " : "", fix[0] ? with : "", fix[0] ? " alone:" : "");
}

static void look_at_ll128(struct lp_lint *lint, const struct lp_env *env)
{
    const char *const *name = lint->context->collectives;
    struct lp_lint_reach reach = {0};
    bool forced = !name && lp_lint_allowed(env->value, lp_nccl_protos, NULL, lint->context->version).ll128_forced;

    for (; name && *name && !forced; name++) {
        lp_lint_reach(lint, *name, &reach);
        forced = reach.ll128_forced;
    }
    if (forced)
        lp_lint_say(
            lint, LP_LINT_WARNING, env, NULL,
            "%sforces LL128, also where NCCL leaves it off because data may arrive wrong: keep checks on, and do not take it "
            "into production",
            strchr(env->value, '^') ? "a list that excludes others " : "");
}

static void look_at_channels(struct lp_lint *lint, const struct lp_env *env)
{
    static const char *const pairs[][2] = {{"NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS"},
                                           {"NCCL_MIN_CTAS", "NCCL_MAX_CTAS"},
                                           {"NCCL_MIN_P2P_NCHANNELS", "NCCL_MAX_P2P_NCHANNELS"}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (strcmp(env->name, pairs[i][0]) == 0 && lp_lint_effective(lint, pairs[i][1]) &&
            lp_lint_effective_number(lint, pairs[i][0], 0) > lp_lint_effective_number(lint, pairs[i][1], 0))
            lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "more than %s=%s: %s", pairs[i][1], lp_lint_effective(lint, pairs[i][1]),
                        i == 1 ? "that one counts" : "this one counts");
}

/* Sizes that another size limits. */
static void look_at_sizes(struct lp_lint *lint, const struct lp_env *env)
{
    int64_t step = lp_lint_effective_number(lint, "NCCL_BUFFSIZE", 4 << 20) / 8, value = lp_nccl_read_number(env->value).value;
    bool p2p = strcmp(env->name, "NCCL_P2P_NVL_CHUNKSIZE") == 0 || strcmp(env->name, "NCCL_P2P_PCI_CHUNKSIZE") == 0;

    if ((p2p || strcmp(env->name, "NCCL_NVLS_CHUNKSIZE") == 0) && value > step)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "limited to %lld, an eighth of NCCL_BUFFSIZE", (long long)step);
    /* kernels before 2.22 round a Tree chunk up to 64 bytes of each of 576 threads (all_reduce.h of 2.19), past a smaller step */
    if (strcmp(env->name, "NCCL_BUFFSIZE") == 0 && lint->context->version && lint->context->version < 22200 && step < 576 * 64)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "below %d releases before 2.22 can run past the buffer", 8 * 576 * 64);
    if (strcmp(env->name, "NCCL_NSOCKS_PERTHREAD") == 0 && value * lp_lint_effective_number(lint, "NCCL_SOCKET_NTHREADS", 1) > 64)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "limited to 64 sockets, all threads together");
}

static bool is_host(const struct lp_lint *lint)
{
    return lint->context->device && strcmp(lint->context->device, "host") == 0;
}

void lp_lint_effect(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    if (is_host(lint) && strcmp(var->name, "NCCL_ALGO") != 0 && strcmp(var->name, "NCCL_P2P_DISABLE") != 0) {
        lp_lint_say(lint, LP_LINT_NOTE, env, NULL, "host memory goes by NCCL_ALGO and NCCL_P2P_DISABLE only");
        return;
    }
    if (var->kind == LP_VAR_ALGO || var->kind == LP_VAR_PROTO)
        look_at_pairs(lint, var, env);
    if (var->kind == LP_VAR_PROTO)
        look_at_ll128(lint, env);
    look_at_operations(lint, var, env);
    look_at_transport(lint, var, env);
    look_at_channels(lint, env);
    look_at_sizes(lint, env);
}

void lp_lint_together(struct lp_lint *lint)
{
    const struct lp_env *off = entry_of(lint, "NCCL_P2P_DISABLE");
    bool no_nvls = too_few_for_nvls(lint);
    const struct lp_env *nvls = entry_of(lint, "NCCL_NVLS_ENABLE");

    if (is_host(lint))
        return;
    if (!off || !p2p_is_off(lint))
        off = entry_of(lint, "NCCL_P2P_LEVEL");
    if (off && p2p_is_off(lint) && !no_nvls && lp_lint_effective_number(lint, "NCCL_NVLS_ENABLE", 2) != 0)
        lp_lint_say(lint, LP_LINT_NOTE, off, NULL,
                    "NVLS stays on where the machine has it: add NCCL_NVLS_ENABLE=0 for no NVLink at all");
    if (nvls && no_nvls && lp_nccl_read_number(nvls->value).value <= 2)
        lp_lint_say(lint, LP_LINT_WARNING, nvls, NULL, "no effect: before 2.28.7 NCCL never uses NVLS between two GPUs");
}
