/* The path of a cell: its choices in the log, and the links they used. */
#include "proof/proof.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Collectives whose size NCCL logs as count of one rank's part; the numeric form has the total for the first two. */
static const char *const by_part[] = {"allgather", "reducescatter", "alltoall", "gather", "scatter"};

/* Collectives that NCCL makes of sends and receives. */
static const char *const of_sends[] = {"alltoall", "gather", "scatter", "sendrecv"};

static bool is_one_of(const char *op, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(op, list[i]) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(op, list) is_one_of(op, list, sizeof(list) / sizeof((list)[0]))

static bool is_of_cell(const struct lp_nccl_selection *selection, const struct lp_cell *cell, int nranks, bool alone)
{
    bool part = selection->form != LP_FORM_NUMBERS && IS_ONE_OF(cell->op, by_part);

    if (selection->function[0] ? strcasecmp(selection->function, cell->op) != 0 : !alone)
        return false;
    return selection->bytes == (part && nranks > 0 ? cell->size_bytes / (size_t)nranks : cell->size_bytes);
}

/* "Ring/LL x1" of one choice. */
static void selection_tag(const struct lp_nccl_selection *selection, char *buf, size_t cap)
{
    size_t n = (size_t)snprintf(buf, cap, "%s", selection->algorithm[0] ? selection->algorithm : "unknown");

    if (selection->protocol[0] && n < cap)
        n += (size_t)snprintf(buf + n, cap - n, "/%s", selection->protocol);
    if (selection->channels > 0 && n < cap)
        snprintf(buf + n, cap - n, " x%d", selection->channels);
}

static void join_text(char *have, size_t cap, const char *text)
{
    if (strcmp(have, text) != 0)
        snprintf(have, cap, "varies");
}

/* One more of the cell's choices. The tag of several lists them, as long as there is room. */
static void add_choice(struct lp_proof_cell *out, const struct lp_nccl_selection *selection, int before)
{
    char tag[128];
    size_t n;

    selection_tag(selection, tag, sizeof(tag));
    if (before == 0) {
        memcpy(out->algorithm, selection->algorithm, sizeof(out->algorithm));
        memcpy(out->protocol, selection->protocol, sizeof(out->protocol));
        out->channels = selection->channels;
        snprintf(out->tag, sizeof(out->tag), "%s", tag);
        return;
    }
    if (before == 1) {
        char first[sizeof(out->tag)];

        memcpy(first, out->tag, sizeof(first));
        snprintf(out->tag, sizeof(out->tag), "varies: %.*s", (int)sizeof(out->tag) - 9, first);
    }
    out->varies = true;
    join_text(out->algorithm, sizeof(out->algorithm), selection->algorithm);
    join_text(out->protocol, sizeof(out->protocol), selection->protocol);
    if (out->channels != selection->channels)
        out->channels = LP_CHANNELS_VARY;
    n = strlen(out->tag);
    if (n + strlen(tag) + 3 < sizeof(out->tag))
        snprintf(out->tag + n, sizeof(out->tag) - n, ", %s", tag);
}

/* Ring and Tree use the channels' links. NVLS, symmetric kernels and the copy engine have ways of their own; CollNet is not read.
 */
static void find_transport(const struct lp_nccl_log *log, struct lp_proof_cell *out)
{
    static const char *const linked[] = {"Ring", "Tree", "PAT"};

    if (strcmp(out->algorithm, "NVLS") == 0)
        snprintf(out->transport, sizeof(out->transport), "NVLS");
    else if (strcmp(out->algorithm, "Symmetric") == 0)
        snprintf(out->transport, sizeof(out->transport), "symmetric memory");
    else if (strcmp(out->algorithm, "CopyEngine") == 0)
        snprintf(out->transport, sizeof(out->transport), "copy engine");
    else if (out->sends || IS_ONE_OF(out->algorithm, linked))
        lp_nccl_log_transport(log, -1, -1, out->sends ? LP_LINKS_SEND : LP_LINKS_COLLECTIVE, out->transport,
                              sizeof(out->transport));
}

void lp_proof_cell(const struct lp_nccl_log *log, const struct lp_cell *cell, int nranks, bool alone, struct lp_proof_cell *out)
{
    int choices = 0;

    memset(out, 0, sizeof(*out));
    out->channels = LP_CHANNELS_UNKNOWN;
    lp_cell_words(cell, out->name, sizeof(out->name));
    snprintf(out->tag, sizeof(out->tag), "unknown");
    if (!log || cell->kind != LP_COLLECTIVE)
        return;
    for (size_t i = 0; i < log->nselections; i++)
        if (is_of_cell(&log->selection[i], cell, nranks, alone))
            add_choice(out, &log->selection[i], choices++);
    out->sends = choices == 0 && IS_ONE_OF(cell->op, of_sends);
    if (choices > 0 && !out->varies && !out->algorithm[0] && !out->protocol[0])
        snprintf(out->tag, sizeof(out->tag), "unknown");
    find_transport(log, out);
    if (out->sends && out->transport[0])
        snprintf(out->tag, sizeof(out->tag), "send/recv");
}

bool lp_proof_cell_known(const struct lp_proof_cell *cell)
{
    if (cell->sends || strcmp(cell->algorithm, "CopyEngine") == 0)
        return cell->transport[0];
    return cell->algorithm[0] && cell->protocol[0] && cell->transport[0] && cell->channels != LP_CHANNELS_UNKNOWN;
}

static json_t *text_or_null(const char *text)
{
    return lp_json_text(text[0] ? text : NULL);
}

json_t *lp_proof_cell_json(const struct lp_proof_cell *cell)
{
    json_t *channels = cell->channels > 0                   ? json_integer(cell->channels)
                       : cell->channels == LP_CHANNELS_VARY ? json_string("varies")
                                                            : json_null();

    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "algorithm", text_or_null(cell->algorithm), "protocol",
                     text_or_null(cell->protocol), "channels", channels, "transport", text_or_null(cell->transport), "tag",
                     lp_json_text(cell->tag));
}
