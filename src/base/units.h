/* Sizes and times as people write and read them. Powers of 1024 for sizes, 10^9 for GB/s; nothing else is guessed. */
#ifndef LP_BASE_UNITS_H
#define LP_BASE_UNITS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * "8", "4K", "4KiB", "256M", "1G": a whole number and an optional K, M or G (or KiB, MiB, GiB), powers of 1024,
 * in either case. LP_ERR_ARG with the accepted forms for anything else: sign, blank, decimal point, "MB" (which
 * means two things), or a value that does not fit.
 */
enum lp_status lp_parse_size(const char *text, size_t *bytes, struct lp_reason *why);

/* A whole decimal number from min to max; LP_ERR_ARG names the value and the range. */
enum lp_status lp_parse_long(const char *text, long min, long max, long *out, struct lp_reason *why);

/* Shortest exact form with K, M or G, as lp_parse_size reads it: 1048576 is "1M", 1000 is "1000". Returns buf. */
const char *lp_format_size(size_t bytes, char *buf, size_t cap);

/* Bytes for prose, rounded: "1.5 GiB", "980 MiB". Returns buf. */
const char *lp_format_about(size_t bytes, char *buf, size_t cap);

/* bytes in time_us as GB/s (10^9 bytes a second); NaN when the time is not positive. */
double lp_gbps(double bytes, double time_us);

#endif
