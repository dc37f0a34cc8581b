/* The survey of one worker: devices, links, CPUs, versions, environment. It measures nothing and makes no context. */
#include "worker/see.h"

#include "base/json.h"
#include "machine/cpus.h"
#include "machine/nvml.h"
#include "worker/device.h"
#include "worker/library.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char **environ;

/* ---- what a person set before the run ---- */

/*
 * Variables that change what NCCL or CUDA do. Containers set others with these prefixes (NCCL_VERSION, CUDA_HOME, ...),
 * which nobody reads at run time.
 */
static bool matters(const char *name)
{
    static const char *const cuda[] = {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",   "CUDA_DEVICE_MAX_CONNECTIONS",
                                       "CUDA_LAUNCH_BLOCKING", "CUDA_MODULE_LOADING", "LINKPERF_LOCK"};

    if (strncmp(name, "NCCL_", 5) == 0)
        return strcmp(name, "NCCL_VERSION") != 0;
    for (size_t i = 0; i < sizeof(cuda) / sizeof(cuda[0]); i++)
        if (strcmp(name, cuda[i]) == 0)
            return true;
    return false;
}

json_t *lp_see_environment(void)
{
    json_t *list = json_object();

    for (char **entry = environ; *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        char name[256];

        if (!equals || (size_t)(equals - *entry) >= sizeof(name))
            continue;
        snprintf(name, (size_t)(equals - *entry) + 1, "%s", *entry);
        if (matters(name))
            json_object_set_new(list, name, lp_json_text(equals + 1));
    }
    return list;
}

/* Files that NCCL reads settings from, as far as they exist: NCCL_CONF_FILE or ~/.nccl.conf, then /etc/nccl.conf. */
static json_t *conf_files(void)
{
    const char *named = getenv("NCCL_CONF_FILE"), *home = getenv("HOME");
    json_t *list = json_array();
    char own[4096] = "";

    if (named)
        snprintf(own, sizeof(own), "%s", named);
    else if (home)
        snprintf(own, sizeof(own), "%s/.nccl.conf", home);
    if (own[0] && access(own, R_OK) == 0)
        json_array_append_new(list, lp_json_text(own));
    if (access("/etc/nccl.conf", R_OK) == 0)
        json_array_append_new(list, json_string("/etc/nccl.conf"));
    return list;
}

static void see_host(json_t *machine)
{
    char host[256] = "", cpus[LP_CPUS_MAX];
    struct utsname name;
    struct statvfs shm;

    gethostname(host, sizeof(host) - 1);
    json_object_set_new(machine, "host", lp_json_text(host));
    json_object_set_new(machine, "kernel", uname(&name) == 0 ? lp_json_text(name.release) : json_null());
    json_object_set_new(machine, "cpus", lp_json_text(lp_cpus_of_process(0, cpus, sizeof(cpus))));
    json_object_set_new(machine, "inherited", lp_see_environment());
    json_object_set_new(machine, "conf_files", conf_files());
    if (statvfs("/dev/shm", &shm) == 0) {
        json_object_set_new(machine, "shm_bytes", json_integer((json_int_t)(shm.f_blocks * shm.f_frsize)));
        json_object_set_new(machine, "shm_free_bytes", json_integer((json_int_t)(shm.f_bavail * shm.f_frsize)));
    }
}

/* ---- devices ---- */

/* A device with what the driver says of its links; gpu.nlinks is -1 where it says nothing. */
struct sight {
    struct lp_device_info info;
    struct lp_nvml_gpu gpu;
    bool by_nvml;
};

static void look(const struct lp_device_ops *ops, struct lp_nvml *nvml, int index, struct sight *out)
{
    *out = (struct sight){.info.memory_gbps = (double)NAN, .gpu.nlinks = -1};
    ops->describe(index, &out->info, NULL);
    out->by_nvml = nvml && out->info.pci[0] && lp_nvml_gpu(nvml, out->info.pci, &out->gpu, NULL) == LP_OK;
}

/* A count, or null for -1. */
static json_t *count_json(int n)
{
    return n < 0 ? json_null() : json_integer(n);
}

