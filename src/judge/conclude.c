/* Ranges of sizes with one verdict, winners, and where Ring and Tree cross. */
#include "judge/conclude.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void lp_ranges_release(struct lp_ranges *ranges)
{
    free(ranges->item);
    memset(ranges, 0, sizeof(*ranges));
}

static enum lp_status add(struct lp_ranges *out, const struct lp_range *range)
{
    struct lp_range *grown = realloc(out->item, (out->n + 1) * sizeof(*grown));

    if (!grown)
        return LP_ERR_MEMORY;
    out->item = grown;
    grown[out->n++] = *range;
    return LP_OK;
}

/* What a claim says of the reference against the setting. */
static void turn_claim(struct lp_claim *claim)
{
    double low = 1.0 / claim->high;

    claim->ratio = 1.0 / claim->ratio;
    claim->high = 1.0 / claim->low;
    claim->low = low;
}

/* The intervals of the range's cells together: what holds for each of them. */
static void envelope(const struct lp_verdicts *verdicts, enum lp_subject subject, const struct lp_range *range, bool turn,
                     struct lp_claim *out)
{
    for (size_t i = range->from; i <= range->to; i++) {
        struct lp_claim claim =
            lp_verdicts_find(verdicts, subject, range->family, i, turn ? range->reference : range->setting)->claim;

        if (turn)
            turn_claim(&claim);
        out->low = i == range->from ? claim.low : fmin(out->low, claim.low);
        out->high = i == range->from ? claim.high : fmax(out->high, claim.high);
    }
}

/* Ratio and interval of a range whose call is known. turn: the cells' verdicts are about reference against setting. */
static enum lp_status measure(const struct lp_verdicts *verdicts, enum lp_subject subject, bool turn, struct lp_range *range)
{
    struct lp_claim claim;
    enum lp_status st = lp_verdicts_range(verdicts, range->family, range->from, range->to, turn ? range->reference : range->setting,
                                          turn ? range->setting : range->reference, &claim);

    if (turn)
        turn_claim(&claim);
    claim.call = range->claim.call;
    if (claim.call == LP_NO_DIFFERENCE) {
        claim.low = fmin(claim.low, 1.0);
        claim.high = fmax(claim.high, 1.0);
    } else if (!(claim.low > 1.0) && !(claim.high < 1.0)) {
        envelope(verdicts, subject, range, turn, &claim);
    }
    range->claim = claim;
    return st;
}

static enum lp_call opposite(enum lp_call call)
{
    return call == LP_BETTER ? LP_WORSE : call == LP_WORSE ? LP_BETTER : call;
}

/* Ranges of equal verdicts about one pair. turn: of the verdicts' reference against their setting. */
static enum lp_status pair_ranges(const struct lp_verdicts *verdicts, enum lp_subject subject, size_t setting, bool turn,
                                  struct lp_ranges *out)
{
    enum lp_status st = LP_OK;

    for (size_t f = 0; f < verdicts->times.nfamilies && st == LP_OK; f++)
        for (size_t i = 0, next; i < verdicts->times.family[f].nspots && st == LP_OK; i = next) {
            const struct lp_verdict *first = lp_verdicts_find(verdicts, subject, f, i, setting);
            struct lp_range range = {.family = f, .from = i};

            for (next = i + 1; next < verdicts->times.family[f].nspots; next++)
                if (lp_verdicts_find(verdicts, subject, f, next, setting)->claim.call != first->claim.call)
                    break;
            range.to = next - 1;
            range.setting = turn ? first->reference : first->setting;
            range.reference = turn ? first->setting : first->reference;
            range.claim = first->claim;
            range.claim.call = turn ? opposite(first->claim.call) : first->claim.call;
            if (range.claim.call != LP_NOT_JUDGED)
                st = measure(verdicts, subject, turn, &range);
            if (st == LP_OK)
                st = add(out, &range);
        }
    return st;
}

enum lp_status lp_ring_ranges(const struct lp_verdicts *verdicts, struct lp_ranges *out)
{
    memset(out, 0, sizeof(*out));
    if (!verdicts->ring || !verdicts->tree)
        return LP_OK;
    return pair_ranges(verdicts, LP_OF_RING, verdicts->tree, false, out);
}

