/* Flag latency: kernels of two GPUs answer each other with a word in the other one's memory. */
#include "p2p/path.h"

extern const struct lp_path lp_path_flag_latency;
const struct lp_path lp_path_flag_latency = {
    .name = "flag_latency",
    .title = "one-way flag latency, P2P on",
    .help = "a kernel writes a word into the peer's memory, whose kernel sees it and answers; half of the round trip",
    .device = "cuda",
    .flags = LP_PATH_PEER | LP_PATH_LATENCY,
    .rate = LP_RATE_NONE,
    .steps = 2 * LP_EXCHANGE_ROUNDS,
    .prepare = lp_exchange_prepare,
    .load = lp_exchange_load,
    .enqueue = lp_exchange_enqueue,
    .judge = lp_exchange_judge,
    .release = lp_exchange_release,
};
