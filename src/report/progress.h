/* The line that says how far a run is. Knows numbers only; when a variant ends is the controller's business. */
#ifndef LP_REPORT_PROGRESS_H
#define LP_REPORT_PROGRESS_H

#include "model/record.h"

struct lp_progress {
    size_t index, total; /* this variant is index of total, from 1 */
    const char *label;   /* "default again" */
    size_t cells[LP_NOUTCOMES];
    double seconds, left; /* spent on this variant; of the whole run still to come, negative: unknown */
};

/* "[3/13] ring: 104 cells, 103 ok, 1 hang, 5.1 s; about 40 s left". Returns buf. */
const char *lp_progress_words(const struct lp_progress *progress, char *buf, size_t cap);

/* The same, as a line on stderr. */
void lp_progress_say(const struct lp_progress *progress);

#endif
