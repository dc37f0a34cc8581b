/*
 * What a rank process does for the controller: starts workers, passes lines on, kills, reports exits. It decides nothing.
 * One agent looks after any number of ranks (all of them in the local link, one under MPI).
 */
#ifndef LP_CONTROL_AGENT_H
#define LP_CONTROL_AGENT_H

#include "control/link.h"

#include <poll.h>

struct lp_agent;

/*
 * Blocks the signals that ends and children bring and takes them over a descriptor instead (one agent a process);
 * SIGPIPE is ignored. Call it before any thread is started.
 */
enum lp_status lp_agent_create(struct lp_agent **out, struct lp_reason *why);

/* Kills and reaps every worker. */
void lp_agent_free(struct lp_agent *agent);

/* A failure to start arrives as an exit event with words, so that every spawn ends in exactly one exit. */
void lp_agent_spawn(struct lp_agent *agent, int rank, int crew, const struct lp_spawn *spec);

/* LP_ERR_LOST when there is no such worker, or it does not listen. */
enum lp_status lp_agent_send(struct lp_agent *agent, int rank, int crew, const char *line);

void lp_agent_kill(struct lp_agent *agent, int rank, int crew, int sig);

/* The descriptors to wait for, at most cap; returns how many. */
int lp_agent_descriptors(const struct lp_agent *agent, struct pollfd *fds, int cap);

/* Reads what is there now without waiting. */
void lp_agent_collect(struct lp_agent *agent);

/* The next event that was collected; false when there is none. Signals of this process come first. */
bool lp_agent_take(struct lp_agent *agent, struct lp_event *out);

#endif
