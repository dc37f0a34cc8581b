/* Judging a survey. How it was made is the worker's see.c; what is planned from it is plan's. */
#include "machine/survey.h"

#include "base/json.h"
#include "base/units.h"
#include "machine/cpus.h"
#include "machine/links.h"

#include <stdio.h>
#include <string.h>

#define SMALL_SHM ((int64_t)256 << 20) /* NCCL takes some 10 to 30 MB a rank */

/* ---- agreement ---- */

static enum lp_status same_text(json_t *const *seen, int nranks, const char *group, const char *key, const char *what,
                                struct lp_reason *why)
{
    const json_t *first = group ? json_object_get(seen[0], group) : seen[0];
    const char *mine = lp_json_str(first, key, "none");

    for (int r = 1; r < nranks; r++) {
        const json_t *other = group ? json_object_get(seen[r], group) : seen[r];
        const char *theirs = lp_json_str(other, key, "none");

        if (strcmp(mine, theirs) != 0)
            return lp_because(why, LP_ERR_ENV, "ranks differ in their %s: rank 0 has %s, rank %d has %s", what, mine, r, theirs);
    }
    return LP_OK;
}

static enum lp_status check_agreement(json_t *const *seen, int nranks, struct lp_reason *why)
{
    static const struct {
        const char *group, *key, *what;
    } same[] = {
        {NULL, "device", "kind of device"},
        {"versions", "driver", "driver version"},
        {"versions", "cuda_runtime", "CUDA runtime version"},
        {"versions", "nccl_loaded", "NCCL version"},
        {"versions", "nccl_path", "NCCL library"},
    };
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]) && st == LP_OK; i++)
        st = same_text(seen, nranks, same[i].group, same[i].key, same[i].what, why);
    return st;
}

/* ---- who uses which GPU ---- */

/* A rank uses device local_rank of those it sees, or the only one; what CUDA_VISIBLE_DEVICES says is respected by that. */
static enum lp_status place_gpu(const json_t *machine, int rank, int local_rank, struct lp_machine *out, struct lp_reason *why)
{
    struct lp_machine_rank *mine = &out->rank[rank];
    int visible = (int)json_array_size(json_object_get(machine, "devices"));
    const json_t *device;

    mine->device = visible == 1 ? 0 : local_rank;
    if (mine->device >= visible)
        return lp_because(why, LP_ERR_ENV, "rank %d has no GPU: %d are visible to it; start one rank per GPU (-np %d)", rank,
                          visible, visible);
    device = lp_seen_device(machine, mine->device);
    lp_json_copy(device, "pci", mine->pci, sizeof(mine->pci));
    mine->memory_bytes = (size_t)lp_json_int(device, "memory_bytes", 0);
    out->exclusive = out->exclusive || lp_json_bool(device, "exclusive", false);
    lp_cpus_common(lp_json_str(device, "cpus", ""), lp_json_str(machine, "cpus", ""), mine->cpus, sizeof(mine->cpus));
    for (int r = 0; r < rank; r++)
        if (strcmp(out->rank[r].pci, mine->pci) == 0)
            return lp_because(why, LP_ERR_ENV, "ranks %d and %d use the same GPU %s: start one rank per GPU", r, rank, mine->pci);
    return LP_OK;
}

static enum lp_status place_ranks(json_t *const *seen, const int *local_rank, struct lp_machine *out, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (int r = 0; r < out->nranks && st == LP_OK; r++) {
        if (strcmp(out->device, "cuda") == 0) {
            st = place_gpu(seen[r], r, local_rank[r], out, why);
            out->rank[r].at_rank0 = lp_seen_find(seen[0], out->rank[r].pci);
        } else {
            /* two workers on one CPU take 20 times as long for a small operation, until the kernel moves one of them */
            lp_cpus_share(lp_json_str(seen[r], "cpus", ""), r, out->nranks, out->rank[r].cpus, sizeof(out->rank[r].cpus));
            out->rank[r].at_rank0 = r == 0 ? 0 : -1;
            out->rank[r].memory_bytes = (size_t)lp_json_int(lp_seen_device(seen[r], 0), "memory_bytes", 0) / (size_t)out->nranks;
        }
    }
    return st;
}

static json_t *rank_json(const json_t *machine, const struct lp_machine *found, int rank, int local_rank)
{
    const struct lp_machine_rank *mine = &found->rank[rank];
    json_t *gpu = json_null();

    if (strcmp(found->device, "cuda") == 0)
        gpu = json_incref((json_t *)lp_seen_device(machine, mine->device));
    return json_pack("{s:i, s:O?, s:i, s:O?, s:o, s:O?, s:O?, s:o}", "rank", rank, "host", json_object_get(machine, "host"),
                     "local_rank", local_rank, "cpus", json_object_get(machine, "cpus"), "worker_cpus",
                     lp_json_text(mine->cpus[0] ? mine->cpus : NULL), "numa", json_object_get(gpu, "numa"), "links",
                     json_object_get(gpu, "links"), "gpu", gpu);
}

/* ---- warnings ---- */

