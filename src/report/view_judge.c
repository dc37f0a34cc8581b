/* What the judge concludes: what is best by size, Ring against Tree, P2P on against off, the tensor-parallel sizes, and advice. */
#include "report/views.h"

#include "base/units.h"
#include "judge/judge.h"
#include "report/tables.h"
#include "report/view_title.h"
#include "report/view_words.h"

#include <math.h>
#include <string.h>

/* "AllReduce, float, sum, in place, graph"; LP_NPLACEMENTS: without the placement. Returns buf. */
static const char *family_words(const struct lp_cell *like, bool placed, char *buf, size_t cap)
{
    int used = snprintf(buf, cap, "%s, %s", lp_title_collective(like->op), lp_dtype_name(like->dtype));

    if (lp_title_reduces(like->op))
        used += snprintf(buf + used, cap - (size_t)used, ", %s", lp_redop_name(like->redop));
    if (like->root >= 0)
        used += snprintf(buf + used, cap - (size_t)used, ", root %d", like->root);
    snprintf(buf + used, cap - (size_t)used, "%s, %s%s%s",
             !placed                          ? ""
             : like->placement == LP_IN_PLACE ? ", in place"
                                              : ", out of place",
             lp_timing_name(like->timing), strcmp(like->buffers, "plain") != 0 ? ", buffers " : "",
             strcmp(like->buffers, "plain") != 0 ? like->buffers : "");
    return buf;
}

static const struct lp_cell *like_of(const struct lp_judgement *judgement, size_t family)
{
    return judgement->verdicts.times.family[family].like;
}

static const char *name_of(const struct lp_judgement *judgement, size_t setting)
{
    return judgement->verdicts.times.setting[setting].name;
}

/* "64K to 1M", or one size. Returns buf. */
static const char *sizes_words(size_t from, size_t to, char *buf, size_t cap)
{
    char first[32], last[32];

    lp_format_size(from, first, sizeof(first));
    if (from == to)
        snprintf(buf, cap, "%s", first);
    else
        snprintf(buf, cap, "%s to %s", first, lp_format_size(to, last, sizeof(last)));
    return buf;
}

static const char *range_words(const struct lp_judgement *judgement, const struct lp_range *range, char *buf, size_t cap)
{
    const struct lp_family *family = &judgement->verdicts.times.family[range->family];

    return sizes_words(family->spot[range->from].bytes, family->spot[range->to].bytes, buf, cap);
}

/* Ratio and interval: enough digits to tell a percent. */
static void add_claim(struct lp_table *table, const struct lp_claim *claim)
{
    if (!isfinite(claim->ratio)) {
        lp_table_cell(table, "-");
        lp_table_cell(table, "-");
        return;
    }
    lp_table_cell(table, "%.3f", claim->ratio);
    lp_table_cell(table, "%.3f to %.3f", claim->low, claim->high);
}

/* How many of the range's sizes are tensor-parallel ones, of how many. */
static void add_tensor_parallel(struct lp_table *table, const struct lp_judgement *judgement, const struct lp_range *range)
{
    size_t from = 0, to = 0, n = 0;

    if (!lp_tensor_parallel(&judgement->verdicts.times.family[range->family], &from, &to)) {
        lp_table_cell(table, "-");
        return;
    }
    for (size_t i = range->from; i <= range->to; i++)
        n += i >= from && i <= to;
    lp_table_cell(table, "%zu of %zu", n, to - from + 1);
}

static struct lp_table *make_table(const char *what, const char *result, const char *ratio)
{
    struct lp_table *table = lp_table_create();

    lp_table_column(table, LP_LEFT, "collective");
    lp_table_column(table, LP_LEFT, what);
    lp_table_column(table, LP_LEFT, result);
    lp_table_column(table, LP_RIGHT, ratio);
    lp_table_column(table, LP_RIGHT, "interval\nof the ratio");
    return table;
}

