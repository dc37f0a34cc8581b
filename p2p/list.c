/* The copy paths linkperf knows. A new one is a file and a line here. */
#include "p2p/path.h"

#include <string.h>

extern const struct lp_path lp_path_ce_write, lp_path_ce_read, lp_path_memcpy, lp_path_sm_write, lp_path_sm_read, lp_path_ce_staged,
    lp_path_ce_staged_turns, lp_path_pinned_staged, lp_path_pinned_plain, lp_path_pinned_to_gpu, lp_path_gpu_to_pinned,
    lp_path_pinned_both, lp_path_pageable_to_gpu, lp_path_gpu_to_pageable, lp_path_on_card, lp_path_load_latency,
    lp_path_flag_latency, lp_path_cpu_write, lp_path_cpu_bounce, lp_path_cpu_flag, lp_path_sm_exchange, lp_path_cpu_exchange;

/* In the order of reports. */
const struct lp_path *const lp_paths[] = {
    &lp_path_ce_write,
    &lp_path_ce_read,
    &lp_path_memcpy,
    &lp_path_sm_write,
    &lp_path_sm_read,
    &lp_path_ce_staged,
    &lp_path_ce_staged_turns,
    &lp_path_pinned_staged,
    &lp_path_pinned_plain,
    &lp_path_pinned_to_gpu,
    &lp_path_gpu_to_pinned,
    &lp_path_pinned_both,
    &lp_path_pageable_to_gpu,
    &lp_path_gpu_to_pageable,
    &lp_path_on_card,
    &lp_path_load_latency,
    &lp_path_flag_latency,
    &lp_path_cpu_write,
    &lp_path_cpu_bounce,
    &lp_path_cpu_flag,
    &lp_path_sm_exchange,
    &lp_path_cpu_exchange,
    NULL,
};

const struct lp_path *lp_path_find(const char *name)
{
    for (size_t i = 0; lp_paths[i]; i++)
        if (strcmp(lp_paths[i]->name, name) == 0)
            return lp_paths[i];
    return NULL;
}
