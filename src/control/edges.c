/* From spans of time to rates and overlap. */
#include "control/edges.h"

#include "base/json.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

/* Of one edge in one block. */
struct span {
    double start_us, end_us;
};

/* Whose lanes they are does not matter: workers of a host share a clock. */
static bool read_lane(const json_t *lane, size_t blocks, int nedges, int64_t zero_ns, struct span *spans, bool *seen)
{
    const json_t *starts = json_object_get(lane, "start_ns"), *times = json_object_get(lane, "us");
    int edge = (int)lp_json_int(lane, "edge", -1);

    if (edge < 0 || edge >= nedges || seen[edge] || json_array_size(starts) != blocks || json_array_size(times) != blocks)
        return false;
    seen[edge] = true;
    for (size_t i = 0; i < blocks; i++) {
        const json_t *start = json_array_get(starts, i), *time = json_array_get(times, i);
        struct span *span = &spans[(size_t)edge * blocks + i];

        if (!json_is_integer(start) || !json_is_number(time))
            return false;
        span->start_us = (double)(json_integer_value(start) - zero_ns) / 1e3;
        span->end_us = span->start_us + json_number_value(time);
    }
    return true;
}

static bool read_lanes(json_t *const *replies, int workers, size_t blocks, int nedges, struct span *spans)
{
    bool seen[LP_MAX_TRANSFERS] = {false};
    int64_t zero_ns = -1; /* of the first lane, so that doubles keep the nanoseconds */

    for (int w = 0; w < workers; w++) {
        const json_t *lanes = json_object_get(replies[w], "lanes");

        for (size_t i = 0; i < json_array_size(lanes); i++) {
            const json_t *lane = json_array_get(lanes, i);

            if (zero_ns < 0)
                zero_ns = json_integer_value(json_array_get(json_object_get(lane, "start_ns"), 0));
            if (!read_lane(lane, blocks, nedges, zero_ns, spans, seen))
                return false;
        }
    }
    for (int e = 0; e < nedges; e++)
        if (!seen[e])
            return false;
    return true;
}

/* *any: from the first start to the last end, microseconds. Returns the share of it in which all did. */
static double overlap_of_block(const struct span *spans, size_t blocks, int nedges, size_t block, double *any)
{
    double first = spans[block].start_us, last_start = first, last = spans[block].end_us, first_end = last;

    for (int e = 1; e < nedges; e++) {
        const struct span *span = &spans[(size_t)e * blocks + block];

        first = fmin(first, span->start_us);
        last_start = fmax(last_start, span->start_us);
        first_end = fmin(first_end, span->end_us);
        last = fmax(last, span->end_us);
    }
    *any = last - first;
    return last > first ? fmax(0.0, first_end - last_start) / (last - first) : (double)NAN;
}

/* values, times: room for one number a block each. */
static void add_rates(const struct span *spans, size_t blocks, int k, double *values, double *times, struct lp_record *out)
{
    double bytes = (double)out->cell.size_bytes * k;

    for (int e = 0; e < out->cell.nedges; e++) {
        for (size_t i = 0; i < blocks; i++)
            values[i] = spans[(size_t)e * blocks + i].end_us - spans[(size_t)e * blocks + i].start_us;
        out->edge_gbps[e] = lp_gbps(bytes, lp_median(values, blocks));
    }
    for (size_t i = 0; i < blocks; i++)
        values[i] = overlap_of_block(spans, blocks, out->cell.nedges, i, &times[i]);
    out->overlap = lp_median(values, blocks);
    out->sum_gbps = lp_gbps(bytes * out->cell.nedges, lp_median(times, blocks));
}

bool lp_edges_read(json_t *const *replies, int workers, size_t blocks, int k, struct lp_record *out)
{
    struct span *spans = calloc((size_t)out->cell.nedges * blocks, sizeof(*spans));
    double *values = calloc(2 * blocks, sizeof(*values));
    bool good = spans && values && read_lanes(replies, workers, blocks, out->cell.nedges, spans);

    if (good)
        add_rates(spans, blocks, k, values, values + blocks, out);
    free(values);
    free(spans);
    return good;
}