static void finish_table(struct lp_table *table, FILE *out, int width)
{
    lp_table_print(table, width, out);
    lp_table_free(table);
}

/* ---- how it was judged ---- */

static void print_method(const struct lp_judgement *judgement, FILE *out)
{
    fprintf(
        out,
        "\njudged over %d rounds, %zu comparisons together: were all settings identical, at most %.0f of 100 such runs would claim "
        "anything at all\nratios are times, reference / setting: above 1 is faster; of several sizes their geometric mean, each "
        "size with "
        "the same weight; intervals hold together; less than %.1f percent counts as no difference\n",
        judgement->verdicts.times.rounds, judgement->verdicts.tests, 100.0 * LP_JUDGE_ALPHA, 100.0 * LP_JUDGE_FLOOR);
}

/* Sizes of one family at which the setting may be faster; nothing when there are none. */
static void print_candidates(const struct lp_judgement *judgement, size_t family, size_t setting, FILE *out)
{
    const struct lp_family *cells = &judgement->verdicts.times.family[family];
    struct lp_runs runs = {0};
    char words[256], sizes[256];

    for (size_t i = 0; i < cells->nspots; i++) {
        const struct lp_claim *claim = &lp_verdicts_find(&judgement->verdicts, LP_OF_CELL, family, i, setting)->claim;

        if (claim->call == LP_CANDIDATE && claim->ratio > 1.0)
            lp_runs_add(&runs, i, cells->spot[i].bytes);
    }
    if (runs.n)
        fprintf(out, "candidate: %s faster than default, %s: %s\n", name_of(judgement, setting),
                family_words(cells->like, true, words, sizeof(words)), lp_runs_words(&runs, sizes, sizeof(sizes)));
}

static void print_unclaimed(const struct lp_judgement *judgement, FILE *out)
{
    int rounds = judgement->verdicts.times.rounds;

    fprintf(out, "\nnot judged: %d round%s; what is better takes %d (--rounds %d)\n", rounds, rounds == 1 ? "" : "s",
            LP_JUDGE_ROUNDS, LP_JUDGE_ROUNDS);
    for (size_t f = 0; f < judgement->verdicts.times.nfamilies; f++)
        for (size_t s = 1; s < judgement->verdicts.times.nsettings; s++)
            print_candidates(judgement, f, s, out);
}

/* ---- conclusions ---- */

static const char *winner_words(const struct lp_judgement *judgement, const struct lp_range *range)
{
    if (range->claim.call == LP_BETTER)
        return name_of(judgement, range->setting);
    return range->claim.call == LP_NO_DIFFERENCE ? "keep the default" : lp_call_name(range->claim.call);
}

static void print_winners(const struct lp_judgement *judgement, FILE *out, int width)
{
    struct lp_table *table = make_table("sizes\nbytes", "best\nvariant", "ratio\ndefault / variant");
    char words[256], sizes[LP_WORD * 2];

    lp_table_column(table, LP_RIGHT, "tensor-parallel sizes\nin the range");
    for (size_t i = 0; i < judgement->winners.n; i++) {
        const struct lp_range *range = &judgement->winners.item[i];

        lp_table_row(table);
        lp_table_cell(table, "%s", family_words(like_of(judgement, range->family), true, words, sizeof(words)));
        lp_table_cell(table, "%s", range_words(judgement, range, sizes, sizeof(sizes)));
        lp_table_cell(table, "%s", winner_words(judgement, range));
        if (range->claim.call == LP_BETTER) {
            add_claim(table, &range->claim);
        } else {
            lp_table_cell(table, "-");
            lp_table_cell(table, "-");
        }
        add_tensor_parallel(table, judgement, range);
    }
    fprintf(out, "\nbest by size: a variant that is really faster than default, else default\n");
    finish_table(table, out, width);
}

