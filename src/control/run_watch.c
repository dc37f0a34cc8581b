/* What the watch saw, in head, journal and warnings; and what --strict refuses. How it is seen is watch's. */
#include "control/run_parts.h"

#include "base/json.h"
#include "base/log.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WAIT_NS    (10 * LP_SECOND) /* for utilisation to fall: NVML's is that of the last second, and a burn-in takes its time */
#define STEP_NS    (250 * LP_MILLISECOND)
#define BUSY       10 /* percent in which somebody's kernels run: more than a desktop that stands still */
#define NAMED_MOST 3  /* processes that one line names */

/* ---- words ---- */

static void append(char *buf, size_t cap, const char *text)
{
    size_t used = strlen(buf);

    snprintf(buf + used, cap - used, "%s", text);
}

/* "pid 4711, 2.0 GiB"; what is not known is left out, and nobody at all is "not to be seen from here". */
static void append_process(const struct lp_other *other, char *buf, size_t cap)
{
    char text[64] = "", bytes[32];

    if (other->pid > 0)
        snprintf(text, sizeof(text), "pid %ld", other->pid);
    else if (other->memory_bytes < 0)
        snprintf(text, sizeof(text), "not to be seen from here");
    append(buf, cap, text);
    if (other->memory_bytes < 0)
        return;
    append(buf, cap, other->pid > 0 ? ", " : "");
    append(buf, cap, lp_format_about((size_t)other->memory_bytes, bytes, sizeof(bytes)));
}

/* "another process (pid 4711, 2.0 GiB)", "2 other processes (pid 4711, 2.0 GiB; pid 4712)". Returns buf. */
static const char *others_words(const struct lp_watched_gpu *gpu, char *buf, size_t cap)
{
    if (gpu->nothers == 1)
        snprintf(buf, cap, "another process (");
    else
        snprintf(buf, cap, "%d other processes (", gpu->nothers);
    for (int i = 0; i < gpu->nothers && i < NAMED_MOST; i++) {
        append(buf, cap, i ? "; " : "");
        append_process(&gpu->other[i], buf, cap);
    }
    append(buf, cap, gpu->nothers > NAMED_MOST ? "; ...)" : ")");
    return buf;
}

static const char *throttle_words(unsigned throttle, char *buf, size_t cap)
{
    buf[0] = '\0';
    for (int i = 0; i < LP_NTHROTTLES; i++)
        if (throttle & 1u << i) {
            append(buf, cap, buf[0] ? ", " : "");
            append(buf, cap, lp_throttle_word(i));
        }
    return buf;
}

/* ["GPU 1 was used by another process (pid 4711, 2.0 GiB)", "GPU 0 was throttled (power cap)"]. New reference. */
static json_t *reasons_json(const struct lp_watched *seen, bool contended)
{
    json_t *list = json_array();
    char words[256];

    for (int r = 0; r < seen->ngpus; r++) {
        const struct lp_watched_gpu *gpu = &seen->gpu[r];

        if (contended && gpu->nothers > 0)
            json_array_append_new(list, json_sprintf("GPU %d was used by %s", r, others_words(gpu, words, sizeof(words))));
        if (!contended && gpu->throttle)
            json_array_append_new(
                list, json_sprintf("GPU %d was throttled (%s)", r, throttle_words(gpu->throttle, words, sizeof(words))));
    }
    if (contended && seen->ngpus == 0 && seen->contended)
        json_array_append_new(list, json_sprintf("other processes took %.0f %% of the CPUs' time", 100.0 * seen->load));
    return list;
}

/* ---- JSON ---- */

static json_t *known(long long value)
{
    return value < 0 ? json_null() : json_integer(value);
}

static json_t *throttle_json(unsigned throttle)
{
    json_t *list = json_array();

    for (int i = 0; i < LP_NTHROTTLES; i++)
        if (throttle & 1u << i)
            json_array_append_new(list, json_string(lp_throttle_word(i)));
    return list;
}

