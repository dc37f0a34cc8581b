/* Numbers, sizes and reasons as the views print them. Knows nothing of tables. */
#ifndef LP_REPORT_VIEW_WORDS_H
#define LP_REPORT_VIEW_WORDS_H

#include "model/record.h"

#include <stddef.h>

#define LP_WORD 64

/* At least three significant digits and never an exponent, so that small sizes can be compared: 0.00133, 4.57, 327.4; "-" for NaN.
 * Returns buf. */
const char *lp_words_number(double value, char *buf, size_t cap);

/* part / whole in percent, without the sign: "93", "4.2", "<0.1"; "-" where either is NaN or whole is 0. Returns buf. */
const char *lp_words_percent(double part, double whole, char *buf, size_t cap);

/* The outcome as a cell of a table: "wrong!" stands out, the rest by name. */
const char *lp_words_outcome(enum lp_outcome outcome);

/* Why a record is not ok, in one line; wrong data by what the checks found. Returns buf. */
const char *lp_words_reason(const struct lp_record *record, char *buf, size_t cap);

/* The text with line breaks and control characters as blanks. Returns buf. */
const char *lp_words_line(const char *text, char *buf, size_t cap);

/* Collects sizes of a table in rising order: "26 sizes (8 to 256M)", "3 sizes (8, 64K, 1M)". All zero is empty. */
struct lp_runs {
    size_t n, run, last_row; /* sizes in all, in the run that is open, and its last row */
    size_t first, last;      /* bytes at the ends of that run */
    char text[160];
};

/* row numbers the sizes of the table, so that neighbours become a range. */
void lp_runs_add(struct lp_runs *runs, size_t row, size_t bytes);

/* Ends the collection. Returns buf. */
const char *lp_runs_words(struct lp_runs *runs, char *buf, size_t cap);

#endif
