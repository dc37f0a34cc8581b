/* Links between ranks' GPUs, out of what their workers answered. Nothing is asked here: NVML and CUDA are the workers'. */
#include "machine/links.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* The driver's word for pairs of ranks, translated from rank 0's device numbers. */
static json_t *pairs_json(const json_t *machine, const struct lp_machine *found)
{
    const json_t *pairs = json_object_get(machine, "pairs");
    json_t *list = json_array();

    for (int a = 0; a < found->nranks; a++)
        for (int b = 0; b < found->nranks; b++) {
            json_t *word = json_null();

            if (a == b)
                continue;
            for (size_t i = 0; i < json_array_size(pairs); i++) {
                const json_t *pair = json_array_get(pairs, i);

                if (lp_json_int(pair, "src", -1) == found->rank[a].at_rank0 &&
                    lp_json_int(pair, "dst", -1) == found->rank[b].at_rank0)
                    word = json_boolean(lp_json_bool(pair, "peer_access", false));
            }
            json_array_append_new(list, json_pack("{s:i, s:i, s:o, s:o}", "src", a, "dst", b, "peer_access", word, "reason",
                                                  json_is_null(word) ? json_string("not visible to rank 0") : json_null()));
        }
    return list;
}

/* Processes of one host can always map each other's memory. */
static json_t *host_topology(int nranks)
{
    json_t *pairs = json_array();

    for (int a = 0; a < nranks; a++)
        for (int b = 0; b < nranks; b++)
            if (a != b)
                json_array_append_new(pairs, json_pack("{s:i, s:i, s:b, s:n}", "src", a, "dst", b, "peer_access", 1, "reason"));
    return json_pack("{s:o, s:{s:n, s:n, s:n, s:s}}", "pairs", pairs, "line", "kind", "links", "gbps", "reason",
                     "host memory: copies between processes have no line rate");
}

json_t *lp_links_topology(json_t *const *seen, const struct lp_machine *found)
{
    if (strcmp(found->device, "cuda") != 0)
        return host_topology(found->nranks);
    return json_pack("{s:o, s:o}", "pairs", pairs_json(seen[0], found), "line",
                     line_json(lp_seen_device(seen[0], found->rank[0].device)));
}
