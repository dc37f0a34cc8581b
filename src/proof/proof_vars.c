/* What NCCL acknowledged of each variable, against what was asked, read as NCCL reads it. */
#include "proof/proof.h"

#include "base/json.h"
#include "proof/nccl_scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const took_names[] = {
    [LP_TOOK_UNKNOWN] = "unknown",          [LP_TOOK_ASKED] = "as asked",  [LP_TOOK_OTHER] = "other",
    [LP_TOOK_NOTHING] = "not acknowledged", [LP_TOOK_SILENTLY] = "silent", [LP_TOOK_DIFFERENT] = "ranks differ",
    [LP_TOOK_NOT_OURS] = "not NCCL's",
};

const char *lp_took_name(enum lp_took took)
{
    return took_names[took];
}

/* What the ranks said of one variable. */
struct said {
    const struct lp_nccl_set *first, *other; /* other: a second value */
    uint64_t writers;                        /* that said anything */
    uint64_t up;                             /* writers whose communicator came up: they have read their settings */
};

static struct said what_was_said(const struct lp_nccl_log *log, const char *name)
{
    struct said said = {0};

    for (size_t i = 0; i < log->nset; i++)
        if (strcmp(log->set[i].name, name) == 0) {
            said.writers |= log->set[i].writers;
            if (!said.first)
                said.first = &log->set[i];
            else
                said.other = &log->set[i];
        }
    for (size_t i = 0; i < log->nwriters; i++)
        said.up |= (uint64_t)log->writer[i].complete << i;
    return said;
}

