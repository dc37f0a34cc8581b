/* Watching memory in use by NVML. Who holds it, and whether to go on, is not decided here. */
#include "control/settle.h"

#include "machine/nvml.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLACK_BYTES (64LL << 20)
#define LIMIT_NS    (10 * LP_SECOND)
#define STEP_NS     (50 * LP_MILLISECOND)

struct lp_settle {
    struct lp_nvml *nvml;
    int n;
    char pci[LP_MAX_RANKS][32];
    long long before[LP_MAX_RANKS];
};

struct lp_settle *lp_settle_create(const struct lp_machine *machine)
{
    struct lp_settle *settle = strcmp(machine->device, "cuda") == 0 ? calloc(1, sizeof(*settle)) : NULL;

    if (settle && lp_nvml_open(&settle->nvml, NULL) != LP_OK) {
        free(settle);
        settle = NULL;
    }
    if (!settle)
        return NULL;
    settle->n = machine->nranks;
    for (int r = 0; r < settle->n; r++) {
        memcpy(settle->pci[r], machine->rank[r].pci, sizeof(settle->pci[r]));
        settle->before[r] = lp_nvml_used_bytes(settle->nvml, settle->pci[r]);
    }
    return settle;
}

void lp_settle_free(struct lp_settle *settle)
{
    if (!settle)
        return;
    lp_nvml_close(settle->nvml);
    free(settle);
}

/* The rank with the largest excess above the slack, or -1. */
static int find_excess(struct lp_settle *settle, long long *excess_bytes)
{
    int found = -1;

    *excess_bytes = 0;
    for (int r = 0; r < settle->n; r++) {
        long long used = lp_nvml_used_bytes(settle->nvml, settle->pci[r]);
        long long excess = used < 0 || settle->before[r] < 0 ? 0 : used - settle->before[r];

        if (excess > SLACK_BYTES && excess > *excess_bytes) {
            *excess_bytes = excess;
            found = r;
        }
    }
    return found;
}

int lp_settle_wait(struct lp_settle *settle, const struct lp_clock *clock, long long *excess_bytes)
{
    int64_t deadline = lp_clock_now(clock) + LIMIT_NS;
    const struct timespec step = {.tv_nsec = STEP_NS};
    int rank = -1;

    *excess_bytes = 0;
    while (settle && (rank = find_excess(settle, excess_bytes)) >= 0 && lp_clock_now(clock) < deadline)
        nanosleep(&step, NULL);
    return rank;
}
