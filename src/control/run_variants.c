/* The variants: for each a crew, for each of its cells a record, whatever happens to the crew. */
#include "control/run_parts.h"

#include "base/json.h"
#include "base/log.h"
#include "control/ring.h"
#include "report/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A variant while it runs. One that is interrupted goes on later where it was. */
struct course {
    struct lp_job *job;
    const struct lp_variant *variant;
    json_t *entry; /* of head.variants; borrowed */
    struct lp_crew *crew;
    int last_crew;
    struct lp_opening opening; /* of the crew */
    struct lp_recover history;
    struct lp_seconds seconds;
    size_t outcomes[LP_NOUTCOMES];
    size_t next; /* cell of the plan */
    bool done;
    size_t first_record;      /* of the result */
    struct lp_proven *proven; /* what its logs show; NULL: nothing */
    bool over;                /* no more crews */
    char why[512];            /* why it is over */
    enum lp_outcome rest;     /* outcome of the cells that are left then */
};

json_t *lp_job_variants_json(const struct lp_job *job)
{
    json_t *list = json_array();

    for (size_t i = 0; i < job->plan.variants.n; i++) {
        const struct lp_variant *variant = &job->plan.variants.item[i];
        char words[1024];

        json_array_append_new(list, json_pack("{s:s, s:i, s:o, s:o, s:s, s:o, s:n, s:o, s:[], s:[], s:n, s:n, s:n}", "name",
                                              variant->name, "repeat", variant->repeat, "env", lp_variant_env_json(variant),
                                              "env_words", lp_json_text(lp_variant_words(variant, words, sizeof(words))), "when",
                                              lp_when_name(variant->when), "nccl", lp_json_text(variant->nccl), "outcome", "reason",
                                              variant->skip[0] ? lp_json_text(variant->skip) : json_null(), "crews", "logs",
                                              "acknowledged", "lint", "standing"));
    }
    return list;
}

/* ---- crews ---- */

static void note_crew(struct course *course)
{
    json_t *logs = json_object_get(course->entry, "logs");

    course->last_crew = lp_crew_id(course->crew);
    json_array_append_new(json_object_get(course->entry, "crews"), json_integer(course->last_crew));
    for (int i = 0; i < lp_crew_size(course->crew); i++) {
        json_array_append_new(logs, lp_json_text(lp_crew_log(course->crew, i)));
        if (lp_crew_nccl_log(course->crew, i)[0])
            json_array_append_new(logs, lp_json_text(lp_crew_nccl_log(course->crew, i)));
    }
}

static void start_crew(struct course *course)
{
    course->crew = lp_job_start_variant(course->job, course->variant, false);
    if (course->crew)
        note_crew(course);
}

static void end_crew(struct course *course)
{
    lp_job_end_crew(course->job, course->crew, &course->seconds.end);
    course->crew = NULL;
}

/* ---- records ---- */

static void add(struct course *course, struct lp_record *record)
{
    snprintf(record->variant, sizeof(record->variant), "%s", course->variant->name);
    record->repeat = course->variant->repeat;
    record->link_gbps = course->job->link_gbps;
    snprintf(record->library_path, sizeof(record->library_path), "%s", course->opening.library_path);
    course->outcomes[record->outcome]++;
    lp_job_add(course->job, record);
}

static void add_untried(struct course *course, const struct lp_cell *cell, enum lp_outcome outcome, const char *reason)
{
    struct lp_record record;

    lp_record_begin(&record, cell);
    record.crew = course->last_crew;
    record.outcome = outcome;
    snprintf(record.reason, sizeof(record.reason), "%s", reason);
    add(course, &record);
}

/* Default's first crew; the second is a variant like others. */
static bool is_default(const struct course *course)
{
    return strcmp(course->variant->name, "default") == 0 && course->variant->repeat == 0;
}

static bool without_p2p(const struct course *course)
{
    bool found;
    const char *value = lp_variant_get(course->variant, "NCCL_P2P_DISABLE", &found);

    return value && strcmp(value, "1") == 0;
}

static void give_up(struct course *course, enum lp_outcome rest, const char *fmt, const char *reason)
{
    course->over = true;
    course->rest = rest;
    snprintf(course->why, sizeof(course->why), fmt, reason);
}

/*
 * A loss that cost the crew. Two in a row or three in all end the variant: what is left is not tried. Where default hung,
 * P2P is under suspicion, and every other variant that uses it has one cell to prove itself: each hang costs its limit.
 */
