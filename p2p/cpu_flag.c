/* Flag latency between two processes, through a word of shared memory in each. */
#include "p2p/path.h"

extern const struct lp_path lp_path_cpu_flag;
const struct lp_path lp_path_cpu_flag = {
    .name = "cpu_flag",
    .title = "one-way flag latency between processes",
    .help = "host memory: a process writes a word into the other one's memory, which sees it and answers; half of the round trip",
    .device = "host",
    .flags = LP_PATH_LATENCY,
    .rate = LP_RATE_NONE,
    .steps = 2 * LP_EXCHANGE_ROUNDS,
    .prepare = lp_exchange_prepare,
    .load = lp_exchange_load,
    .enqueue = lp_exchange_enqueue,
    .judge = lp_exchange_judge,
    .release = lp_exchange_release,
};
