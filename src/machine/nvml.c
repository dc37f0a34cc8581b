/*
 * NVML by dlopen, with the few declarations we use written by hand: machines that build have no nvml.h. Only the driver's
 * answers; nothing is worked out from them but PCI Express line rate. What changes from moment to moment is nvml_now's.
 */
#include "machine/nvml_parts.h"

#include "machine/pci.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT(member) offsetof(struct lp_nvml, member)

static const struct {
    const char *name;
    size_t slot;   /* of two rows with one slot the first that is there counts */
    bool required; /* the others: what they would tell is unknown */
} symbols[] = {
    {"nvmlInit_v2", SLOT(init), true},
    {"nvmlShutdown", SLOT(shutdown), true},
    {"nvmlErrorString", SLOT(error_string), true},
    {"nvmlDeviceGetHandleByPciBusId_v2", SLOT(by_pci), true},
    {"nvmlSystemGetDriverVersion", SLOT(driver_version), false},
    {"nvmlDeviceGetUUID", SLOT(uuid), false},
    {"nvmlDeviceGetVbiosVersion", SLOT(vbios), false},
    {"nvmlDeviceGetNvLinkState", SLOT(link_state), false},
    {"nvmlDeviceGetNvLinkRemoteDeviceType", SLOT(link_remote_type), false},
    {"nvmlDeviceGetNvLinkRemotePciInfo_v2", SLOT(link_remote_pci), false},
    {"nvmlDeviceGetFieldValues", SLOT(field_values), false},
    {"nvmlDeviceGetCurrPcieLinkGeneration", SLOT(pcie_gen), false},
    {"nvmlDeviceGetCurrPcieLinkWidth", SLOT(pcie_width), false},
    {"nvmlDeviceGetMaxPcieLinkGeneration", SLOT(pcie_max_gen), false},
    {"nvmlDeviceGetMaxPcieLinkWidth", SLOT(pcie_max_width), false},
    {"nvmlDeviceGetTopologyCommonAncestor", SLOT(common_ancestor), false},
    {"nvmlDeviceGetMemoryInfo", SLOT(memory), false},
    {"nvmlDeviceGetClockInfo", SLOT(clock), false},
    {"nvmlDeviceGetMaxClockInfo", SLOT(max_clock), false},
    {"nvmlDeviceGetTemperature", SLOT(temperature), false},
    {"nvmlDeviceGetPowerUsage", SLOT(power), false},
    {"nvmlDeviceGetCurrentClocksEventReasons", SLOT(clock_reasons), false}, /* the next one's name since driver 535 */
    {"nvmlDeviceGetCurrentClocksThrottleReasons", SLOT(clock_reasons), false},
    {"nvmlDeviceGetUtilizationRates", SLOT(utilisation), false},
    {"nvmlDeviceGetTotalEccErrors", SLOT(ecc_errors), false},
    /* in this order: drivers 535.43 to 535.86 fill entries of _v3 that are eight bytes longer */
    {"nvmlDeviceGetComputeRunningProcesses_v2", SLOT(processes), false},
    {"nvmlDeviceGetComputeRunningProcesses_v3", SLOT(processes), false},
};

static enum lp_status find_symbols(struct lp_nvml *nvml, struct lp_reason *why)
{
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *found = dlsym(nvml->handle, symbols[i].name), *before;

        if (!found && symbols[i].required)
            return lp_because(why, LP_ERR_UNSUPPORTED, "NVML has no %s", symbols[i].name);
        memcpy(&before, (char *)nvml + symbols[i].slot, sizeof(before));
        if (!before)
            memcpy((char *)nvml + symbols[i].slot, &found, sizeof(found));
    }
    return LP_OK;
}

enum lp_status lp_nvml_open(struct lp_nvml **out, struct lp_reason *why)
{
    struct lp_nvml *nvml = calloc(1, sizeof(*nvml));
    enum lp_status st;
    int result;

