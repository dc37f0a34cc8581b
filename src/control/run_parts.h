/* What the parts of a run share. Only the run_*.c files include it. */
#ifndef LP_CONTROL_RUN_PARTS_H
#define LP_CONTROL_RUN_PARTS_H

#include "control/crew.h"
#include "control/measure.h"
#include "control/recover.h"
#include "control/settle.h"
#include "control/watch.h"
#include "model/result.h"
#include "plan/plan.h"

#include <stdio.h>

/* The host device's bounce buffer: small, so that it stays in the cache as NCCL's shared-memory buffers do. */
#define LP_HOST_BOUNCE_BYTES ((size_t)256 << 10)

/* Where the seconds of a run went. */
struct lp_spent {
    int64_t since; /* its begin, by the link's clock */
    double survey, link;
    struct lp_seconds variants; /* all of their crews that were timed */
    double evidence;            /* crews that only log, and reading what they wrote */
    double ends;                /* of crews, all of them; each is in one of the above, its crew's */
};

struct lp_job {
    const struct lp_options *options;
    struct lp_link *link;
    struct lp_crews *crews;
    struct lp_machine machine;
    struct lp_plan plan;
    struct lp_result result;
    struct lp_journal journal;
    struct lp_limits limits;
    char worker[4096], log_dir[512];
    bool own_log_dir;        /* made by us, removed after a good run */
    uint32_t iteration;      /* of the next check */
    struct lp_crew *leaving; /* was told to; NULL: none */
    double *leaving_seconds; /* what its end costs goes there */
    struct lp_settle *settle;
    struct lp_watch *watch;
    struct lp_spent spent;
    size_t disturbed;    /* crews that were contended or throttled */
    unsigned warned;     /* a bit per kind of disturbance that a warning has named */
    double link_gbps;    /* the baseline; NaN until there is one */
    bool over;           /* the run ends with what it has: signal, agent gone, wedged process */
    bool p2p_suspect;    /* default hung */
    bool behind;         /* its budget: said once */
    double full_us;      /* for the timed blocks of a cell when the run is not behind */
    bool journal_failed; /* said once; the run goes on */
    size_t outcomes[LP_NOUTCOMES];
};

/* Everything that crews of this run have in common: worker, logs, locks; n workers on ranks 0 .. n-1. *env is the caller's to
 * decref. */
void lp_job_crew_spec(struct lp_job *job, const char *name, int n, struct lp_crew_spec *out, json_t **env);

/* A record of this run: counted, journalled, kept. Forgets the log of a good cell where logs will not stay. */
void lp_job_add(struct lp_job *job, struct lp_record *record);

/*
 * A stretch of the run. lp_job_lap adds its seconds and starts anew; the ends of crews, which may be another's and are counted
 * where they belong, are left out.
 */
struct lp_lap {
    int64_t since;
    double ends;
};
struct lp_lap lp_job_lap_begin(const struct lp_job *job);
void lp_job_lap(const struct lp_job *job, struct lp_lap *lap, double *seconds);

/* Members for the head, in memory and journal. Takes the reference. */
void lp_job_head(struct lp_job *job, json_t *members);

/*
 * Ends the crew, which may be NULL; a process that cannot be killed ends the run. After a kill the GPUs' memory is waited for.
 * One that leaves by itself may do so while the next one's processes come up: lp_job_open_crew waits for it before the next
 * takes memory or connects. Whoever reads what it wrote, or looks at idle GPUs, calls lp_job_reap before.
 */
void lp_job_end_crew(struct lp_job *job, struct lp_crew *crew, double *seconds);

/* Waits for the crew that leaves, if any; the seconds are added where its end was to count, which must still be there. */
void lp_job_reap(struct lp_job *job);

/* One more warning for the head. Takes the reference. */
void lp_job_warn(struct lp_job *job, json_t *text);

/* May the run go on? Not after a signal, the loss of an agent, or lp_job_over. */
bool lp_job_going(struct lp_job *job);

/* The run cannot go on: says why in the result. */
void lp_job_over(struct lp_job *job, const char *why);

