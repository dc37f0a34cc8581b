/* The judgement as JSON. */
#include "judge/judge.h"

#include "base/json.h"

#include <string.h>

static const char *name_of(const struct lp_verdicts *verdicts, size_t setting)
{
    return verdicts->times.setting[setting].name;
}

/* What all cells of a family have in common. */
static json_t *family_json(const struct lp_verdicts *verdicts, size_t family)
{
    const struct lp_cell *like = verdicts->times.family[family].like;

    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:s}", "collective", like->op, "library", like->library, "datatype",
                     lp_dtype_name(like->dtype), "redop", lp_redop_name(like->redop), "root", like->root, "placement",
                     lp_placement_name(like->placement), "timing", lp_timing_name(like->timing), "buffers", like->buffers);
}

/* Adds what is claimed to the object, and returns it. */
static json_t *with_claim(json_t *object, const struct lp_claim *claim)
{
    json_object_set_new(object, "verdict", json_string(lp_call_name(claim->call)));
    json_object_set_new(object, "ratio", lp_json_real(claim->ratio));
    json_object_set_new(object, "low", lp_json_real(claim->low));
    json_object_set_new(object, "high", lp_json_real(claim->high));
    if (claim->reason[0])
        json_object_set_new(object, "reason", json_string(claim->reason));
    return object;
}

/* The verdicts on all settings at one size. */
static json_t *verdicts_json(const struct lp_verdicts *verdicts, size_t family, size_t spot)
{
    json_t *list = json_array();

    for (size_t s = 1; s < verdicts->times.nsettings; s++) {
        const struct lp_claim *claim = &lp_verdicts_find(verdicts, LP_OF_CELL, family, spot, s)->claim;

        json_array_append_new(list,
                              with_claim(json_pack("{s:s, s:i}", "variant", name_of(verdicts, s), "rounds", claim->rounds), claim));
    }
    return list;
}

static json_t *sizes_json(const struct lp_verdicts *verdicts, size_t family)
{
    json_t *list = json_array();

    for (size_t i = 0; i < verdicts->times.family[family].nspots; i++)
        json_array_append_new(list, json_pack("{s:I, s:o, s:o}", "requested_bytes",
                                              (json_int_t)verdicts->times.family[family].spot[i].bytes, "noise_percent",
                                              lp_json_real(lp_verdicts_noise_percent(verdicts, family, i)), "verdicts",
                                              verdicts_json(verdicts, family, i)));
    return list;
}

static json_t *cells_json(const struct lp_verdicts *verdicts)
{
    json_t *list = json_array();

    for (size_t f = 0; f < verdicts->times.nfamilies; f++) {
        json_t *family = family_json(verdicts, f);

        json_object_set_new(family, "sizes", sizes_json(verdicts, f));
        json_array_append_new(list, family);
    }
    return list;
}

static json_t *ranges_json(const struct lp_verdicts *verdicts, const struct lp_ranges *ranges)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ranges->n; i++) {
        const struct lp_range *range = &ranges->item[i];
        const struct lp_family *family = &verdicts->times.family[range->family];
        json_t *entry = family_json(verdicts, range->family);

        json_object_set_new(entry, "from_bytes", json_integer((json_int_t)family->spot[range->from].bytes));
        json_object_set_new(entry, "to_bytes", json_integer((json_int_t)family->spot[range->to].bytes));
        json_object_set_new(entry, "variant", json_string(name_of(verdicts, range->setting)));
        json_object_set_new(entry, "against", json_string(name_of(verdicts, range->reference)));
        json_array_append_new(list, with_claim(entry, &range->claim));
    }
    return list;
}

static json_t *means_json(const struct lp_verdicts *verdicts)
{
    json_t *list = json_array();

    for (size_t i = 0; i < verdicts->n; i++) {
        const struct lp_verdict *verdict = &verdicts->item[i];
        const struct lp_family *family = &verdicts->times.family[verdict->family];
        size_t from = 0, to = 0;
        json_t *entry;

        if (verdict->subject != LP_OF_MEAN)
            continue;
        lp_tensor_parallel(family, &from, &to);
        entry = family_json(verdicts, verdict->family);
        json_object_set_new(entry, "from_bytes", json_integer((json_int_t)family->spot[from].bytes));
        json_object_set_new(entry, "to_bytes", json_integer((json_int_t)family->spot[to].bytes));
        json_object_set_new(entry, "variant", json_string(name_of(verdicts, verdict->setting)));
        json_array_append_new(list, with_claim(entry, &verdict->claim));
    }
    return list;
}