static void after_loss(struct course *course, enum lp_outcome outcome, const char *reason)
{
    struct lp_job *job = course->job;

    if (outcome == LP_HANG && is_default(course))
        job->p2p_suspect = true;
    if (!lp_recover_bad(&course->history))
        give_up(course, LP_SKIPPED, "not tried: the variant keeps failing (%.400s)", reason);
    else if (outcome == LP_HANG && job->p2p_suspect && !is_default(course) && !without_p2p(course))
        give_up(course, LP_SKIPPED, "not tried: default hangs too, so this variant had one cell (%.380s)", reason);
}

/* A crew that did not come up: the cell in hand pays. What a worker refuses with a reason it refuses every time. */
static void lose_start(struct course *course, const struct lp_cell *cell, const struct lp_loss *why)
{
    enum lp_outcome outcome = lp_outcome_of_loss(why);

    if (why->kind == LP_LOSS_SIGNAL || why->kind == LP_LOSS_AGENT)
        return;
    add_untried(course, cell, outcome, why->reason);
    if (why->kind != LP_LOSS_REPLY) {
        after_loss(course, outcome, why->reason);
        return;
    }
    give_up(course, outcome, "%s", why->reason);
}

/* A crew for the next cell; false when there is none and the cell has its record. */
static bool need_crew(struct course *course, const struct lp_cell *cell)
{
    struct lp_loss why = {.kind = LP_LOSS_CRASH, .reason = "out of memory"};

    if (course->crew)
        return true;
    start_crew(course);
    if (course->crew)
        course->opening = lp_job_variant_opening(course->job, course->variant);
    if (course->crew && lp_job_open_crew(course->job, course->crew, &course->opening, &course->seconds, &why))
        return true;
    end_crew(course);
    lose_start(course, cell, &why);
    return false;
}

static void measure(struct course *course, const struct lp_cell *cell)
{
    struct lp_job *job = course->job;
    struct lp_record record;
    char words[256];

    if (!need_crew(course, cell))
        return;
    if (cell->size_bytes > course->opening.arena_bytes) {
        add_untried(course, cell, LP_SKIPPED, lp_opening_words(&course->opening, cell->size_bytes, words, sizeof(words)));
        return;
    }
    if (!lp_measure_cell(course->crew, job->link->clock, cell, &job->limits, &job->iteration, &course->seconds, &record)) {
        end_crew(course);
        return;
    }
    add(course, &record);
    if (lp_crew_usable(course->crew)) {
        lp_recover_good(&course->history);
        return;
    }
    end_crew(course);
    after_loss(course, record.outcome, record.reason);
}

/* ---- the whole variant ---- */

static const char *outcome_of(const struct course *course, size_t cells)
{
    size_t good = course->outcomes[LP_DONE] + course->outcomes[LP_UNSUPPORTED] + course->outcomes[LP_SKIPPED];

    /* nothing measured: say why, since only losses are failures */
    if (course->outcomes[LP_DONE] == 0 && course->outcomes[LP_WRONG] == 0 && good < cells)
        return "failed";
    if (course->outcomes[LP_DONE] == 0 && course->outcomes[LP_WRONG] == 0)
        return lp_outcome_name(course->outcomes[LP_UNSUPPORTED] ? LP_UNSUPPORTED : LP_SKIPPED);
    return good == cells && !course->over ? "ok" : "partly";
}

static void finish_entry(struct course *course)
{
    const struct lp_seconds *seconds = &course->seconds;
    size_t cells = 0;

    for (int i = 0; i < LP_NOUTCOMES; i++)
        cells += course->outcomes[i];
    json_object_set_new(course->entry, "outcome", json_string(outcome_of(course, cells)));
    if (course->over)
        json_object_set_new(course->entry, "reason", lp_json_text(course->why));
    json_object_set_new(course->entry, "seconds",
                        json_pack("{s:f, s:f, s:f, s:f, s:f}", "start", seconds->start, "init", seconds->init, "measure",
                                  seconds->measure, "check", seconds->check, "end", seconds->end));
}

/* Should another variant come first? After default's first hang: whether it works without P2P is the most useful thing to know. */
static bool interrupted(const struct course *course, bool suspect_before)
{
    return course->job->p2p_suspect && !suspect_before && is_default(course);
}

static void run_cells(struct course *course)
{
    struct lp_job *job = course->job;
    bool suspect_before = job->p2p_suspect;

    for (; course->next < job->plan.cells.n && lp_job_going(job) && !interrupted(course, suspect_before); course->next++) {
        const struct lp_planned *planned = &job->plan.cells.item[course->next];

        if (!lp_plan_has(course->variant, job->options, &planned->cell))
            continue;
        if (planned->skip[0])
            add_untried(course, &planned->cell, LP_SKIPPED, planned->skip);
        else if (course->over)
            add_untried(course, &planned->cell, course->rest, course->why);
        else
            measure(course, &planned->cell);
    }
    end_crew(course);
    course->done = course->next == job->plan.cells.n;
}

