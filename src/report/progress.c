/* Progress of a run in words. Does not estimate. */
#include "report/progress.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

/* Appends to buf, which has used of cap bytes, cut at its size. Returns the new used. */
static size_t __attribute__((format(printf, 4, 5))) add(char *buf, size_t cap, size_t used, const char *fmt, ...)
{
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(buf + used, cap - used, fmt, args);
    va_end(args);
    used += len > 0 ? (size_t)len : 0;
    return used < cap ? used : cap - 1;
}

const char *lp_progress_words(const struct lp_progress *progress, char *buf, size_t cap)
{
    size_t used, n = 0;

    for (int i = 0; i < LP_NOUTCOMES; i++)
        n += progress->cells[i];
    used = add(buf, cap, 0, "[%zu/%zu] %s: %zu cell%s, %zu ok", progress->index, progress->total, progress->label, n,
               n == 1 ? "" : "s", progress->cells[LP_DONE]);
    for (int i = 0; i < LP_NOUTCOMES; i++)
        if (i != LP_DONE && progress->cells[i])
            used = add(buf, cap, used, ", %zu %s", progress->cells[i], lp_outcome_name((enum lp_outcome)i));
    used = add(buf, cap, used, ", %.1f s", progress->seconds);
    if (progress->left >= 100.0)
        add(buf, cap, used, "; about %.0f min left", progress->left / 60.0);
    else if (progress->left >= 0.0)
        add(buf, cap, used, "; about %.0f s left", progress->left);
    return buf;
}

void lp_progress_say(const struct lp_progress *progress)
{
    char words[512];

    lp_say("%s", lp_progress_words(progress, words, sizeof(words)));
}
