/* Reference: pinned host memory to GPU by its copy engine. */
#include "p2p/path.h"

extern const struct lp_path lp_path_pinned_to_gpu;
const struct lp_path lp_path_pinned_to_gpu = {
    .name = "pinned_to_gpu",
    .title = "pinned host memory to GPU",
    .help = "the GPU's copy engine reads pinned host memory over PCI Express",
    .device = "cuda",
    .flags = LP_PATH_PINNED,
    .rate = LP_RATE_PCIE,
    .load = lp_transfer_load,
    .enqueue = lp_transfer_copy,
};
