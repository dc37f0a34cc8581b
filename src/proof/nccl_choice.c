/* Lines about what NCCL chose for a call, in the four forms it has had. */
#include "proof/nccl_lines.h"

#include "proof/nccl_scan.h"

#include <stdio.h>
#include <string.h>

#define MAX_SELECTIONS ((size_t)2048)

/* NCCL's names in capitals and as numbers, and as its guide and NCCL_ALGO spell them. PAT came with 2.23. */
static const struct {
    const char *text, *name;
    int since;
} algorithms[] =
    {
        {"TREE", "Tree", 0},
        {"RING", "Ring", 0},
        {"COLLNET_DIRECT", "CollNetDirect", 0},
        {"COLLNET_CHAIN", "CollNetChain", 0},
        {"NVLS", "NVLS", 0},
        {"NVLS_TREE", "NVLSTree", 0},
        {"PAT", "PAT", 22300},
},
  protocols[] = {
      {"LL", "LL", 0},
      {"LL128", "LL128", 0},
      {"SIMPLE", "Simple", 0},
};

#define NALGORITHMS ((int)(sizeof(algorithms) / sizeof(algorithms[0])))
#define NPROTOCOLS  ((int)(sizeof(protocols) / sizeof(protocols[0])))

static bool same_selection(const struct lp_nccl_selection *a, const struct lp_nccl_selection *b)
{
    return a->bytes == b->bytes && a->form == b->form && a->first_channel == b->first_channel && a->channels == b->channels &&
           strcmp(a->function, b->function) == 0 && strcmp(a->algorithm, b->algorithm) == 0 &&
           strcmp(a->protocol, b->protocol) == 0;
}

static void add_selection(struct lp_nccl_log *log, const struct lp_nccl_selection *selection)
{
    struct lp_nccl_selection *grown;
    size_t i = 0;

    for (size_t k = 0; k < log->nselections; k++) {
        i = (log->last_selection + k) % log->nselections;
        if (same_selection(&log->selection[i], selection)) {
            log->selection[i].count++;
            log->last_selection = i;
            return;
        }
    }
    grown = lp_nccl_room(log, log->selection, log->nselections, sizeof(*grown), MAX_SELECTIONS);
    if (!grown)
        return;
    log->selection = grown;
    log->last_selection = log->nselections++;
    log->selection[log->last_selection] = *selection;
    log->selection[log->last_selection].count = 1;
}

/* " Algo RING proto LL channel{Lo..Hi}={0..23}". A name that this table lacks stays as NCCL wrote it. */
static bool text_form(const char *at, struct lp_nccl_selection *out)
{
    char algorithm[sizeof(out->algorithm)], protocol[sizeof(out->protocol)];
    int low, high;

    if (!lp_take(&at, "Algo ") || !lp_take_word(&at, "_", algorithm, sizeof(algorithm)) || !lp_take(&at, " proto ") ||
        !lp_take_word(&at, "_", protocol, sizeof(protocol)) || !lp_take(&at, " channel{Lo..Hi}={") ||
        !lp_take_range(&at, 0, 63, &low) || !lp_take(&at, "..") || !lp_take_range(&at, low, 63, &high) || strcmp(at, "}") != 0)
        return false;
    for (int i = 0; i < NALGORITHMS; i++)
        if (strcmp(algorithm, algorithms[i].text) == 0)
            snprintf(algorithm, sizeof(algorithm), "%s", algorithms[i].name);
    for (int i = 0; i < NPROTOCOLS; i++)
        if (strcmp(protocol, protocols[i].text) == 0)
            snprintf(protocol, sizeof(protocol), "%s", protocols[i].name);
    out->form = LP_FORM_TEXT;
    snprintf(out->algorithm, sizeof(out->algorithm), "%s", strcmp(algorithm, "Unknown") == 0 ? "" : algorithm);
    snprintf(out->protocol, sizeof(out->protocol), "%s", strcmp(protocol, "Unknown") == 0 ? "" : protocol);
    out->first_channel = low;
    out->channels = high - low + 1;
    return true;
}

