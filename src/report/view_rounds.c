/* Merging rounds. */
#include "report/view_rounds.h"

#include "judge/crew_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS ((size_t)64) /* that a median is made of */

enum lp_status lp_rounds_add(const struct lp_result *result, struct lp_rounds *rounds, const struct lp_record *record)
{
    bool disturbed = lp_crew_disturbed(result, record->crew);
    const struct lp_record **grown;

    if (disturbed && rounds->n && !rounds->disturbed)
        return LP_OK;
    if (!disturbed && rounds->disturbed)
        rounds->n = 0;
    grown = realloc(rounds->record, (rounds->n + 1) * sizeof(*grown));
    if (!grown)
        return LP_ERR_MEMORY;
    rounds->record = grown;
    grown[rounds->n++] = record;
    rounds->disturbed = disturbed;
    return LP_OK;
}

void lp_rounds_release(struct lp_rounds *rounds)
{
    free(rounds->record);
    memset(rounds, 0, sizeof(*rounds));
}

/* The record that stands for all if not all are ok; NULL: they are. */
static const struct lp_record *trouble(const struct lp_rounds *rounds)
{
    const struct lp_record *first = NULL;

    for (size_t i = 0; i < rounds->n; i++) {
        if (rounds->record[i]->outcome == LP_WRONG)
            return rounds->record[i];
        if (!first && !lp_record_usable(rounds->record[i]))
            first = rounds->record[i];
    }
    return first;
}

static double time_of(const struct lp_record *record)
{
    return record->time_us.median;
}

static double algbw_of(const struct lp_record *record)
{
    return record->algbw_gbps;
}

static double busbw_of(const struct lp_record *record)
{
    return record->busbw_gbps;
}

static double link_of(const struct lp_record *record)
{
    return record->link_gbps;
}

/* Over the rounds that have the figure; NaN: none has. */
static double median_of(const struct lp_rounds *rounds, double (*figure)(const struct lp_record *))
{
    double values[MOST_ROUNDS];
    size_t n = 0;

    for (size_t i = 0; i < rounds->n && n < MOST_ROUNDS; i++)
        if (isfinite(figure(rounds->record[i])))
            values[n++] = figure(rounds->record[i]);
    return lp_median(values, n);
}

void lp_rounds_merge(const struct lp_rounds *rounds, struct lp_record *out)
{
    const struct lp_record *bad = trouble(rounds);

    *out = bad ? *bad : *rounds->record[0];
    if (bad)
        return;
    out->time_us.median = median_of(rounds, time_of);
    out->algbw_gbps = median_of(rounds, algbw_of);
    out->busbw_gbps = median_of(rounds, busbw_of);
    out->link_gbps = median_of(rounds, link_of);
}
