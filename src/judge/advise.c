/* From conclusions to settings. */
#include "judge/advise.h"

#include "base/json.h"
#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- spelling ---- */

static void lower(const char *text, char *buf, size_t cap)
{
    size_t n = 0;

    for (; text[n] && n + 1 < cap; n++)
        buf[n] = (char)tolower((unsigned char)text[n]);
    buf[n] = '\0';
}

bool lp_env_forces_ll128(const json_t *env)
{
    char text[256], *save = NULL;

    lower(lp_json_str(env, "NCCL_PROTO", ""), text, sizeof(text));
    for (char *list = strtok_r(text, ";", &save); list; list = strtok_r(NULL, ";", &save)) {
        const char *names = strchr(list, ':') ? strchr(list, ':') + 1 : list;

        if (names[0] != '^' && strstr(names, "ll128"))
            return true;
    }
    return false;
}

/* A list of algorithms or protocols that can be given to one collective. */
static bool takes_prefix(const char *name, const char *value, const char *collective)
{
    static const char *const collectives[] = {"allreduce", "allgather", "reducescatter", "broadcast", "reduce"};

    if (strcmp(name, "NCCL_ALGO") != 0 && strcmp(name, "NCCL_PROTO") != 0)
        return false;
    for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++)
        if (strcmp(collective, collectives[i]) == 0)
            return !strpbrk(value, ":^");
    return false;
}

/* Can all of it be given to one collective? */
static bool is_per_collective(const json_t *env, const char *collective)
{
    const char *name;
    json_t *item;

    json_object_foreach((json_t *)env, name, item) if (!json_string_value(item) ||
                                                       !takes_prefix(name, json_string_value(item), collective)) return false;
    return true;
}

const char *lp_env_words(const json_t *env, const char *collective, bool per_collective, char *buf, size_t cap)
{
    size_t used = 0;
    const char *name;
    json_t *item;

    buf[0] = '\0';
    json_object_foreach((json_t *)env, name, item)
    {
        const char *value = json_string_value(item), *gap = used ? " " : "";
        char small[256];

        if (used >= cap)
            break;
        if (!value) {
            used += (size_t)snprintf(buf + used, cap - used, "%s%s unset", gap, name);
        } else if (per_collective && takes_prefix(name, value, collective)) {
            lower(value, small, sizeof(small));
            used += (size_t)snprintf(buf + used, cap - used, "%s%s=%s:%s", gap, name, collective, small);
        } else {
            used += (size_t)snprintf(buf + used, cap - used, "%s%s=%s", gap, name, value);
        }
    }
    return buf;
}

/* Lists for one collective came with 2.24; an unknown release is taken for a new one. */
static bool knows_prefixes(const struct lp_result *result)
{
    int major, minor;
    const char *version = lp_json_str(json_object_get(result->head, "versions"), "nccl_loaded", "");

    return sscanf(version, "%d.%d", &major, &minor) != 2 || major > 2 || minor >= 24;
}

/* ---- what is alike ---- */

/* The same but for the placement. */
static bool is_sibling(const struct lp_verdicts *verdicts, size_t a, size_t b)
{
    struct lp_cell like = *verdicts->times.family[a].like;

    like.placement = verdicts->times.family[b].like->placement;
    return lp_cell_same_family(&like, verdicts->times.family[b].like);
}

static bool is_first(const struct lp_verdicts *verdicts, size_t family)
{
    for (size_t f = 0; f < family; f++)
        if (is_sibling(verdicts, f, family))
            return false;
    return true;
}

static bool may_be_advised(const struct lp_setting *setting)
{
    return !setting->wrong && !setting->lost && json_object_size(setting->env) > 0 && !lp_env_forces_ll128(setting->env);
}

/* ---- choosing ---- */

/* The better mean of the two placements; NULL where none is better, or one is worse. */
static const struct lp_verdict *mean_of(const struct lp_verdicts *verdicts, size_t family, size_t setting)
{
    const struct lp_verdict *best = NULL;

    for (size_t f = family; f < verdicts->times.nfamilies; f++) {
        const struct lp_verdict *mean;

        if (!is_sibling(verdicts, family, f))
            continue;
        mean = lp_verdicts_find(verdicts, LP_OF_MEAN, f, 0, setting);
        if (mean && mean->claim.call == LP_WORSE)
            return NULL;
        if (mean && mean->claim.call == LP_BETTER && (!best || mean->claim.ratio > best->claim.ratio))
            best = mean;
    }
    return best;
}

/* Over the tensor-parallel sizes as a whole. */
static bool choose_mean(const struct lp_verdicts *verdicts, struct lp_advice *advice)
{
    size_t from = 0, to = 0;

    for (size_t s = 1; s < verdicts->times.nsettings; s++) {
        const struct lp_verdict *mean = mean_of(verdicts, advice->family, s);

        if (!mean || !may_be_advised(&verdicts->times.setting[s]) || (advice->setting && mean->claim.ratio <= advice->claim.ratio))
            continue;
        lp_tensor_parallel(&verdicts->times.family[mean->family], &from, &to);
        advice->setting = s;
        advice->claim = mean->claim;
        advice->from = verdicts->times.family[mean->family].spot[from].bytes;
        advice->to = verdicts->times.family[mean->family].spot[to].bytes;
    }
    return advice->setting != LP_DEFAULT_SETTING;
}

