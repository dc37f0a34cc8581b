/* All variants, round by round: their order, how far they are, and what their logs prove. */
#include "control/run_course.h"

#include "base/json.h"
#include "base/log.h"
#include "control/pace.h"
#include "control/ring.h"
#include "report/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Time still to come: estimates, stretched by how the variants so far compared with theirs. */
static double time_left(const struct lp_job *job, const struct lp_course *courses, double spent)
{
    double planned = 0.0, left = 0.0;

    for (size_t i = 0; i < job->plan.variants.n; i++) {
        double one = lp_plan_variant_seconds(&job->plan, job->options, courses[i].variant);
        int done = courses[i].round - !courses[i].done;

        planned += one * done;
        left += one * (double)(job->options->rounds - done);
    }
    return planned > 0.0 ? left * spent / planned : -1.0;
}

/* ---- pace ---- */

static double beside(const struct lp_seconds *s)
{
    return s->start + s->init + s->check + s->end;
}

/* What is left of the run, by what the variants so far took on average. */
static struct lp_pace pace_of(const struct lp_job *job, const struct lp_course *courses)
{
    struct lp_pace pace = {
        .left = job->options->budget - (double)(lp_clock_now(job->link->clock) - job->spent.since) / 1e9,
        .cell_us = job->limits.budget_us,
        .least_us = job->full_us / 3.0,
        .most_us = job->full_us,
    };
    double done = 0.0, left = 0.0, timed = 0.0, others = 0.0;

    for (size_t i = 0; i < job->plan.variants.n; i++) {
        double rounds = courses[i].round - !courses[i].done;

        if (courses[i].variant->skip[0])
            continue;
        done += rounds;
        left += (double)job->options->rounds - rounds;
        timed += courses[i].seconds.measure;
        others += beside(&courses[i].seconds);
    }
    if (done > 0.0) {
        pace.beside = others / done * left;
        pace.timing = timed / done * left;
    }
    return pace;
}

/* Where the run is behind its budget the cells to come are timed for less. Said once. */
static void keep_pace(struct lp_job *job, const struct lp_course *courses, const struct lp_course *next)
{
    struct lp_pace pace = pace_of(job, courses);
    json_t *text;

    job->limits.budget_us = lp_pace_cell_us(&pace);
    if (job->behind || job->limits.budget_us >= job->full_us)
        return;
    job->behind = true;
    text =
        json_sprintf("behind the run's budget of %.0f s: from '%s' on cells are timed for %.3g ms instead of %.3g ms where that is "
                     "needed, and their intervals are wider (--budget gives the run more)",
                     job->options->budget, next->variant->name, job->limits.budget_us / 1e3, job->full_us / 1e3);
    lp_say("%s", json_string_value(text));
    lp_job_warn(job, text);
}

/* ---- progress ---- */

/* Of all rounds. */
static size_t count_done(const struct lp_course *courses, size_t n)
{
    size_t done = 0;

    for (size_t i = 0; i < n; i++)
        done += (size_t)(courses[i].round - !courses[i].done);
    return done;
}

static void say_progress(const struct lp_course *course, const struct lp_course *courses, double spent)
{
    const struct lp_seconds *s = &course->seconds;
    char label[LP_NAME_MAX + 8];
    struct lp_progress progress = {
        .index = count_done(courses, course->job->plan.variants.n),
        .total = course->job->plan.variants.n * (size_t)course->job->options->rounds,
        .label = lp_variant_label(course->variant->name, course->variant->repeat, label, sizeof(label)),
        .seconds = s->start + s->init + s->measure + s->check + s->end,
        .left = time_left(course->job, courses, spent),
    };

    memcpy(progress.cells, course->outcomes, sizeof(progress.cells));
    lp_progress_say(&progress);
}

/*
 * Place i of the round: default first and last, those in between one further on in every round, so that nobody always has the
 * same neighbours or the same time of the run.
 */
static size_t place(size_t n, int round, size_t i)
{
    if (i == 0 || i + 1 >= n || n < 3)
        return i;
    return 1 + (i - 1 + (size_t)(round - 1)) % (n - 2);
}

/* The variant to go on with in this round; where default hung, one without P2P first. NULL: all are done. */
static struct lp_course *next_course(const struct lp_job *job, struct lp_course *courses, int round)
{
    size_t n = job->plan.variants.n;

    for (size_t i = 0; i < n && job->p2p_suspect; i++)
        if (!courses[i].done && lp_course_without_p2p(&courses[i]))
            return &courses[i];
    for (size_t i = 0; i < n; i++)
        if (!courses[place(n, round, i)].done)
            return &courses[place(n, round, i)];
    return NULL;
}

/* Default's log has told in which order NCCL's rings go: the baseline follows them, for default's records too. */
static void follow_ring(struct lp_course *course)
{
    struct lp_job *job = course->job;
    const json_t *rings = json_object_get(json_object_get(course->entry, "nccl_log"), "rings");
    int order[LP_MAX_RANKS];

    if (!lp_ring_order(rings, job->plan.nranks, order) || !lp_job_ring(job, order))
        return;
    for (size_t i = course->first_record; i < job->result.n; i++)
        if (job->result.record[i]->cell.kind == LP_COLLECTIVE)
            job->result.record[i]->link_gbps = job->link_gbps;
}