/* Time still to come: estimates, stretched by how the variants so far compared with theirs. */
static double time_left(const struct lp_job *job, const struct course *courses, double spent)
{
    double planned = 0.0, left = 0.0;

    for (size_t i = 0; i < job->plan.variants.n; i++)
        *(courses[i].done ? &planned : &left) += lp_plan_variant_seconds(&job->plan, job->options, courses[i].variant);
    return planned > 0.0 ? left * spent / planned : -1.0;
}

static size_t count_done(const struct course *courses, size_t n)
{
    size_t done = 0;

    for (size_t i = 0; i < n; i++)
        done += courses[i].done;
    return done;
}

static void say_progress(const struct course *course, const struct course *courses, double spent)
{
    const struct lp_seconds *s = &course->seconds;
    char label[LP_NAME_MAX + 8];
    struct lp_progress progress = {
        .index = count_done(courses, course->job->plan.variants.n),
        .total = course->job->plan.variants.n,
        .label = lp_variant_label(course->variant->name, course->variant->repeat, label, sizeof(label)),
        .seconds = s->start + s->init + s->measure + s->check + s->end,
        .left = time_left(course->job, courses, spent),
    };

    memcpy(progress.cells, course->outcomes, sizeof(progress.cells));
    lp_progress_say(&progress);
}

/* The variant to go on with: in the plan's order, but one without P2P first where default hung. NULL: all are done. */
static struct course *next_course(const struct lp_job *job, struct course *courses)
{
    size_t n = job->plan.variants.n;

    for (size_t i = 0; i < n && job->p2p_suspect; i++)
        if (!courses[i].done && without_p2p(&courses[i]))
            return &courses[i];
    for (size_t i = 0; i < n; i++)
        if (!courses[i].done)
            return &courses[i];
    return NULL;
}

/* Default's log has told in which order NCCL's rings go: the baseline follows them, for default's records too. */
static void follow_ring(struct course *course)
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

static void run_course(struct course *course, const struct course *courses, int64_t since)
{
    struct lp_job *job = course->job;
    bool nccl = strcmp(job->plan.library, "nccl") == 0; /* which writes a log to prove from */
    bool measured;

    if (course->variant->skip[0]) {
        course->done = true;
        json_object_set_new(course->entry, "outcome", json_string("skipped"));
        lp_say("[%zu/%zu] %s: skipped: %s", count_done(courses, job->plan.variants.n), job->plan.variants.n, course->variant->name,
               course->variant->skip);
        return;
    }
    if (course->next == 0)
        course->first_record = job->result.n;
    run_cells(course);
    finish_entry(course);
    measured = course->outcomes[LP_DONE] + course->outcomes[LP_WRONG] > 0;
    if (course->done && nccl && measured && lp_job_has_eager(job, course->variant) && lp_job_going(job))
        lp_job_trace(job, course->variant, course->entry, course->first_record);
    if (course->done && nccl)
        course->proven = lp_job_prove(job, course->variant, course->entry, course->first_record);
    if (course->done && is_default(course) && lp_job_going(job))
        follow_ring(course);
    if (course->done)
        say_progress(course, courses, (double)(lp_clock_now(job->link->clock) - since) / 1e9);
}

/* What the variants stand for, once there is something to compare. */
static void stand(struct lp_job *job, struct course *courses)
{
    size_t n = job->plan.variants.n;
    struct lp_proven **proven = calloc(n + 1, sizeof(*proven));

    for (size_t i = 0; proven && i < n; i++)
        proven[i] = courses[i].proven;
    if (proven)
        lp_job_stand(job, proven, n);
    for (size_t i = 0; i < n; i++)
        lp_proven_free(courses[i].proven);
    free(proven);
}

void lp_job_variants(struct lp_job *job)
{
    json_t *entries = json_object_get(job->result.head, "variants");
    int64_t since = lp_clock_now(job->link->clock);
    struct course *courses = calloc(job->plan.variants.n + 1, sizeof(*courses)), *course;

    if (!courses) {
        lp_job_over(job, "out of memory");
        return;
    }
    for (size_t i = 0; i < job->plan.variants.n; i++) {
        courses[i].job = job;
        courses[i].variant = &job->plan.variants.item[i];
        courses[i].entry = json_array_get(entries, i);
    }
    while (lp_job_going(job) && (course = next_course(job, courses)) != NULL) {
        run_course(course, courses, since);
        lp_job_head(job, json_pack("{s:O}", "variants", entries));
    }
    stand(job, courses);
    free(courses);
}
