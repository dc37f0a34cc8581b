/* Who sends to whom and how: channels with their transport, rings and trees. */
#include "proof/nccl_lines.h"

#include "proof/nccl_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_LINKS ((size_t)16384)
#define MAX_RINGS ((size_t)64)
#define MAX_TREES ((size_t)4096)

/* Words that a line cut in the middle of them would end with. */
static bool is_cut_way(const char *way)
{
    static const char *const whole[] = {"P2P/direct pointer", "P2P/CUMEM", "P2P/MNNVL", "P2P/IPC", "P2P/indirect/",
                                        "SHM/direct",         "SHM/CE",    "NET/",      "COLLNET/"};

    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (strlen(way) < strlen(whole[i]) && strncmp(way, whole[i], strlen(way)) == 0)
            return true;
    return false;
}

/* Index into ways of what follows "via"; "unknown" for what does not look like a transport. -1: too many different ones. */
static int way_index(struct lp_nccl_log *log, const char *text)
{
    char way[sizeof(log->ways[0])];
    const char *at = text;
    size_t n = 0;

    if (lp_take(&at, "P2P/direct pointer"))
        n = (size_t)(at - text);
    n += strcspn(text + n, " ");
    if (text[n] || n >= sizeof(way) || !isupper((unsigned char)text[0]) || !strchr(text, '/') || is_cut_way(text))
        text = "unknown";
    snprintf(way, sizeof(way), "%s", text);
    for (int i = 0; i < log->nways; i++)
        if (strcmp(log->ways[i], way) == 0)
            return i;
    if (log->nways == LP_NCCL_WAYS) {
        log->dropped++;
        return -1;
    }
    memcpy(log->ways[log->nways], way, sizeof(way));
    return log->nways++;
}

static void add_link(struct lp_nccl_log *log, const struct lp_nccl_link *link)
{
    struct lp_nccl_link *grown, *have = NULL;

    for (size_t k = 0; k < log->nlinks && !have; k++) {
        struct lp_nccl_link *l = &log->link[(log->last_link + k) % log->nlinks];

        if (l->from == link->from && l->to == link->to && l->conn == link->conn && l->way == link->way)
            have = l;
    }
    if (!have) {
        grown = lp_nccl_room(log, log->link, log->nlinks, sizeof(*grown), MAX_LINKS);
        if (!grown)
            return;
        log->link = grown;
        have = &log->link[log->nlinks++];
        *have = *link;
    }
    have->channels |= link->channels;
    have->send |= link->send;
    have->receive |= link->receive;
    log->last_link = (size_t)(have - log->link);
}

/* "0[1]": rank and device. Old releases have the bus there, in hexadecimal. */
static bool take_rank(const char **at, int *rank)
{
    char device[24];

    return lp_take_range(at, 0, 1 << 20, rank) && lp_take(at, "[") && lp_take_word(at, "", device, sizeof(device)) &&
           lp_take(at, "]");
}

/* "Channel 00/0 : 0[0] -> 1[1] [send] via NET/Socket/0"; shared memory has no "/0". */
bool lp_nccl_link_line(struct lp_nccl_log *log, int writer, const char *at)
{
    struct lp_nccl_link link = {.conn = -1};
    int channel;

    (void)writer;
    if (!lp_take(&at, "Channel ") || !lp_take_range(&at, 0, 63, &channel))
        return false;
    if (lp_take(&at, "/") && !lp_take_range(&at, 0, 63, &link.conn))
        return false;
    if (!lp_take(&at, " : ") || !take_rank(&at, &link.from) || !lp_take(&at, " -> ") || !take_rank(&at, &link.to))
        return false;
    link.send = lp_take(&at, " [send]");
    link.receive = !link.send && lp_take(&at, " [receive]");
    if (!lp_take(&at, " via "))
        return false;
    link.channels = UINT64_C(1) << channel;
    link.way = way_index(log, at);
    if (link.way >= 0)
        add_link(log, &link);
    return true;
}

/* Every rank once; else the line was cut, also by NCCL itself ("..." after 128 characters). */
static bool is_ring(const struct lp_nccl_ring *ring, const struct lp_nccl_writer *who)
{
    bool seen[LP_MAX_RANKS] = {false};

    for (int i = 0; i < ring->n; i++) {
        if (ring->rank[i] >= ring->n || seen[ring->rank[i]])
            return false;
        seen[ring->rank[i]] = true;
    }
    return ring->n > 0 && (!who || who->nranks < 0 || who->nranks == ring->n);
}

/* "Channel 00/24 : 0 1" */
bool lp_nccl_ring_line(struct lp_nccl_log *log, int writer, const char *at)
{
    struct lp_nccl_ring ring = {0}, *grown;
    int rank, rings;

    if (!lp_take(&at, "Channel ") || !lp_take_range(&at, 0, 63, &ring.channel) || !lp_take(&at, "/") ||
        !lp_take_range(&at, 1, 64, &rings) || !lp_take(&at, " :") || ring.channel >= rings)
        return false;
    for (lp_take_blanks(&at); ring.n < LP_MAX_RANKS && lp_take_range(&at, 0, LP_MAX_RANKS - 1, &rank); lp_take_blanks(&at))
        ring.rank[ring.n++] = (short)rank;
    if (*at || !is_ring(&ring, writer < 0 ? NULL : &log->writer[writer]))
        return false;
    if (lp_nccl_log_ring(log, ring.channel))
        return true;
    grown = lp_nccl_room(log, log->ring, log->nrings, sizeof(*grown), MAX_RINGS);
    if (grown) {
        log->ring = grown;
        log->ring[log->nrings++] = ring;
    }
    return true;
}

/* " [0] 1/-1/-1->0->-1" */
static bool take_tree(const char **at, struct lp_nccl_tree *tree)
{
    int channel, down[3], rank, up;
    const char *p = *at;

    if (!lp_take(&p, " [") || !lp_take_range(&p, 0, 63, &channel) || !lp_take(&p, "] "))
        return false;
    for (int i = 0; i < 3; i++)
        if (!lp_take_range(&p, -1, 32767, &down[i]) || !lp_take(&p, i < 2 ? "/" : "->"))
            return false;
    if (!lp_take_range(&p, 0, 32767, &rank) || !lp_take(&p, "->") || !lp_take_range(&p, -1, 32767, &up) || (*p && *p != ' '))
        return false;
    *at = p;
    *tree = (struct lp_nccl_tree){
        .channel = (short)channel, .rank = (short)rank, .up = (short)up, .down = {(short)down[0], (short)down[1], (short)down[2]}};
    return true;
}

/* "Trees [0] 1/-1/-1->0->-1 [1] ...". NCCL cuts it after some 1000 characters, so the last entry of a long one is not believed. */
bool lp_nccl_tree_line(struct lp_nccl_log *log, int writer, const char *at)
{
    struct lp_nccl_tree tree, *grown;
    bool cut = strlen(at) > 900;

    (void)writer;
    if (!lp_take(&at, "Trees"))
        return false;
    while (take_tree(&at, &tree) && (*at || !cut)) {
        grown = lp_nccl_room(log, log->tree, log->ntrees, sizeof(*grown), MAX_TREES);
        if (!grown)
            break;
        log->tree = grown;
        log->tree[log->ntrees++] = tree;
    }
    return true;
}
