/* One variant: crews, and for each of its cells a record, whatever happens to the crew. */
#include "control/run_course.h"

#include "base/json.h"
#include "base/log.h"
#include "judge/same_size.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void note_crew(struct lp_course *course)
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

static void start_crew(struct lp_course *course)
{
    course->crew = lp_job_start_variant(course->job, course->variant, false);
    if (course->crew)
        note_crew(course);
}

static void end_crew(struct lp_course *course)
{
    lp_job_watch_end(course->job, course->crew, course->variant, course->job->options->rounds > 1 ? course->round : 0);
    lp_job_end_crew(course->job, course->crew, &course->seconds.end);
    course->crew = NULL;
}

/* ---- records ---- */

static void add(struct lp_course *course, struct lp_record *record)
{
    snprintf(record->variant, sizeof(record->variant), "%s", course->variant->name);
    record->repeat = course->variant->repeat;
    record->round = course->job->options->rounds > 1 ? course->round : 0;
    record->link_gbps = course->job->link_gbps;
    record->link_same_gbps = lp_same_size_gbps(&course->job->result, &record->cell, course->job->plan.nranks);
    snprintf(record->library_path, sizeof(record->library_path), "%s", course->opening.library_path);
    course->outcomes[record->outcome]++;
    lp_job_add(course->job, record);
}

static void add_untried(struct lp_course *course, const struct lp_cell *cell, enum lp_outcome outcome, const char *reason)
{
    struct lp_record record;

    lp_record_begin(&record, cell);
    record.crew = course->last_crew;
    record.outcome = outcome;
    snprintf(record.reason, sizeof(record.reason), "%s", reason);
    add(course, &record);
}

bool lp_course_is_default(const struct lp_course *course)
{
    return strcmp(course->variant->name, "default") == 0 && course->variant->repeat == 0;
}

bool lp_course_without_p2p(const struct lp_course *course)
{
    bool found;
    const char *value = lp_variant_get(course->variant, "NCCL_P2P_DISABLE", &found);

    return value && strcmp(value, "1") == 0;
}

static void give_up(struct lp_course *course, enum lp_outcome rest, const char *fmt, const char *reason)
{
    course->over = true;
    course->rest = rest;
    snprintf(course->why, sizeof(course->why), fmt, reason);
}

/*
 * A loss that cost the crew. Two in a row or three in all end the variant: what is left is not tried. Where default hung,
 * P2P is under suspicion, and every other variant that uses it has one cell to prove itself: each hang costs its limit.
 */
static void after_loss(struct lp_course *course, enum lp_outcome outcome, const char *reason)
{
    struct lp_job *job = course->job;

    if (outcome == LP_HANG && lp_course_is_default(course))
        job->p2p_suspect = true;
    if (!lp_recover_bad(&course->history))
        give_up(course, LP_SKIPPED, "not tried: the variant keeps failing (%.400s)", reason);
    else if (outcome == LP_HANG && job->p2p_suspect && !lp_course_is_default(course) && !lp_course_without_p2p(course))
        give_up(course, LP_SKIPPED, "not tried: default hangs too, so this variant had one cell (%.380s)", reason);
}

/* A crew that did not come up: the cell in hand pays. What a worker refuses with a reason it refuses every time. */
static void lose_start(struct lp_course *course, const struct lp_cell *cell, const struct lp_loss *why)
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
static bool need_crew(struct lp_course *course, const struct lp_cell *cell)
{
    struct lp_loss why = {.kind = LP_LOSS_CRASH, .reason = "out of memory"};

    if (course->crew)
        return true;
    start_crew(course);
    if (course->crew)
        course->opening = lp_job_variant_opening(course->job, course->variant);
    if (course->crew && lp_job_open_crew(course->job, course->crew, &course->opening, &course->seconds, &why)) {
        lp_job_watch_begin(course->job, course->crew);
        return true;
    }
    end_crew(course);
    lose_start(course, cell, &why);
    return false;
}

static void measure(struct lp_course *course, const struct lp_cell *cell)
{
    struct lp_job *job = course->job;
    struct lp_record record;
    char words[256];

    if (!need_crew(course, cell))
        return;
    lp_job_watch_look(job, course->crew);
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

static const char *outcome_of(const struct lp_course *course, size_t cells)
{
    size_t good = course->outcomes[LP_DONE] + course->outcomes[LP_UNSUPPORTED] + course->outcomes[LP_SKIPPED];

    /* nothing measured: say why, since only losses are failures */
    if (course->outcomes[LP_DONE] == 0 && course->outcomes[LP_WRONG] == 0 && good < cells)
        return "failed";
    if (course->outcomes[LP_DONE] == 0 && course->outcomes[LP_WRONG] == 0)
        return lp_outcome_name(course->outcomes[LP_UNSUPPORTED] ? LP_UNSUPPORTED : LP_SKIPPED);
    return good == cells && !course->over ? "ok" : "partly";
}

void lp_course_note(struct lp_course *course)
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
static bool interrupted(const struct lp_course *course, bool suspect_before)
{
    return course->job->p2p_suspect && !suspect_before && lp_course_is_default(course);
}

void lp_course_run(struct lp_course *course)
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
