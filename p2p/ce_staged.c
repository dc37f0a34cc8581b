/*
 * Driver-staged copy: the same call where peer access was never enabled, so that the driver goes through host memory. It
 * needs a worker of its own: once enabled, peer access stays for the process.
 */
#include "p2p/path.h"

extern const struct lp_path lp_path_ce_staged;
const struct lp_path lp_path_ce_staged = {
    .name = "ce_staged",
    .title = "driver-staged copy, P2P off",
    .help = "peer access off: the driver copies GPU to host memory to GPU",
    .device = "cuda",
    .flags = LP_PATH_STAGED | LP_PATH_UNGATED, /* the driver waits for copies that are held: cudaMemcpyPeerAsync never returns */
    .rate = LP_RATE_PCIE,
    .enqueue = lp_transfer_copy,
};
