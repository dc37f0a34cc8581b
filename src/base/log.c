/* One line to stderr in one write, so that lines of several processes do not mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void lp_say(const char *fmt, ...)
{
    char line[2048];
    int used = snprintf(line, sizeof(line), "linkperf: ");
    size_t len;
    va_list args;

    va_start(args, fmt);
    vsnprintf(line + used, sizeof(line) - (size_t)used - 1, fmt, args);
    va_end(args);
    len = strlen(line);
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        return; /* nobody is listening: there is nowhere else to say it */
}
