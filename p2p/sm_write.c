/* SM write: a kernel of the sending GPU stores into the peer's memory, 16 bytes a thread, as NCCL's kernels do. */
#include "p2p/path.h"

extern const struct lp_path lp_path_sm_write;
const struct lp_path lp_path_sm_write = {
    .name = "sm_write",
    .title = "SM write, P2P on",
    .help = "a kernel of the sending GPU stores into the receiving GPU's memory over the link",
    .device = "cuda",
    .flags = LP_PATH_PEER,
    .rate = LP_RATE_LINK,
    .enqueue = lp_transfer_kernel_copy,
};
