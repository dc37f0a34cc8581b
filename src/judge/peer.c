/* Peer truth. How it is said is the views' business. */
#include "judge/peer.h"

#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What a record says about its pair, from the least to what overrules all others. */
enum weight { SAYS_NOTHING, SAYS_GOOD, SAYS_FAILS, SAYS_HANGS, SAYS_WRONG };

static enum weight weigh(const struct lp_record *record)
{
    if (record->outcome == LP_WRONG || record->checked.wrong_iterations > 0)
        return SAYS_WRONG;
    if (record->outcome == LP_HANG)
        return SAYS_HANGS;
    if (record->outcome == LP_CRASH || record->outcome == LP_FAILED)
        return SAYS_FAILS;
    return record->outcome == LP_DONE && record->checked.iterations > 0 ? SAYS_GOOD : SAYS_NOTHING;
}

static bool is_of(const struct lp_cell *cell, struct lp_edge pair, const char *processes)
{
    return cell->kind == LP_COPY && cell->nedges == 1 && cell->edges[0].src == pair.src && cell->edges[0].dst == pair.dst &&
           strcmp(cell->processes, processes) == 0;
}

/* The copy with P2P that says most about the pair; NULL: there is none. */
static const struct lp_record *strongest(const struct lp_result *result, struct lp_edge pair, const char *processes)
{
    const struct lp_record *best = NULL;

    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];
        const struct lp_path *path;

        if (!is_of(&record->cell, pair, processes) || (best && weigh(record) <= weigh(best)))
            continue;
        path = lp_path_find(record->cell.op);
        if (path && path->flags & LP_PATH_PEER)
            best = record;
    }
    return best;
}

/* What happened to the copy, with its path. */
static void say_copy(const struct lp_record *record, struct lp_peer_truth *out)
{
    const struct lp_checked *checked = &record->checked;
    const char *title = lp_path_find(record->cell.op)->title;

    if (weigh(record) == SAYS_WRONG && checked->wrong_iterations > 0)
        snprintf(out->reason, sizeof(out->reason),
                 "%s: %" PRIu64 " wrong elements in %d of %d checked copies, first at byte %" PRIu64 " of rank %d", title,
                 checked->wrong_elements, checked->wrong_iterations, checked->iterations, checked->first_offset_bytes,
                 checked->first_rank);
    else if (record->outcome == LP_DONE)
        snprintf(out->reason, sizeof(out->reason), "%s: copied, data unchecked", title);
    else
        snprintf(out->reason, sizeof(out->reason), "%s: %.400s", title,
                 record->reason[0] ? record->reason : lp_outcome_name(record->outcome));
}

/* No copy tells. */
static void say_untried(const json_t *facts, struct lp_peer_truth *out)
{
    const char *reason = lp_json_str(facts, "reason", NULL);

    if (out->driver_yes)
        snprintf(out->reason, sizeof(out->reason), "not tried; the driver says yes");
    else
        snprintf(out->reason, sizeof(out->reason), "not tried%s%.400s", reason ? ": " : "", reason ? reason : "");
}

/* Is it settled without a copy? One by a process that could not enable peer access would be staged. */
static bool is_refused(const json_t *facts, const char *processes, enum weight weight, struct lp_peer_truth *out)
{
    bool ipc = strcmp(processes, "ipc") == 0;
    const char *error = lp_json_str(facts, ipc ? "ipc_error" : "enable_error", NULL), *reason = lp_json_str(facts, "reason", NULL);

    if (ipc && weight != SAYS_NOTHING)
        return false;
    if (json_is_false(json_object_get(facts, "peer_access"))) {
        snprintf(out->reason, sizeof(out->reason), "the driver says no%s%.400s", reason ? ": " : "", reason ? reason : "");
        return true;
    }
    if (error)
        snprintf(out->reason, sizeof(out->reason), "%s%s: %.400s", out->driver_yes ? "the driver says yes, " : "",
                 ipc ? "mapping the other process's memory failed" : "enabling peer access failed", error);
    return error != NULL;
}