static bool same_end(const struct lp_nvlink *a, const struct lp_nvlink *b)
{
    return a->remote == b->remote && strcmp(a->remote_pci, b->remote_pci) == 0;
}

/* Where the active NVLinks end, and how many at each place; null where their number is unknown. */
static json_t *see_remotes(const struct lp_nvml_gpu *gpu)
{
    static const char *const to[] = {
        [LP_REMOTE_UNKNOWN] = "unknown", [LP_REMOTE_GPU] = "gpu", [LP_REMOTE_SWITCH] = "switch", [LP_REMOTE_OTHER] = "other"};
    json_t *list = gpu->nlinks < 0 ? json_null() : json_array();

    for (int i = 0; i < gpu->nlinks; i++) {
        const struct lp_nvlink *link = &gpu->link[i];
        int before = 0, n = 0;

        for (int k = 0; k < gpu->nlinks; k++)
            if (same_end(&gpu->link[k], link)) {
                before += k < i;
                n++;
            }
        if (before == 0)
            json_array_append_new(list,
                                  json_pack("{s:o, s:i, s:s}", "pci", lp_json_text(link->remote_pci[0] ? link->remote_pci : NULL),
                                            "n", n, "to", to[link->remote]));
    }
    return list;
}

static json_t *see_links(const struct lp_nvml_gpu *gpu)
{
    return json_pack("{s:o, s:o, s:o, s:i, s:i, s:o}", "nvlinks", count_json(gpu->nlinks), "nvlink_gbps",
                     lp_json_real(lp_nvml_nvlink_gbps(gpu)), "remotes", see_remotes(gpu), "pcie_gen", gpu->pcie_max_gen,
                     "pcie_width", gpu->pcie_max_width, "pcie_gbps", lp_json_real(gpu->pcie_max_gbps));
}

static json_t *see_device(const struct sight *sight, int index)
{
    const struct lp_device_info *info = &sight->info;
    char cpus[LP_CPUS_MAX] = "";
    json_t *device;

    if (info->pci[0])
        lp_cpus_of_pci(info->pci, cpus, sizeof(cpus));
    device =
        json_pack("{s:i, s:o, s:o, s:o, s:I, s:o, s:i, s:o, s:o, s:b}", "index", index, "name", lp_json_text(info->name), "uuid",
                  lp_json_text(info->uuid), "pci", lp_json_text(info->pci), "memory_bytes", (json_int_t)info->memory_bytes,
                  "memory_gbps", lp_json_real(info->memory_gbps), "cc", info->cc_major * 10 + info->cc_minor, "cpus",
                  lp_json_text(cpus), "numa", count_json(lp_numa_of_pci(info->pci)), "exclusive", info->exclusive);
    if (sight->by_nvml) {
        json_object_set_new(device, "vbios", lp_json_text(sight->gpu.vbios));
        json_object_set_new(device, "links", see_links(&sight->gpu));
    }
    return device;
}

/* The driver's word on every directed pair that this process sees: peer access, NVLinks between them, where PCIe meets. */
static json_t *see_pairs(const struct lp_device_ops *ops, struct lp_nvml *nvml, const struct sight *sight, int n)
{
    json_t *pairs = json_array();

    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const char *pci = sight[a].info.pci, *peer = sight[b].info.pci;
            bool yes = false;

            if (a == b || !ops->can_access || ops->can_access(a, b, &yes, NULL) != LP_OK)
                continue;
            json_array_append_new(pairs, json_pack("{s:i, s:i, s:b, s:o, s:o}", "src", a, "dst", b, "peer_access", yes, "nvlinks",
                                                   count_json(lp_nvml_links_to(&sight[a].gpu, peer)), "common",
                                                   lp_json_text(nvml ? lp_nvml_common(nvml, pci, peer) : NULL)));
        }
    return pairs;
}

