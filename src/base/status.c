/* Status names and reasons. Knows nothing of who fails. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    [LP_OK] = "ok",           [LP_ERR_ARG] = "argument",    [LP_ERR_MEMORY] = "memory", [LP_ERR_IO] = "io",
    [LP_ERR_PARSE] = "parse", [LP_ERR_ENV] = "environment", [LP_ERR_FAILED] = "failed", [LP_ERR_UNSUPPORTED] = "unsupported",
    [LP_ERR_LOST] = "lost",   [LP_ERR_SIGNAL] = "signal",
};

enum lp_status lp_because(struct lp_reason *why, enum lp_status st, const char *fmt, ...)
{
    if (why) {
        va_list args;

        va_start(args, fmt);
        vsnprintf(why->text, sizeof(why->text), fmt, args);
        va_end(args);
    }
    return st;
}

const char *lp_status_name(enum lp_status st)
{
    return names[st];
}

enum lp_status lp_status_from_name(const char *name)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (name && strcmp(name, names[i]) == 0)
            return (enum lp_status)i;
    return LP_ERR_FAILED;
}