/* Variables that only one rank reads, so that the others' silence means nothing. */
static bool is_of_one_rank(const char *name)
{
    static const char *const names[] = {"NCCL_COMM_ID", "NCCL_GRAPH_DUMP_FILE", "NCCL_TOPO_DUMP_FILE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Values that NCCL takes without a word. NCCL_P2P_DISABLE is acknowledged since 2.23. */
static bool is_silent(const struct lp_nccl_log *log, const char *name, const char *value)
{
    if (strncmp(name, "NCCL_DEBUG", 10) == 0 || strcmp(name, "NCCL_CONF_FILE") == 0)
        return true;
    return strcmp(name, "NCCL_P2P_DISABLE") == 0 && strtol(value, NULL, 0) == 1 && log->version_code < 22300;
}

/* Both are whole numbers as NCCL reads them (base 0), and the same one. "16M" is none, and neither is "010", which is 8. */
static bool same_number(const char *asked, const char *took)
{
    const char *digits = asked + strspn(asked, " +-");
    char *end;
    long long value;

    errno = 0;
    value = strtoll(asked, &end, 0);
    if (errno || end == asked || *end || (digits[0] == '0' && digits[1] && digits[1] != 'x' && digits[1] != 'X'))
        return false;
    return value == strtoll(took, &end, 10) && *took && !*end;
}

/* NCCL_P2P_LEVEL and its relatives take the numbers of old releases, and say the level they stand for. */
static bool same_level(const char *name, const char *asked, const char *took)
{
    static const char *const levels[] = {"LOC", "PIX", "PXB", "PHB", "SYS", "SYS"};
    size_t n = strlen(name);

    return n > 6 && strcmp(name + n - 6, "_LEVEL") == 0 && asked[0] >= '0' && asked[0] <= '5' && !asked[1] &&
           strcmp(levels[asked[0] - '0'], took) == 0;
}

static bool took_what_was_asked(const char *name, const char *asked, const char *took)
{
    size_t n = strlen(asked);

    if (strncmp(asked, took, n) == 0 && (!took[n] || strcmp(took + n, ".") == 0))
        return true;
    return same_number(asked, took) || same_level(name, asked, took);
}

/* The line in which NCCL refused or changed the value, or NULL. */
static const char *refusal(const struct lp_nccl_log *log, const char *name, const char *value)
{
    static const struct {
        const char *text, *name;
    } unnamed[] = {
        {"User asked for a minimum of", "NCCL_MIN_NCHANNELS"},
        {"User asked for a maximum of", "NCCL_MAX_NCHANNELS"},
        {"minCTAs ", "NCCL_MIN_CTAS"},
        {"maxCTAs ", "NCCL_MAX_CTAS"},
        {"nvlsCTAs ", "NCCL_NVLS_NCHANNELS"},
        {"CTA policy", "NCCL_CTA_POLICY"},
    };
    char parsing[LP_NCCL_VALUE + 32];

    snprintf(parsing, sizeof(parsing), "when parsing \"%s\"", value);
    for (size_t i = 0; i < log->nwarnings; i++) {
        const char *text = log->warning[i].text;

        if ((log->warning[i].setting && lp_mentions(text, name)) ||
            (strncmp(text, "Unrecognized ", 13) == 0 && strstr(text, parsing)))
            return text;
        for (size_t k = 0; k < sizeof(unnamed) / sizeof(unnamed[0]); k++)
            if (log->warning[i].setting && strcmp(unnamed[k].name, name) == 0 && strstr(text, unnamed[k].text))
                return text;
    }
    return NULL;
}

/* "rank 1", or "process 2108" where the log does not say its rank. */
static void writer_name(const struct lp_nccl_log *log, uint64_t writers, char *buf, size_t cap)
{
    for (size_t i = 0; i < log->nwriters; i++)
        if (writers >> i & 1) {
            if (log->writer[i].rank >= 0)
                snprintf(buf, cap, "rank %d", log->writer[i].rank);
            else
                snprintf(buf, cap, "process %ld", log->writer[i].pid);
            return;
        }
    snprintf(buf, cap, "another rank");
}

/* Ranks that took different values, or that came up without saying what others said. */
static bool ranks_differ(const struct lp_nccl_log *log, const struct said *said, const char *name, char *words, size_t cap)
{
    uint64_t silent = said->up & ~said->writers;
    char one[48], two[48];

    if (!said->first || (!said->other && (!silent || !said->writers || is_of_one_rank(name))))
        return false;
    writer_name(log, said->first->writers, one, sizeof(one));
    writer_name(log, said->other ? said->other->writers : silent, two, sizeof(two));
    if (said->other)
        snprintf(words, cap, "%s took %.120s, %s took %.120s", one, said->first->value, two, said->other->value);
    else
        snprintf(words, cap, "%s took %.120s, %s did not acknowledge it", one, said->first->value, two);
    return true;
}

static void join_set(const struct lp_nccl_log *log, const struct said *said, struct lp_proof_variable *out)
{
    const char *refused = refusal(log, out->name, out->asked);
    size_t n;

    snprintf(out->took, sizeof(out->took), "%s", said->first->value);
    out->state = took_what_was_asked(out->name, out->asked, out->took) && !refused ? LP_TOOK_ASKED : LP_TOOK_OTHER;
    if (out->state == LP_TOOK_ASKED && strcmp(out->asked, out->took) == 0)
        snprintf(out->words, sizeof(out->words), "NCCL took %s=%.300s", out->name, out->asked);
    else
        snprintf(out->words, sizeof(out->words), "asked %s=%.200s, NCCL took %.200s", out->name, out->asked, out->took);
    n = strlen(out->words);
    if (!refused)
        return;
    n += (size_t)snprintf(out->words + n, sizeof(out->words) - n, " and said \"%s\"", refused);
    if (strcmp(out->name, "NCCL_NTHREADS") == 0 && log->ring_threads > 0 && n < sizeof(out->words)) {
        snprintf(out->words + n, sizeof(out->words) - n, ", used %d", log->ring_threads);
        snprintf(out->took, sizeof(out->took), "%d", log->ring_threads);
    }
}

static void join_not_set(const struct lp_nccl_log *log, const struct said *said, struct lp_proof_variable *out)
{
    const char *refused = refusal(log, out->name, out->asked);

    if (refused) {
        out->state = LP_TOOK_OTHER;
        snprintf(out->words, sizeof(out->words), "asked %s=%.300s, NCCL said \"%s\"", out->name, out->asked, refused);
    } else if (is_silent(log, out->name, out->asked)) {
        out->state = LP_TOOK_SILENTLY;
        snprintf(out->words, sizeof(out->words), "asked %s=%.300s, which this NCCL never acknowledges", out->name, out->asked);
    } else if (!said->up) {
        snprintf(out->words, sizeof(out->words), "asked %s=%.300s; no rank came up, so what NCCL took is not known", out->name,
                 out->asked);
    } else {
        out->state = LP_TOOK_NOTHING;
        snprintf(out->words, sizeof(out->words), "asked %s=%.300s, NCCL did not acknowledge it", out->name, out->asked);
    }
}

static void join_unset(const struct said *said, struct lp_proof_variable *out)
{
    if (said->first) {
        out->state = LP_TOOK_OTHER;
        snprintf(out->took, sizeof(out->took), "%s", said->first->value);
        snprintf(out->words, sizeof(out->words), "asked %s to be unset, NCCL took %.300s (a conf file?)", out->name, out->took);
    } else if (said->up) {
        out->state = LP_TOOK_ASKED;
        snprintf(out->words, sizeof(out->words), "%s is unset", out->name);
    } else {
        snprintf(out->words, sizeof(out->words), "asked %s to be unset; no rank came up, so what NCCL took is not known",
                 out->name);
    }
}

static void join(const struct lp_nccl_log *log, const struct lp_env *env, struct lp_proof_variable *out)
{
    struct said said;
    char how[384];

    snprintf(out->name, sizeof(out->name), "%s", env->name);
    snprintf(out->asked, sizeof(out->asked), "%s", env->value ? env->value : "");
    out->unset = !env->value;
    if (strncmp(env->name, "NCCL_", 5) != 0) {
        out->state = LP_TOOK_NOT_OURS;
        snprintf(out->words, sizeof(out->words), "%s is not NCCL's variable", out->name);
        return;
    }
    if (!log || !log->lines) {
        snprintf(out->words, sizeof(out->words), "what NCCL took of %s is not known: it wrote no log", out->name);
        return;
    }
    said = what_was_said(log, env->name);
    if (ranks_differ(log, &said, env->name, how, sizeof(how))) {
        out->state = LP_TOOK_DIFFERENT;
        snprintf(out->took, sizeof(out->took), "%s", said.first->value);
        snprintf(out->words, sizeof(out->words), "asked %s%s%.200s: %s", out->name, out->unset ? " unset" : "=", out->asked, how);
    } else if (out->unset) {
        join_unset(&said, out);
    } else if (said.first) {
        join_set(log, &said, out);
    } else {
        join_not_set(log, &said, out);
    }
}

enum lp_status lp_proof_variables(const struct lp_nccl_log *log, const struct lp_variant *variant, struct lp_proof_variables *out)
{
    memset(out, 0, sizeof(*out));
    if (variant->nenv == 0)
        return LP_OK;
    out->item = calloc(variant->nenv, sizeof(*out->item));
    if (!out->item)
        return LP_ERR_MEMORY;
    for (size_t i = 0; i < variant->nenv; i++)
        join(log, &variant->env[i], &out->item[out->n++]);
    return LP_OK;
}

void lp_proof_variables_release(struct lp_proof_variables *variables)
{
    free(variables->item);
    memset(variables, 0, sizeof(*variables));
}

json_t *lp_proof_variables_json(const struct lp_proof_variables *variables)
{
    json_t *object = json_object();

    for (size_t i = 0; i < variables->n; i++) {
        const struct lp_proof_variable *v = &variables->item[i];

        json_object_set_new(object, v->name,
                            json_pack("{s:o, s:o, s:s, s:o}", "asked", lp_json_text(v->unset ? NULL : v->asked), "took",
                                      lp_json_text(v->took[0] ? v->took : NULL), "state", lp_took_name(v->state), "words",
                                      lp_json_text(v->words)));
    }
    return object;
}