static json_t *others_json(const struct lp_watched_gpu *gpu)
{
    json_t *list = json_array();

    for (int i = 0; i < gpu->nothers; i++)
        json_array_append_new(list, json_pack("{s:o, s:o}", "pid", known(gpu->other[i].pid > 0 ? gpu->other[i].pid : -1),
                                              "memory_bytes", known(gpu->other[i].memory_bytes)));
    return list;
}

/* A GPU while a crew was on it. */
static json_t *watched_json(const struct lp_watched_gpu *gpu, int rank)
{
    const struct lp_nvml_now *before = &gpu->before, *after = &gpu->after;

    return json_pack("{s:i, s:[o, o], s:o, s:o, s:[o, o], s:o, s:o, s:o}", "rank", rank, "sm_mhz", known(before->sm_mhz),
                     known(after->sm_mhz), "sm_max_mhz", known(after->sm_max_mhz), "mem_mhz", known(after->mem_mhz),
                     "temperature_c", known(before->temperature_c), known(after->temperature_c), "power_w",
                     lp_json_real(after->power_w), "throttle", throttle_json(gpu->throttle), "others", others_json(gpu));
}

/* A GPU at rest, before or after the run. */
static json_t *state_json(const struct lp_watched_gpu *gpu)
{
    const struct lp_nvml_now *now = &gpu->after;

    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "sm_mhz", known(now->sm_mhz), "sm_max_mhz",
                     known(now->sm_max_mhz), "mem_mhz", known(now->mem_mhz), "mem_max_mhz", known(now->mem_max_mhz),
                     "temperature_c", known(now->temperature_c), "power_w", lp_json_real(now->power_w), "throttle",
                     throttle_json(gpu->throttle), "busy_percent", known(now->busy_percent), "ecc_uncorrected",
                     known(now->ecc_uncorrected), "used_bytes", known(now->used_bytes), "others", others_json(gpu));
}

/* ---- before and after the run ---- */

/* A GPU that others use: its rank, or -1. A kernel that runs counts when its owner is not to be seen, too. */
static int find_in_use(const struct lp_watched *seen, bool busy_counts, char *words, size_t cap)
{
    char who[200];

    for (int r = 0; seen && r < seen->ngpus; r++) {
        const struct lp_watched_gpu *gpu = &seen->gpu[r];

        if (gpu->nothers > 0)
            snprintf(words, cap, "GPU %d is in use by %s", r, others_words(gpu, who, sizeof(who)));
        else if (busy_counts && gpu->after.busy_percent >= BUSY)
            snprintf(words, cap, "GPU %d is %d %% busy, and not with this run", r, gpu->after.busy_percent);
        else
            continue;
        return r;
    }
    return -1;
}

/* Gives a GPU that somebody uses time to come to rest. */
static enum lp_status refuse_in_use(struct lp_job *job, const struct lp_watched **seen, struct lp_reason *why)
{
    const struct lp_clock *clock = job->link->clock;
    int64_t deadline = lp_clock_now(clock) + (int64_t)((double)WAIT_NS * job->limits.slowness);
    char words[256];

    while (find_in_use(*seen, true, words, sizeof(words)) >= 0) {
        if (lp_clock_now(clock) >= deadline)
            return lp_because(why, LP_ERR_ENV, "%s, after %.0f s of waiting for it: --strict measures idle GPUs only", words,
                              (double)WAIT_NS / 1e9 * job->limits.slowness);
        lp_crews_rest(job->crews, lp_clock_now(clock) + STEP_NS);
        if (lp_crews_signal(job->crews))
            return LP_ERR_SIGNAL;
        *seen = lp_watch_alone(job->watch);
    }
    return LP_OK;
}

enum lp_status lp_job_watch_start(struct lp_job *job, struct lp_reason *why)
{
    json_t *ranks = json_object_get(job->result.head, "ranks");
    const struct lp_watched *seen;
    enum lp_status st = LP_OK;
    char words[256];