    *out = NULL;
    if (!nvml)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    nvml->handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml->handle) {
        st = lp_because(why, LP_ERR_UNSUPPORTED, "no NVML: %s", dlerror());
        goto no_library;
    }
    st = find_symbols(nvml, why);
    if (st != LP_OK)
        goto no_init;
    result = nvml->init();
    if (result != SUCCESS) {
        st = lp_because(why, LP_ERR_UNSUPPORTED, "nvmlInit: %s", nvml->error_string(result));
        goto no_init;
    }
    if (!nvml->driver_version || nvml->driver_version(nvml->driver, sizeof(nvml->driver)) != SUCCESS)
        nvml->driver[0] = '\0';
    *out = nvml;
    return LP_OK;

no_init:
    dlclose(nvml->handle);
no_library:
    free(nvml);
    return st;
}

void lp_nvml_close(struct lp_nvml *nvml)
{
    if (!nvml)
        return;
    nvml->shutdown();
    dlclose(nvml->handle);
    free(nvml);
}

const char *lp_nvml_driver(const struct lp_nvml *nvml)
{
    return nvml->driver;
}

static int ask_number(int (*ask)(device_t, unsigned *), device_t device)
{
    unsigned value = 0;

    return ask && ask(device, &value) == SUCCESS ? (int)value : -1;
}

static void ask_text(int (*ask)(device_t, char *, unsigned), device_t device, char *out, unsigned cap)
{
    if (!ask || ask(device, out, cap) != SUCCESS)
        out[0] = '\0';
}

static void read_pcie(const struct lp_nvml *nvml, device_t device, struct lp_nvml_gpu *out)
{
    out->pcie_gen = ask_number(nvml->pcie_gen, device);
    out->pcie_width = ask_number(nvml->pcie_width, device);
    out->pcie_max_gen = ask_number(nvml->pcie_max_gen, device);
    out->pcie_max_width = ask_number(nvml->pcie_max_width, device);
    out->pcie_gbps = lp_pcie_gbps(out->pcie_gen, out->pcie_width);
    out->pcie_max_gbps = lp_pcie_gbps(out->pcie_max_gen, out->pcie_max_width);
}

/* A field in MB/s (10^6) as GB/s; NaN when it is not given, or 0 as inactive links have it. */
static double ask_rate(const struct lp_nvml *nvml, device_t device, unsigned id, unsigned scope)
{
    struct field_value field = {.id = id, .scope = scope};
    double mbps = 0;

    if (!nvml->field_values || nvml->field_values(device, 1, &field) != SUCCESS || field.result != SUCCESS)
        return NAN;
    if (field.type == VALUE_UINT)
        mbps = field.value.uint;
    else if (field.type == VALUE_ULONG)
        mbps = (double)field.value.ulong;
    else if (field.type == VALUE_ULONGLONG)
        mbps = (double)field.value.ulonglong;
    return mbps > 0 ? mbps / 1e3 : NAN;
}

/* Its own rate where the driver has it per link, else the one of all links. */
static double ask_link_rate(const struct lp_nvml *nvml, device_t device, unsigned link)
{
    double gbps = ask_rate(nvml, device, FIELD_NVLINK_SPEED, link);

    return isnan(gbps) ? ask_rate(nvml, device, FIELD_NVLINK_SPEED_COMMON, 0) : gbps;
}

static void read_remote(const struct lp_nvml *nvml, device_t device, unsigned link, struct lp_nvlink *out)
{
    struct pci_info pci = {.domain = 0};
    int type = -1;

    out->remote = LP_REMOTE_UNKNOWN;
    out->remote_pci[0] = '\0';
    if (nvml->link_remote_type && nvml->link_remote_type(device, link, &type) == SUCCESS)
        out->remote = type == REMOTE_SWITCH ? LP_REMOTE_SWITCH
                      : type == REMOTE_GPU  ? LP_REMOTE_GPU
                      : type == REMOTE_NPU  ? LP_REMOTE_OTHER
                                            : LP_REMOTE_UNKNOWN;
    if (nvml->link_remote_pci && nvml->link_remote_pci(device, link, &pci) == SUCCESS)
        snprintf(out->remote_pci, sizeof(out->remote_pci), "%.*s", (int)sizeof(pci.id) - 1, pci.id);
}