void lp_peer_find(const struct lp_result *result, struct lp_edge pair, const char *processes, struct lp_peer_truth *out)
{
    static const enum lp_peer_state states[] = {[SAYS_NOTHING] = LP_PEER_UNKNOWN,
                                                [SAYS_GOOD] = LP_PEER_YES,
                                                [SAYS_FAILS] = LP_PEER_FAILS,
                                                [SAYS_HANGS] = LP_PEER_HANGS,
                                                [SAYS_WRONG] = LP_PEER_WRONG};
    const json_t *facts = lp_pair_facts(result, pair);
    const struct lp_record *record = strongest(result, pair, processes);
    enum weight weight = record ? weigh(record) : SAYS_NOTHING;

    memset(out, 0, sizeof(*out));
    out->driver_yes = json_is_true(json_object_get(facts, "peer_access"));
    out->state = is_refused(facts, processes, weight, out) ? LP_PEER_NO : states[weight];
    if (out->state == LP_PEER_NO)
        return;
    if (!record)
        say_untried(facts, out);
    else if (weight != SAYS_GOOD)
        say_copy(record, out);
}

const char *lp_peer_name(const struct lp_peer_truth *truth)
{
    static const char *const names[] = {
        [LP_PEER_YES] = "yes",
        [LP_PEER_NO] = "no",
        [LP_PEER_WRONG] = "says yes, data wrong",
        [LP_PEER_HANGS] = "says yes, hangs",
        [LP_PEER_FAILS] = "says yes, fails",
        [LP_PEER_UNKNOWN] = "unknown",
    };
    const char *name = names[truth->state], *comma = strstr(name, ", ");

    return comma && !truth->driver_yes ? comma + 2 : name;
}

/* The pair's one-way rate by a path at a size; NaN: there is none. */
static double rate_at(const struct lp_result *result, struct lp_edge pair, const char *path, size_t bytes)
{
    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];

        if (is_of(&record->cell, pair, "one") && record->cell.timing != LP_ISOLATED && record->cell.requested_bytes == bytes &&
            lp_record_usable(record) && strcmp(record->cell.op, path) == 0)
            return record->algbw_gbps;
    }
    return (double)NAN;
}

/* The largest size that both paths have; false: none. */
static bool find_rates(const struct lp_result *result, struct lp_edge pair, const char *path, struct lp_peer_rates *out)
{
    for (size_t i = 0; i < result->n; i++) {
        const struct lp_cell *cell = &result->record[i]->cell;
        double p2p, staged;

        if (!is_of(cell, pair, "one") || strcmp(cell->op, path) != 0 || cell->requested_bytes <= out->bytes)
            continue;
        p2p = rate_at(result, pair, path, cell->requested_bytes);
        staged = rate_at(result, pair, "ce_staged", cell->requested_bytes);
        if (isfinite(p2p) && isfinite(staged))
            *out = (struct lp_peer_rates){path, cell->requested_bytes, p2p, staged};
    }
    return out->path != NULL;
}

enum lp_peer_use lp_peer_used(const struct lp_result *result, struct lp_edge pair, struct lp_peer_rates *out)
{
    *out = (struct lp_peer_rates){.p2p_gbps = (double)NAN, .staged_gbps = (double)NAN};
    if (!json_is_true(json_object_get(lp_pair_facts(result, pair), "peer_access")))
        return LP_PEER_USE_UNKNOWN;
    if (!find_rates(result, pair, "ce_write", out) && !find_rates(result, pair, "sm_write", out))
        return LP_PEER_USE_UNKNOWN;
    return out->p2p_gbps <= LP_PEER_LIKE_STAGED * out->staged_gbps ? LP_PEER_NOT_USED : LP_PEER_USED;
}

static json_t *truth_json(const struct lp_result *result, struct lp_edge pair, const char *processes)
{
    struct lp_peer_truth truth;

    lp_peer_find(result, pair, processes, &truth);
    return json_pack("{s:s, s:o}", "state", lp_peer_name(&truth), "reason",
                     truth.reason[0] ? lp_json_text(truth.reason) : json_null());
}

static json_t *use_json(const struct lp_result *result, struct lp_edge pair)
{
    struct lp_peer_rates rates;
    enum lp_peer_use use = lp_peer_used(result, pair, &rates);

    return use == LP_PEER_USE_UNKNOWN ? json_null() : json_boolean(use == LP_PEER_USED);
}

void lp_peer_note(json_t *topology, const struct lp_result *result)
{
    json_t *pairs = json_object_get(topology, "pairs");

    if (strcmp(lp_json_str(result->head, "device", ""), "host") == 0)
        return;
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        json_t *entry = json_array_get(pairs, i);
        struct lp_edge pair = {(int)lp_json_int(entry, "src", -1), (int)lp_json_int(entry, "dst", -1)};

        json_object_set_new(entry, "one_process", truth_json(result, pair, "one"));
        json_object_set_new(entry, "between_processes", truth_json(result, pair, "ipc"));
        json_object_set_new(entry, "peer_path_used", use_json(result, pair));
    }
}
