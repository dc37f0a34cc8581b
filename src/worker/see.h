/* What this worker sees of the machine: its part of the survey, as JSON. */
#ifndef LP_WORKER_SEE_H
#define LP_WORKER_SEE_H

#include "base/status.h"

#include <jansson.h>

/*
 * Fills machine: host, kernel, cpus, device ("cuda" or "host": what was asked for, or for "auto" what is there), devices
 * {index, name, uuid, pci, memory_bytes, memory_gbps, vbios, numa, cpus, links {nvlinks, nvlink_gbps, remotes [{pci, n, to}],
 * pcie_gen, pcie_width, pcie_gbps}, ...}, pairs {src, dst, peer_access, nvlinks, common}, versions, inherited, conf_files,
 * shm_bytes. "auto" takes host memory only where there is no GPU at all. LP_ERR_ENV when the machine is not fit (driver too
 * old, CUDA not ready, no such device), with words for the user.
 */
enum lp_status lp_see_machine(const char *device, const char *nccl_path, json_t *machine, struct lp_reason *why);

/* The variables of this process's environment that change what NCCL or CUDA do: {NAME: value}. New reference. */
json_t *lp_see_environment(void);

#endif
