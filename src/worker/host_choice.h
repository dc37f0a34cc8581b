/*
 * Which ways the host library may go, by the environment variables that steer NCCL. That a collective then has none is the
 * library's to say.
 */
#ifndef LP_WORKER_HOST_CHOICE_H
#define LP_WORKER_HOST_CHOICE_H

#include "base/status.h"

#include <stdbool.h>

#define LP_HOST_TREE 1u
#define LP_HOST_RING 2u

struct lp_host_choice {
    unsigned all_reduce, all_gather; /* algorithms that NCCL_ALGO leaves; bits that are not named here are NCCL's own */
    bool p2p_off;
};

/*
 * From the values of NCCL_ALGO and NCCL_P2P_DISABLE, NULL where unset, read as NCCL 2.24 and later reads them. LP_ERR_FAILED, as
 * NCCL's init then fails, quotes the word of NCCL_ALGO that is not understood.
 */
enum lp_status lp_host_choose(const char *algo, const char *p2p_disable, struct lp_host_choice *out, struct lp_reason *why);

#endif
