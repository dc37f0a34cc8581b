/* Links between ranks' GPUs, out of what their workers answered. Nothing is asked here: NVML and CUDA are the workers'. */
#include "machine/links.h"

#include "base/json.h"
#include "machine/pci.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NO_LINE_RATE "host memory: copies between processes have no line rate"

const json_t *lp_seen_device(const json_t *machine, int index)
{
    return json_array_get(json_object_get(machine, "devices"), (size_t)index);
}

int lp_seen_find(const json_t *machine, const char *pci)
{
    const json_t *devices = json_object_get(machine, "devices");

    for (size_t i = 0; i < json_array_size(devices); i++)
        if (strcmp(lp_json_str(json_array_get(devices, i), "pci", ""), pci) == 0)
            return (int)i;
    return -1;
}

static bool on_gpus(const struct lp_machine *found)
{
    return strcmp(found->device, "cuda") == 0;
}

/* ---- what is known of a pair ---- */

/* A directed pair of ranks; members are NULL for what nobody answered. */
struct pair {
    int src, dst;
    const char *src_pci, *dst_pci;
    const json_t *src_links, *dst_links; /* of the two GPUs */
    const json_t *there, *back;          /* entries of `pairs`, of the first rank that sees both GPUs */
};

static const json_t *gpu_of(json_t *const *seen, const struct lp_machine *found, int rank)
{
    return lp_seen_device(seen[rank], found->rank[rank].device);
}

static const json_t *find_entry(json_t *const *seen, const struct lp_machine *found, int src, int dst)
{
    for (int r = 0; r < found->nranks; r++) {
        int from = lp_seen_find(seen[r], found->rank[src].pci), to = lp_seen_find(seen[r], found->rank[dst].pci);
        const json_t *pairs = json_object_get(seen[r], "pairs");

        for (size_t i = 0; i < json_array_size(pairs) && from >= 0 && to >= 0; i++) {
            const json_t *entry = json_array_get(pairs, i);

            if (lp_json_int(entry, "src", -1) == from && lp_json_int(entry, "dst", -1) == to)
                return entry;
        }
    }
    return NULL;
}

static struct pair find_pair(json_t *const *seen, const struct lp_machine *found, int src, int dst)
{
    return (struct pair){.src = src,
                         .dst = dst,
                         .src_pci = found->rank[src].pci,
                         .dst_pci = found->rank[dst].pci,
                         .src_links = json_object_get(gpu_of(seen, found, src), "links"),
                         .dst_links = json_object_get(gpu_of(seen, found, dst), "links"),
                         .there = find_entry(seen, found, src, dst),
                         .back = find_entry(seen, found, dst, src)};
}

/* ---- NVLinks ---- */

/* Active ones of a GPU; -1: unknown. */
static int active_links(const json_t *links)
{
    return (int)lp_json_int(links, "nvlinks", -1);
}

/* Where a GPU's links end; what is missing to its active links is unknown. */
struct ends {
    int at_peer, at_switches, elsewhere;
};

static struct ends count_ends(const json_t *links, const char *peer_pci)
{
    const json_t *remotes = json_object_get(links, "remotes");
    struct ends ends = {0, 0, 0};

    for (size_t i = 0; i < json_array_size(remotes); i++) {
        const json_t *end = json_array_get(remotes, i);
        const char *to = lp_json_str(end, "to", "unknown"), *pci = lp_json_str(end, "pci", "");
        int n = (int)lp_json_int(end, "n", 0);

        if (strcmp(to, "switch") == 0)
            ends.at_switches += n;
        else if (lp_pci_same(pci, peer_pci))
            ends.at_peer += n;
        else if (strcmp(to, "unknown") != 0 && pci[0])
            ends.elsewhere += n;
    }
    return ends;
}

static bool all_at_switches(const json_t *links)
{
    return active_links(links) > 0 && count_ends(links, "").at_switches == active_links(links);
}

/* Of one GPU to the other: what a process that sees both said, else the same from the links' ends. -1: unknown. */
static int links_to(const json_t *entry, const json_t *links, const char *peer_pci)
{
    int said = (int)lp_json_int(entry, "nvlinks", -1), active = active_links(links);
    struct ends ends = count_ends(links, peer_pci);

    if (said >= 0)
        return said;
    if (ends.at_switches == active)
        return active;
    return ends.at_peer > 0 || ends.at_peer + ends.at_switches + ends.elsewhere == active ? ends.at_peer : -1;
}