/* NCCL counts only the number 1; level LOC is the same path (NCCL-FACTS). */
size_t lp_p2p_off(const struct lp_crew_times *times)
{
    for (size_t i = 1; i < times->nsettings; i++)
        if (strcmp(lp_json_str(times->setting[i].env, "NCCL_P2P_DISABLE", ""), "1") == 0 ||
            strcmp(lp_json_str(times->setting[i].env, "NCCL_P2P_LEVEL", ""), "LOC") == 0)
            return i;
    return 0;
}

enum lp_status lp_p2p_ranges(const struct lp_verdicts *verdicts, struct lp_ranges *out)
{
    size_t off = lp_p2p_off(&verdicts->times);

    memset(out, 0, sizeof(*out));
    return off ? pair_ranges(verdicts, LP_OF_CELL, off, true, out) : LP_OK;
}

/* ---- winners ---- */

/* Which settings are good enough to win at a spot; false: none is claimed to be better than default. */
static bool good_enough(const struct lp_verdicts *verdicts, size_t family, size_t spot, bool *good)
{
    const struct lp_claim *best = NULL;

    for (size_t s = 1; s < verdicts->times.nsettings; s++) {
        const struct lp_claim *claim = &lp_verdicts_find(verdicts, LP_OF_CELL, family, spot, s)->claim;

        if (claim->call == LP_BETTER && (!best || claim->ratio > best->ratio))
            best = claim;
    }
    for (size_t s = 1; s < verdicts->times.nsettings; s++) {
        const struct lp_claim *claim = &lp_verdicts_find(verdicts, LP_OF_CELL, family, spot, s)->claim;

        good[s] = best && claim->call == LP_BETTER && claim->ratio >= best->low;
    }
    return best;
}

/* Whether any setting was held against default there, and with rounds enough. */
static bool is_judged(const struct lp_verdicts *verdicts, size_t family, size_t spot)
{
    for (size_t s = 1; s < verdicts->times.nsettings; s++) {
        const struct lp_claim *claim = &lp_verdicts_find(verdicts, LP_OF_CELL, family, spot, s)->claim;

        if (claim->call != LP_NOT_JUDGED && claim->rounds >= LP_JUDGE_ROUNDS)
            return true;
    }
    return false;
}

/* Of the settings that are good enough for the whole range, the fastest over it. */
static enum lp_status pick(const struct lp_verdicts *verdicts, const bool *good, struct lp_range *range)
{
    enum lp_status st = LP_OK;
    double most = -INFINITY;

    for (size_t s = 1; s < verdicts->times.nsettings && st == LP_OK; s++) {
        struct lp_range one = *range;

        if (!good[s])
            continue;
        one.setting = s;
        st = measure(verdicts, LP_OF_CELL, false, &one);
        if (st == LP_OK && one.claim.ratio > most) {
            most = one.claim.ratio;
            *range = one;
        }
    }
    return st;
}

/* Goes on from range->from as long as some setting is good enough for all of it. Leaves those in good. */
static void extend_winners(const struct lp_verdicts *verdicts, struct lp_range *range, bool *good, bool *here)
{
    while (range->to + 1 < verdicts->times.family[range->family].nspots) {
        bool any = false;

        good_enough(verdicts, range->family, range->to + 1, here);
        for (size_t s = 1; s < verdicts->times.nsettings; s++)
            any = any || (good[s] && here[s]);
        if (!any)
            return;
        for (size_t s = 1; s < verdicts->times.nsettings; s++)
            good[s] = good[s] && here[s];
        range->to++;
    }
}

/* The same for sizes without a winner, all judged or all not. */
static void extend_default(const struct lp_verdicts *verdicts, struct lp_range *range, bool *here)
{
    while (range->to + 1 < verdicts->times.family[range->family].nspots &&
           !good_enough(verdicts, range->family, range->to + 1, here) &&
           is_judged(verdicts, range->family, range->to + 1) == (range->claim.call != LP_NOT_JUDGED))
        range->to++;
}