/* Later rounds take the same paths as the first and need no trace of their own. */
static void trace_first(struct lp_course *course)
{
    struct lp_job *job = course->job;
    struct lp_lap lap = lp_job_lap_begin(job);
    bool measured = course->outcomes[LP_DONE] + course->outcomes[LP_WRONG] > 0;

    if (measured && lp_job_has_eager(job, course->variant) && lp_job_going(job))
        lp_job_trace(job, course->variant, course->entry, course->first_record);
    lp_job_lap(job, &lap, &job->spent.evidence);
    course->leaving = job->leaving ? lp_crew_id(job->leaving) : 0;
}

/* What its logs show, once there are logs of a first round. They are whole when the crews that write them are gone. */
static void prove_first(struct lp_course *course)
{
    struct lp_job *job = course->job;
    struct lp_lap lap = lp_job_lap_begin(job);

    if (job->leaving && lp_crew_id(job->leaving) == course->leaving)
        lp_job_reap(job);
    course->proven = lp_job_prove(job, course->variant, course->entry, course->first_record);
    lp_job_lap(job, &lap, &job->spent.evidence);
    if (lp_course_is_default(course) && lp_job_going(job))
        follow_ring(course);
    lp_job_lap(job, &lap, &job->spent.link);
}

/*
 * Default is proved at once, since the ring order follows from it. Others wait until one more variant has run, so that their
 * crews leave while the next one's come up. course NULL: nobody comes after.
 */
static void prove_behind(struct lp_course **behind, struct lp_course *course)
{
    struct lp_course *now = course && lp_course_is_default(course) ? course : NULL;

    if (*behind)
        prove_first(*behind);
    if (now)
        prove_first(now);
    *behind = now ? NULL : course;
}

static void run_course(struct lp_course *course, const struct lp_course *courses, struct lp_course **behind, int64_t since)
{
    struct lp_job *job = course->job;
    bool nccl = strcmp(job->plan.library, "nccl") == 0; /* which writes a log to prove from */
    size_t total = job->plan.variants.n * (size_t)job->options->rounds;

    if (course->variant->skip[0]) {
        course->done = true;
        json_object_set_new(course->entry, "outcome", json_string("skipped"));
        if (course->round == 1)
            lp_say("[%zu/%zu] %s: skipped: %s", count_done(courses, job->plan.variants.n), total, course->variant->name,
                   course->variant->skip);
        return;
    }
    if (!course->begun)
        course->first_record = job->result.n;
    course->begun = true;
    keep_pace(job, courses, course);
    lp_course_run(course);
    lp_course_note(course);
    if (course->done && nccl && course->round == 1) {
        trace_first(course);
        prove_behind(behind, course);
    }
    if (course->done)
        say_progress(course, courses, (double)(lp_clock_now(job->link->clock) - since) / 1e9);
}

/* The logs of all rounds. */
static void prove_all(struct lp_course *course)
{
    if (!course->proven || course->round == 1)
        return;
    lp_proven_free(course->proven);
    course->proven = lp_job_prove(course->job, course->variant, course->entry, course->first_record);
}

/* What the variants stand for, once there is something to compare. */
static void stand(struct lp_job *job, struct lp_course *courses)
{
    size_t n = job->plan.variants.n;
    struct lp_lap lap = lp_job_lap_begin(job);
    struct lp_proven **proven = calloc(n + 1, sizeof(*proven));

    for (size_t i = 0; proven && i < n; i++) {
        prove_all(&courses[i]);
        proven[i] = courses[i].proven;
    }
    if (proven)
        lp_job_stand(job, proven, n);
    lp_job_lap(job, &lap, &job->spent.evidence);
    for (size_t i = 0; i < n; i++)
        lp_proven_free(courses[i].proven);
    free(proven);
}

static void run_round(struct lp_job *job, struct lp_course *courses, int round, int64_t since)
{
    json_t *entries = json_object_get(job->result.head, "variants");
    struct lp_course *course, *behind = NULL;

    for (size_t i = 0; i < job->plan.variants.n; i++) {
        courses[i].round = round;
        courses[i].next = 0;
        courses[i].done = false;
    }
    while (lp_job_going(job) && (course = next_course(job, courses, round)) != NULL) {
        run_course(course, courses, &behind, since);
        lp_job_head(job, json_pack("{s:O}", "variants", entries));
    }
    prove_behind(&behind, NULL);
    lp_job_head(job, json_pack("{s:O}", "variants", entries));
}

static void add_seconds(struct lp_seconds *sum, const struct lp_seconds *more)
{
    sum->start += more->start;
    sum->init += more->init;
    sum->measure += more->measure;
    sum->check += more->check;
    sum->end += more->end;
}

void lp_job_variants(struct lp_job *job)
{
    json_t *entries = json_object_get(job->result.head, "variants");
    int64_t since = lp_clock_now(job->link->clock);
    struct lp_course *courses = calloc(job->plan.variants.n + 1, sizeof(*courses));

    if (!courses) {
        lp_job_over(job, "out of memory");
        return;
    }
    for (size_t i = 0; i < job->plan.variants.n; i++) {
        courses[i].job = job;
        courses[i].variant = &job->plan.variants.item[i];
        courses[i].entry = json_array_get(entries, i);
    }
    for (int round = 1; round <= job->options->rounds && lp_job_going(job); round++)
        run_round(job, courses, round, since);
    lp_job_reap(job); /* its seconds are a course's */
    stand(job, courses);
    for (size_t i = 0; i < job->plan.variants.n; i++) {
        add_seconds(&job->spent.variants, &courses[i].seconds);
        if (courses[i].begun)
            lp_course_note(&courses[i]);
    }
    lp_job_head(job, json_pack("{s:O}", "variants", entries));
    free(courses);
}
