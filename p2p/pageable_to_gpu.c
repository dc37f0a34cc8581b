/* Reference: ordinary host memory to GPU; the driver copies it through pinned buffers of its own. */
#include "p2p/path.h"

extern const struct lp_path lp_path_pageable_to_gpu;
const struct lp_path lp_path_pageable_to_gpu = {
    .name = "pageable_to_gpu",
    .title = "pageable host memory to GPU",
    .help = "memory as malloc gives it, which the driver copies through pinned buffers of its own",
    .device = "cuda",
    .flags = LP_PATH_PAGEABLE | LP_PATH_UNGATED,
    .rate = LP_RATE_PCIE,
    .load = lp_transfer_load,
    .enqueue = lp_transfer_copy,
};