/* Rows of ranges of one pair, with the faster one's name. */
static void add_pair(struct lp_table *table, const struct lp_judgement *judgement, const struct lp_ranges *ranges,
                     const char *setting, const char *reference)
{
    char words[256], sizes[LP_WORD * 2];

    for (size_t i = 0; i < ranges->n; i++) {
        const struct lp_range *range = &ranges->item[i];
        enum lp_call call = range->claim.call;

        lp_table_row(table);
        lp_table_cell(table, "%s", family_words(like_of(judgement, range->family), true, words, sizeof(words)));
        lp_table_cell(table, "%s", range_words(judgement, range, sizes, sizeof(sizes)));
        lp_table_cell(table, "%s", call == LP_BETTER ? setting : call == LP_WORSE ? reference : lp_call_name(call));
        add_claim(table, &range->claim);
    }
}

/* What is claimed of Ring and Tree in one family. */
static void print_no_crossover(const struct lp_judgement *judgement, size_t family, FILE *out)
{
    const char *faster = NULL;
    bool judged = false;
    char words[256];

    for (size_t i = 0; i < judgement->rings.n; i++) {
        const struct lp_range *range = &judgement->rings.item[i];

        if (range->family != family)
            continue;
        judged = judged || range->claim.call != LP_NOT_JUDGED;
        if (range->claim.call == LP_BETTER || range->claim.call == LP_WORSE)
            faster = range->claim.call == LP_BETTER ? "Tree" : "Ring";
    }
    family_words(like_of(judgement, family), true, words, sizeof(words));
    if (faster)
        fprintf(out, "%s: no crossover: %s is faster wherever the two differ\n", words, faster);
    else if (judged)
        fprintf(out, "%s: no crossover: Ring and Tree do not differ at any size\n", words);
}

static void print_crossovers(const struct lp_judgement *judgement, FILE *out)
{
    for (size_t f = 0; f < judgement->verdicts.times.nfamilies; f++) {
        bool any = false;
        char words[256], at[32], between[LP_WORD * 2];

        for (size_t i = 0; i < judgement->crossovers.n; i++) {
            const struct lp_crossover *crossover = &judgement->crossovers.item[i];

            if (crossover->family != f)
                continue;
            fprintf(out, "%s: crossover at about %s (%s): %s is faster below, %s above\n",
                    family_words(like_of(judgement, f), true, words, sizeof(words)),
                    lp_format_about(crossover->bytes, at, sizeof(at)),
                    sizes_words(crossover->from, crossover->to, between, sizeof(between)), crossover->tree_above ? "Ring" : "Tree",
                    crossover->tree_above ? "Tree" : "Ring");
            any = true;
        }
        if (!any)
            print_no_crossover(judgement, f, out);
    }
}

static void print_rings(const struct lp_judgement *judgement, FILE *out, int width)
{
    struct lp_table *table = make_table("sizes\nbytes", "faster", "ratio\nRing / Tree");

    add_pair(table, judgement, &judgement->rings, "Tree", "Ring");
    fprintf(out, "\nRing against Tree\n");
    finish_table(table, out, width);
    print_crossovers(judgement, out);
}

static void print_p2p(const struct lp_judgement *judgement, FILE *out, int width)
{
    struct lp_table *table = make_table("sizes\nbytes", "faster", "ratio\noff / on");

    add_pair(table, judgement, &judgement->p2p, "P2P on", "P2P off");
    fprintf(out, "\nP2P on (default) against off (%s)\n", name_of(judgement, lp_p2p_off(&judgement->verdicts.times)));
    finish_table(table, out, width);
}

