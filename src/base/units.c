/* Reading and writing of sizes, whole numbers and rates. */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int unit_shift(const char *unit)
{
    static const struct {
        const char *text;
        int shift;
    } units[] = {{"", 0}, {"K", 10}, {"KiB", 10}, {"M", 20}, {"MiB", 20}, {"G", 30}, {"GiB", 30}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcasecmp(unit, units[i].text) == 0)
            return units[i].shift;
    return -1;
}

enum lp_status lp_parse_size(const char *text, size_t *bytes, struct lp_reason *why)
{
    char *end = NULL;
    unsigned long long value;
    int shift;

    errno = 0;
    value = isdigit((unsigned char)text[0]) ? strtoull(text, &end, 10) : 0;
    shift = end ? unit_shift(end) : -1;
    if (shift < 0)
        return lp_because(why, LP_ERR_ARG, "'%s' is not a size: use a whole number with K, M or G (1024-based; also KiB, MiB, GiB)",
                          text);
    if (errno == ERANGE || value > (SIZE_MAX >> shift) || (value << shift) > INT64_MAX)
        return lp_because(why, LP_ERR_ARG, "'%s' is too large a size: at most 2^63 - 1 bytes", text);
    *bytes = (size_t)value << shift;
    return LP_OK;
}

enum lp_status lp_parse_long(const char *text, long min, long max, long *out, struct lp_reason *why)
{
    char *end = NULL;
    long value;

    errno = 0;
    value = (isdigit((unsigned char)text[0]) || text[0] == '-') ? strtol(text, &end, 10) : 0;
    if (!end || end == text || *end != '\0' || errno == ERANGE || value < min || value > max)
        return lp_because(why, LP_ERR_ARG, "'%s' is not a whole number from %ld to %ld", text, min, max);
    *out = value;
    return LP_OK;
}

const char *lp_format_size(size_t bytes, char *buf, size_t cap)
{
    static const struct {
        int shift;
        char unit;
    } units[] = {{30, 'G'}, {20, 'M'}, {10, 'K'}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (bytes && (bytes & (((size_t)1 << units[i].shift) - 1)) == 0) {
            snprintf(buf, cap, "%zu%c", bytes >> units[i].shift, units[i].unit);
            return buf;
        }
    snprintf(buf, cap, "%zu", bytes);
    return buf;
}

const char *lp_format_about(size_t bytes, char *buf, size_t cap)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024.0 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        value /= 1024.0;
        unit++;
    }
    snprintf(buf, cap, value < 10.0 && unit > 0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return buf;
}

double lp_gbps(double bytes, double time_us)
{
    return time_us > 0.0 ? bytes / (time_us * 1e3) : (double)NAN;
}