static void warn(json_t *head, json_t *text)
{
    json_t *list = json_object_get(head, "warnings");

    if (!list) {
        list = json_array();
        json_object_set_new(head, "warnings", list);
    }
    json_array_append_new(list, text);
}

/* More ranks than CPUs, mixed models, links down, a library other than the headers: facts that change what a number means. */
static void add_warnings(json_t *const *seen, const struct lp_machine *found, json_t *head)
{
    const json_t *versions = json_object_get(seen[0], "versions");
    const char *compiled = lp_json_str(versions, "nccl_compiled", NULL), *loaded = lp_json_str(versions, "nccl_loaded", NULL);
    int cpus = lp_cpus_count(lp_json_str(seen[0], "cpus", ""));
    int64_t shm = lp_json_int(seen[0], "shm_bytes", -1);
    char bytes[32];

    if (shm >= 0 && shm < SMALL_SHM)
        warn(head, json_sprintf("/dev/shm has %s in all: NCCL's shared-memory path (P2P off) may not fit; enlarge it (docker: "
                                "--shm-size=1g)",
                                lp_format_about((size_t)shm, bytes, sizeof(bytes))));
    if (compiled && loaded && strcmp(compiled, loaded) != 0)
        warn(head, json_sprintf("NCCL %s is loaded; the worker was compiled with the header of %s", loaded, compiled));
    if (strcmp(found->device, "host") == 0 && cpus > 0 && cpus < found->nranks)
        warn(head, json_sprintf("%d ranks share %d CPUs: host memory figures are not for comparison", found->nranks, cpus));
    if (strcmp(found->device, "cuda") == 0 && cpus == 1)
        warn(head, json_string("rank 0 may use one CPU only: launch overhead will show in small sizes"));
    if (found->library_error[0])
        warn(head, json_sprintf("no collectives: %s", found->library_error));
    for (int r = 1; r < found->nranks; r++) {
        const char *first = lp_json_str(lp_seen_device(seen[0], found->rank[0].device), "name", "");
        const char *other = lp_json_str(lp_seen_device(seen[r], found->rank[r].device), "name", "");

        if (strcmp(found->device, "cuda") == 0 && strcmp(first, other) != 0)
            warn(head, json_sprintf("mixed GPU models: rank 0 has %s, rank %d has %s; the slower sets the pace", first, r, other));
    }
    for (int r = 0; r < found->nranks; r++) {
        json_t *shortage = lp_links_shortage(seen, found, r);

        if (shortage)
            warn(head, shortage);
    }
}

/* A worker of another linkperf may answer anything. */
static enum lp_status check_answers(json_t *const *seen, int nranks, struct lp_reason *why)
{
    for (int r = 0; r < nranks; r++)
        if (!lp_json_str(seen[r], "device", NULL))
            return lp_because(why, LP_ERR_ENV, "rank %d's worker answered the survey without a device: is it of this linkperf?", r);
    return check_agreement(seen, nranks, why);
}

enum lp_status lp_machine_judge(json_t *const *seen, const int *local_rank, int nranks, struct lp_machine *out, json_t *head,
                                struct lp_reason *why)
{
    const json_t *inherited = json_object_get(seen[0], "inherited");
    enum lp_status st = check_answers(seen, nranks, why);
    json_t *ranks = json_array();

    memset(out, 0, sizeof(*out));
    out->nranks = nranks;
    out->visible = (int)json_array_size(json_object_get(seen[0], "devices"));
    lp_json_copy(seen[0], "device", out->device, sizeof(out->device));
    lp_json_copy(seen[0], "library", out->library, sizeof(out->library));
    lp_json_copy(seen[0], "library_error", out->library_error, sizeof(out->library_error));
    out->nvls_set = lp_json_copy(inherited, "NCCL_NVLS_ENABLE", out->nvls, sizeof(out->nvls));
    if (st == LP_OK)
        st = place_ranks(seen, local_rank, out, why);
    for (int r = 0; r < nranks && st == LP_OK; r++)
        json_array_append_new(ranks, rank_json(seen[r], out, r, local_rank[r]));
    json_object_set_new(head, "ranks", ranks);
    json_object_set_new(head, "device", json_string(out->device));
    json_object_set(head, "versions", json_object_get(seen[0], "versions"));
    json_object_set(head, "inherited", json_object_get(seen[0], "inherited"));
    json_object_set(head, "conf_files", json_object_get(seen[0], "conf_files"));
    json_object_set_new(head, "shm",
                        json_pack("{s:O?, s:O?}", "bytes", json_object_get(seen[0], "shm_bytes"), "free_bytes",
                                  json_object_get(seen[0], "shm_free_bytes")));
    if (st != LP_OK)
        return st;
    json_object_set_new(json_object_get(head, "versions"), "kernel", json_incref(json_object_get(seen[0], "kernel")));
    lp_links_judge(seen, out);
    json_object_set_new(head, "topology", lp_links_topology(seen, out));
    out->nvlink = strcmp(lp_json_str(json_object_get(json_object_get(head, "topology"), "line"), "kind", ""), "nvlink") == 0;
    add_warnings(seen, out, head);
    return LP_OK;
}
