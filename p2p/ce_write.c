/* Copy engine write: the sender's copy engine puts the bytes into the peer's memory. */
#include "p2p/path.h"

extern const struct lp_path lp_path_ce_write;
const struct lp_path lp_path_ce_write = {
    .name = "ce_write",
    .title = "copy engine write, P2P on",
    .help = "the sending GPU's copy engine writes into the receiving GPU's memory over the link",
    .device = "cuda",
    .flags = LP_PATH_PEER,
    .rate = LP_RATE_LINK,
    .enqueue = lp_transfer_copy,
};