static json_t *crossovers_json(const struct lp_judgement *judgement)
{
    json_t *list = json_array();

    for (size_t i = 0; i < judgement->crossovers.n; i++) {
        const struct lp_crossover *crossover = &judgement->crossovers.item[i];
        json_t *entry = family_json(&judgement->verdicts, crossover->family);

        json_object_set_new(entry, "below", json_string(crossover->tree_above ? "ring" : "tree"));
        json_object_set_new(entry, "above", json_string(crossover->tree_above ? "tree" : "ring"));
        json_object_set_new(entry, "bytes", json_integer((json_int_t)crossover->bytes));
        json_object_set_new(entry, "low_bytes", json_integer((json_int_t)crossover->from));
        json_object_set_new(entry, "high_bytes", json_integer((json_int_t)crossover->to));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *advice_json(const struct lp_judgement *judgement)
{
    const struct lp_verdicts *verdicts = &judgement->verdicts;
    json_t *list = json_array();

    for (size_t i = 0; i < judgement->advices.n; i++) {
        const struct lp_advice *advice = &judgement->advices.item[i];
        json_t *entry = family_json(verdicts, advice->family);

        json_object_del(entry, "placement");
        json_object_set_new(entry, "variant", json_string(name_of(verdicts, advice->setting)));
        json_object_set_new(entry, "set", advice->set[0] ? lp_json_text(advice->set) : json_null());
        json_object_set_new(entry, "from_bytes", advice->to ? json_integer((json_int_t)advice->from) : json_null());
        json_object_set_new(entry, "to_bytes", advice->to ? json_integer((json_int_t)advice->to) : json_null());
        json_object_set_new(entry, "note", advice->note[0] ? lp_json_text(advice->note) : json_null());
        if (advice->setting)
            with_claim(entry, &advice->claim);
        json_array_append_new(list, entry);
    }
    return list;
}

/* Variants that are out as a whole. */
static json_t *excluded_json(const struct lp_verdicts *verdicts)
{
    json_t *list = json_array();

    for (size_t s = 0; s < verdicts->times.nsettings; s++)
        if (verdicts->times.setting[s].wrong)
            json_array_append_new(list, json_pack("{s:s, s:s}", "variant", name_of(verdicts, s), "reason", "wrong data"));
    return list;
}

static json_t *judgement_json(const struct lp_judgement *judgement)
{
    const struct lp_verdicts *verdicts = &judgement->verdicts;

    return json_pack("{s:i, s:b, s:{s:s, s:f, s:I, s:f, s:i}, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rounds",
                     verdicts->times.rounds, "claims", lp_judgement_claims(judgement), "method", "name",
                     "moderated t of crews by round, Holm and Sidak over the sweep", "alpha", LP_JUDGE_ALPHA, "comparisons",
                     (json_int_t)verdicts->tests, "floor", LP_JUDGE_FLOOR, "least_rounds", LP_JUDGE_ROUNDS, "excluded",
                     excluded_json(verdicts), "advice", advice_json(judgement), "winners",
                     ranges_json(verdicts, &judgement->winners), "ring_tree", ranges_json(verdicts, &judgement->rings),
                     "crossovers", crossovers_json(judgement), "p2p", ranges_json(verdicts, &judgement->p2p), "tensor_parallel",
                     means_json(verdicts), "cells", cells_json(verdicts));
}

json_t *lp_judge_json(const struct lp_result *result)
{
    struct lp_judgement judgement;
    json_t *json = lp_judgement_make(result, &judgement) == LP_OK ? judgement_json(&judgement) : json_null();

    lp_judgement_release(&judgement);
    return json;
}
