/* What a controller and the agent of another rank say to each other over a stream socket, one JSON document a line. */
#ifndef LP_CONTROL_REMOTE_H
#define LP_CONTROL_REMOTE_H

#include "control/agent.h"

/* Sends all of it; the peer reads all the time, so a full socket is waited for. LP_ERR_LOST when it is gone. */
enum lp_status lp_remote_send_text(int fd, const char *text, size_t len);
enum lp_status lp_remote_send(int fd, const json_t *line);

/* The controller's order to start a worker of the crew. */
enum lp_status lp_remote_spawn(int fd, int crew, const struct lp_spawn *spec);

/* A line that came from rank's agent as an event; false when it is not JSON. */
bool lp_remote_event(int rank, const char *text, struct lp_event *out);

/* The agent's side: serves until the controller is gone. Frees the agent, whose workers go with it,
 * and closes fd. */
void lp_remote_serve(struct lp_agent *agent, int rank, int fd);

#endif
