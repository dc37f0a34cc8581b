/* Readers with defaults and writers that cannot make invalid JSON. */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lp_json_str(const json_t *object, const char *key, const char *fallback)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : fallback;
}

int64_t lp_json_int(const json_t *object, const char *key, int64_t fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? (int64_t)json_integer_value(value) : fallback;
}

double lp_json_num(const json_t *object, const char *key, double fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : fallback;
}

bool lp_json_bool(const json_t *object, const char *key, bool fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

json_t *lp_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *lp_json_text(const char *text)
{
    json_t *string;
    char *copy;

    if (!text)
        return json_null();
    string = json_string(text);
    if (string)
        return string;
    copy = strdup(text);
    if (!copy)
        return json_null();
    for (char *p = copy; *p; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    string = json_string(copy);
    free(copy);
    return string;
}

bool lp_json_takes(const char *text)
{
    json_t *string = json_string(text);

    json_decref(string);
    return string != NULL;
}

bool lp_json_copy(const json_t *object, const char *key, char *buf, size_t cap)
{
    const char *text = lp_json_str(object, key, NULL);

    snprintf(buf, cap, "%s", text ? text : "");
    return text != NULL;
}
