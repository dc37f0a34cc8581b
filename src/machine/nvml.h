/*
 * What the driver says about a GPU and its links, through NVML opened at run time. It only asks, and changes nothing: no
 * clocks, power, persistence or MIG. What is not known is "", -1 or NaN; what the figures mean for a run is links' to say.
 */
#ifndef LP_MACHINE_NVML_H
#define LP_MACHINE_NVML_H

#include "base/status.h"

#define LP_NVML_MAX_LINKS 36

struct lp_nvml;

enum lp_remote { LP_REMOTE_UNKNOWN, LP_REMOTE_GPU, LP_REMOTE_SWITCH, LP_REMOTE_OTHER };

struct lp_nvlink { /* an active one */
    double gbps;   /* 10^9 bytes a second per direction, as the driver says; NaN */
    enum lp_remote remote;
    char remote_pci[32]; /* of the GPU, or of the switch, at the other end; "" */
};

struct lp_nvml_gpu {
    char uuid[96], vbios[32];
    int nlinks; /* active NVLinks; 0: none, -1: unknown */
    struct lp_nvlink link[LP_NVML_MAX_LINKS];
    int pcie_gen, pcie_width;         /* now; an idle GPU lowers its generation */
    int pcie_max_gen, pcie_max_width; /* of GPU and slot together */
    double pcie_gbps, pcie_max_gbps;  /* line rate per direction from generation and width */
};

/* LP_ERR_UNSUPPORTED with words when there is no NVML or it has no driver: go on without. Close it with lp_nvml_close. */
enum lp_status lp_nvml_open(struct lp_nvml **out, struct lp_reason *why);
void lp_nvml_close(struct lp_nvml *nvml);

/* "580.95.05"; "" when unknown. Lives as long as nvml. */
const char *lp_nvml_driver(const struct lp_nvml *nvml);

/*
 * The GPU at a PCI id as CUDA prints it ("0000:00:06.0"). LP_ERR_UNSUPPORTED when NVML does not know it. Figures that NVML
 * does not give are unknown in *out, which is written in every case.
 */
enum lp_status lp_nvml_gpu(struct lp_nvml *nvml, const char *pci, struct lp_nvml_gpu *out, struct lp_reason *why);

/* Bytes of the GPU's memory in use by anybody; -1 when unknown. No context is made. */
long long lp_nvml_used_bytes(struct lp_nvml *nvml, const char *pci);

/* Sum of the links' rates per direction; NaN when a rate or the number of links is unknown, 0 without links. */
double lp_nvml_nvlink_gbps(const struct lp_nvml_gpu *gpu);

/*
 * NVLinks that two GPUs can use between them: those that end at the other one's PCI id, or, where all links end at
 * switches, all. -1 when unknown. Is the other end on the same switches? That is the caller's to know.
 */
int lp_nvml_links_to(const struct lp_nvml_gpu *gpu, const char *peer_pci);

/* Where the PCI Express ways of two GPUs meet, in the words of nvidia-smi topo: PIX, PXB, PHB, NODE, SYS. NULL when unknown. */
const char *lp_nvml_common(struct lp_nvml *nvml, const char *pci, const char *peer_pci);

#endif
