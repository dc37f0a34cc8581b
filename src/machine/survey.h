/* What the machine is, from what each rank's survey worker saw: agreement, who uses which GPU, and the line rate. */
#ifndef LP_MACHINE_SURVEY_H
#define LP_MACHINE_SURVEY_H

#include "base/status.h"
#include "model/cell.h"

#include <jansson.h>

#define LP_MAX_PAIR_KINDS 8

/* How two GPUs are joined: pairs of one kind should be alike, and are compared with one another only. */
struct lp_pair_kind {
    char name[32];    /* "NV18", "PIX", "NODE", "SYS" as nvidia-smi topo has them; "PCIe", "host memory", "unknown", "other" */
    double line_gbps; /* line rate of one direction; NaN: unknown */
    char words[128];  /* where the rate comes from, or why it is not known */
};

struct lp_machine_rank {
    int device;   /* index among what this rank sees */
    int at_rank0; /* index of the same GPU among what rank 0 sees; -1: hidden from it */
    char pci[32];
    char cpus[512];      /* near the GPU and allowed; "" for all that are allowed */
    size_t memory_bytes; /* of the GPU, or available host memory */
};

struct lp_machine {
    char device[16], library[16]; /* "cuda" with "nccl", "host" with "host" */
    char library_error[512];      /* why there are no collectives; "" when there are */
    int nranks;
    int visible; /* devices that rank 0 sees */
    struct lp_machine_rank rank[LP_MAX_RANKS];
    int nkinds; /* at least 1 with two ranks */
    struct lp_pair_kind kind[LP_MAX_PAIR_KINDS];
    /* By ranks src, dst: index into kind, whose last takes all that do not fit; -1 from a rank to itself. */
    signed char kind_of[LP_MAX_RANKS][LP_MAX_RANKS];
    bool exclusive; /* some GPU takes one process at a time */
    bool nvlink;    /* GPUs are joined by NVLink; decides `when` of variants */
    char nvls[64];  /* inherited NCCL_NVLS_ENABLE of rank 0 */
    bool nvls_set;
};

/*
 * seen[r]: what rank r's worker replied as `machine`; local_rank[r] as the launcher has it. Fills *out and adds ranks,
 * versions, topology, inherited, conf_files, device and warnings to head. LP_ERR_ENV when the ranks do not fit together:
 * different device kinds or versions, two ranks on one GPU, a rank without a GPU.
 */
enum lp_status lp_machine_judge(json_t *const *seen, const int *local_rank, int nranks, struct lp_machine *out, json_t *head,
                                struct lp_reason *why);

#endif
