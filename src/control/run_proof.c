/*
 * What the variants really did, from the logs that NCCL wrote: after a variant its cells' paths and variables, after all of
 * them their standings. A variant that timed eager calls is run once more for its log, cell by cell and without a clock. Reading a
 * log is proof's; this file knows where the logs and records are.
 */
#include "control/run_parts.h"

#include "base/json.h"
#include "proof/proof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_NOISE  0.02 /* two crews of one setting are rarely closer, over all sizes */
#define NOISE_FACTOR 2.0

/* A variant's proof, kept until all variants have theirs. */
struct lp_proven {
    const struct lp_variant *variant;
    struct lp_nccl_log log;
    struct lp_proof_variables variables;
    struct lp_proof_cell *cell; /* one for every cell of the plan */
};

static bool is_nccl_log(const char *path)
{
    size_t len = strlen(path);

    return len > 9 && strcmp(path + len - 9, ".nccl.log") == 0;
}

static void read_list(struct lp_proven *proven, const json_t *logs)
{
    for (size_t i = 0; i < json_array_size(logs); i++) {
        const char *path = json_string_value(json_array_get(logs, i));

        if (is_nccl_log(path))
            lp_nccl_log_read(&proven->log, path, NULL); /* one that is not there proves nothing, which is what it then says */
    }
}

/* All logs of all crews of the variant, into one. */
static void read_logs(struct lp_proven *proven, const json_t *entry, const char *version)
{
    lp_nccl_log_init(&proven->log);
    lp_nccl_log_assume(&proven->log, version);
    read_list(proven, json_object_get(entry, "logs"));
    read_list(proven, json_object_get(entry, "trace_logs"));
}

/* Did the variant measure this cell? What failed when it was timed is not run again. */
static bool was_measured(const struct lp_job *job, const struct lp_variant *variant, size_t first, const struct lp_cell *cell)
{
    for (size_t i = first; i < job->result.n; i++) {
        const struct lp_record *record = job->result.record[i];

        if (strcmp(record->variant, variant->name) == 0 && record->repeat == variant->repeat && record->time_us.n > 0 &&
            lp_cell_same(&record->cell, cell))
            return true;
    }
    return false;
}

static void trace_cells(struct lp_job *job, struct lp_crew *crew, const struct lp_variant *variant, size_t first,
                        size_t arena_bytes)
{
    for (size_t c = 0; c < job->plan.cells.n && lp_crew_usable(crew) && lp_job_going(job); c++) {
        const struct lp_cell *cell = &job->plan.cells.item[c].cell;

        if (cell->size_bytes <= arena_bytes && was_measured(job, variant, first, cell))
            lp_measure_once(crew, cell, &job->limits);
    }
}

void lp_job_trace(struct lp_job *job, const struct lp_variant *variant, json_t *entry, size_t first)
{
    struct lp_crew *crew = lp_job_start_variant(job, variant, true);
    struct lp_seconds seconds = {0};
    struct lp_opening opening;
    struct lp_loss why;
    json_t *logs;

    if (!crew)
        return;
    opening = lp_job_variant_opening(job, variant);
    logs = json_array();
    for (int i = 0; i < lp_crew_size(crew); i++)
        json_array_append_new(logs, lp_json_text(lp_crew_nccl_log(crew, i)));
    json_object_set_new(entry, "trace_logs", logs);
    if (lp_job_open_crew(job, crew, &opening, &seconds, &why))
        trace_cells(job, crew, variant, first, opening.arena_bytes);
    lp_job_end_crew(job, crew, &job->spent.evidence);
}

static void set_evidence(struct lp_record *record, const struct lp_proof_cell *cell)
{
    struct lp_evidence *evidence = &record->evidence;

    evidence->read = true;
    evidence->channels = cell->channels;
    snprintf(evidence->algorithm, sizeof(evidence->algorithm), "%s", cell->algorithm);
    snprintf(evidence->protocol, sizeof(evidence->protocol), "%s", cell->protocol);
    snprintf(evidence->transport, sizeof(evidence->transport), "%s", cell->transport);
    snprintf(evidence->tag, sizeof(evidence->tag), "%s", cell->tag);
}

static bool one_collective(const struct lp_plan *plan)
{
    for (size_t i = 1; i < plan->cells.n; i++)
        if (strcmp(plan->cells.item[i].cell.op, plan->cells.item[0].cell.op) != 0)
            return false;
    return true;
}

/* Evidence of the variant's records, which are among those from `first` on. */
static void prove_cells(struct lp_job *job, struct lp_proven *proven, size_t first)
{
    bool alone = one_collective(&job->plan);
    json_t *lines = json_object();
    struct lp_reason why;

    for (size_t c = 0; c < job->plan.cells.n; c++) {
        const struct lp_cell *cell = &job->plan.cells.item[c].cell;

        lp_proof_cell(&proven->log, cell, job->plan.nranks, alone, &proven->cell[c]);
        proven->cell[c].missing = true;
        for (size_t i = first; i < job->result.n; i++) {
            struct lp_record *record = job->result.record[i];
            char number[32];

            if (strcmp(record->variant, proven->variant->name) != 0 || record->repeat != proven->variant->repeat ||
                record->time_us.n == 0 || !lp_cell_same(&record->cell, cell))
                continue;
            proven->cell[c].missing = false;
            set_evidence(record, &proven->cell[c]);
            snprintf(number, sizeof(number), "%zu", i);
            json_object_set_new(lines, number, lp_evidence_to_json(&record->evidence));
        }
    }
    lp_journal_evidence(&job->journal, lines, &why);
}

