/* Reading the launcher's variables, and undoing its binding. MPI itself is link_mpi's. */
#include "control/launcher.h"

#include "machine/cpus.h"

#include <stdlib.h>
#include <unistd.h>

bool lp_launched_by_mpi(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK");
}

int lp_launched_size(void)
{
    const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

/* Open MPI binds each rank of two to one core; its workers want the whole of mpirun's own CPUs. A user's taskset reaches mpirun
 * too. */
void lp_launcher_undo_binding(void)
{
    char cpus[LP_CPUS_MAX];

    if (getenv("OMPI_MCA_orte_bound_at_launch"))
        lp_cpus_apply(lp_cpus_of_process(getppid(), cpus, sizeof(cpus)));
}

bool lp_launcher_speaks(void)
{
    const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i])) == 0;
    return true;
}
