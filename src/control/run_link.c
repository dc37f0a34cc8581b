/* The link: every copy of the plan, and the baseline that collectives are held against. */
#include "control/run_parts.h"

#include "base/json.h"
#include "p2p/path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Which devices worker w of the group opens: all of them in the one worker, else its own. */
static json_t *stations(const struct lp_job *job, const struct lp_copy_group *group)
{
    json_t *all = json_array(), *one = json_array();

    for (int r = 0; r < job->plan.nranks; r++) {
        const struct lp_machine_rank *rank = &job->machine.rank[r];
        json_t *station = json_pack("{s:i, s:i}", "device", group->one_worker ? rank->at_rank0 : rank->device, "rank", r);

        if (!group->one_worker)
            json_array_append_new(all, json_pack("[o]", station));
        else if (rank->at_rank0 >= 0)
            json_array_append_new(one, station);
        else
            json_decref(station);
    }
    if (!group->one_worker) {
        json_decref(one);
        return all;
    }
    json_array_append_new(all, one);
    return all;
}

static struct lp_opening opening_for(const struct lp_job *job, const struct lp_copy_group *group)
{
    bool host = strcmp(job->plan.device, "host") == 0;

    return (struct lp_opening){
        .offer = json_pack("{s:s, s:s, s:i, s:i, s:o, s:b, s:b, s:b}", "do", "offer", "device", job->plan.device, "nranks", 1,
                           "workers", group->one_worker ? 1 : job->plan.nranks, "stations", stations(job, group), "peer_access",
                           group->peer_access, "gate", 1, "page", !group->one_worker),
        .want_bytes = group->arena_bytes,
        .bounce_bytes = host ? LP_HOST_BOUNCE_BYTES : 0,
        .share = !group->one_worker,
    };
}

static void record_untried(struct lp_job *job, const struct lp_cell *cell, int crew, enum lp_outcome outcome, const char *reason)
{
    struct lp_record record;

    lp_record_begin(&record, cell);
    record.crew = crew;
    record.outcome = outcome;
    snprintf(record.reason, sizeof(record.reason), "%s", reason);
    lp_job_add(job, &record);
}

static struct lp_crew *start_group(struct lp_job *job, const struct lp_copy_group *group)
{
    struct lp_crew_spec spec;
    struct lp_crew *crew;
    json_t *env;

    lp_job_crew_spec(job, group->name, group->one_worker ? 1 : job->plan.nranks, &spec, &env);
    if (group->one_worker)
        spec.cpus[0][0] = '\0'; /* it serves all GPUs */
    crew = lp_crew_start(job->crews, &spec);
    json_decref(env);
    return crew;
}

/* One crew through the copies from *next on, until they are done or it is lost. False when the group is over. */
static bool measure_some(struct lp_job *job, const struct lp_copy_group *group, size_t *next, struct lp_recover *history)
{
    struct lp_crew *crew = start_group(job, group);
    struct lp_opening opening = opening_for(job, group);
    struct lp_seconds seconds = {0};
    struct lp_loss why = {.kind = LP_LOSS_NONE};
    struct lp_record record;
    char words[256];
    bool more = true;

    if (!crew || !lp_job_open_crew(job, crew, &opening, &seconds, &why)) {
        if (why.kind != LP_LOSS_SIGNAL && why.kind != LP_LOSS_AGENT)
            record_untried(job, &group->copies.item[(*next)++].cell, crew ? lp_crew_id(crew) : 0, lp_outcome_of_loss(&why),
                           why.reason);
        more = why.kind != LP_LOSS_REPLY && lp_recover_bad(history);
        lp_job_end_crew(job, crew, &seconds.end);
        return more;
    }
    while (*next < group->copies.n && lp_crew_usable(crew) && lp_job_going(job)) {
        const struct lp_planned *planned = &group->copies.item[*next];

        if (planned->skip[0]) {
            record_untried(job, &planned->cell, lp_crew_id(crew), LP_SKIPPED, planned->skip);
        } else if (planned->cell.requested_bytes > opening.arena_bytes) {
            record_untried(job, &planned->cell, lp_crew_id(crew), LP_SKIPPED,
                           lp_opening_words(&opening, planned->cell.requested_bytes, words, sizeof(words)));
        } else if (lp_measure_cell(crew, job->link->clock, &planned->cell, &job->limits, &job->iteration, &seconds, &record)) {
            lp_job_add(job, &record);
            if (lp_crew_usable(crew))
                lp_recover_good(history);
            else
                more = lp_recover_bad(history);
        } else {
            break;
        }
        (*next)++;
    }
    lp_job_end_crew(job, crew, &seconds.end);
    return more;
}

/* Do the copies of this group go from GPU to GPU? */
static bool uses_p2p(const struct lp_copy_group *group)
{
    const struct lp_path *path = group->copies.n ? lp_path_find(group->copies.item[0].cell.op) : NULL;

    return path && path->flags & LP_PATH_PEER;
}

/* P2P that hung once is not tried again: every attempt costs its limit, and the collectives are still to come. */
static bool p2p_hung(const struct lp_job *job)
{
    for (size_t i = 0; i < job->result.n; i++) {
        const struct lp_record *record = job->result.record[i];
        const struct lp_path *path = record->cell.kind == LP_COPY ? lp_path_find(record->cell.op) : NULL;

        if (path && path->flags & LP_PATH_PEER && record->outcome == LP_HANG)
            return true;
    }
    return false;
}

static void measure_group(struct lp_job *job, const struct lp_copy_group *group)
{
    struct lp_recover history = {0};
    bool more = true, p2p = uses_p2p(group);
    size_t next = 0;

    while (next < group->copies.n && more && lp_job_going(job) && !(p2p && p2p_hung(job)))
        more = measure_some(job, group, &next, &history);
    for (; next < group->copies.n && lp_job_going(job); next++)
        record_untried(job, &group->copies.item[next].cell, 0, LP_SKIPPED,
                       p2p && p2p_hung(job) ? "not tried: a copy with P2P hung before"
                                            : "not tried: copies of this kind keep failing");
}

/* The ring exchange, under its full name; without it the reason why. */
static json_t *baseline_json(struct lp_job *job, const struct lp_record *ring)
{
    const struct lp_path *path = lp_path_find(ring->cell.op);
    bool host = strcmp(job->plan.device, "host") == 0;
    json_t *name = json_sprintf("%s%s, every %s to its next in the ring at once%s, GB/s per direction, slowest edge",
                                host ? "host memory: " : "", path ? path->title : ring->cell.op, host ? "process" : "GPU",
                                ring->cell.nedges == 2 ? ", both directions busy" : "");

    if (lp_record_usable(ring))
        job->link_gbps = ring->algbw_gbps;
    return json_pack("{s:{s:o, s:o, s:s, s:s, s:I, s:n, s:o}}", "baseline", "name", name, "gbps", lp_json_real(job->link_gbps),
                     "path", ring->cell.op, "pattern", ring->cell.pattern, "size_bytes", (json_int_t)ring->cell.size_bytes,
                     "slowest_edge", "reason", lp_record_usable(ring) ? json_null() : lp_json_text(ring->reason));
}

void lp_job_link(struct lp_job *job)
{
    for (int g = 0; g < job->plan.ngroups && lp_job_going(job); g++)
        measure_group(job, &job->plan.group[g]);
    for (size_t i = 0; i < job->result.n; i++)
        if (strcmp(job->result.record[i]->cell.pattern, "ring") == 0)
            lp_job_head(job, baseline_json(job, job->result.record[i]));
}
