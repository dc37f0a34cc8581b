/* Copy engine read: the receiver's copy engine fetches the bytes from the peer's memory. */
#include "p2p/path.h"

extern const struct lp_path lp_path_ce_read;
const struct lp_path lp_path_ce_read = {
    .name = "ce_read",
    .title = "copy engine read, P2P on",
    .help = "the receiving GPU's copy engine reads from the sending GPU's memory over the link",
    .device = "cuda",
    .flags = LP_PATH_PEER | LP_PATH_READ,
    .rate = LP_RATE_LINK,
    .enqueue = lp_transfer_copy,
};
