/* The copy paths linkperf knows. A new one is a file and a line here. */
#include "p2p/path.h"

#include <string.h>

extern const struct lp_path lp_path_ce_write, lp_path_ce_staged, lp_path_sm_write, lp_path_cpu_write, lp_path_cpu_bounce;

const struct lp_path *const lp_paths[] = {
    &lp_path_ce_write, &lp_path_ce_staged, &lp_path_sm_write, &lp_path_cpu_write, &lp_path_cpu_bounce, NULL,
};

const struct lp_path *lp_path_find(const char *name)
{
    for (size_t i = 0; lp_paths[i]; i++)
        if (strcmp(lp_paths[i]->name, name) == 0)
            return lp_paths[i];
    return NULL;
}
