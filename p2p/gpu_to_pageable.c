/* Reference: GPU to ordinary host memory, through pinned buffers of the driver. */
#include "p2p/path.h"

extern const struct lp_path lp_path_gpu_to_pageable;
const struct lp_path lp_path_gpu_to_pageable = {
    .name = "gpu_to_pageable",
    .title = "GPU to pageable host memory",
    .help = "into memory as malloc gives it, through pinned buffers of the driver",
    .device = "cuda",
    .flags = LP_PATH_PAGEABLE | LP_PATH_UNGATED,
    .rate = LP_RATE_PCIE,
    .load = lp_transfer_load,
    .enqueue = lp_transfer_copy,
    .unload = lp_transfer_unload,
};
