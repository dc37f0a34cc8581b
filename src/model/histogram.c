/* Histograms of times on a logarithmic scale. */
#include "model/histogram.h"

#include <math.h>
#include <string.h>

#define PER_OCTAVE 4.0

static int bin_of(double time_us)
{
    return (int)floor(PER_OCTAVE * log2(time_us));
}

void lp_histogram_make(const double *time_us, size_t n, struct lp_histogram *out)
{
    int least = 0, most = 0;
    size_t counted = 0;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < n; i++) {
        int bin;

        if (!(time_us[i] > 0.0) || !isfinite(time_us[i]))
            continue;
        bin = bin_of(time_us[i]);
        least = counted == 0 || bin < least ? bin : least;
        most = counted == 0 || bin > most ? bin : most;
        counted++;
    }
    if (counted == 0)
        return;
    out->first = least;
    out->n = most - least < LP_HISTOGRAM_BINS ? most - least + 1 : LP_HISTOGRAM_BINS;
    for (size_t i = 0; i < n; i++)
        if (time_us[i] > 0.0 && isfinite(time_us[i])) {
            int bin = bin_of(time_us[i]) - least;

            out->count[bin < out->n ? bin : out->n - 1]++;
        }
}

double lp_histogram_edge(const struct lp_histogram *histogram, int i)
{
    return exp2((histogram->first + i) / PER_OCTAVE);
}

json_t *lp_histogram_to_json(const struct lp_histogram *histogram)
{
    json_t *list;

    if (histogram->n == 0)
        return json_null();
    list = json_array();
    for (int i = 0; i < histogram->n; i++)
        json_array_append_new(list, json_pack("[f, f, I]", lp_histogram_edge(histogram, i), lp_histogram_edge(histogram, i + 1),
                                              (json_int_t)histogram->count[i]));
    return list;
}

void lp_histogram_from_json(const json_t *json, struct lp_histogram *out)
{
    double low = json_number_value(json_array_get(json_array_get(json, 0), 0));

    memset(out, 0, sizeof(*out));
    if (!(low > 0.0))
        return;
    out->first = (int)lround(PER_OCTAVE * log2(low));
    for (size_t i = 0; i < json_array_size(json) && i < LP_HISTOGRAM_BINS; i++)
        out->count[out->n++] = (uint32_t)json_integer_value(json_array_get(json_array_get(json, i), 2));
}
