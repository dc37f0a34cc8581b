/* Reference: pinned host memory to GPU and back at the same time. */
#include "p2p/path.h"

extern const struct lp_path lp_path_pinned_both;
const struct lp_path lp_path_pinned_both = {
    .name = "pinned_both",
    .title = "pinned host memory to GPU and back at once",
    .help = "one copy engine of the GPU reads pinned host memory while another writes some, over PCI Express",
    .device = "cuda",
    .flags = LP_PATH_PINNED,
    .rate = LP_RATE_PCIE,
    .load = lp_transfer_load,
    .enqueue = lp_transfer_copy,
    .unload = lp_transfer_unload,
};
