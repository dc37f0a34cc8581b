/* CPU write: the sending process copies straight into the receiving process's shared memory. */
#include "p2p/path.h"

extern const struct lp_path lp_path_cpu_write;
const struct lp_path lp_path_cpu_write = {
    .name = "cpu_write",
    .title = "CPU write, direct",
    .help = "host memory: the sending process copies into the receiving process's memory",
    .device = "host",
    .rate = LP_RATE_NONE,
    .enqueue = lp_transfer_copy,
};
