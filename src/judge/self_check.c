/* Isolated against pipelined. */
#include "judge/self_check.h"

#include <stdio.h>
#include <string.h>

static bool is_timed(const struct lp_record *record, enum lp_timing timing)
{
    return record->cell.kind == LP_COLLECTIVE && record->cell.timing == timing && lp_record_usable(record);
}

/* The same cell of the same crew, back to back; NULL: it was not timed so. */
static const struct lp_record *pipelined_like(const struct lp_result *result, const struct lp_record *isolated)
{
    struct lp_cell cell = isolated->cell;

    cell.timing = LP_PIPELINED;
    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];

        if (record->crew == isolated->crew && is_timed(record, LP_PIPELINED) && lp_cell_same(&record->cell, &cell))
            return record;
    }
    return NULL;
}

const char *lp_self_check(const struct lp_result *result, char *buf, size_t cap)
{
    const struct lp_record *first = NULL, *first_pipelined = NULL;
    char what[160], more[64] = "";
    size_t n = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];
        const struct lp_record *pipelined = is_timed(record, LP_ISOLATED) ? pipelined_like(result, record) : NULL;

        if (!pipelined || !(record->time_us.p90 < pipelined->time_us.p10))
            continue;
        if (n++ == 0) {
            first = record;
            first_pipelined = pipelined;
        }
    }
    if (!first)
        return buf;
    if (n > 1)
        snprintf(more, sizeof(more), ", and %zu more cell%s like it", n - 1, n == 2 ? "" : "s");
    snprintf(
        buf, cap,
        "self-check: %s under '%s' takes %.4g us by itself and %.4g us back to back%s: it cannot be quicker with the wait for its "
        "end; something else was at work, or a clock is wrong",
        lp_cell_words(&first->cell, what, sizeof(what)), first->variant, first->time_us.median, first_pipelined->time_us.median,
        more);
    return buf;
}
