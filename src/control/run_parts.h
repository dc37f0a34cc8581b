/* What the parts of a run share. Only the run_*.c files include it. */
#ifndef LP_CONTROL_RUN_PARTS_H
#define LP_CONTROL_RUN_PARTS_H

#include "control/crew.h"
#include "control/measure.h"
#include "control/recover.h"
#include "model/result.h"
#include "plan/plan.h"

/* The host device's bounce buffer: small, so that it stays in the cache as NCCL's shared-memory buffers do. */
#define LP_HOST_BOUNCE_BYTES ((size_t)256 << 10)

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
    bool own_log_dir;    /* made by us, removed after a good run */
    uint32_t iteration;  /* of the next check */
    double link_gbps;    /* the baseline; NaN until there is one */
    bool over;           /* the run ends with what it has: signal, agent gone, wedged process */
    bool journal_failed; /* said once; the run goes on */
    size_t outcomes[LP_NOUTCOMES];
};

/* Everything that crews of this run have in common: worker, logs, locks; n workers on ranks 0 .. n-1. *env is the caller's to
 * decref. */
void lp_job_crew_spec(struct lp_job *job, const char *name, int n, struct lp_crew_spec *out, json_t **env);

/* A record of this run: counted, journalled, kept. Forgets the log of a good cell where logs will not stay. */
void lp_job_add(struct lp_job *job, struct lp_record *record);

/* Members for the head, in memory and journal. Takes the reference. */
void lp_job_head(struct lp_job *job, json_t *members);

/* Ends the crew; a process that cannot be killed ends the run. The crew may be NULL. */
void lp_job_end_crew(struct lp_job *job, struct lp_crew *crew, double *seconds);

/* May the run go on? Not after a signal, the loss of an agent, or lp_job_over. */
bool lp_job_going(struct lp_job *job);

/* The run cannot go on: says why in the result. */
void lp_job_over(struct lp_job *job, const char *why);

/*
 * Opens a crew that has been started: waits for hello, offers, opens. offer: {"do": "offer", ...} with what lp_wire.h
 * lists; its reference is taken. library_path: which file the crew loaded, "" for none; may be NULL. False: *why says what
 * happened, and the crew is to be ended.
 */
bool lp_job_open_crew(struct lp_job *job, struct lp_crew *crew, json_t *offer, char *library_path, size_t cap,
                      struct lp_seconds *seconds, struct lp_loss *why);

/* The survey: fills machine and head. LP_ERR_ENV with words, LP_ERR_SIGNAL. */
enum lp_status lp_job_survey(struct lp_job *job, struct lp_reason *why);

void lp_job_link(struct lp_job *job);     /* the copies of the plan, and the baseline */
void lp_job_variants(struct lp_job *job); /* the collectives of the plan under every variant */

/* {name, repeat, env, ...} of every variant, before it has run. New reference. */
json_t *lp_job_variants_json(const struct lp_job *job);

#endif
