/* Reference: GPU to pinned host memory by its copy engine. */
#include "p2p/path.h"

extern const struct lp_path lp_path_gpu_to_pinned;
const struct lp_path lp_path_gpu_to_pinned = {
    .name = "gpu_to_pinned",
    .title = "GPU to pinned host memory",
    .help = "the GPU's copy engine writes pinned host memory over PCI Express",
    .device = "cuda",
    .flags = LP_PATH_PINNED,
    .rate = LP_RATE_PCIE,
    .load = lp_transfer_load,
    .enqueue = lp_transfer_copy,
    .unload = lp_transfer_unload,
};
