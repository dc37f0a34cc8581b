/* Puts the parts together, and answers what views ask about a cell. */
#include "judge/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum lp_status lp_judgement_make(const struct lp_result *result, struct lp_judgement *out)
{
    enum lp_status st;

    memset(out, 0, sizeof(*out));
    st = lp_verdicts_make(result, &out->verdicts);
    if (st == LP_OK)
        st = lp_winners(&out->verdicts, &out->winners);
    if (st == LP_OK)
        st = lp_ring_ranges(&out->verdicts, &out->rings);
    if (st == LP_OK)
        st = lp_crossovers_find(&out->verdicts, &out->crossovers);
    if (st == LP_OK)
        st = lp_p2p_ranges(&out->verdicts, &out->p2p);
    if (st == LP_OK)
        st = lp_advise(result, &out->verdicts, &out->winners, &out->advices);
    return st;
}

void lp_judgement_release(struct lp_judgement *judgement)
{
    free(judgement->advices.item);
    free(judgement->crossovers.item);
    lp_ranges_release(&judgement->p2p);
    lp_ranges_release(&judgement->rings);
    lp_ranges_release(&judgement->winners);
    lp_verdicts_release(&judgement->verdicts);
    memset(judgement, 0, sizeof(*judgement));
}

bool lp_judgement_claims(const struct lp_judgement *judgement)
{
    return judgement->verdicts.times.rounds >= LP_JUDGE_ROUNDS;
}

/* Where the cell is; false: nowhere. */
static bool find_cell(const struct lp_judgement *judgement, const struct lp_cell *cell, size_t *family, size_t *spot)
{
    const struct lp_crew_times *times = &judgement->verdicts.times;

    for (*family = 0; *family < times->nfamilies; ++*family) {
        if (!lp_cell_same_family(times->family[*family].like, cell))
            continue;
        for (*spot = 0; *spot < times->family[*family].nspots; ++*spot)
            if (times->family[*family].spot[*spot].bytes == cell->requested_bytes)
                return true;
    }
    return false;
}

const struct lp_claim *lp_judgement_find(const struct lp_judgement *judgement, const struct lp_cell *cell, const char *variant)
{
    const struct lp_crew_times *times = &judgement->verdicts.times;
    size_t family, spot;

    if (!find_cell(judgement, cell, &family, &spot))
        return NULL;
    for (size_t s = 1; s < times->nsettings; s++)
        if (strcmp(times->setting[s].name, variant) == 0)
            return &lp_verdicts_find(&judgement->verdicts, LP_OF_CELL, family, spot, s)->claim;
    return NULL;
}

double lp_judgement_noise_percent(const struct lp_judgement *judgement, const struct lp_cell *cell)
{
    size_t family, spot;

    return find_cell(judgement, cell, &family, &spot) ? lp_verdicts_noise_percent(&judgement->verdicts, family, spot) : (double)NAN;
}

/* Whether some setting is claimed to be worse there. */
static bool any_worse(const struct lp_verdicts *verdicts, size_t family, size_t spot)
{
    for (size_t s = 1; s < verdicts->times.nsettings; s++)
        if (lp_verdicts_find(verdicts, LP_OF_CELL, family, spot, s)->claim.call == LP_WORSE)
            return true;
    return false;
}

const char *lp_judgement_best(const struct lp_judgement *judgement, const struct lp_cell *cell)
{
    size_t family, spot;

    if (!find_cell(judgement, cell, &family, &spot))
        return "not judged";
    for (size_t i = 0; i < judgement->winners.n; i++) {
        const struct lp_range *range = &judgement->winners.item[i];

        if (range->family != family || range->from > spot || range->to < spot)
            continue;
        if (range->claim.call == LP_BETTER)
            return judgement->verdicts.times.setting[range->setting].name;
        if (range->claim.call == LP_NO_DIFFERENCE)
            return any_worse(&judgement->verdicts, family, spot) ? "default" : lp_call_name(LP_NO_DIFFERENCE);
    }
    return lp_call_name(LP_NOT_JUDGED);
}