struct lp_proven *lp_job_prove(struct lp_job *job, const struct lp_variant *variant, json_t *entry, size_t first)
{
    const char *version = lp_json_str(json_object_get(job->result.head, "versions"), "nccl_loaded", NULL);
    struct lp_proven *proven = calloc(1, sizeof(*proven));
    char words[512];

    if (proven)
        proven->cell = calloc(job->plan.cells.n + 1, sizeof(*proven->cell));
    if (!proven || !proven->cell) {
        free(proven);
        return NULL;
    }
    proven->variant = variant;
    read_logs(proven, entry, version);
    prove_cells(job, proven, first);
    lp_proof_variables(&proven->log, variant, &proven->variables);
    json_object_set_new(entry, "acknowledged", lp_proof_variables_json(&proven->variables));
    json_object_set_new(entry, "nccl_log", lp_nccl_log_json(&proven->log));
    if (lp_proof_differences(&proven->log, words, sizeof(words))[0])
        json_object_set_new(entry, "differences", lp_json_text(words));
    return proven;
}

static struct lp_proof_crew crew_of(const struct lp_job *job, const struct lp_proven *proven)
{
    return (struct lp_proof_crew){
        .variant = proven->variant,
        .log = &proven->log,
        .variables = &proven->variables,
        .cell = proven->cell,
        .ncells = job->plan.cells.n,
    };
}

/* The record of the same cell under default's first crew; NULL when there is no time to compare. */
static const struct lp_record *counterpart(const struct lp_job *job, const struct lp_record *record)
{
    for (size_t i = 0; i < job->result.n; i++) {
        const struct lp_record *other = job->result.record[i];

        if (strcmp(other->variant, "default") == 0 && other->repeat == 0 && other->round == record->round &&
            lp_record_usable(other) && lp_cell_same(&other->cell, &record->cell))
            return other;
    }
    return NULL;
}

/* Root mean square of log(time / default's time) over the variant's cells; NaN when none can be compared. */
static double distance(const struct lp_job *job, const struct lp_variant *variant)
{
    double sum = 0.0;
    size_t n = 0;

    for (size_t i = 0; i < job->result.n; i++) {
        const struct lp_record *record = job->result.record[i], *base;

        if (strcmp(record->variant, variant->name) != 0 || record->repeat != variant->repeat || !lp_record_usable(record))
            continue;
        base = counterpart(job, record);
        if (base) {
            double ratio = log(record->time_us.median / base->time_us.median);

            sum += ratio * ratio;
            n++;
        }
    }
    return n ? sqrt(sum / (double)n) : (double)NAN;
}

/*
 * Is there nothing to see between the variant's times and default's? Held against what default's own second crew differs by.
 * That is enough to call a variable ineffective whose path is default's; whether a difference is real is the judge's to say.
 */
static enum lp_same same_times(const struct lp_job *job, const struct lp_variant *variant)
{
    const struct lp_variant *again = lp_variants_find(&job->plan.variants, "default", 1);
    double noise = again ? distance(job, again) : (double)NAN, mine = distance(job, variant);

    if (!isfinite(noise) || !isfinite(mine))
        return LP_SAME_UNKNOWN;
    return mine <= fmax(LEAST_NOISE, NOISE_FACTOR * noise) ? LP_SAME_YES : LP_SAME_NO;
}

static void stand_one(struct lp_job *job, const struct lp_proof_crew *base, const struct lp_proof_crew *crew, json_t *entry)
{
    enum lp_same *same = calloc(crew->ncells + 1, sizeof(*same)), all = same_times(job, crew->variant);
    struct lp_proof_standing standing;

    for (size_t i = 0; same && i < crew->ncells; i++)
        same[i] = all;
    lp_proof_standing(base, crew, same, &standing);
    json_object_set_new(entry, "standing", json_string(lp_standing_name(standing.standing)));
    json_object_set_new(entry, "standing_words", lp_json_text(standing.words));
    free(same);
}

/* Variants whose every cell takes the same path, as lists of their labels: [["default", "ring", ...]]. */
static json_t *group_json(const struct lp_proof_crew *crews, size_t n)
{
    int *group = calloc(n + 1, sizeof(*group));
    json_t *groups = json_array();

    if (group)
        lp_proof_groups(crews, n, group);
    for (size_t first = 0; group && first < n; first++) {
        json_t *members = json_array();

        for (size_t i = first; i < n && group[first] == (int)first; i++)
            if (group[i] == (int)first) {
                char label[LP_NAME_MAX + 8];

                lp_variant_label(crews[i].variant->name, crews[i].variant->repeat, label, sizeof(label));
                json_array_append_new(members, json_string(label));
            }
        if (json_array_size(members) > 1)
            json_array_append(groups, members);
        json_decref(members);
    }
    free(group);
    return groups;
}

/* Default's first crew is what the others are held against; without it nothing is said. */
void lp_job_stand(struct lp_job *job, struct lp_proven *const *proven, size_t n)
{
    json_t *entries = json_object_get(job->result.head, "variants");
    struct lp_proof_crew *crews = calloc(n + 1, sizeof(*crews));
    size_t ncrews = 0;

    for (size_t i = 0; crews && i < n && proven[0]; i++) {
        if (!proven[i])
            continue;
        crews[ncrews++] = crew_of(job, proven[i]);
        if (i > 0)
            stand_one(job, &crews[0], &crews[ncrews - 1], json_array_get(entries, i));
    }
    if (ncrews > 0)
        lp_job_head(job, json_pack("{s:O, s:o}", "variants", entries, "same_path", group_json(crews, ncrews)));
    free(crews);
}

void lp_proven_free(struct lp_proven *proven)
{
    if (!proven)
        return;
    lp_proof_variables_release(&proven->variables);
    lp_nccl_log_release(&proven->log);
    free(proven->cell);
    free(proven);
}
