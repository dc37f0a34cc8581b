/*
 * Crews: the workers of one variant, from start to end. Starting is apart from being ready, so that one crew can come up
 * while another ends. Deadlines are kept here; what they are, and what follows when one passes, is for the caller.
 */
#ifndef LP_CONTROL_CREW_H
#define LP_CONTROL_CREW_H

#include "control/link.h"

struct lp_crews; /* all crews of a run, and their link */
struct lp_crew;

#define LP_LOSS_REASON 1536 /* room for the places of many ranks */

enum lp_loss_kind {
    LP_LOSS_NONE,
    LP_LOSS_REPLY,  /* a worker answered that it cannot: status says what it said */
    LP_LOSS_HANG,   /* a worker was later than its limit */
    LP_LOSS_CRASH,  /* a worker died */
    LP_LOSS_SIGNAL, /* the run was asked to end */
    LP_LOSS_AGENT,  /* a rank's agent is gone: the run is over */
};

/* Why a request was not fulfilled, in words for the user. */
struct lp_loss {
    enum lp_loss_kind kind;
    enum lp_status status; /* LP_LOSS_REPLY: what the first rank said */
    int rank;              /* whose, or -1 */
    char reason[LP_LOSS_REASON];
};

/* How the workers of a crew are started. Borrowed for the call. */
struct lp_crew_spec {
    const char *worker; /* path of the program */
    const char *name;   /* for log files: letters, digits, '-' */
    const char *log_dir;
    const json_t *env;            /* changes, may be NULL */
    bool nccl_log;                /* NCCL writes its log beside the worker's */
    const char *nccl_subsys;      /* which subsystems, when it does */
    int n;                        /* workers */
    int rank[LP_MAX_RANKS];       /* of the link: where worker i runs */
    char cpus[LP_MAX_RANKS][512]; /* where it may run; "" for the agent's */
};

enum lp_status lp_crews_create(struct lp_link *link, struct lp_crews **out);
void lp_crews_free(struct lp_crews *crews); /* kills what is left; the link stays the caller's */

/* The signal that asked the run to end, or 0. */
int lp_crews_signal(const struct lp_crews *crews);

/* Why a rank's agent is gone, or NULL while all are there. When mpirun ends a run its signal and the loss of agents come in any
 * order: wait_ns is given to the signal. */
const char *lp_crews_lost(struct lp_crews *crews, int64_t wait_ns);

/* Waits until then, or for a signal; what workers say meanwhile is entered as ever. */
void lp_crews_rest(struct lp_crews *crews, int64_t until_ns);

/* Starts the workers and does not wait for them. NULL when memory is out. End it with lp_crew_end in any case. */
struct lp_crew *lp_crew_start(struct lp_crews *crews, const struct lp_crew_spec *spec);

int lp_crew_id(const struct lp_crew *crew);
int lp_crew_size(const struct lp_crew *crew);
const char *lp_crew_log(const struct lp_crew *crew, int worker);      /* path of a worker's log */
const char *lp_crew_nccl_log(const struct lp_crew *crew, int worker); /* of NCCL's; "" when there is none */

/*
 * Pids of the run's workers that have said hello and have not ended, those of other crews than this one too; at most cap.
 * Returns how many. *nworkers: how many workers there are, with those that have said nothing yet.
 */
int lp_crews_workers(const struct lp_crew *crew, long *pids, int cap, int *nworkers);

/* Waits until all workers have said hello; false if one died or was late: then *why says who. */
bool lp_crew_ready(struct lp_crew *crew, int64_t limit_ns, struct lp_loss *why);

/*
 * Asks every worker and waits for all answers. request is {"do": ..., ...} without crew and id; its reference is taken.
 * replies (lp_crew_size of them, by worker) are set only on true and are then the caller's to decref.
 * On false *why says who and what. A worker that answers "unsupported" as all others do leaves the crew usable; after every
 * other loss it is broken (lp_crew_usable) and only lp_crew_end is left.
 */
bool lp_crew_ask(struct lp_crew *crew, json_t *request, int64_t limit_ns, json_t **replies, struct lp_loss *why);

/* The caller has found the crew's answers to be nonsense: it is not asked again. */
void lp_crew_give_up(struct lp_crew *crew);

bool lp_crew_usable(const struct lp_crew *crew);

/* Asks a usable crew to leave and does not wait; only lp_crew_end is left. Nothing for one that is broken. */
void lp_crew_leave(struct lp_crew *crew);

/*
 * Ends the crew: asks a usable one to leave and waits limit_ns, then kills; waits until all are reaped, and frees the crew.
 * False when a process cannot be killed within ten seconds: *why says which, and the run should stop.
 */
bool lp_crew_end(struct lp_crew *crew, int64_t limit_ns, struct lp_loss *why);

void lp_replies_release(json_t **replies, int n);

#endif
