/* Does what the controller asks, one request after the other, until `bye`. */
#ifndef LP_WORKER_SERVE_H
#define LP_WORKER_SERVE_H

#include "worker/channel.h"

/* Returns the exit code of the process. */
int lp_serve(struct lp_channel *channel, int crew, int rank);

#endif
