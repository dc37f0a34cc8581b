/* What every crew of a run needs, and the survey's own. */
#include "control/run_parts.h"

#include "base/json.h"
#include "base/log.h"
#include "base/units.h"
#include "control/agree.h"

#include <stdio.h>
#include <string.h>

#define SIGNAL_WAIT_NS (300 * LP_MILLISECOND)
#define RESERVE_MAX    ((size_t)1 << 30) /* NCCL's channels take some 10 MiB each, at the first call */
#define ARENA_ALIGN    ((size_t)1 << 20)

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

void lp_job_warn(struct lp_job *job, json_t *text)
{
    json_t *list = json_object_get(job->result.head, "warnings");
    json_t *all = list ? json_copy(list) : json_array();

    json_array_append_new(all, text);
    lp_job_head(job, json_pack("{s:o}", "warnings", all));
}

bool lp_job_going(struct lp_job *job)
{
    const char *lost = job->over ? NULL : lp_crews_lost(job->crews, SIGNAL_WAIT_NS);

    if (lost && !lp_crews_signal(job->crews))
        lp_job_over(job, lost);
    return !job->over && !lp_crews_signal(job->crews);
}

static void wait_for_memory(struct lp_job *job)
{
    long long excess;
    int rank = lp_settle_wait(job->settle, job->link->clock, &excess);
    char bytes[32];
    json_t *text;

    if (rank < 0)
        return;
    text = json_sprintf(
        "the GPU of rank %d still has %s more in use than before, ten seconds after a killed crew: what follows may be "
        "measured beside another process",
        rank, lp_format_about((size_t)excess, bytes, sizeof(bytes)));
    lp_say("%s", json_string_value(text));
    lp_job_warn(job, text);
}

/* Its seconds go to *seconds. */
static void end_now(struct lp_job *job, struct lp_crew *crew, double *seconds)
{
    int64_t since = lp_clock_now(job->link->clock);
    bool killed = !lp_crew_usable(crew);
    struct lp_loss why;
    double took;

    if (!lp_crew_end(crew, job->limits.end_ns, &why))
        lp_job_over(job, why.reason);
    if (killed && lp_job_going(job))
        wait_for_memory(job);
    took = (double)(lp_clock_now(job->link->clock) - since) / 1e9;
    *seconds += took;
    job->spent.ends += took;
}

void lp_job_reap(struct lp_job *job)
{
    struct lp_crew *crew = job->leaving;

    job->leaving = NULL;
    if (crew)
        end_now(job, crew, job->leaving_seconds);
}

/* A GPU that takes one process at a time has no place for the next crew before this one is gone. */
void lp_job_end_crew(struct lp_job *job, struct lp_crew *crew, double *seconds)
{
    if (!crew)
        return;
    lp_job_reap(job);
    if (lp_crew_usable(crew) && !job->machine.exclusive && lp_job_going(job)) {
        lp_crew_leave(crew);
        job->leaving = crew;
        job->leaving_seconds = seconds;
        return;
    }
    end_now(job, crew, seconds);
}

/* ---- opening ---- */

/* The workers' answers put together: one blob a worker, which later answers add to; the least free memory. */
static void take_answers(json_t *const *replies, int n, json_t *blobs, struct lp_opening *opening)
{
    for (int i = 0; i < n; i++) {
        size_t free_bytes = (size_t)lp_json_int(replies[i], "free_bytes", 0);
        json_t *blob = json_array_get(blobs, (size_t)i);

        if (blob)
            json_object_update(blob, json_object_get(replies[i], "blob"));
        else
            json_array_append_new(blobs, json_deep_copy(json_object_get(replies[i], "blob")));
        if (free_bytes && (i == 0 || free_bytes < opening->free_bytes)) {
            opening->free_bytes = free_bytes;
            opening->tightest = i;
        }
    }
    for (int i = 0; i < n; i++)
        if (json_array_size(json_object_get(replies[i], "errors")) > 0) {
            if (!opening->errors)
                opening->errors = json_array();
            json_array_extend(opening->errors, json_object_get(replies[i], "errors"));
        }
    if (json_object_get(replies[0], "library"))
        lp_json_copy(json_object_get(replies[0], "library"), "path", opening->library_path, sizeof(opening->library_path));
}

