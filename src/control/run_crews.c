/* What every crew of a run needs, and the survey's own. */
#include "control/run_parts.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

#define SIGNAL_WAIT_NS (300 * LP_MILLISECOND)

void lp_job_crew_spec(struct lp_job *job, const char *name, int n, struct lp_crew_spec *out, json_t **env)
{
    memset(out, 0, sizeof(*out));
    *env = lp_locks_env(&job->plan.locks); /* the site's values reach every worker, whatever became of the environment */
    out->worker = job->worker;
    out->name = name;
    out->log_dir = job->log_dir;
    out->env = *env;
    out->n = n;
    for (int r = 0; r < n; r++) {
        out->rank[r] = r;
        snprintf(out->cpus[r], sizeof(out->cpus[r]), "%s", job->machine.rank[r].cpus);
    }
}

void lp_job_over(struct lp_job *job, const char *why)
{
    if (!job->over)
        lp_job_head(job, json_pack("{s:o}", "ended", lp_json_text(why)));
    job->over = true;
}

bool lp_job_going(struct lp_job *job)
{
    const char *lost = job->over ? NULL : lp_crews_lost(job->crews, SIGNAL_WAIT_NS);

    if (lost && !lp_crews_signal(job->crews))
        lp_job_over(job, lost);
    return !job->over && !lp_crews_signal(job->crews);
}

void lp_job_end_crew(struct lp_job *job, struct lp_crew *crew, double *seconds)
{
    int64_t since = lp_clock_now(job->link->clock);
    struct lp_loss why;

    if (!crew)
        return;
    if (!lp_crew_end(crew, job->limits.end_ns, &why))
        lp_job_over(job, why.reason);
    *seconds += (double)(lp_clock_now(job->link->clock) - since) / 1e9;
}

/* The blobs of all workers, in order, as the argument of `open`. */
static json_t *open_request(json_t *const *replies, int n)
{
    json_t *blobs = json_array(), *ranks = json_array();

    for (int i = 0; i < n; i++) {
        json_array_append(blobs, json_object_get(replies[i], "blob"));
        json_array_append_new(ranks, json_integer(i));
    }
    return json_pack("{s:s, s:o, s:i, s:o}", "do", "open", "blobs", blobs, "communicator", 0, "ranks", ranks);
}

bool lp_job_open_crew(struct lp_job *job, struct lp_crew *crew, json_t *offer, char *library_path, size_t cap,
                      struct lp_seconds *seconds, struct lp_loss *why)
{
    const struct lp_clock *clock = job->link->clock;
    int64_t since = lp_clock_now(clock), ready;
    json_t *replies[LP_MAX_RANKS], *open;
    int n = lp_crew_size(crew);
    bool good = lp_crew_ready(crew, job->limits.init_ns, why);

    ready = lp_clock_now(clock);
    seconds->start += (double)(ready - since) / 1e9;
    if (good) {
        good = lp_crew_ask(crew, offer, job->limits.init_ns, replies, why);
    } else {
        json_decref(offer);
    }
    if (good) {
        if (library_path)
            lp_json_copy(json_object_get(replies[0], "library"), "path", library_path, cap);
        open = open_request(replies, n);
        lp_replies_release(replies, n);
        good = lp_crew_ask(crew, open, job->limits.init_ns, replies, why);
    }
    if (good)
        lp_replies_release(replies, n);
    seconds->init += (double)(lp_clock_now(clock) - ready) / 1e9;
    return good;
}

/* ---- survey ---- */

static enum lp_status ask_survey(struct lp_job *job, struct lp_crew *crew, json_t **replies, struct lp_reason *why)
{
    json_t *ask =
        json_pack("{s:s, s:s, s:o}", "do", "survey", "device", job->options->device, "nccl", lp_json_text(job->options->nccl));
    struct lp_loss loss;

    if (!lp_crew_ready(crew, job->limits.init_ns, &loss)) {
        json_decref(ask);
        return lp_because(why, loss.kind == LP_LOSS_SIGNAL ? LP_ERR_SIGNAL : LP_ERR_ENV, "survey: %s", loss.reason);
    }
    if (!lp_crew_ask(crew, ask, job->limits.init_ns, replies, &loss))
        return lp_because(why, loss.kind == LP_LOSS_SIGNAL ? LP_ERR_SIGNAL : LP_ERR_ENV, "%s", loss.reason);
    return LP_OK;
}

enum lp_status lp_job_survey(struct lp_job *job, struct lp_reason *why)
{
    int n = job->link->nranks, local_rank[LP_MAX_RANKS];
    json_t *replies[LP_MAX_RANKS], *seen[LP_MAX_RANKS], *env;
    struct lp_crew_spec spec;
    struct lp_crew *crew;
    enum lp_status st;
    double seconds = 0.0;

    lp_job_crew_spec(job, "survey", n, &spec, &env);
    crew = lp_crew_start(job->crews, &spec);
    json_decref(env);
    if (!crew)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    st = ask_survey(job, crew, replies, why);
    if (st == LP_OK) {
        for (int r = 0; r < n; r++) {
            seen[r] = json_object_get(replies[r], "machine");
            local_rank[r] = job->link->place[r].local_rank;
        }
        st = lp_machine_judge(seen, local_rank, n, &job->machine, job->result.head, why);
        lp_replies_release(replies, n);
    }
    lp_job_end_crew(job, crew, &seconds);
    return st;
}
