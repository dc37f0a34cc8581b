/* Reference: within one GPU's memory, every byte counted once though it is read and written. */
#include "p2p/path.h"

extern const struct lp_path lp_path_on_card;
const struct lp_path lp_path_on_card = {
    .name = "on_card",
    .title = "on-card copy, bytes counted once",
    .help = "within one GPU's memory by cudaMemcpyAsync; each byte is read and written, and counted once",
    .device = "cuda",
    .flags = LP_PATH_LOCAL,
    .rate = LP_RATE_MEMORY,
    .enqueue = lp_transfer_copy,
};