/* How a crew is opened, and what it got. */
struct lp_opening {
    json_t *offer;       /* {"do": "offer", ...} with what wire.h lists */
    size_t want_bytes;   /* of an arena; there are two on every rank */
    size_t bounce_bytes; /* of a bounce buffer; 0: none */
    bool share;          /* others map the arenas, before the communicator is made */
    /* what came of it */
    char library_path[1024]; /* file of the library that was loaded; "" for none */
    json_t *errors;     /* [[from, to, words], ...]: GPUs that cannot reach each other; NULL for none. The caller's to decref */
    size_t arena_bytes; /* at most want_bytes: what fits */
    size_t free_bytes;  /* on the device of rank `tightest` before the arenas, beside the communicator where that came first */
    int tightest;
};

/*
 * Opens a crew that has been started: waits for hello, then offer, arena and open. Takes the reference to opening->offer.
 * False: *why says what happened, and the crew is to be ended.
 */
bool lp_job_open_crew(struct lp_job *job, struct lp_crew *crew, struct lp_opening *opening, struct lp_seconds *seconds,
                      struct lp_loss *why);

/* Why a cell of so many bytes does not fit into the arenas, for its record. Returns buf. */
const char *lp_opening_words(const struct lp_opening *opening, size_t bytes, char *buf, size_t cap);

/* Does the variant time anything but graphs? */
bool lp_job_has_eager(const struct lp_job *job, const struct lp_variant *variant);

/*
 * Starts a crew of the variant; NCCL's log goes beside the worker's. trace: with a line for every call, which only a crew
 * that is not timed (or times nothing but graphs) may have. NULL when memory is out.
 */
struct lp_crew *lp_job_start_variant(struct lp_job *job, const struct lp_variant *variant, bool trace);
struct lp_opening lp_job_variant_opening(const struct lp_job *job, const struct lp_variant *variant);

/* The plan in words: how many of what, what is skipped, time and memory. */
void lp_job_print_plan(const struct lp_job *job, FILE *out);

/* The survey: fills machine and head. LP_ERR_ENV with words, LP_ERR_SIGNAL. */
enum lp_status lp_job_survey(struct lp_job *job, struct lp_reason *why);

/* Holds the plan's variants against what NCCL reads. LP_ERR_ARG when one would be misread and is not excused by --no-lint. */
enum lp_status lp_job_lint(struct lp_job *job, struct lp_reason *why);

/*
 * Looks at the GPUs before anything is measured: clocks and temperature into the head, a warning where somebody uses one. With
 * --strict LP_ERR_ENV where one is in use and stays so for ten seconds.
 */
enum lp_status lp_job_watch_start(struct lp_job *job, struct lp_reason *why);

/*
 * Around a crew's cells and between them, when nothing is asked of it; the crew may be NULL. The end gives it an entry of
 * head.crews, with a warning for the first of each kind of disturbance. variant NULL: the crew measured the link.
 */
void lp_job_watch_begin(struct lp_job *job, const struct lp_crew *crew);
void lp_job_watch_look(struct lp_job *job, const struct lp_crew *crew);
void lp_job_watch_end(struct lp_job *job, const struct lp_crew *crew, const struct lp_variant *variant, int round);

/* Once more the GPUs, after everything, into head.environment_after. */
void lp_job_watch_finish(struct lp_job *job);

/* Does --strict make a failure of a run that was good otherwise? Says so. */
bool lp_job_watch_refuses(const struct lp_job *job);

void lp_job_link(struct lp_job *job);     /* the copies of the plan, and the baseline */
void lp_job_variants(struct lp_job *job); /* the collectives of the plan under every variant */

/*
 * The baseline once more, with the ranks in this order, which NCCL's rings have. False when that gave no figure, or there was
 * no baseline; then the old one stays.
 */
bool lp_job_ring(struct lp_job *job, const int *order);

/* Runs every cell that the variant measured once more, in a crew whose NCCL logs each call; entry gets "trace_logs". */
void lp_job_trace(struct lp_job *job, const struct lp_variant *variant, json_t *entry, size_t first);

/*
 * Reads the NCCL logs that entry->logs names: evidence for the variant's records, which are among those from number `first`
 * on, and what became of its variables, into entry. NULL when memory is out. Free with lp_proven_free.
 */
struct lp_proven;
struct lp_proven *lp_job_prove(struct lp_job *job, const struct lp_variant *variant, json_t *entry, size_t first);

/* Standings of all variants against the first; proven[i] belongs to variant i of the plan, NULL where there is none. */
void lp_job_stand(struct lp_job *job, struct lp_proven *const *proven, size_t n);
void lp_proven_free(struct lp_proven *proven);

/* {name, repeat, env, ...} of every variant, before it has run. New reference. */
json_t *lp_job_variants_json(const struct lp_job *job);

#endif
