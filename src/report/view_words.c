/* How numbers and reasons look in print. Where they stand is the views' business. */
#include "report/view_words.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *lp_words_number(double value, char *buf, size_t cap)
{
    int decimals = 2;

    if (!isfinite(value)) {
        snprintf(buf, cap, "-");
        return buf;
    }
    if (fabs(value) >= 100.0)
        decimals = 1;
    else if (fabs(value) > 1e-12 && fabs(value) < 1.0)
        decimals = 2 - (int)floor(log10(fabs(value)));
    snprintf(buf, cap, "%.*f", decimals, value);
    return buf;
}

const char *lp_words_percent(double part, double whole, char *buf, size_t cap)
{
    double percent = 100.0 * part / whole;

    if (!isfinite(percent))
        snprintf(buf, cap, "-");
    else if (percent < 0.1)
        snprintf(buf, cap, "<0.1");
    else
        snprintf(buf, cap, percent < 9.95 ? "%.1f" : "%.0f", percent);
    return buf;
}

const char *lp_words_outcome(enum lp_outcome outcome)
{
    return outcome == LP_WRONG ? "wrong!" : lp_outcome_name(outcome);
}

const char *lp_words_line(const char *text, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s", text);
    for (char *p = buf; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    return buf;
}

const char *lp_words_reason(const struct lp_record *record, char *buf, size_t cap)
{
    const struct lp_checked *checked = &record->checked;

    if (record->reason[0])
        return lp_words_line(record->reason, buf, cap);
    if (record->outcome == LP_WRONG)
        snprintf(buf, cap, "%" PRIu64 " wrong elements in %d of %d checked iterations, first at byte %" PRIu64 " of rank %d",
                 checked->wrong_elements, checked->wrong_iterations, checked->iterations, checked->first_offset_bytes,
                 checked->first_rank);
    else
        snprintf(buf, cap, "no reason recorded");
    return buf;
}

/* Appends the open run; a list that does not fit ends in dots. */
static void close_run(struct lp_runs *runs)
{
    char first[32], last[32];
    size_t used = strlen(runs->text), room = sizeof(runs->text) - used;
    const char *comma = used ? ", " : "";

    lp_format_size(runs->first, first, sizeof(first));
    lp_format_size(runs->last, last, sizeof(last));
    if (room < 64)
        snprintf(runs->text + used, room, "%s", room > 40 ? ", ..." : "");
    else if (runs->run == 1)
        snprintf(runs->text + used, room, "%s%s", comma, first);
    else
        snprintf(runs->text + used, room, "%s%s%s%s", comma, first, runs->run == 2 ? ", " : " to ", last);
    runs->run = 0;
}

void lp_runs_add(struct lp_runs *runs, size_t row, size_t bytes)
{
    if (runs->run && row != runs->last_row + 1)
        close_run(runs);
    if (runs->run == 0)
        runs->first = bytes;
    runs->last = bytes;
    runs->last_row = row;
    runs->run++;
    runs->n++;
}

const char *lp_runs_words(struct lp_runs *runs, char *buf, size_t cap)
{
    if (runs->run)
        close_run(runs);
    snprintf(buf, cap, "%zu size%s (%s)", runs->n, runs->n == 1 ? "" : "s", runs->text);
    return buf;
}
