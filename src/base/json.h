/* Short forms for what linkperf does with jansson all the time. Errors in reading are defaults, so callers check what matters. */
#ifndef LP_BASE_JSON_H
#define LP_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Members of an object (or of NULL), with a default for one that is missing, null or of another type. Strings are borrowed. */
const char *lp_json_str(const json_t *object, const char *key, const char *fallback);
int64_t lp_json_int(const json_t *object, const char *key, int64_t fallback);
double lp_json_num(const json_t *object, const char *key, double fallback);
bool lp_json_bool(const json_t *object, const char *key, bool fallback);

/* A real number, or null for NaN and infinities, which JSON does not have. New reference. */
json_t *lp_json_real(double value);

/* A string, or null for NULL. Bytes that are not UTF-8 are replaced by '?', so a path or log line never loses its record. New
 * reference. */
json_t *lp_json_text(const char *text);

/* Can the text travel as a JSON string? Only UTF-8 can. */
bool lp_json_takes(const char *text);

/* Copies a string member into buf, cut at its size; false (and an empty buf) when it is not a string. */
bool lp_json_copy(const json_t *object, const char *key, char *buf, size_t cap);

#endif