/* The smaller of two counts, of which -1 is unknown. */
static int least(int a, int b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

/*
 * NVLinks that join the two; -1: unknown. *taken: neither GPU's links say where they end, and since the driver allows peer
 * access all of them count. Links to switches join nothing while the driver refuses peer access: a GPU may have active
 * links and not be let into the fabric.
 */
static int joining_links(const struct pair *pair, bool *taken)
{
    int there = links_to(pair->there, pair->src_links, pair->dst_pci), back = links_to(pair->back, pair->dst_links, pair->src_pci);
    int src = active_links(pair->src_links), dst = active_links(pair->dst_links), n = least(there, back);
    const json_t *access = json_object_get(pair->there, "peer_access");

    *taken = n < 0 && src > 0 && dst > 0 && json_is_true(access);
    if (*taken)
        return least(src, dst);
    if (json_is_false(access) && (n < 0 || all_at_switches(pair->src_links)))
        return 0;
    return n < 0 ? n : least(n, least(src, dst));
}

json_t *lp_links_shortage(json_t *const *seen, const struct lp_machine *found, int rank)
{
    const json_t *mine = gpu_of(seen, found, rank), *best = mine;
    int n = active_links(json_object_get(mine, "links")), most = n;

    for (int r = 0; r < found->nranks; r++) {
        const json_t *other = gpu_of(seen, found, r);

        if (strcmp(lp_json_str(other, "name", ""), lp_json_str(mine, "name", "")) == 0 &&
            active_links(json_object_get(other, "links")) > most) {
            best = other;
            most = active_links(json_object_get(other, "links"));
        }
    }
    if (n < 0 || n == most)
        return NULL;
    return json_sprintf("GPU %d has %d active NVLink%s, others of its model %d: %s", rank, n, n == 1 ? "" : "s", most,
                        all_at_switches(json_object_get(best, "links"))
                            ? "see nvidia-smi nvlink -s, and the kernel log for Xid messages"
                            : "a bridge may be badly seated");
}

/* ---- kinds ---- */

/* The kind of one pair. blame: the rank whose GPU makes its line slow or unknown; -1: both alike. */
struct verdict {
    struct lp_pair_kind kind;
    int blame;
};

/* NaN is unknown, and left to the other GPU: both ends of a link run at one rate. */
static double gbps_per_link(const json_t *links)
{
    return lp_json_num(links, "nvlink_gbps", (double)NAN) / active_links(links);
}

static void judge_nvlinks(const struct pair *pair, int n, bool taken, struct lp_pair_kind *out)
{
    double each = fmin(gbps_per_link(pair->src_links), gbps_per_link(pair->dst_links));
    char rate[48] = " whose rate the driver does not give";

    if (isfinite(each))
        snprintf(rate, sizeof(rate), " x %.2f GB/s by the driver", each);
    out->line_gbps = n * each;
    snprintf(out->name, sizeof(out->name), "NV%d", n);
    snprintf(out->words, sizeof(out->words), "%d NVLink%s%s%s", n, n == 1 ? "" : "s", rate,
             taken ? ", taken for all of its links: the driver does not say where they end" : "");
}

/* Figures are of GPU and slot at their best: an idle GPU lowers its generation. */
static void judge_pcie(const struct pair *pair, struct verdict *out)
{
    double from = lp_json_num(pair->src_links, "pcie_gbps", (double)NAN),
           to = lp_json_num(pair->dst_links, "pcie_gbps", (double)NAN);
    const json_t *slower = to < from ? pair->dst_links : pair->src_links;

    snprintf(out->kind.name, sizeof(out->kind.name), "%s", lp_json_str(pair->there, "common", "PCIe"));
    if (from > 0.0 && to > 0.0) {
        out->kind.line_gbps = fmin(from, to);
        out->blame = from < to ? pair->src : to < from ? pair->dst : -1;
        snprintf(out->kind.words, sizeof(out->kind.words), "PCIe generation %d x%d, %s", (int)lp_json_int(slower, "pcie_gen", 0),
                 (int)lp_json_int(slower, "pcie_width", 0), out->blame < 0 ? "its maximum" : "the slower of the two");
        return;
    }
    out->blame = from > 0.0 ? pair->dst : to > 0.0 ? pair->src : -1;
    snprintf(out->kind.words, sizeof(out->kind.words), "the driver does not give PCIe generation and width of %s",
             out->blame < 0 ? "either GPU" : "one of the two");
}

/* Is it left open whether NVLinks join the two? Without a word on any of them, figures of PCIe speak against it. */
static bool is_unclear(const struct pair *pair, const struct lp_pair_kind *by_pcie)
{
    return active_links(pair->src_links) > 0 || active_links(pair->dst_links) > 0 ||
           (isnan(by_pcie->line_gbps) && !lp_json_str(pair->there, "common", NULL));
}

static struct verdict judge_gpus(const struct pair *pair)
{
    static const struct lp_pair_kind unclear = {"unknown", (double)NAN, "the driver does not say whether NVLinks join the two"};
    struct verdict verdict = {.kind.line_gbps = (double)NAN, .blame = -1};
    bool taken;
    int n = joining_links(pair, &taken);

    if (n > 0)
        judge_nvlinks(pair, n, taken, &verdict.kind);
    else
        judge_pcie(pair, &verdict);
    if (n < 0 && is_unclear(pair, &verdict.kind))
        verdict = (struct verdict){.kind = unclear, .blame = -1};
    return verdict;
}

static struct verdict judge_pair(json_t *const *seen, const struct lp_machine *found, int src, int dst)
{
    static const struct lp_pair_kind host = {"host memory", (double)NAN, NO_LINE_RATE};
    struct pair pair;

    if (!on_gpus(found))
        return (struct verdict){.kind = host, .blame = -1};
    pair = find_pair(seen, found, src, dst);
    return judge_gpus(&pair);
}

static bool same_kind(const struct lp_pair_kind *a, const struct lp_pair_kind *b)
{
    bool same_rate = isnan(a->line_gbps) ? isnan(b->line_gbps) : fabs(a->line_gbps - b->line_gbps) < 0.001 * a->line_gbps;

    return same_rate && strcmp(a->name, b->name) == 0;
}

/* Index of the kind; one that finds no room goes with the last. */
static int add_kind(struct lp_machine *found, const struct lp_pair_kind *kind)
{
    static const struct lp_pair_kind other = {"other", (double)NAN, "pairs of several kinds, more than are told apart"};

    for (int k = 0; k < found->nkinds; k++)
        if (same_kind(&found->kind[k], kind))
            return k;
    if (found->nkinds < LP_MAX_PAIR_KINDS) {
        found->kind[found->nkinds] = *kind;
        return found->nkinds++;
    }
    found->kind[LP_MAX_PAIR_KINDS - 1] = other;
    return LP_MAX_PAIR_KINDS - 1;
}

void lp_links_judge(json_t *const *seen, struct lp_machine *found)
{
    found->nkinds = 0;
    for (int a = 0; a < found->nranks; a++)
        for (int b = 0; b < found->nranks; b++) {
            struct verdict verdict;

            found->kind_of[a][b] = -1;
            if (a == b)
                continue;
            verdict = judge_pair(seen, found, a, b);
            found->kind_of[a][b] = (signed char)add_kind(found, &verdict.kind);
        }
}

/* ---- topology ---- */

static json_t *pair_json(json_t *const *seen, const struct lp_machine *found, int src, int dst)
{
    struct verdict verdict = judge_pair(seen, found, src, dst);
    json_t *words =
        verdict.blame < 0 ? json_string(verdict.kind.words) : json_sprintf("%s: GPU %d", verdict.kind.words, verdict.blame);
    const json_t *access = json_true(); /* processes of one host can always map each other's memory */

    if (on_gpus(found))
        access = json_object_get(find_entry(seen, found, src, dst), "peer_access");
    return json_pack("{s:i, s:i, s:O?, s:o, s:s, s:o, s:o}", "src", src, "dst", dst, "peer_access", access, "reason",
                     access ? json_null() : json_string("not visible together to any rank"), "kind",
                     found->kind[found->kind_of[src][dst]].name, "line_gbps", lp_json_real(verdict.kind.line_gbps), "line_words",
                     words);
}

/* What people quote: each NVLink has 25 GB/s per direction nominally (50 since generation 5), and both directions are added up. */
static json_t *nvlink_json(int links, double gbps)
{
    double each = gbps / links;
    int nominal = each > 40.0 ? 50 : each > 22.0 ? 25 : 20;

    return json_pack("{s:s, s:i, s:f, s:o, s:o}", "kind", "nvlink", "links", links, "gbps", gbps, "words",
                     json_sprintf("%d NVLinks x %.2f GB/s by the driver; nominal %d GB/s", links, each, links * nominal),
                     "nominal_words", json_sprintf("%d GB/s", 2 * links * nominal));
}

/* Line rate of a GPU's links per direction: active NVLinks by the driver's rate, or PCIe generation and width. */
static json_t *line_json(const json_t *device)
{
    const json_t *links = json_object_get(device, "links");
    int n = (int)lp_json_int(links, "nvlinks", 0);
    double nvlink = lp_json_num(links, "nvlink_gbps", (double)NAN), pcie = lp_json_num(links, "pcie_gbps", (double)NAN);

    if (n > 0 && isfinite(nvlink))
        return nvlink_json(n, nvlink);
    if (n > 0)
        return json_pack("{s:s, s:i, s:n, s:s}", "kind", "nvlink", "links", n, "gbps", "reason", "the driver gives no link rate");
    if (isfinite(pcie) && pcie > 0.0)
        return json_pack("{s:s, s:n, s:f, s:o}", "kind", "pcie", "links", "gbps", pcie, "words",
                         json_sprintf("PCIe generation %d x%d, its maximum", (int)lp_json_int(links, "pcie_gen", 0),
                                      (int)lp_json_int(links, "pcie_width", 0)));
    return json_pack("{s:n, s:n, s:n, s:s}", "kind", "links", "gbps", "reason", "unknown: the driver does not say");
}

json_t *lp_links_topology(json_t *const *seen, const struct lp_machine *found)
{
    json_t *pairs = json_array();

    for (int a = 0; a < found->nranks; a++)
        for (int b = 0; b < found->nranks; b++)
            if (a != b)
                json_array_append_new(pairs, pair_json(seen, found, a, b));
    return json_pack("{s:o, s:o}", "pairs", pairs, "line",
                     on_gpus(found) ? line_json(gpu_of(seen, found, 0))
                                    : json_pack("{s:n, s:n, s:n, s:s}", "kind", "links", "gbps", "reason", NO_LINE_RATE));
}
