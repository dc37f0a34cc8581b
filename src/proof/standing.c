/* What a variant really did, as one word and one sentence; and which variants did the same. */
#include "proof/proof.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const standing_names[] = {
    [LP_EFFECTIVE] = "effective",     [LP_SAME_PATH] = "same path as default",
    [LP_INEFFECTIVE] = "ineffective", [LP_RANKS_DIFFER] = "ranks differ",
    [LP_UNPROVEN] = "unproven",
};

const char *lp_standing_name(enum lp_standing standing)
{
    return standing_names[standing];
}

/* Appends a sentence, with "; " when it is not the first. */
__attribute__((format(printf, 3, 4))) static void add_words(char *buf, size_t cap, const char *fmt, ...)
{
    size_t n = strlen(buf);
    va_list args;

    if (n > 0 && n < cap)
        n += (size_t)snprintf(buf + n, cap - n, "; ");
    if (n >= cap)
        return;
    va_start(args, fmt);
    vsnprintf(buf + n, cap - n, fmt, args);
    va_end(args);
}

/* --- ranks --- */

/* What one rank said of itself, as text; "" when it said nothing. */
static const char *fact_of(const struct lp_nccl_writer *who, int fact, char *buf, size_t cap)
{
    buf[0] = '\0';
    if (fact == 0)
        snprintf(buf, cap, "%s", who->version);
    else if (fact == 1)
        snprintf(buf, cap, "%s", who->network);
    else if (fact == 2 && who->coll_channels >= 0)
        snprintf(buf, cap, "%d", who->coll_channels);
    else if (fact == 3 && who->nvls_channels >= 0)
        snprintf(buf, cap, "%d", who->nvls_channels);
    else if (fact == 4)
        snprintf(buf, cap, "%s", who->cumem_host_failed ? "does not work there" : "no complaint");
    return buf;
}

static void compare_values(const struct lp_nccl_log *log, char *buf, size_t cap)
{
    for (size_t i = 0; i < log->nset; i++)
        for (size_t k = i + 1; k < log->nset; k++)
            if (strcmp(log->set[i].name, log->set[k].name) == 0)
                add_words(buf, cap, "%s: %.100s on one rank, %.100s on another", log->set[i].name, log->set[i].value,
                          log->set[k].value);
}

const char *lp_proof_differences(const struct lp_nccl_log *log, char *buf, size_t cap)
{
    static const char *const facts[] = {"NCCL version", "network", "coll channels", "nvls channels", "cuMem host memory"};

    buf[0] = '\0';
    for (int fact = 0; fact < (int)(sizeof(facts) / sizeof(facts[0])); fact++) {
        const struct lp_nccl_writer *first = NULL;
        char one[64], two[64];

        for (size_t i = 0; i < log->nwriters; i++) {
            const struct lp_nccl_writer *who = &log->writer[i];

            if (who->rank < 0 || !fact_of(who, fact, two, sizeof(two))[0])
                continue;
            if (!first)
                first = who;
            else if (strcmp(fact_of(first, fact, one, sizeof(one)), two) != 0) {
                add_words(buf, cap, "%s: %s on rank %d, %s on rank %d", facts[fact], one, first->rank, two, who->rank);
                break;
            }
        }
    }
    compare_values(log, buf, cap);
    return buf;
}

/* --- paths --- */

enum match { MATCH_SAME, MATCH_UNKNOWN, MATCH_DIFFERENT };

static enum match match_text(const char *a, const char *b)
{
    return !a[0] || !b[0] ? MATCH_UNKNOWN : strcmp(a, b) == 0 ? MATCH_SAME : MATCH_DIFFERENT;
}

static enum match worse(enum match a, enum match b)
{
    return a > b ? a : b;
}

static enum match match_cell(const struct lp_proof_cell *a, const struct lp_proof_cell *b)
{
    enum match match = match_text(a->transport, b->transport);

    if (a->sends && b->sends)
        return match;
    match = worse(match, match_text(a->algorithm, b->algorithm));
    if (a->algorithm[0] && strcmp(a->algorithm, "CopyEngine") == 0)
        return match;
    match = worse(match, match_text(a->protocol, b->protocol));
    if (a->channels == LP_CHANNELS_UNKNOWN || b->channels == LP_CHANNELS_UNKNOWN)
        match = worse(match, MATCH_UNKNOWN);
    else if (a->channels != b->channels || (a->varies && b->varies && strcmp(a->tag, b->tag) != 0))
        match = MATCH_DIFFERENT;
    return match;
}

/* Over all cells that both have; *at: the first with the match that counts. UNKNOWN when there are none. */
static enum match match_cells(const struct lp_proof_crew *a, const struct lp_proof_crew *b, size_t *at)
{
    enum match match = MATCH_SAME;
    bool any = false;

    *at = 0;
    for (size_t i = 0; i < a->ncells && i < b->ncells; i++) {
        enum match one;

        if (a->cell[i].missing || b->cell[i].missing)
            continue;
        one = match_cell(&a->cell[i], &b->cell[i]);
        if (one > match || !any)
            *at = i;
        match = worse(match, one);
        any = true;
    }
    return any ? match : MATCH_UNKNOWN;
}

static enum lp_same all_times(const struct lp_proof_crew *base, const struct lp_proof_crew *crew, const enum lp_same *same)
{
    enum lp_same all = same ? LP_SAME_YES : LP_SAME_UNKNOWN;

