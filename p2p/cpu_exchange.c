/* CPU exchange: the same between processes on host memory. */
#include "p2p/path.h"

extern const struct lp_path lp_path_cpu_exchange;
const struct lp_path lp_path_cpu_exchange = {
    .name = "cpu_exchange",
    .title = "CPU write to the next, then a flag",
    .help = "host memory: every process copies into the next one's memory, sets a flag there, and waits for its own",
    .device = "host",
    .flags = LP_PATH_RING,
    .rate = LP_RATE_NONE,
    .prepare = lp_ring_prepare,
    .enqueue = lp_ring_enqueue,
    .align = lp_ring_align,
};
