/* Peer truth in words: pairs with the same state and reason share a line. What the state is, is judge/peer's business. */
#include "report/view_link_parts.h"

#include "base/units.h"
#include "judge/peer.h"
#include "report/view_title.h"

#include <stdlib.h>
#include <string.h>

#define MOST_UNUSED 8 /* lines */

/* The truth of every directed pair for one number of processes. */
struct truths {
    const char *processes;
    struct lp_peer_truth *item; /* src * n + dst; the diagonal is unused */
};

static size_t pairs_of(const struct lp_link *link)
{
    return (size_t)link->n * (size_t)(link->n - 1);
}

static struct lp_edge edge_at(const struct lp_link *link, size_t index)
{
    return (struct lp_edge){(int)index / link->n, (int)index % link->n};
}

static bool is_diagonal(const struct lp_link *link, size_t index)
{
    return index % (size_t)(link->n + 1) == 0;
}

static size_t end_of(const struct lp_link *link)
{
    return (size_t)link->n * (size_t)link->n;
}

/* item is NULL when memory is out. */
static struct truths find_truths(const struct lp_link *link, const char *processes)
{
    struct truths truths = {.processes = processes, .item = calloc(end_of(link), sizeof(*truths.item))};

    for (size_t i = 0; i < end_of(link) && truths.item; i++)
        if (!is_diagonal(link, i))
            lp_peer_find(link->result, edge_at(link, i), processes, &truths.item[i]);
    return truths;
}

static bool is_plain_yes(const struct lp_peer_truth *truth)
{
    return truth->state == LP_PEER_YES && truth->driver_yes;
}

static bool all_plain(const struct lp_link *link, const struct truths *truths)
{
    for (size_t i = 0; i < end_of(link); i++)
        if (!is_diagonal(link, i) && !is_plain_yes(&truths->item[i]))
            return false;
    return true;
}

static bool same_truth(const struct lp_peer_truth *a, const struct lp_peer_truth *b)
{
    return a->state == b->state && a->driver_yes == b->driver_yes && strcmp(a->reason, b->reason) == 0;
}

static size_t count_same(const struct lp_link *link, const struct truths *truths, size_t index)
{
    size_t n = 0;

    for (size_t i = 0; i < end_of(link); i++)
        n += !is_diagonal(link, i) && same_truth(&truths->item[i], &truths->item[index]);
    return n;
}

static bool was_said(const struct lp_link *link, const struct truths *truths, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!is_diagonal(link, i) && same_truth(&truths->item[i], &truths->item[index]))
            return true;
    return false;
}

/* "all 56 directed pairs", "54 of 56 directed pairs" where it is good news, or each pair by name. */
static void print_pairs(const struct lp_link *link, const struct truths *truths, size_t index, FILE *out)
{
    size_t n = count_same(link, truths, index);
    const char *gap = "";
    char edge[LP_WORD * 2];

    if (n == pairs_of(link) || truths->item[index].state == LP_PEER_YES) {
        fprintf(out, n == pairs_of(link) ? "all %zu directed pairs" : "%zu of %zu directed pairs", n, pairs_of(link));
        return;
    }
    for (size_t i = index; i < end_of(link); i++)
        if (!is_diagonal(link, i) && same_truth(&truths->item[i], &truths->item[index])) {
            fprintf(out, "%s%s", gap, lp_link_edge(link, edge_at(link, i), edge, sizeof(edge)));
            gap = ", ";
        }
}

static void print_truth(const struct lp_link *link, const struct truths *truths, size_t index, FILE *out)
{
    const struct lp_peer_truth *truth = &truths->item[index];
    char line[512];

    fprintf(out, "peer access %s: ", strcmp(truths->processes, "ipc") == 0 ? "between processes (CUDA IPC)" : "in one process");
    if (truth->state != LP_PEER_YES)
        fprintf(out, "%s: ", lp_peer_name(truth));
    else
        fprintf(out, "yes by %schecked copies: ", truth->driver_yes ? "the driver and by " : "");
    print_pairs(link, truths, index, out);
    if (truth->reason[0])
        fprintf(out, ": %s", lp_words_line(truth->reason, line, sizeof(line)));
    fprintf(out, "\n");
}

static void print_truths(const struct lp_link *link, const struct truths *truths, FILE *out)
{
    for (size_t i = 0; i < end_of(link); i++)
        if (!is_diagonal(link, i) && !was_said(link, truths, i))
            print_truth(link, truths, i, out);
}

static void print_unused(const struct lp_link *link, struct lp_edge pair, const struct lp_peer_rates *rates, FILE *out)
{
    char edge[LP_WORD * 2], p2p[LP_WORD], staged[LP_WORD], size[LP_WORD];

    fprintf(out, "peer path probably not used: %s: %s %s GB/s, %s %s GB/s, %s bytes\n",
            lp_link_edge(link, pair, edge, sizeof(edge)), lp_title_path(rates->path),
            lp_words_number(rates->p2p_gbps, p2p, sizeof(p2p)), lp_title_path("ce_staged"),
            lp_words_number(rates->staged_gbps, staged, sizeof(staged)), lp_format_size(rates->bytes, size, sizeof(size)));
}

/* Pairs whose P2P copies are no faster than staged ones: the first of them by name. */
static void print_all_unused(const struct lp_link *link, FILE *out)
{
    struct lp_peer_rates rates;
    size_t n = 0;

    for (size_t i = 0; i < end_of(link); i++)
        if (!is_diagonal(link, i) && lp_peer_used(link->result, edge_at(link, i), &rates) == LP_PEER_NOT_USED && n++ < MOST_UNUSED)
            print_unused(link, edge_at(link, i), &rates, out);
    if (n > MOST_UNUSED)
        fprintf(out, "peer path probably not used: %zu of %zu directed pairs in all\n", n, pairs_of(link));
}

static void print_peers(const struct lp_link *link, const struct truths *one, const struct truths *ipc, FILE *out)
{
    if (all_plain(link, one) && all_plain(link, ipc)) {
        fprintf(
            out,
            "peer access: all %zu directed pairs: yes by the driver, by checked copies in one process and between processes (CUDA "
            "IPC)\n",
            pairs_of(link));
        return;
    }
    print_truths(link, one, out);
    print_truths(link, ipc, out);
}

void lp_link_peers(const struct lp_link *link, FILE *out)
{
    struct truths one, ipc;

    if (link->on_host || link->n < 2)
        return;
    one = find_truths(link, "one");
    ipc = find_truths(link, "ipc");
    if (one.item && ipc.item)
        print_peers(link, &one, &ipc, out);
    else
        fprintf(out, "peer access is missing here: out of memory\n");
    free(one.item);
    free(ipc.item);
    print_all_unused(link, out);
}
