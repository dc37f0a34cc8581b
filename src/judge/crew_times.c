/* Sorting records by family, size, variant and crew. */
#include "judge/crew_times.h"

#include "base/json.h"
#include "judge/exclude.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool lp_cell_same_family(const struct lp_cell *a, const struct lp_cell *b)
{
    return strcmp(a->op, b->op) == 0 && strcmp(a->library, b->library) == 0 && strcmp(a->buffers, b->buffers) == 0 &&
           a->dtype == b->dtype && a->redop == b->redop && a->root == b->root && a->placement == b->placement &&
           a->timing == b->timing;
}

static int find_setting(const struct lp_crew_times *times, const char *name)
{
    for (size_t i = 0; i < times->nsettings; i++)
        if (strcmp(times->setting[i].name, name) == 0)
            return (int)i;
    return -1;
}

static enum lp_status add_setting(struct lp_crew_times *times, const char *name)
{
    struct lp_setting *grown;

    if (find_setting(times, name) >= 0)
        return LP_OK;
    grown = realloc(times->setting, (times->nsettings + 1) * sizeof(*grown));
    if (!grown)
        return LP_ERR_MEMORY;
    times->setting = grown;
    grown[times->nsettings++] = (struct lp_setting){.name = name};
    return LP_OK;
}

static enum lp_status add_settings(const struct lp_result *result, struct lp_crew_times *times)
{
    const json_t *variants = json_object_get(result->head, "variants");
    enum lp_status st = add_setting(times, "default");

    for (size_t i = 0; i < json_array_size(variants) && st == LP_OK; i++)
        st = add_setting(times, lp_json_str(json_array_get(variants, i), "name", "default"));
    for (size_t i = 0; i < result->n && st == LP_OK; i++) /* a journal may have records before its variants */
        if (result->record[i]->cell.kind == LP_COLLECTIVE)
            st = add_setting(times, result->record[i]->variant);
    return st;
}

static struct lp_family *find_family(const struct lp_crew_times *times, const struct lp_cell *cell)
{
    for (size_t i = 0; i < times->nfamilies; i++)
        if (lp_cell_same_family(times->family[i].like, cell))
            return &times->family[i];
    return NULL;
}

static struct lp_spot *find_spot(const struct lp_family *family, size_t bytes)
{
    for (size_t i = 0; i < family->nspots; i++)
        if (family->spot[i].bytes == bytes)
            return &family->spot[i];
    return NULL;
}

static enum lp_status add_family(struct lp_crew_times *times, const struct lp_cell *cell)
{
    struct lp_family *grown = realloc(times->family, (times->nfamilies + 1) * sizeof(*grown));

    if (!grown)
        return LP_ERR_MEMORY;
    times->family = grown;
    grown[times->nfamilies++] = (struct lp_family){.like = cell};
    return LP_OK;
}

static enum lp_status add_spot(const struct lp_crew_times *times, struct lp_family *family, const struct lp_cell *cell)
{
    struct lp_spot *grown = realloc(family->spot, (family->nspots + 1) * sizeof(*grown));
    const char **why = calloc(times->nsettings, sizeof(*why));
    size_t at = family->nspots;

    if (grown)
        family->spot = grown;
    if (!grown || !why) {
        free(why);
        return LP_ERR_MEMORY;
    }
    while (at > 0 && grown[at - 1].bytes > cell->requested_bytes)
        at--;
    memmove(&grown[at + 1], &grown[at], (family->nspots - at) * sizeof(*grown));
    grown[at] = (struct lp_spot){.bytes = cell->requested_bytes, .like = cell, .why = why};
    family->nspots++;
    return LP_OK;
}

static enum lp_status add_cell(struct lp_crew_times *times, const struct lp_cell *cell)
{
    struct lp_family *family = find_family(times, cell);
    enum lp_status st = LP_OK;

    if (!family) {
        st = add_family(times, cell);
        family = &times->family[times->nfamilies - (st == LP_OK)];
    }
    if (st == LP_OK && !find_spot(family, cell->requested_bytes))
        st = add_spot(times, family, cell);
    return st;
}

/* From the samples' interval of the median, as if it were 1.96 standard errors to either side; 0 where there is none. */
static double error_of(const struct lp_stats *stats)
{
    double error = (stats->ci95_high - stats->ci95_low) / (2.0 * 1.96 * stats->median);

    return isfinite(error) && error > 0.0 ? error : 0.0;
}

static enum lp_status add_time(struct lp_spot *spot, const struct lp_record *record, int setting)
{
    struct lp_crew_time *grown = spot->time;