/* The winner of the range with the most sizes. */
static void choose_range(const struct lp_verdicts *verdicts, const struct lp_ranges *winners, struct lp_advice *advice)
{
    size_t most = 0;

    for (size_t i = 0; i < winners->n; i++) {
        const struct lp_range *range = &winners->item[i];
        const struct lp_family *family = &verdicts->times.family[range->family];

        if (range->claim.call != LP_BETTER || !is_sibling(verdicts, advice->family, range->family) ||
            !may_be_advised(&verdicts->times.setting[range->setting]) || range->to - range->from + 1 <= most)
            continue;
        most = range->to - range->from + 1;
        advice->setting = range->setting;
        advice->claim = range->claim;
        advice->from = family->spot[range->from].bytes;
        advice->to = family->spot[range->to].bytes;
    }
}

/* ---- notes ---- */

static void __attribute__((format(printf, 2, 3))) note(struct lp_advice *advice, const char *fmt, ...)
{
    size_t used = strlen(advice->note);
    va_list args;

    if (used && used + 2 < sizeof(advice->note))
        used += (size_t)snprintf(advice->note + used, sizeof(advice->note) - used, "; ");
    va_start(args, fmt);
    vsnprintf(advice->note + used, sizeof(advice->note) - used, fmt, args);
    va_end(args);
}

/* Sizes of either placement at which the advised setting is slower. */
static void note_worse(const struct lp_verdicts *verdicts, struct lp_advice *advice)
{
    size_t least = SIZE_MAX, most = 0, n = 0;
    char from[32], to[32];

    for (size_t i = 0; i < verdicts->n; i++) {
        const struct lp_verdict *verdict = &verdicts->item[i];
        size_t bytes;

        if (verdict->subject != LP_OF_CELL || verdict->setting != advice->setting || verdict->claim.call != LP_WORSE ||
            !is_sibling(verdicts, advice->family, verdict->family))
            continue;
        bytes = verdicts->times.family[verdict->family].spot[verdict->spot].bytes;
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
        n++;
    }
    if (n)
        note(advice, "slower in %zu cell%s of %s%s%s", n, n == 1 ? "" : "s", lp_format_size(least, from, sizeof(from)),
             most > least ? " to " : "", most > least ? lp_format_size(most, to, sizeof(to)) : "");
}

/* What cannot be given to one collective reaches the others as well. */
static void note_others(const struct lp_verdicts *verdicts, bool prefixes, struct lp_advice *advice)
{
    const struct lp_cell *like = verdicts->times.family[advice->family].like;

    if (prefixes && is_per_collective(verdicts->times.setting[advice->setting].env, like->op))
        return;
    for (size_t i = 0; i < verdicts->n; i++) {
        const struct lp_verdict *verdict = &verdicts->item[i];
        const struct lp_cell *other = verdicts->times.family[verdict->family].like;

        if (verdict->subject != LP_OF_MEAN || verdict->setting != advice->setting || verdict->claim.call != LP_WORSE ||
            other->timing != like->timing || strcmp(other->op, like->op) == 0)
            continue;
        note(advice, "%s gets it too, and is slower: %.3f", other->op, verdict->claim.ratio);
        return;
    }
}

static void note_ll128(const struct lp_verdicts *verdicts, const struct lp_ranges *winners, struct lp_advice *advice)
{
    for (size_t i = 0; i < winners->n; i++) {
        const struct lp_range *range = &winners->item[i];
        const struct lp_setting *setting = &verdicts->times.setting[range->setting];

        if (range->claim.call != LP_BETTER || !is_sibling(verdicts, advice->family, range->family) ||
            !lp_env_forces_ll128(setting->env))
            continue;
        note(advice,
             "%s wins somewhere, but naming LL128 forces it, and where NCCL would not choose it that can corrupt data: not for "
             "production (NCCL_PROTO=^LL128, which excludes it, is safe)",
             setting->name);
        return;
    }
}

static bool any_judged(const struct lp_verdicts *verdicts, size_t family)
{
    for (size_t i = 0; i < verdicts->n; i++)
        if (verdicts->item[i].subject == LP_OF_CELL && is_sibling(verdicts, family, verdicts->item[i].family) &&
            verdicts->item[i].claim.call != LP_NOT_JUDGED && verdicts->item[i].claim.rounds >= LP_JUDGE_ROUNDS)
            return true;
    return false;
}

/* ---- all ---- */

static void advise_one(const struct lp_result *result, const struct lp_verdicts *verdicts, const struct lp_ranges *winners,
                       struct lp_advice *advice)
{
    const struct lp_cell *like = verdicts->times.family[advice->family].like;
    bool prefixes = strcmp(like->library, "nccl") == 0 && knows_prefixes(result);

    if (!any_judged(verdicts, advice->family)) {
        note(advice, "nothing here could be judged");
        return;
    }
    if (!choose_mean(verdicts, advice))
        choose_range(verdicts, winners, advice);
    if (advice->setting) {
        lp_env_words(verdicts->times.setting[advice->setting].env, like->op, prefixes, advice->set, sizeof(advice->set));
        note_worse(verdicts, advice);
        note_others(verdicts, prefixes, advice);
    }
    note_ll128(verdicts, winners, advice);
}

enum lp_status lp_advise(const struct lp_result *result, const struct lp_verdicts *verdicts, const struct lp_ranges *winners,
                         struct lp_advices *out)
{
    memset(out, 0, sizeof(*out));
    if (verdicts->times.rounds < LP_JUDGE_ROUNDS)
        return LP_OK;
    out->item = calloc(verdicts->times.nfamilies + 1, sizeof(*out->item));
    if (!out->item)
        return LP_ERR_MEMORY;
    for (size_t f = 0; f < verdicts->times.nfamilies; f++)
        if (is_first(verdicts, f)) {
            struct lp_advice *advice = &out->item[out->n++];

            advice->family = f;
            advice->claim.ratio = advice->claim.low = advice->claim.high = (double)NAN;
            advise_one(result, verdicts, winners, advice);
        }
    return LP_OK;
}