static void print_means(const struct lp_judgement *judgement, FILE *out, int width)
{
    const struct lp_verdicts *verdicts = &judgement->verdicts;
    struct lp_table *table = make_table("variant", "verdict", "ratio\ndefault / variant");
    size_t n = 0;
    char words[256];

    for (size_t i = 0; i < verdicts->n; i++) {
        const struct lp_verdict *verdict = &verdicts->item[i];

        if (verdict->subject != LP_OF_MEAN)
            continue;
        lp_table_row(table);
        lp_table_cell(table, "%s", family_words(like_of(judgement, verdict->family), true, words, sizeof(words)));
        lp_table_cell(table, "%s", name_of(judgement, verdict->setting));
        lp_table_cell(table, "%s%s%s", lp_call_name(verdict->claim.call), verdict->claim.reason[0] ? ": " : "",
                      verdict->claim.reason);
        add_claim(table, &verdict->claim);
        n++;
    }
    if (n) {
        fprintf(out, "\ntensor-parallel sizes (8K to 64M bytes, those that were measured): geometric mean\n");
        lp_table_print(table, width, out);
    }
    lp_table_free(table);
}

/* ---- what was left out ---- */

/* How many cells of the setting have the verdict's reason; 0 when an earlier one has said it. */
static size_t count_reason(const struct lp_verdicts *verdicts, size_t at)
{
    const struct lp_verdict *first = &verdicts->item[at];
    size_t n = 0;

    for (size_t i = 0; i < verdicts->n; i++) {
        const struct lp_verdict *verdict = &verdicts->item[i];

        if (verdict->subject != LP_OF_CELL || verdict->setting != first->setting ||
            strcmp(verdict->claim.reason, first->claim.reason) != 0)
            continue;
        if (i < at)
            return 0;
        n++;
    }
    return n;
}

static void print_unjudged(const struct lp_judgement *judgement, FILE *out)
{
    const struct lp_verdicts *verdicts = &judgement->verdicts;

    for (size_t i = 0; i < verdicts->n; i++) {
        const struct lp_verdict *verdict = &verdicts->item[i];
        size_t n = verdict->subject == LP_OF_CELL && verdict->claim.reason[0] ? count_reason(verdicts, i) : 0;

        if (n)
            fprintf(out, "not judged: %s, %zu cell%s: %s\n", name_of(judgement, verdict->setting), n, n == 1 ? "" : "s",
                    verdict->claim.reason);
    }
}

/* ---- advice ---- */

static void print_advice(const struct lp_judgement *judgement, FILE *out)
{
    for (size_t i = 0; i < judgement->advices.n; i++) {
        const struct lp_advice *advice = &judgement->advices.item[i];
        char words[256], sizes[LP_WORD * 2];

        fprintf(out, "advice: %s: ", family_words(like_of(judgement, advice->family), false, words, sizeof(words)));
        if (advice->setting)
            fprintf(out, "%s for %s bytes: %.3f (%.3f to %.3f) over default", advice->set,
                    sizes_words(advice->from, advice->to, sizes, sizeof(sizes)), advice->claim.ratio, advice->claim.low,
                    advice->claim.high);
        else
            fprintf(out, "keep the default");
        fprintf(out, "%s%s\n", advice->note[0] ? "; " : "", advice->note);
    }
}

void lp_view_judge(const struct lp_result *result, FILE *out, int width)
{
    struct lp_judgement judgement;
    enum lp_status st = lp_judgement_make(result, &judgement);

    if (st != LP_OK) {
        fprintf(out, "\nwhat is better is missing here: out of memory\n");
    } else if (judgement.verdicts.times.nfamilies == 0 || judgement.verdicts.times.nsettings < 2) {
        ; /* nothing to compare */
    } else if (!lp_judgement_claims(&judgement)) {
        print_unclaimed(&judgement, out);
    } else {
        print_method(&judgement, out);
        print_winners(&judgement, out, width);
        if (judgement.rings.n)
            print_rings(&judgement, out, width);
        if (judgement.p2p.n)
            print_p2p(&judgement, out, width);
        print_means(&judgement, out, width);
        print_unjudged(&judgement, out);
        print_advice(&judgement, out);
    }
    lp_judgement_release(&judgement);
}
