/* What NCCL_ALGO, NCCL_PROTO and the machine leave to a collective: pairs of algorithm and protocol, by NCCL's tuning.cc. */
#include "plan/lint_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Algorithms that NCCL has for a function, and linkperf's other ways to write the name. */
static const struct {
    const char *function;
    unsigned algos;
} functions[] = {
    {"AllReduce", LP_ON_RING | LP_ON_TREE | LP_ON_NVLS | LP_ON_NVLS_TREE | LP_ON_COLLNET | LP_ON_COLLNET_CHAIN},
    {"AllGather", LP_ON_RING | LP_ON_NVLS | LP_ON_COLLNET | LP_ON_PAT},
    {"ReduceScatter", LP_ON_RING | LP_ON_NVLS | LP_ON_COLLNET | LP_ON_PAT},
    {"Broadcast", LP_ON_RING},
    {"Reduce", LP_ON_RING},
};

/* Bits of "ring,tree"; what is no name has none. */
static unsigned bits_of(const struct lp_nccl_word *words, const char *text, size_t len)
{
    unsigned bits = 0;

    for (const char *end = text + len; text < end;) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        size_t name_len = (size_t)((comma ? comma : end) - text);
        const struct lp_nccl_word *word = lp_nccl_word_find(words, text, name_len, true);

        bits |= word ? word->bit : 0;
        text += name_len + 1;
    }
    return bits;
}

static unsigned all_of(const struct lp_nccl_word *words)
{
    unsigned bits = 0;

    for (; words->name; words++)
        bits |= words->bit;
    return bits;
}

struct lp_lint_allowed lp_lint_allowed(const char *list, const struct lp_nccl_word *words, const char *function, int version)
{
    struct lp_lint_allowed allowed = {all_of(words), false};
    bool has_functions = version == 0 || version >= 22400;

    for (const char *entry = list; entry && *entry;) {
        size_t len = has_functions ? strcspn(entry, ";") : strlen(entry);
        const char *colon = has_functions ? memchr(entry, ':', len) : NULL, *names = colon ? colon + 1 : entry;
        size_t prefix_len = colon ? (size_t)(colon - entry) : 0;

        if (!colon || (function && strlen(function) == prefix_len && strncasecmp(entry, function, prefix_len) == 0)) {
            bool inverted = names < entry + len && *names == '^';
            unsigned bits = bits_of(words, names + inverted, (size_t)(entry + len - names) - inverted);

            allowed.bits = inverted ? all_of(words) & ~bits : bits;
            /* a list switches LL128 on or off for good; without one NCCL decides by the machine */
            allowed.ll128_forced = (allowed.bits & LP_ON_LL128) != 0;
        }
        entry += len;
        entry += *entry == ';';
    }
    return allowed;
}

/* "all_reduce", "AllReduce", "allreduce". */
static bool same_name(const char *ours, const char *function)
{
    for (; *ours; ours++) {
        if (*ours == '_' || *ours == '-')
            continue;
        if (toupper((unsigned char)*ours) != toupper((unsigned char)*function++))
            return false;
    }
    return *function == '\0';
}

/* Algorithms that this machine and release cannot have, as far as it is known. */
static unsigned out_of_reach(const struct lp_lint *lint)
{
    const struct lp_lint_context *context = lint->context;
    unsigned out = 0;

    if (lp_lint_effective_number(lint, "NCCL_NVLS_ENABLE", 2) == 0)
        out |= LP_ON_NVLS | LP_ON_NVLS_TREE;
    /* nvls.cc, ncclNvlsInit: more than two GPUs were needed up to 2.28.3 */
    if (context->nranks && context->nranks <= 2 && context->version && context->version < 22807)
        out |= LP_ON_NVLS | LP_ON_NVLS_TREE;
    if (context->nhosts == 1)
        out |= LP_ON_NVLS_TREE | LP_ON_COLLNET | LP_ON_COLLNET_CHAIN;
    /* one GPU a host; NCCL_PAT_ENABLE=1 does not ask for that */
    if (context->nhosts && context->nranks > context->nhosts && lp_lint_effective_number(lint, "NCCL_PAT_ENABLE", 2) != 1)
        out |= LP_ON_PAT;
    for (const struct lp_nccl_word *algo = lp_nccl_algos; algo->name; algo++)
        if (context->version && context->version < algo->since)
            out |= algo->bit;
    return out;
}

/* Keeps only what makes a pair: Ring and Tree have every protocol, the others Simple. */
static void keep_pairs(struct lp_lint_reach *reach)
{
    const unsigned any = LP_ON_RING | LP_ON_TREE;
    bool has_any = reach->algos & any;

    if (!(reach->protos & LP_ON_SIMPLE))
        reach->algos &= any;
    if (!has_any)
        reach->protos &= LP_ON_SIMPLE;
    if (!reach->protos)
        reach->algos = 0;
    if (!reach->algos)
        reach->protos = 0;
    reach->ll128_forced = reach->ll128_forced && (reach->protos & LP_ON_LL128);
}

void lp_lint_reach(const struct lp_lint *lint, const char *collective, struct lp_lint_reach *out)
{
    int version = lint->context->version;
    struct lp_lint_allowed algos, protos;

    *out = (struct lp_lint_reach){.algos = LP_ON_SENDRECV, .algos_alone = LP_ON_SENDRECV, .protos = LP_ON_LL | LP_ON_SIMPLE};
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (!same_name(collective, functions[i].function))
            continue;
        algos = lp_lint_allowed(lp_lint_effective(lint, "NCCL_ALGO"), lp_nccl_algos, functions[i].function, version);
        protos = lp_lint_allowed(lp_lint_effective(lint, "NCCL_PROTO"), lp_nccl_protos, functions[i].function, version);
        out->function = functions[i].function;
        out->algos = algos.bits & functions[i].algos & ~out_of_reach(lint);
        out->algos_alone = out->algos;
        out->protos = protos.bits;
        out->ll128_forced = protos.ll128_forced;
        keep_pairs(out);
    }
}