    for (size_t i = 0; same && i < crew->ncells; i++) {
        if (base->cell[i].missing || crew->cell[i].missing)
            continue;
        if (same[i] == LP_SAME_NO)
            return LP_SAME_NO;
        if (same[i] == LP_SAME_UNKNOWN)
            all = LP_SAME_UNKNOWN;
    }
    return all;
}

/* --- standing --- */

/* What was not taken as asked, all of it. */
static void add_surprises(const struct lp_proof_crew *crew, struct lp_proof_standing *out)
{
    for (size_t i = 0; i < crew->variables->n; i++) {
        const struct lp_proof_variable *v = &crew->variables->item[i];

        if (v->state == LP_TOOK_OTHER || v->state == LP_TOOK_NOTHING || v->state == LP_TOOK_UNKNOWN)
            add_words(out->words, sizeof(out->words), "%s", v->words);
    }
}

static bool any_variable(const struct lp_proof_crew *crew, enum lp_took state)
{
    for (size_t i = 0; i < crew->variables->n; i++)
        if (crew->variables->item[i].state == state)
            return true;
    return false;
}

static bool ranks_differ(const struct lp_proof_crew *crew, struct lp_proof_standing *out)
{
    for (size_t i = 0; i < crew->variables->n; i++)
        if (crew->variables->item[i].state == LP_TOOK_DIFFERENT)
            add_words(out->words, sizeof(out->words), "%s", crew->variables->item[i].words);
    if (!out->words[0] && crew->log)
        lp_proof_differences(crew->log, out->words, sizeof(out->words));
    return out->words[0];
}

/* A function that NCCL had no algorithm for here, and has one under default. */
static bool lost_algorithm(const struct lp_proof_crew *base, const struct lp_proof_crew *crew, struct lp_proof_standing *out)
{
    for (int i = 0; crew->log && i < crew->log->nno_algorithm; i++) {
        const char *function = crew->log->no_algorithm[i];
        bool always = false;

        for (int k = 0; base->log && k < base->log->nno_algorithm; k++)
            always |= strcmp(base->log->no_algorithm[k], function) == 0;
        if (!always)
            add_words(out->words, sizeof(out->words), "NCCL has no algorithm for %s with it",
                      function[0] ? function : "a collective");
    }
    return out->words[0];
}

static void say_difference(const struct lp_proof_cell *base, const struct lp_proof_cell *here, struct lp_proof_standing *out)
{
    if (match_text(base->transport, here->transport) == MATCH_DIFFERENT)
        add_words(out->words, sizeof(out->words), "%s goes by %s, under default by %s", here->name, here->transport,
                  base->transport);
    if (strcmp(base->tag, here->tag) != 0)
        add_words(out->words, sizeof(out->words), "%s uses %s, under default %s", here->name, here->tag, base->tag);
}

static void same_path(const struct lp_proof_crew *crew, enum lp_same time, struct lp_proof_standing *out)
{
    out->standing = LP_SAME_PATH;
    if (!any_variable(crew, LP_TOOK_NOTHING))
        add_words(out->words, sizeof(out->words), "every cell has default's transport, algorithm, protocol and channels");
    else if (time == LP_SAME_YES) {
        out->standing = LP_INEFFECTIVE;
        add_words(out->words, sizeof(out->words), "path and times are default's");
    } else {
        add_words(out->words, sizeof(out->words), "the path is default's%s", time == LP_SAME_NO ? ", the times are not" : "");
    }
    add_surprises(crew, out);
}

void lp_proof_standing(const struct lp_proof_crew *base, const struct lp_proof_crew *crew, const enum lp_same *same_time,
                       struct lp_proof_standing *out)
{
    size_t at;
    enum match match = match_cells(base, crew, &at);

    memset(out, 0, sizeof(*out));
    if (ranks_differ(crew, out)) {
        out->standing = LP_RANKS_DIFFER;
    } else if (lost_algorithm(base, crew, out) || match == MATCH_DIFFERENT) {
        out->standing = LP_EFFECTIVE;
        if (match == MATCH_DIFFERENT)
            say_difference(&base->cell[at], &crew->cell[at], out);
        add_surprises(crew, out);
    } else if (match == MATCH_SAME) {
        same_path(crew, all_times(base, crew, same_time), out);
    } else {
        out->standing = LP_UNPROVEN;
        if (!crew->log || !crew->log->lines)
            add_words(out->words, sizeof(out->words), "NCCL wrote no log");
        else
            add_words(out->words, sizeof(out->words), "the log does not show the whole path%s%s", crew->ncells ? " of " : "",
                      crew->ncells ? crew->cell[at].name : "");
        add_surprises(crew, out);
    }
}

void lp_proof_groups(const struct lp_proof_crew *crews, size_t n, int *group)
{
    for (size_t i = 0; i < n; i++) {
        size_t at;

        group[i] = match_cells(&crews[i], &crews[i], &at) == MATCH_SAME ? (int)i : -1;
        for (size_t k = 0; k < i && group[i] == (int)i; k++)
            if (group[k] == (int)k && match_cells(&crews[k], &crews[i], &at) == MATCH_SAME)
                group[i] = (int)k;
    }
}

bool lp_proof_only_path(const struct lp_variant *variant)
{
    static const char *const names[] = {"NCCL_P2P_LEVEL",   "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE",
                                        "NCCL_NVLS_ENABLE", "NCCL_ALGO",        "NCCL_PROTO"};

    for (size_t i = 0; i < variant->nenv; i++) {
        bool known = false;

        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
            known |= strcmp(variant->env[i].name, names[k]) == 0;
        if (!known)
            return false;
    }
    return !variant->timings && !variant->nccl;
}
