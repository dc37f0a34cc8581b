/* SM read: a kernel of the receiving GPU loads from the peer's memory, 16 bytes a thread. */
#include "p2p/path.h"

extern const struct lp_path lp_path_sm_read;
const struct lp_path lp_path_sm_read = {
    .name = "sm_read",
    .title = "SM read, P2P on",
    .help = "a kernel of the receiving GPU loads from the sending GPU's memory over the link",
    .device = "cuda",
    .flags = LP_PATH_PEER | LP_PATH_READ,
    .rate = LP_RATE_LINK,
    .enqueue = lp_transfer_kernel_copy,
};
