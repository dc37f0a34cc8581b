/* Reading losses across variants. Each rule is one function that adds at most one sentence. */
#include "judge/hints.h"

#include "base/json.h"
#include "judge/self_check.h"

#include <string.h>

static const json_t *variant_entry(const struct lp_result *result, const char *name, int repeat)
{
    const json_t *variants = json_object_get(result->head, "variants");

    for (size_t i = 0; i < json_array_size(variants); i++) {
        const json_t *entry = json_array_get(variants, i);

        if (strcmp(lp_json_str(entry, "name", ""), name) == 0 && lp_json_int(entry, "repeat", 0) == repeat)
            return entry;
    }
    return NULL;
}

/* NCCL counts only the number 1. */
static bool without_p2p(const struct lp_result *result, const struct lp_record *record)
{
    const json_t *env = json_object_get(variant_entry(result, record->variant, record->repeat), "env");

    return strcmp(lp_json_str(env, "NCCL_P2P_DISABLE", ""), "1") == 0;
}

static size_t count(const struct lp_result *result, bool p2p, enum lp_outcome outcome)
{
    size_t n = 0;

    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];

        if (record->cell.kind == LP_COLLECTIVE && record->outcome == outcome && without_p2p(result, record) != p2p)
            n++;
    }
    return n;
}

static bool on_gpus(const struct lp_result *result)
{
    return strcmp(lp_json_str(result->head, "device", ""), "cuda") == 0;
}

/* Hangs (or wrong data) with P2P, none without: the path between the GPUs, not NCCL. */
static void add_p2p(const struct lp_result *result, json_t *hints)
{
    static const struct {
        enum lp_outcome outcome;
        const char *text;
    } rules[] = {
        {LP_HANG,
         "collectives hang with P2P and pass without: look at the IOMMU (boot with iommu=pt or off), PCIe ACS (must be off on the "
         "switches between the GPUs), the BIOS and the driver; NCCL_P2P_DISABLE=1 works and is slow"},
        {LP_WRONG,
         "data is wrong with P2P and right without: the P2P path corrupts, the staged path does not; look at the IOMMU, PCIe ACS "
         "and the link's seating before using P2P"},
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && on_gpus(result); i++)
        if (count(result, true, rules[i].outcome) > 0 && count(result, false, rules[i].outcome) == 0 &&
            count(result, false, LP_DONE) > 0)
            json_array_append_new(hints, json_string(rules[i].text));
}

static bool reason_has(const struct lp_result *result, const char *text)
{
    for (size_t i = 0; i < result->n; i++)
        if (result->record[i]->outcome != LP_DONE && strstr(result->record[i]->reason, text))
            return true;
    return false;
}

/* What a reason's words point to. */
static void add_words(const struct lp_result *result, json_t *hints)
{
    static const struct {
        const char *words, *text;
    } rules[] = {
        {"No space left on device",
         "shared memory is full: enlarge /dev/shm (docker: --shm-size=1g), or let NCCL use cuMem host memory "
         "(NCCL_CUMEM_HOST_ENABLE=1, driver 12.6 and newer)"},
        {"(size 0)",
         "a shared-memory segment of size 0: ranks disagree on cuMem host memory; try NCCL_CUMEM_HOST_ENABLE=0 as a variant"},
        {"does not answer at all",
         "a worker did not even answer its control socket: it is stopped (SIGSTOP, a debugger), or its machine "
         "is stuck"},
        {"built without code for", "the worker has no kernels for this GPU: rebuild with ARCH= set to its compute capability"},
    };

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (reason_has(result, rules[i].words))
            json_array_append_new(hints, json_string(rules[i].text));
}

json_t *lp_hints(const struct lp_result *result)
{
    json_t *hints = json_array();
    char text[512];

    add_p2p(result, hints);
    add_words(result, hints);
    if (lp_self_check(result, text, sizeof(text))[0])
        json_array_append_new(hints, json_string(text));
    return hints;
}
