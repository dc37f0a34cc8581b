/*
 * Driver-staged copies in both directions from one thread, as p2pBandwidthLatencyTest has them: the call takes part in the
 * copy, so what the second direction does meanwhile depends on it. ce_staged gives each direction a thread.
 */
#include "p2p/path.h"

extern const struct lp_path lp_path_ce_staged_turns;
const struct lp_path lp_path_ce_staged_turns = {
    .name = "ce_staged_turns",
    .title = "driver-staged copy, P2P off, issued by one thread",
    .help = "peer access off: the driver copies GPU to host memory to GPU; one thread issues one direction and then the other",
    .device = "cuda",
    .flags = LP_PATH_STAGED | LP_PATH_UNGATED | LP_PATH_ONE_THREAD,
    .rate = LP_RATE_PCIE,
    .enqueue = lp_transfer_copy,
};