/* What each device is, and each pair of them. */
static enum lp_status see_devices(const struct lp_device_ops *ops, struct lp_nvml *nvml, int n, json_t *machine,
                                  struct lp_reason *why)
{
    struct sight *sight = calloc((size_t)n, sizeof(*sight));
    json_t *devices = json_object_get(machine, "devices");

    if (!sight)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    for (int i = 0; i < n; i++) {
        look(ops, nvml, i, &sight[i]);
        json_array_append_new(devices, see_device(&sight[i], i));
    }
    json_object_set_new(machine, "pairs", see_pairs(ops, nvml, sight, n));
    free(sight);
    return LP_OK;
}

static void see_versions(const struct lp_device_ops *ops, struct lp_nvml *nvml, json_t *machine)
{
    char driver[64] = "", runtime[64] = "";
    json_t *versions = json_object();

    if (ops->versions)
        ops->versions(driver, sizeof(driver), runtime, sizeof(runtime));
    if (nvml && lp_nvml_driver(nvml)[0])
        json_object_set_new(versions, "driver", lp_json_text(lp_nvml_driver(nvml)));
    json_object_set_new(versions, "driver_cuda", driver[0] ? json_string(driver) : json_null());
    json_object_set_new(versions, "cuda_runtime", runtime[0] ? json_string(runtime) : json_null());
    json_object_set_new(machine, "versions", versions);
}

/* The first kind that has a device here; its count may fail with words that the user must see (driver too old, ...). */
static enum lp_status choose(const char *asked, const struct lp_device_ops **out, int *n, struct lp_reason *why)
{
    bool any = strcmp(asked, "auto") == 0;

    for (size_t i = 0; lp_devices[i]; i++) {
        enum lp_status st;

        if (!any && strcmp(asked, lp_devices[i]->name) != 0)
            continue;
        st = lp_devices[i]->count(n, why);
        if (st != LP_OK)
            return st;
        *out = lp_devices[i];
        if (*n > 0)
            return LP_OK;
        if (!any)
            return lp_because(why, LP_ERR_ENV, "no device of kind %s is visible", asked);
    }
    return lp_because(why, LP_ERR_ENV, "this worker was built without device '%s'", asked);
}

/* The library that goes with the device; a library that cannot be loaded is a fact here, and an error only when it is needed. */
static void see_library(const char *device, const char *nccl_path, json_t *machine)
{
    bool cuda = strcmp(device, "cuda") == 0;
    const struct lp_library_ops *library = lp_library_find(cuda ? "nccl" : "host");
    char version[64] = "", path[1024] = "", compiled[64] = "";
    struct lp_reason why = {""};
    json_t *versions = json_object_get(machine, "versions");

    if (!library)
        return;
    json_object_set_new(machine, "library", json_string(library->name));
    if (library->load(nccl_path, &why) != LP_OK) {
        json_object_set_new(machine, "library_error", lp_json_text(why.text));
        return;
    }
    library->describe(version, sizeof(version), path, sizeof(path));
    json_object_set_new(versions, "nccl_loaded", cuda ? lp_json_text(version) : json_null());
    json_object_set_new(versions, "nccl_path", cuda ? lp_json_text(path) : json_null());
    if (library->compiled)
        library->compiled(compiled, sizeof(compiled));
    json_object_set_new(versions, "nccl_compiled", compiled[0] ? json_string(compiled) : json_null());
}

enum lp_status lp_see_machine(const char *device, const char *nccl_path, json_t *machine, struct lp_reason *why)
{
    const struct lp_device_ops *ops = NULL;
    struct lp_nvml *nvml = NULL;
    enum lp_status st;
    int n = 0;

    see_host(machine);
    json_object_set_new(machine, "devices", json_array());
    st = choose(device, &ops, &n, why);
    if (st != LP_OK)
        return st;
    json_object_set_new(machine, "device", json_string(ops->name));
    if (strcmp(ops->name, "cuda") == 0)
        lp_nvml_open(&nvml, NULL);
    st = see_devices(ops, nvml, n, machine, why);
    see_versions(ops, nvml, machine);
    see_library(ops->name, nccl_path, machine);
    lp_nvml_close(nvml);
    return st;
}