    job->watch = lp_watch_create(&job->machine, job->link);
    seen = lp_watch_alone(job->watch);
    if (job->options->strict && !job->options->dry_run)
        st = refuse_in_use(job, &seen, why);
    if (st == LP_OK && find_in_use(seen, false, words, sizeof(words)) >= 0)
        lp_job_warn(job, json_string(words));
    for (int r = 0; st == LP_OK && seen && r < seen->ngpus; r++) {
        json_t *state = state_json(&seen->gpu[r]);

        json_object_update(json_object_get(json_array_get(ranks, (size_t)r), "gpu"), state);
        json_decref(state);
    }
    return st;
}

void lp_job_watch_finish(struct lp_job *job)
{
    const struct lp_watched *seen = lp_watch_alone(job->watch);
    json_t *list = json_array();

    for (int r = 0; seen && r < seen->ngpus; r++) {
        json_t *state = state_json(&seen->gpu[r]);

        json_object_set_new(state, "rank", json_integer(r));
        json_array_append_new(list, state);
    }
    lp_job_head(job, json_pack("{s:o}", "environment_after", list));
}

/* ---- a crew ---- */

void lp_job_watch_begin(struct lp_job *job, const struct lp_crew *crew)
{
    if (crew)
        lp_watch_begin(job->watch, crew);
}

void lp_job_watch_look(struct lp_job *job, const struct lp_crew *crew)
{
    if (crew)
        lp_watch_look(job->watch, crew);
}

/* The first of its kind is said at once; the others are in the table of variants. */
static void warn_once(struct lp_job *job, const json_t *reasons, bool contended, const struct lp_variant *variant)
{
    unsigned kind = 1u << (contended + 2 * (variant != NULL));
    const char *first = json_string_value(json_array_get(reasons, 0));
    char label[LP_NAME_MAX + 8];
    json_t *text;

    if (!first || job->warned & kind)
        return;
    job->warned |= kind;
    if (variant)
        text = json_sprintf("%s while '%s' ran: its figures take no part in claims", first,
                            lp_variant_label(variant->name, variant->repeat, label, sizeof(label)));
    else
        text = json_sprintf("%s while the link was measured: it may carry more than its figures say", first);
    lp_say("%s", json_string_value(text));
    lp_job_warn(job, text);
}

void lp_job_watch_end(struct lp_job *job, const struct lp_crew *crew, const struct lp_variant *variant, int round)
{
    const struct lp_watched *seen = crew && !lp_crews_signal(job->crews) ? lp_watch_end(job->watch, crew) : NULL;
    json_t *crews = json_object_get(job->result.head, "crews"), *gpus, *contended, *throttled;

    if (!seen)
        return;
    gpus = json_array();
    for (int r = 0; r < seen->ngpus; r++)
        json_array_append_new(gpus, watched_json(&seen->gpu[r], r));
    contended = reasons_json(seen, true);
    throttled = reasons_json(seen, false);
    job->disturbed += seen->contended || seen->throttled;
    warn_once(job, contended, true, variant);
    warn_once(job, throttled, false, variant);
    json_array_extend(contended, throttled);
    json_decref(throttled);
    crews = crews ? json_incref(crews) : json_array();
    json_array_append_new(crews,
                          json_pack("{s:i, s:o, s:i, s:i, s:b, s:b, s:o, s:o, s:o}", "crew", lp_crew_id(crew), "variant",
                                    lp_json_text(variant ? variant->name : NULL), "round", round, "repeat",
                                    variant ? variant->repeat : 0, "contended", seen->contended, "throttled", seen->throttled,
                                    "reasons", contended, "cpu_load_others", lp_json_real(seen->load), "gpus", gpus));
    lp_job_head(job, json_pack("{s:o}", "crews", crews));
}

bool lp_job_watch_refuses(const struct lp_job *job)
{
    if (!job->options->strict || job->disturbed == 0)
        return false;
    lp_say("--strict: %zu crew%s contended or throttled", job->disturbed, job->disturbed == 1 ? " was" : "s were");
    return true;
}