/* Only the answers to `offer` carry an identity. */
static bool check_agreement(json_t *const *replies, int n, struct lp_loss *why)
{
    json_t *identity[LP_MAX_RANKS] = {NULL};
    struct lp_reason words = {""};

    for (int i = 0; i < n; i++)
        identity[i] = json_object_get(replies[i], "identity");
    if (!identity[0] || lp_agree(identity, n, &words))
        return true;
    *why = (struct lp_loss){.kind = LP_LOSS_REPLY, .status = LP_ERR_ENV, .rank = -1};
    snprintf(why->reason, sizeof(why->reason), "%s", words.text);
    return false;
}

static bool ask(struct lp_job *job, struct lp_crew *crew, json_t *request, json_t *blobs, struct lp_opening *opening,
                struct lp_loss *why)
{
    json_t *replies[LP_MAX_RANKS];
    int n = lp_crew_size(crew);

    bool good;

    if (!lp_crew_ask(crew, request, job->limits.init_ns, replies, why))
        return false;
    take_answers(replies, n, blobs, opening);
    good = check_agreement(replies, n, why);
    lp_replies_release(replies, n);
    return good;
}

static json_t *open_request(json_t *blobs, int n)
{
    json_t *ranks = json_array();

    for (int i = 0; i < n; i++)
        json_array_append_new(ranks, json_integer(i));
    return json_pack("{s:s, s:O, s:i, s:o}", "do", "open", "blobs", blobs, "communicator", 0, "ranks", ranks);
}

/* Two arenas of at most want_bytes in what is free, less what the library will still take when it connects. */
static void fit_arena(struct lp_opening *opening)
{
    size_t reserve = opening->free_bytes / 16, fits;

    if (reserve > RESERVE_MAX)
        reserve = RESERVE_MAX;
    fits = (opening->free_bytes - reserve) / 2 / ARENA_ALIGN * ARENA_ALIGN;
    opening->arena_bytes = opening->free_bytes && fits < opening->want_bytes ? fits : opening->want_bytes;
}

/* 0 bytes where nothing fits: then the worker allocates none, and every cell is skipped with both figures. */
static json_t *arena_request(struct lp_opening *opening)
{
    fit_arena(opening);
    return json_pack("{s:s, s:I, s:I, s:b}", "do", "arena", "arena_bytes", (json_int_t)opening->arena_bytes, "bounce_bytes",
                     (json_int_t)opening->bounce_bytes, "export", opening->share);
}

/*
 * Memory comes after the communicator, which shows what is left; where the communicator needs the memory, before it. The last
 * crew is gone before either, and before anybody looks at what is free for the memory.
 */
static bool join(struct lp_job *job, struct lp_crew *crew, struct lp_opening *opening, struct lp_loss *why)
{
    json_t *offer = opening->offer, *blobs = json_array();
    int n = lp_crew_size(crew);
    bool good;

    if (opening->share)
        lp_job_reap(job);
    good = lp_job_going(job) && ask(job, crew, json_incref(offer), blobs, opening, why);
    lp_job_reap(job);
    good = good && lp_job_going(job);
    if (good && opening->share)
        good = ask(job, crew, arena_request(opening), blobs, opening, why);
    good = good && ask(job, crew, open_request(blobs, n), blobs, opening, why);
    if (good && !opening->share)
        good = ask(job, crew, arena_request(opening), blobs, opening, why);
    json_decref(offer);
    json_decref(blobs);
    return good;
}

bool lp_job_open_crew(struct lp_job *job, struct lp_crew *crew, struct lp_opening *opening, struct lp_seconds *seconds,
                      struct lp_loss *why)
{
    struct lp_lap lap = lp_job_lap_begin(job);
    bool good = lp_crew_ready(crew, job->limits.init_ns, why);

    lp_job_lap(job, &lap, &seconds->start);
    if (good)
        good = join(job, crew, opening, why);
    else
        json_decref(opening->offer);
    lp_job_lap(job, &lap, &seconds->init);
    if (lp_job_going(job))
        return good;
    *why = (struct lp_loss){.kind = lp_crews_signal(job->crews) ? LP_LOSS_SIGNAL : LP_LOSS_AGENT, .rank = -1};
    return false;
}

const char *lp_opening_words(const struct lp_opening *opening, size_t bytes, char *buf, size_t cap)
{
    char need[32], have[32];

    snprintf(buf, cap, "needs two buffers of %s on every rank; rank %d has %s free beside the library",
             lp_format_about(bytes, need, sizeof(need)), opening->tightest,
             lp_format_about(opening->free_bytes, have, sizeof(have)));
    return buf;
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
    end_now(job, crew, &job->spent.survey);
    return st;
}
