/* What a launcher's environment says of this process, before and without MPI. */
#ifndef LP_CONTROL_LAUNCHER_H
#define LP_CONTROL_LAUNCHER_H

#include <stdbool.h>

/* True when a launcher started this process as one of several (its variables say so): only then is MPI called. */
bool lp_launched_by_mpi(void);

/* How many processes the launcher says it started; 0: it does not say. */
int lp_launched_size(void);

/* Every rank parses the same line; this is the one that says what is wrong with it. */
bool lp_launcher_speaks(void);

/* Takes back what Open MPI bound by itself; a binding that the user made stays. */
void lp_launcher_undo_binding(void);

#endif