/* Links are numbered without gaps; the first number beyond them is an invalid argument, and no link at all not supported. */
static void read_links(const struct lp_nvml *nvml, device_t device, struct lp_nvml_gpu *out)
{
    out->nlinks = -1;
    for (unsigned i = 0; nvml->link_state && i < LP_NVML_MAX_LINKS; i++) {
        int active = 0, result = nvml->link_state(device, i, &active);

        if (out->nlinks < 0 && (result == SUCCESS || result == NOT_SUPPORTED || result == INVALID_ARGUMENT))
            out->nlinks = 0;
        if (result != SUCCESS)
            return;
        if (active == 1) {
            struct lp_nvlink *link = &out->link[out->nlinks++];

            link->gbps = ask_link_rate(nvml, device, i);
            read_remote(nvml, device, i, link);
        }
    }
}

enum lp_status lp_nvml_gpu(struct lp_nvml *nvml, const char *pci, struct lp_nvml_gpu *out, struct lp_reason *why)
{
    device_t device = NULL;
    int result = nvml->by_pci(pci, &device);

    *out = (struct lp_nvml_gpu){.nlinks = -1, .pcie_gen = -1, .pcie_width = -1, .pcie_max_gen = -1, .pcie_max_width = -1};
    out->pcie_gbps = out->pcie_max_gbps = NAN;
    if (result != SUCCESS)
        return lp_because(why, LP_ERR_UNSUPPORTED, "NVML knows no GPU at %s: %s", pci, nvml->error_string(result));
    ask_text(nvml->uuid, device, out->uuid, sizeof(out->uuid));
    ask_text(nvml->vbios, device, out->vbios, sizeof(out->vbios));
    read_links(nvml, device, out);
    read_pcie(nvml, device, out);
    return LP_OK;
}

long long lp_nvml_used_bytes(struct lp_nvml *nvml, const char *pci)
{
    device_t device = NULL;
    struct memory_info info = {0};

    if (!nvml->memory || nvml->by_pci(pci, &device) != SUCCESS || nvml->memory(device, &info) != SUCCESS)
        return -1;
    return (long long)info.used;
}

double lp_nvml_nvlink_gbps(const struct lp_nvml_gpu *gpu)
{
    double sum = gpu->nlinks < 0 ? NAN : 0;

    for (int i = 0; i < gpu->nlinks; i++)
        sum += gpu->link[i].gbps;
    return sum;
}

int lp_nvml_links_to(const struct lp_nvml_gpu *gpu, const char *peer_pci)
{
    int direct = 0, switched = 0, unknown = 0;

    for (int i = 0; i < gpu->nlinks; i++) {
        const struct lp_nvlink *link = &gpu->link[i];

        if (link->remote == LP_REMOTE_SWITCH)
            switched++;
        else if (lp_pci_same(link->remote_pci, peer_pci))
            direct++;
        else if (link->remote == LP_REMOTE_UNKNOWN || !link->remote_pci[0])
            unknown++;
    }
    if (gpu->nlinks < 0 || (direct == 0 && unknown > 0))
        return -1;
    return switched == gpu->nlinks ? switched : direct;
}

const char *lp_nvml_common(struct lp_nvml *nvml, const char *pci, const char *peer_pci)
{
    device_t device = NULL, peer = NULL;
    int level = -1;

    if (!nvml->common_ancestor || nvml->by_pci(pci, &device) != SUCCESS || nvml->by_pci(peer_pci, &peer) != SUCCESS ||
        nvml->common_ancestor(device, peer, &level) != SUCCESS)
        return NULL;
    switch (level) {
    case ONE_BOARD:
    case ONE_SWITCH:
        return "PIX";
    case SWITCHES:
        return "PXB";
    case HOST_BRIDGE:
        return "PHB";
    case NUMA_NODE:
        return "NODE";
    case SYSTEM:
        return "SYS";
    default:
        return NULL;
    }
}
