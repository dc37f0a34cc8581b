/* Which processes are a run's own, by what its crews know of them. */
#include "control/crew_parts.h"

int lp_crews_workers(const struct lp_crew *crew, long *pids, int cap, int *nworkers)
{
    int n = 0;

    *nworkers = 0;
    for (const struct lp_crew *one = crew->all->first; one; one = one->next)
        for (int i = 0; i < one->n; i++) {
            const struct mate *mate = &one->mate[i];

            *nworkers += !mate->ended;
            if (!mate->ended && mate->pid > 0 && n < cap)
                pids[n++] = mate->pid;
        }
    return n;
}
