/*
 * What the variants really did, from the logs that NCCL wrote: after a variant its cells' paths and variables, after all of
 * them their standings. A variant that timed eager calls is run once more for its log, cell by cell and without a clock. Reading a
 * log is proof's; this file knows where the logs and records are.
 */
#include "control/run_parts.h"

#include "base/json.h"
#include "proof/proof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
            lp_measure_once(crew, job->link->clock, cell, &job->limits);
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
    lp_job_end_crew(job, crew, &seconds.end);
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

/* Default's first crew is what the others are held against; without it nothing is said. */
void lp_job_stand(struct lp_job *job, struct lp_proven *const *proven, size_t n)
{
    json_t *entries = json_object_get(job->result.head, "variants");
    struct lp_proof_crew base;

    if (n == 0 || !proven[0])
        return;
    base = crew_of(job, proven[0]);
    for (size_t i = 1; i < n; i++) {
        struct lp_proof_standing standing;
        struct lp_proof_crew crew;

        if (!proven[i])
            continue;
        crew = crew_of(job, proven[i]);
        lp_proof_standing(&base, &crew, NULL, &standing);
        json_object_set_new(json_array_get(entries, i), "standing", json_string(lp_standing_name(standing.standing)));
        json_object_set_new(json_array_get(entries, i), "standing_words", lp_json_text(standing.words));
    }
    lp_job_head(job, json_pack("{s:O}", "variants", entries));
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
