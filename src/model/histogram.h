/* Samples counted in bins of equal ratio: four to an octave, so that 2 microseconds and 2 milliseconds fit on one line. */
#ifndef LP_MODEL_HISTOGRAM_H
#define LP_MODEL_HISTOGRAM_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#define LP_HISTOGRAM_BINS 64

/* Bin i holds times from 2^((first + i) / 4) to 2^((first + i + 1) / 4) microseconds; the first and the last also what is beyond.
 */
struct lp_histogram {
    int first, n; /* n == 0: empty */
    uint32_t count[LP_HISTOGRAM_BINS];
};

/* Counts n times in microseconds. Times that are not positive are left out. */
void lp_histogram_make(const double *time_us, size_t n, struct lp_histogram *out);

/* Lower end of bin i in microseconds; that of bin n is the upper end of the last. */
double lp_histogram_edge(const struct lp_histogram *histogram, int i);

/* [[low_us, high_us, count], ...], or null for an empty one. New reference; and the reverse. */
json_t *lp_histogram_to_json(const struct lp_histogram *histogram);
void lp_histogram_from_json(const json_t *json, struct lp_histogram *out);

#endif