static enum lp_status next_winner(const struct lp_verdicts *verdicts, struct lp_range *range, bool *good, bool *here)
{
    if (good_enough(verdicts, range->family, range->from, good)) {
        range->claim.call = LP_BETTER;
        extend_winners(verdicts, range, good, here);
        return pick(verdicts, good, range);
    }
    if (is_judged(verdicts, range->family, range->from))
        range->claim = (struct lp_claim){.call = LP_NO_DIFFERENCE, .ratio = 1.0, .low = 1.0, .high = 1.0};
    extend_default(verdicts, range, here);
    return LP_OK;
}

enum lp_status lp_winners(const struct lp_verdicts *verdicts, struct lp_ranges *out)
{
    bool *good = calloc(verdicts->times.nsettings, sizeof(*good)), *here = calloc(verdicts->times.nsettings, sizeof(*here));
    enum lp_status st = good && here ? LP_OK : LP_ERR_MEMORY;

    memset(out, 0, sizeof(*out));
    for (size_t f = 0; f < verdicts->times.nfamilies && st == LP_OK; f++)
        for (size_t i = 0; i < verdicts->times.family[f].nspots && st == LP_OK;) {
            struct lp_range range = {.family = f, .from = i, .to = i};

            range.claim.ratio = range.claim.low = range.claim.high = (double)NAN;
            st = next_winner(verdicts, &range, good, here);
            if (st == LP_OK)
                st = add(out, &range);
            i = range.to + 1;
        }
    free(good);
    free(here);
    return st;
}

/* ---- crossovers ---- */

/* Where the effect first goes through 0 between two spots that have opposite signs. */
static size_t crossing(const struct lp_verdicts *verdicts, size_t family, size_t from, size_t to)
{
    const struct lp_verdict *last = lp_verdicts_find(verdicts, LP_OF_RING, family, from, 0);
    const struct lp_spot *spot = verdicts->times.family[family].spot;

    for (size_t i = from + 1; i <= to; i++) {
        const struct lp_verdict *here = lp_verdicts_find(verdicts, LP_OF_RING, family, i, 0);
        double a = last->contrast.effect, b = here->contrast.effect;
        double low = log((double)spot[last->spot].bytes), high = log((double)spot[i].bytes);

        if (here->claim.call == LP_NOT_JUDGED)
            continue;
        if (a * b <= 0.0 && a != b)
            return (size_t)llround(exp(low + (high - low) * a / (a - b)));
        last = here;
    }
    return spot[to].bytes;
}

static enum lp_status add_crossover(const struct lp_verdicts *verdicts, size_t family, size_t from, size_t to,
                                    struct lp_crossovers *out)
{
    struct lp_crossover *grown = realloc(out->item, (out->n + 1) * sizeof(*grown));
    const struct lp_spot *spot = verdicts->times.family[family].spot;

    if (!grown)
        return LP_ERR_MEMORY;
    out->item = grown;
    grown[out->n++] =
        (struct lp_crossover){.family = family,
                              .tree_above = lp_verdicts_find(verdicts, LP_OF_RING, family, to, 0)->claim.call == LP_BETTER,
                              .bytes = crossing(verdicts, family, from, to),
                              .from = spot[from].bytes,
                              .to = spot[to].bytes,
                              .sizes = to - from - 1};
    return LP_OK;
}

static bool is_claim(enum lp_call call)
{
    return call == LP_BETTER || call == LP_WORSE;
}

enum lp_status lp_crossovers_find(const struct lp_verdicts *verdicts, struct lp_crossovers *out)
{
    enum lp_status st = LP_OK;

    memset(out, 0, sizeof(*out));
    for (size_t f = 0; f < verdicts->times.nfamilies && verdicts->ring && verdicts->tree; f++) {
        const struct lp_verdict *last = NULL;

        for (size_t i = 0; i < verdicts->times.family[f].nspots && st == LP_OK; i++) {
            const struct lp_verdict *here = lp_verdicts_find(verdicts, LP_OF_RING, f, i, 0);

            if (!is_claim(here->claim.call))
                continue;
            if (last && last->claim.call != here->claim.call)
                st = add_crossover(verdicts, f, last->spot, i, out);
            last = here;
        }
    }
    return st;
}
