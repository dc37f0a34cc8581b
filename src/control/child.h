/* One worker process: started, spoken to over a socket, ended. Linux only; the caller is the thread that lives as long as the
 * child. */
#ifndef LP_CONTROL_CHILD_H
#define LP_CONTROL_CHILD_H

#include "base/lines.h"
#include "control/link.h"

#include <sys/types.h>

/* The descriptor on which a worker finds its socket. */
#define LP_WORKER_FD 3

struct lp_child {
    pid_t pid; /* 0: none, or reaped */
    int fd;    /* our end of the socket; -1 when closed */
    struct lp_lines in;
    char *out; /* bytes the socket did not take yet */
    size_t out_start, out_used, out_cap;
};

/*
 * Starts the program with the environment of this process less what belongs to the launcher (OMPI_*, PMIX_*, PMI_*), plus
 * the spec's changes, in a process group of its own, with its socket on LP_WORKER_FD, stdin from /dev/null, stdout and
 * stderr appended to the log, all other descriptors closed, and SIGKILL when this process dies. LP_ERR_IO with the reason
 * when it cannot be started (exec failure included).
 */
enum lp_status lp_child_start(const struct lp_spawn *spec, struct lp_child *out, struct lp_reason *why);

/* Queues a line (a newline is added) and sends what the socket takes. LP_ERR_LOST when the child does not read any more. */
enum lp_status lp_child_send(struct lp_child *child, const char *line);

/* Sends what is queued. */
enum lp_status lp_child_flush(struct lp_child *child);

/* Frees buffers and closes the socket; the process is not touched. */
void lp_child_release(struct lp_child *child);

#endif
