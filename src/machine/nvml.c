/*
 * NVML by dlopen, with the few declarations we use written by hand: machines that build have no nvml.h. Only the driver's
 * answers; nothing is worked out from them but PCI Express line rate.
 */
#include "machine/nvml.h"

#include "machine/pci.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From NVML's ABI, which only grows: a struct's layout and a number's meaning stay. */
enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3 };
enum { VALUE_UINT = 1, VALUE_ULONG = 2, VALUE_ULONGLONG = 3 };
enum { FIELD_NVLINK_SPEED_COMMON = 90, FIELD_NVLINK_SPEED = 164 }; /* MB/s; the second per link, since about driver 520 */
enum { REMOTE_GPU = 0, REMOTE_NPU = 1, REMOTE_SWITCH = 2 };
enum { ONE_BOARD = 0, ONE_SWITCH = 10, SWITCHES = 20, HOST_BRIDGE = 30, NUMA_NODE = 40, SYSTEM = 50 }; /* nvmlGpuTopologyLevel_t */

typedef struct nvml_device *device_t; /* opaque */

struct field_value {
    unsigned id, scope; /* scope: the link, for fields that are a link's */
    long long timestamp_us, latency_us;
    int type; /* VALUE_... */
    int result;
    union {
        double real;
        unsigned uint;
        unsigned long ulong;
        unsigned long long ulonglong;
    } value;
};

struct pci_info { /* version 3, which the _v2 call below fills */
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};

struct memory_info { /* nvmlMemory_t */
    unsigned long long total, free, used;
};

struct lp_nvml {
    void *handle;
    char driver[80];
    int (*init)(void);
    int (*shutdown)(void);
    int (*memory)(device_t device, struct memory_info *info);
    const char *(*error_string)(int);
    int (*driver_version)(char *, unsigned);
    int (*by_pci)(const char *, device_t *);
    int (*uuid)(device_t, char *, unsigned);
    int (*vbios)(device_t, char *, unsigned);
    int (*link_state)(device_t, unsigned, int *);
    int (*link_remote_type)(device_t, unsigned, int *);
    int (*link_remote_pci)(device_t, unsigned, struct pci_info *);
    int (*field_values)(device_t, int, struct field_value *);
    int (*pcie_gen)(device_t, unsigned *);
    int (*pcie_width)(device_t, unsigned *);
    int (*pcie_max_gen)(device_t, unsigned *);
    int (*pcie_max_width)(device_t, unsigned *);
    int (*common_ancestor)(device_t, device_t, int *);
};

#define SLOT(member) offsetof(struct lp_nvml, member)

static const struct {
    const char *name;
    size_t slot;
    bool required; /* the others: what they would tell is unknown */
} symbols[] = {
    {"nvmlInit_v2", SLOT(init), true},
    {"nvmlShutdown", SLOT(shutdown), true},
    {"nvmlErrorString", SLOT(error_string), true},
    {"nvmlDeviceGetHandleByPciBusId_v2", SLOT(by_pci), true},
    {"nvmlSystemGetDriverVersion", SLOT(driver_version), false},
    {"nvmlDeviceGetMemoryInfo", SLOT(memory), false},
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
};

static enum lp_status find_symbols(struct lp_nvml *nvml, struct lp_reason *why)
{
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *found = dlsym(nvml->handle, symbols[i].name);

        if (!found && symbols[i].required)
            return lp_because(why, LP_ERR_UNSUPPORTED, "NVML has no %s", symbols[i].name);
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
