/*
 * How the controller reaches workers on every rank: start one, send it a line, kill it, wait for what happens next. Two
 * kinds: all workers are children of this process (local), or of one agent per MPI rank (mpi). Tests script a third.
 */
#ifndef LP_CONTROL_LINK_H
#define LP_CONTROL_LINK_H

#include "base/clock.h"
#include "base/status.h"
#include "model/cell.h"

#include <jansson.h>
#include <stdint.h>

/* Where a rank is. */
struct lp_place {
    char host[256];
    int local_rank;
    long pid; /* of its agent */
};

/* How a worker is started. Travels to the rank's agent as JSON. */
struct lp_spawn {
    const char *const *argv; /* NULL-terminated; argv[0] is the program */
    const json_t *env;       /* object: NAME -> value, or null to remove; on top of the agent's own environment; may be NULL */
    const char *log;         /* file that gets the worker's stdout and stderr */
    const char *cpus;        /* CPUs to run on as a list "0-3,8", or NULL for the agent's */
};

enum lp_event_kind {
    LP_EVENT_TIMEOUT, /* the deadline passed */
    LP_EVENT_LINE,    /* a worker said something */
    LP_EVENT_EXIT,    /* a worker ended; nothing more comes from it */
    LP_EVENT_LOST,    /* a rank's agent is gone, and its workers with it */
    LP_EVENT_SIGNAL,  /* this process was asked to end */
};

struct lp_event {
    enum lp_event_kind kind;
    int rank, crew;
    json_t *line;    /* LP_EVENT_LINE: owned by the receiver */
    long pid;        /* LP_EVENT_EXIT */
    int exit_code;   /* LP_EVENT_EXIT: -1 when a signal ended it */
    int signal;      /* LP_EVENT_EXIT: the signal, or 0; LP_EVENT_SIGNAL: which */
    char words[256]; /* LP_EVENT_EXIT: "could not be started: ..." when it never ran; LP_EVENT_LOST: why */
};

struct lp_link {
    const struct lp_clock *clock;
    const char *launch; /* "local", "mpirun": for the result */
    int nranks;
    struct lp_place *place; /* per rank */

    /* Asks for a worker of that crew on that rank. What comes of it arrives as events. LP_ERR_LOST: the agent is gone. */
    enum lp_status (*spawn)(struct lp_link *link, int rank, int crew, const struct lp_spawn *spawn);
    /* Sends one document to the worker. LP_ERR_LOST when agent or worker is gone; its exit arrives as an event. */
    enum lp_status (*send)(struct lp_link *link, int rank, int crew, const json_t *line);
    void (*kill)(struct lp_link *link, int rank, int crew, int sig);
    /* The next event, or LP_EVENT_TIMEOUT at the deadline (in the clock's nanoseconds). Events keep their order per worker. */
    void (*next)(struct lp_link *link, int64_t deadline_ns, struct lp_event *out);
    /* Kills what is left and frees the link. */
    void (*close)(struct lp_link *link);
};

void lp_event_release(struct lp_event *event);

/* All workers are children of this process; nranks of them at a time in a crew. */
enum lp_status lp_link_local_create(int nranks, struct lp_link **out, struct lp_reason *why);

/*
 * Every rank calls it once. On rank 0 it returns the link; on the others it serves as agent until the controller is gone,
 * and returns LP_OK with *out NULL. LP_ERR_ENV: ranks on several hosts, or no way to reach each other; why is filled on
 * rank 0 only, which says it. keep_binding: do not undo the binding that the launcher made.
 */
enum lp_status lp_link_mpi_create(bool keep_binding, struct lp_link **out, struct lp_reason *why);

/* Version of the MPI library as text; "" when MPI was not used. */
const char *lp_link_mpi_version(void);

#endif
