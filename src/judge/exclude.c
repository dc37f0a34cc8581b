/* The rules of what counts, one after the other; the first that applies names the reason. */
#include "judge/exclude.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool lp_env_only_path(const json_t *env)
{
    static const char *const names[] = {"NCCL_P2P_LEVEL",   "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE",
                                        "NCCL_NVLS_ENABLE", "NCCL_ALGO",        "NCCL_PROTO"};
    size_t known = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        known += json_object_get(env, names[i]) != NULL;
    return json_is_object(env) && known == json_object_size(env);
}

static bool has_text(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *item = json_string_value(json_array_get(list, i));

        if (item && strcmp(item, text) == 0)
            return true;
    }
    return false;
}

static bool takes_default_path(const struct lp_result *result, const char *name)
{
    const json_t *groups = json_object_get(result->head, "same_path");

    for (size_t i = 0; i < json_array_size(groups); i++)
        if (has_text(json_array_get(groups, i), "default") && has_text(json_array_get(groups, i), name))
            return true;
    return false;
}

static void describe_settings(const struct lp_result *result, struct lp_crew_times *times)
{
    const json_t *variants = json_object_get(result->head, "variants");

    for (size_t s = 0; s < times->nsettings; s++) {
        struct lp_setting *setting = &times->setting[s];

        setting->same = s == LP_DEFAULT_SETTING;
        for (size_t i = 0; i < json_array_size(variants); i++) {
            const json_t *variant = json_array_get(variants, i);

            if (strcmp(lp_json_str(variant, "name", ""), setting->name) != 0 || setting->env)
                continue;
            setting->env = json_object_get(variant, "env");
            if (lp_env_only_path(setting->env) && !lp_json_str(variant, "nccl", NULL) && takes_default_path(result, setting->name))
                setting->same = true; /* its library is default's too */
        }
    }
}

bool lp_crew_disturbed(const struct lp_result *result, int crew)
{
    const json_t *crews = json_object_get(result->head, "crews");

    for (size_t i = 0; i < json_array_size(crews); i++) {
        const json_t *entry = json_array_get(crews, i);

        if (lp_json_int(entry, "crew", -1) == crew)
            return lp_json_bool(entry, "contended", false) || lp_json_bool(entry, "throttled", false);
    }
    return false;
}

/* More than the links can carry, and no switch that reduces: the clock, the line rate or the number of ranks is not what we think.
 */
static bool is_impossible(const struct lp_record *record, double line_gbps)
{
    const struct lp_evidence *evidence = &record->evidence;

    return strcmp(record->cell.library, "host") != 0 && record->busbw_gbps > line_gbps && !strstr(evidence->algorithm, "NVLS") &&
           !strstr(evidence->transport, "NVLS");
}

static bool is_proven(const struct lp_record *record)
{
    const struct lp_evidence *evidence = &record->evidence;

    return strcmp(record->cell.library, "nccl") != 0 ||
           (evidence->read && evidence->tag[0] && strcmp(evidence->tag, "unknown") != 0);
}

/* What the crews of one variant had at one spot. */
struct tally {
    enum lp_outcome outcome; /* of the first that was not ok; LP_DONE: all were */
    int records, unchecked, proven, impossible, quiet;
};

static void count(const struct lp_result *result, const struct lp_record *record, double line_gbps, struct tally *tally)
{
    tally->records++;
    if (tally->outcome == LP_DONE)
        tally->outcome = lp_record_usable(record) ? LP_DONE : record->outcome == LP_DONE ? LP_FAILED : record->outcome;
    tally->unchecked += record->checked.iterations == 0;
    tally->proven += is_proven(record);
    tally->impossible += is_impossible(record, line_gbps);
    tally->quiet += !lp_crew_disturbed(result, record->crew);
}

static const char *reason(const struct lp_setting *setting, const struct tally *tally)
{
    if (setting->wrong)
        return "wrong data";
    if (tally->records == 0)
        return "not measured";
    if (tally->outcome != LP_DONE)
        return lp_outcome_name(tally->outcome);
    if (tally->unchecked)
        return "unchecked";
    if (!tally->proven)
        return "unproven";
    if (tally->impossible)
        return "busbw above the line rate without NVLS";
    return tally->quiet ? NULL : "contended or throttled";
}

static size_t find_setting(const struct lp_crew_times *times, const char *name)
{
    size_t s = 0;

    while (strcmp(times->setting[s].name, name) != 0)
        s++;
    return s;
}

static void mark_settings(const struct lp_result *result, struct lp_crew_times *times)
{
    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];
        struct lp_setting *setting;

        if (record->cell.kind != LP_COLLECTIVE)
            continue;
        setting = &times->setting[find_setting(times, record->variant)];
        setting->wrong |= record->outcome == LP_WRONG || record->checked.wrong_iterations > 0;
        setting->lost |= record->outcome == LP_HANG || record->outcome == LP_CRASH;
    }
}

/* Where the family's tallies begin among those of all spots. */
static size_t first_tally(const struct lp_crew_times *times, size_t family)
{
    size_t n = 0;

    for (size_t f = 0; f < family; f++)
        n += times->family[f].nspots;
    return n * times->nsettings;
}

static void count_all(const struct lp_result *result, const struct lp_crew_times *times, struct tally *tallies)
{
    double line = lp_json_num(json_object_get(json_object_get(result->head, "topology"), "line"), "gbps", (double)INFINITY);

    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];
        size_t family = 0, spot = 0;

        if (record->cell.kind != LP_COLLECTIVE)
            continue;
        while (!lp_cell_same_family(times->family[family].like, &record->cell))
            family++;
        while (times->family[family].spot[spot].bytes != record->cell.requested_bytes)
            spot++;
        count(result, record, line,
              &tallies[first_tally(times, family) + spot * times->nsettings + find_setting(times, record->variant)]);
    }
}

enum lp_status lp_exclude(const struct lp_result *result, struct lp_crew_times *times)
{
    struct tally *tallies = calloc(first_tally(times, times->nfamilies) + 1, sizeof(*tallies)), *tally = tallies;

    if (!tallies)
        return LP_ERR_MEMORY;
    describe_settings(result, times);
    mark_settings(result, times);
    count_all(result, times, tallies);
    for (size_t f = 0; f < times->nfamilies; f++)
        for (size_t i = 0; i < times->family[f].nspots; i++)
            for (size_t s = 0; s < times->nsettings; s++)
                times->family[f].spot[i].why[s] = reason(&times->setting[s], tally++);
    free(tallies);
    return LP_OK;
}
