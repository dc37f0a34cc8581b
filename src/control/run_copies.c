/* Copies one after the other on the crews of a group, whatever happens to the crews. */
#include "control/run_copies.h"

#include "base/json.h"
#include "p2p/path.h"

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
        .offer = json_pack("{s:s, s:s, s:i, s:i, s:o, s:b, s:b}", "do", "offer", "device", job->plan.device, "nranks", 1, "workers",
                           group->one_worker ? 1 : job->plan.nranks, "stations", stations(job, group), "gate", 1, "page",
                           !group->one_worker),
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

static bool needs(const struct lp_cell *cell, unsigned flag)
{
    const struct lp_path *path = lp_path_find(cell->op);

    return path && (path->flags & flag) != 0;
}

void lp_tour_end_crew(struct lp_tour *tour)
{
    lp_job_watch_end(tour->job, tour->crew, NULL, 0);
    lp_job_end_crew(tour->job, tour->crew, &tour->job->spent.link);
    json_decref(tour->opening.errors);
    tour->opening.errors = NULL;
    tour->crew = NULL;
    tour->peers = false;
}

/* A copy that cost its crew. */
static void after_loss(struct lp_tour *tour, const struct lp_cell *cell)
{
    bool p2p = needs(cell, LP_PATH_PEER);

    lp_tour_end_crew(tour);
    if (!lp_recover_bad(&tour->history[p2p]))
        tour->over[p2p] = true;
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

/* Why a copy is not even tried now; NULL: it is. */
static const char *reason_to_skip(const struct lp_tour *tour, const struct lp_planned *planned)
{
    bool p2p = needs(&planned->cell, LP_PATH_PEER);

    if (planned->skip[0])
        return planned->skip;
    if (p2p && p2p_hung(tour->job))
        return "not tried: a copy with P2P hung before";
    return tour->refused || tour->over[p2p] ? "not tried: copies of this kind keep failing" : NULL;
}

/* Puts what reaching a peer said with the pairs of the topology, as `name`; in the journal too. */
static void note_errors(struct lp_job *job, const json_t *errors, const char *name)
{
    json_t *topology = json_object_get(job->result.head, "topology"), *pairs = json_object_get(topology, "pairs");

    for (size_t i = 0; i < json_array_size(pairs); i++)
        for (size_t k = 0; k < json_array_size(errors); k++) {
            json_t *pair = json_array_get(pairs, i);
            const json_t *error = json_array_get(errors, k);

            if (lp_json_int(pair, "src", -1) == json_integer_value(json_array_get(error, 0)) &&
                lp_json_int(pair, "dst", -1) == json_integer_value(json_array_get(error, 1)))
                json_object_set(pair, name, json_array_get(error, 2));
        }
    if (json_array_size(errors) > 0)
        lp_job_head(job, json_pack("{s:O}", "topology", topology));
}

/* Is it known that a GPU of the copy cannot reach the other one's memory? Then buf says why. */
static bool lacks_access(const struct lp_tour *tour, const struct lp_cell *cell, char *buf, size_t cap)
{
    bool read = needs(cell, LP_PATH_READ);

    for (int e = 0; e < cell->nedges && needs(cell, LP_PATH_PEER); e++)
        for (size_t i = 0; i < json_array_size(tour->opening.errors); i++) {
            const json_t *error = json_array_get(tour->opening.errors, i);
            int from = read ? cell->edges[e].dst : cell->edges[e].src, to = read ? cell->edges[e].src : cell->edges[e].dst;

            if (from != json_integer_value(json_array_get(error, 0)) || to != json_integer_value(json_array_get(error, 1)))
                continue;
            snprintf(buf, cap, "no peer access from %d to %d: %s", from, to, json_string_value(json_array_get(error, 2)));
            return true;
        }
    return false;
}

/* Peer access for a crew of one worker; others get it by mapping their peers' memory. */
static bool enable_peers(struct lp_tour *tour, struct lp_loss *why)
{
    json_t *replies[LP_MAX_RANKS], *ask = json_pack("{s:s}", "do", "peers");

    if (!lp_crew_ask(tour->crew, ask, tour->job->limits.init_ns, replies, why))
        return false;
    tour->peers = true;
    json_decref(tour->opening.errors);
    tour->opening.errors = json_incref(json_object_get(replies[0], "errors"));
    note_errors(tour->job, tour->opening.errors, "enable_error");
    lp_replies_release(replies, lp_crew_size(tour->crew));
    return true;
}

/* A crew that can do the cell; false: there is none, and *why says so. */
static bool need_crew(struct lp_tour *tour, const struct lp_cell *cell, struct lp_loss *why)
{
    bool one_worker = tour->group->one_worker;

    if (tour->crew && tour->peers && needs(cell, LP_PATH_STAGED))
        lp_tour_end_crew(tour); /* only a fresh process has no peer access */
    if (!lp_job_going(tour->job)) {
        why->kind = LP_LOSS_AGENT;
        return false;
    }
    if (!tour->crew) {
        tour->crew = start_group(tour->job, tour->group);
        if (tour->crew)
            tour->opening = opening_for(tour->job, tour->group);
        if (!tour->crew || !lp_job_open_crew(tour->job, tour->crew, &tour->opening, &tour->seconds, why))
            return false;
        note_errors(tour->job, tour->opening.errors, "ipc_error");
        lp_job_watch_begin(tour->job, tour->crew);
    }
    lp_job_watch_look(tour->job, tour->crew);
    return !one_worker || tour->peers || !needs(cell, LP_PATH_PEER) || enable_peers(tour, why);
}

static void measure(struct lp_tour *tour, const struct lp_cell *cell)
{
    struct lp_job *job = tour->job;
    struct lp_loss why = {.kind = LP_LOSS_CRASH, .reason = "out of memory"};
    struct lp_record record;
    char words[256];

    if (!need_crew(tour, cell, &why)) {
        if (why.kind == LP_LOSS_SIGNAL || why.kind == LP_LOSS_AGENT) {
            lp_tour_end_crew(tour);
            return;
        }
        record_untried(job, cell, tour->crew ? lp_crew_id(tour->crew) : 0, lp_outcome_of_loss(&why), why.reason);
        tour->refused = why.kind == LP_LOSS_REPLY;
        after_loss(tour, cell);
    } else if (lacks_access(tour, cell, words, sizeof(words))) {
        record_untried(job, cell, lp_crew_id(tour->crew), LP_UNSUPPORTED, words);
    } else if (cell->requested_bytes > tour->opening.arena_bytes) {
        record_untried(job, cell, lp_crew_id(tour->crew), LP_SKIPPED,
                       lp_opening_words(&tour->opening, cell->requested_bytes, words, sizeof(words)));
    } else if (!lp_measure_cell(tour->crew, job->link->clock, cell, &job->limits, &job->iteration, &tour->seconds, &record)) {
        lp_tour_end_crew(tour);
    } else {
        lp_job_add(job, &record);
        if (lp_crew_usable(tour->crew))
            lp_recover_good(&tour->history[needs(cell, LP_PATH_PEER)]);
        else
            after_loss(tour, cell);
    }
}

void lp_tour_measure(struct lp_tour *tour, const struct lp_planned_list *list)
{
    for (size_t i = 0; i < list->n && lp_job_going(tour->job); i++) {
        const struct lp_planned *planned = &list->item[i];
        const char *skip = reason_to_skip(tour, planned);

        if (skip)
            record_untried(tour->job, &planned->cell, tour->crew ? lp_crew_id(tour->crew) : 0, LP_SKIPPED, skip);
        else
            measure(tour, &planned->cell);
    }
}