    if ((spot->n & (spot->n - 1)) == 0) /* room for the next power of two */
        grown = realloc(spot->time, (spot->n ? 2 * spot->n : 1) * sizeof(*grown));
    if (!grown)
        return LP_ERR_MEMORY;
    spot->time = grown;
    grown[spot->n++] = (struct lp_crew_time){.setting = setting,
                                             .round = record->round > 0 ? record->round : 1,
                                             .crew = record->crew,
                                             .log_us = log(record->time_us.median),
                                             .error = error_of(&record->time_us)};
    return LP_OK;
}

/* The times of cells that are not excluded, crew by crew. */
static enum lp_status add_times(const struct lp_result *result, struct lp_crew_times *times)
{
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < result->n && st == LP_OK; i++) {
        const struct lp_record *record = result->record[i];
        struct lp_spot *spot;
        int setting;

        if (record->cell.kind != LP_COLLECTIVE)
            continue;
        spot = find_spot(find_family(times, &record->cell), record->cell.requested_bytes);
        setting = find_setting(times, record->variant);
        if (!spot->why[setting] && !lp_crew_disturbed(result, record->crew))
            st = add_time(spot, record, setting);
    }
    return st;
}

enum lp_status lp_crew_times_make(const struct lp_result *result, struct lp_crew_times *out)
{
    enum lp_status st;

    memset(out, 0, sizeof(*out));
    out->rounds = 1;
    st = add_settings(result, out);
    for (size_t i = 0; i < result->n && st == LP_OK; i++) {
        const struct lp_record *record = result->record[i];

        if (record->cell.kind != LP_COLLECTIVE)
            continue;
        st = add_cell(out, &record->cell);
        if (record->round > out->rounds)
            out->rounds = record->round;
    }
    if (st == LP_OK)
        st = lp_exclude(result, out);
    return st == LP_OK ? add_times(result, out) : st;
}

void lp_spot_release(struct lp_spot *spot)
{
    free(spot->time);
    free(spot->why);
    memset(spot, 0, sizeof(*spot));
}

void lp_crew_times_release(struct lp_crew_times *times)
{
    for (size_t i = 0; i < times->nfamilies; i++) {
        for (size_t k = 0; k < times->family[i].nspots; k++)
            lp_spot_release(&times->family[i].spot[k]);
        free(times->family[i].spot);
    }
    free(times->family);
    free(times->setting);
    memset(times, 0, sizeof(*times));
}

/* The crew's time at the spot; NULL: none. */
static const struct lp_crew_time *time_of(const struct lp_spot *spot, const struct lp_crew_time *like)
{
    for (size_t i = 0; i < spot->n; i++)
        if (spot->time[i].setting == like->setting && spot->time[i].round == like->round && spot->time[i].crew == like->crew)
            return &spot->time[i];
    return NULL;
}

/* Mean over the sizes at which default is judged; NaN when the crew lacks one of them. */
static double mean_of(const struct lp_family *family, size_t from, size_t to, const struct lp_crew_time *like)
{
    double sum = 0.0;
    size_t n = 0;

    for (size_t s = from; s <= to; s++) {
        const struct lp_crew_time *time = time_of(&family->spot[s], like);

        if (family->spot[s].why[LP_DEFAULT_SETTING])
            continue;
        sum += time ? time->log_us : (double)NAN;
        n++;
    }
    return sum / (double)n;
}

enum lp_status lp_spot_mean(const struct lp_crew_times *times, const struct lp_family *family, size_t from, size_t to,
                            struct lp_spot *out)
{
    const struct lp_spot *first = NULL;

    memset(out, 0, sizeof(*out));
    out->why = calloc(times->nsettings, sizeof(*out->why));
    if (!out->why)
        return LP_ERR_MEMORY;
    for (size_t s = from; s <= to; s++) {
        if (family->spot[s].why[LP_DEFAULT_SETTING])
            continue;
        first = first ? first : &family->spot[s];
        for (size_t i = 0; i < times->nsettings; i++)
            if (!out->why[i])
                out->why[i] = family->spot[s].why[i];
    }
    if (!first) {
        for (size_t i = 0; i < times->nsettings; i++)
            out->why[i] = family->spot[from].why[LP_DEFAULT_SETTING];
        return LP_OK;
    }
    out->time = calloc(first->n + 1, sizeof(*out->time));
    if (!out->time)
        return LP_ERR_MEMORY;
    for (size_t i = 0; i < first->n; i++) {
        struct lp_crew_time time = first->time[i];

        time.log_us = mean_of(family, from, to, &first->time[i]);
        time.error = 0.0;
        if (isfinite(time.log_us))
            out->time[out->n++] = time;
    }
    return LP_OK;
}
