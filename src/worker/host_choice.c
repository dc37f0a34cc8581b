/*
 * Reads NCCL_ALGO and NCCL_P2P_DISABLE by NCCL's rules, so that a variant means the same on host memory. What NCCL would
 * misread without a word is the lint's to refuse.
 */
#include "worker/host_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BROADCAST, REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_REDUCE, NFUNCTIONS };

static const char *const functions[NFUNCTIONS] = {"Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce"};

/* By bit; Tree and Ring are LP_HOST_TREE and LP_HOST_RING, the others are known words that nothing here can do. */
static const char *const algorithms[] = {"Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};

#define NALGORITHMS    (sizeof(algorithms) / sizeof(algorithms[0]))
#define ALL_ALGORITHMS ((1u << NALGORITHMS) - 1)

struct span {
    const char *at;
    size_t bytes;
};

/* Cuts the next piece off *rest; false at the end. Empty pieces are skipped, as NCCL's strtok does. */
static bool next_piece(struct span *rest, char separator, struct span *piece)
{
    while (rest->bytes > 0 && *rest->at == separator)
        *rest = (struct span){rest->at + 1, rest->bytes - 1};
    if (rest->bytes == 0)
        return false;
    piece->at = rest->at;
    piece->bytes = 0;
    while (piece->bytes < rest->bytes && piece->at[piece->bytes] != separator)
        piece->bytes++;
    *rest = (struct span){rest->at + piece->bytes, rest->bytes - piece->bytes};
    return true;
}

/* Index of the word in names, in any case; n when it is none of them. Blanks are part of a word. */
static size_t find_word(struct span word, const char *const *names, size_t n)
{
    size_t i = 0;

    while (i < n && (strlen(names[i]) != word.bytes || strncasecmp(word.at, names[i], word.bytes) != 0))
        i++;
    return i;
}

static enum lp_status not_understood(struct span word, const char *what, const char *text, struct lp_reason *why)
{
    return lp_because(why, LP_ERR_FAILED, "invalid usage: '%.*s' in NCCL_ALGO=%s is %s", (int)word.bytes, word.at, text, what);
}

/* "Ring,Tree" is these, "^Ring" all but these. */
static enum lp_status read_list(struct span list, const char *text, unsigned *mask, struct lp_reason *why)
{
    bool exclude = list.bytes > 0 && *list.at == '^';
    unsigned named = 0;
    struct span word;

    if (exclude)
        list = (struct span){list.at + 1, list.bytes - 1};
    while (next_piece(&list, ',', &word)) {
        size_t i = find_word(word, algorithms, NALGORITHMS);

        if (i == NALGORITHMS)
            return not_understood(word, "no algorithm", text, why);
        named |= 1u << i;
    }
    *mask = exclude ? ALL_ALGORITHMS & ~named : named;
    return LP_OK;
}

/* "list" or "function:list"; without a function it holds for all, and only the first entry may do that. */
static enum lp_status read_entry(struct span entry, const char *text, unsigned masks[NFUNCTIONS], struct lp_reason *why)
{
    struct span rest = entry, function, list;
    size_t first = 0, end = NFUNCTIONS;
    enum lp_status st;
    unsigned mask = 0;

    if (!next_piece(&rest, ':', &function))
        return not_understood(entry, "an entry without a list", text, why);
    if (next_piece(&rest, ':', &list)) {
        first = find_word(function, functions, NFUNCTIONS);
        if (first == NFUNCTIONS)
            return not_understood(function, "no function", text, why);
        end = first + 1;
    } else if (entry.at == text) {
        list = function;
    } else {
        return not_understood(entry, "without a function, which only the first entry may be", text, why);
    }
    st = read_list(list, text, &mask, why);
    for (size_t i = first; st == LP_OK && i < end; i++)
        masks[i] = mask;
    return st;
}

/* NCCL takes any integer in C's notation, ignores what follows it, and acts on 1 alone. */
static bool is_one(const char *text)
{
    long long value;

    if (!text || !*text)
        return false;
    errno = 0;
    value = strtoll(text, NULL, 0);
    return errno == 0 && value == 1;
}

enum lp_status lp_host_choose(const char *algo, const char *p2p_disable, struct lp_host_choice *out, struct lp_reason *why)
{
    struct span rest = {algo, algo ? strlen(algo) : 0}, entry;
    unsigned masks[NFUNCTIONS];

    for (size_t i = 0; i < NFUNCTIONS; i++)
        masks[i] = ALL_ALGORITHMS;
    while (next_piece(&rest, ';', &entry)) {
        enum lp_status st = read_entry(entry, algo, masks, why);

        if (st != LP_OK)
            return st;
    }
    *out =
        (struct lp_host_choice){.all_reduce = masks[ALL_REDUCE], .all_gather = masks[ALL_GATHER], .p2p_off = is_one(p2p_disable)};
    return LP_OK;
}