/* " Algo 1 proto 2 time 86069.9". The numbers are known for 2.20 to 2.23 only. */
static bool numbers_form(const char *at, int version, struct lp_nccl_selection *out)
{
    int algorithm, protocol;
    double time_us;

    if (!lp_take(&at, "Algo ") || !lp_take_range(&at, -1, 99, &algorithm) || !lp_take(&at, " proto ") ||
        !lp_take_range(&at, -1, 99, &protocol) || !lp_take(&at, " time ") || !lp_take_real(&at, &time_us) || *at)
        return false;
    out->form = LP_FORM_NUMBERS;
    if (version < 22000 || version >= 22400)
        return true;
    if (algorithm >= 0 && algorithm < NALGORITHMS && version >= algorithms[algorithm].since)
        snprintf(out->algorithm, sizeof(out->algorithm), "%s", algorithms[algorithm].name);
    if (protocol >= 0 && protocol < NPROTOCOLS)
        snprintf(out->protocol, sizeof(out->protocol), "%s", protocols[protocol].name);
    return true;
}

/* "Kernel AllReduce_AGxLL_R nchannels 16 nthreads 512", with " nWorks 1" since 2.28. */
static bool symmetric_form(const char *at, struct lp_nccl_selection *out)
{
    char kernel[sizeof(out->protocol)];
    int channels, ignored;

    if (!lp_take(&at, "Kernel ") || !lp_take_word(&at, "_", kernel, sizeof(kernel)) || !lp_take(&at, " nchannels ") ||
        !lp_take_range(&at, 1, 4096, &channels) || !lp_take(&at, " nthreads ") || !lp_take_range(&at, 1, 4096, &ignored))
        return false;
    if (lp_take(&at, " nWorks ") && !lp_take_range(&at, 0, 1 << 30, &ignored))
        return false;
    if (*at)
        return false;
    out->form = LP_FORM_SYMMETRIC;
    snprintf(out->algorithm, sizeof(out->algorithm), "Symmetric");
    snprintf(out->protocol, sizeof(out->protocol), "%s", kernel);
    out->channels = channels;
    return true;
}

/* "cudaMemcpy", "cudaMemcpy; CE synchronization with NVLS", "RMA proxy + CE" */
static bool copy_engine_form(const char *at, bool hierarchical, struct lp_nccl_selection *out)
{
    if (hierarchical ? strcmp(at, "RMA proxy + CE") != 0
                     : strcmp(at, "cudaMemcpy") != 0 && strcmp(at, "cudaMemcpy; CE synchronization with NVLS") != 0)
        return false;
    out->form = LP_FORM_COPY_ENGINE;
    snprintf(out->algorithm, sizeof(out->algorithm), hierarchical ? "HierarchicalCE" : "CopyEngine");
    return true;
}

/* "AllReduce: 1024 Bytes -> ...", "AllReduce [Symmetric]: ..."; up to 2.22 "1024 Bytes -> ...". */
static bool take_head(const char **at, struct lp_nccl_selection *out, char *kind, size_t cap)
{
    int64_t bytes;

    kind[0] = '\0';
    if (lp_take_word(at, "", out->function, sizeof(out->function)) && !lp_take(at, ": ")) {
        if (lp_take(at, " Bytes -> ")) { /* the word was the number */
            const char *number = out->function;
            bool good = lp_take_int(&number, &bytes) && !*number && bytes >= 0;

            out->bytes = good ? (uint64_t)bytes : 0;
            out->function[0] = '\0';
            return good;
        }
        if (!lp_take(at, " [") || !lp_take_word(at, " ", kind, cap) || !lp_take(at, "]: "))
            return false;
    }
    if (!out->function[0] || !lp_take_int(at, &bytes) || bytes < 0 || !lp_take(at, " Bytes -> "))
        return false;
    out->bytes = (uint64_t)bytes;
    return true;
}

bool lp_nccl_selection_line(struct lp_nccl_log *log, const char *text)
{
    struct lp_nccl_selection selection = {.first_channel = -1, .channels = -1};
    const char *at = text;
    char kind[32];
    bool known = false;

    if (!take_head(&at, &selection, kind, sizeof(kind)))
        return false;
    if (!kind[0])
        known = (selection.function[0] && text_form(at, &selection)) || numbers_form(at, log->version_code, &selection);
    else if (strcmp(kind, "Symmetric") == 0)
        known = symmetric_form(at, &selection);
    else if (strcmp(kind, "Copy Engine") == 0 || strcmp(kind, "Hierarchical CE") == 0)
        known = copy_engine_form(at, kind[0] == 'H', &selection);
    if (!known)
        selection.form = LP_FORM_UNKNOWN;
    add_selection(log, &selection);
    return true;
}
