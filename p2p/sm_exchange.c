/* SM exchange: a whole operation of the link, as a collective is one: SM write to the next GPU, over when the data of the one
 * before is here. */
#include "p2p/path.h"

extern const struct lp_path lp_path_sm_exchange;
const struct lp_path lp_path_sm_exchange = {
    .name = "sm_exchange",
    .title = "SM write to the next, then a flag",
    .help = "every GPU's kernel stores into the next one's memory, sets a flag there, and waits for its own",
    .device = "cuda",
    .flags = LP_PATH_PEER | LP_PATH_RING,
    .rate = LP_RATE_LINK,
    .prepare = lp_ring_prepare,
    .enqueue = lp_ring_enqueue,
    .align = lp_ring_align,
};
