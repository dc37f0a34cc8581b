/* Strict small parsers for log lines. Know nothing of NCCL. */
#include "proof/nccl_scan.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool lp_take(const char **at, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(*at, word, len) != 0)
        return false;
    *at += len;
    return true;
}

void lp_take_blanks(const char **at)
{
    *at += strspn(*at, " \t");
}

bool lp_take_int(const char **at, int64_t *out)
{
    const char *p = *at;
    char *end;

    if (!isdigit((unsigned char)p[*p == '-']))
        return false;
    errno = 0;
    *out = strtoll(p, &end, 10);
    if (errno)
        return false;
    *at = end;
    return true;
}

bool lp_take_range(const char **at, int min, int max, int *out)
{
    const char *p = *at;
    int64_t value;

    if (!lp_take_int(&p, &value) || value < min || value > max)
        return false;
    *at = p;
    *out = (int)value;
    return true;
}

bool lp_take_real(const char **at, double *out)
{
    const char *p = *at;
    size_t whole = strspn(p, "0123456789"), fraction = 0;

    if (whole == 0 || whole > 15)
        return false;
    if (p[whole] == '.')
        fraction = 1 + strspn(p + whole + 1, "0123456789");
    if (fraction == 1)
        return false;
    *out = strtod(p, NULL);
    *at = p + whole + fraction;
    return true;
}

bool lp_take_word(const char **at, const char *also, char *buf, size_t cap)
{
    const char *p = *at;
    size_t n = 0;

    while (isalnum((unsigned char)p[n]) || (p[n] && strchr(also, p[n])))
        n++;
    if (n == 0 || n >= cap)
        return false;
    memcpy(buf, p, n);
    buf[n] = '\0';
    *at = p + n;
    return true;
}

static bool in_a_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

bool lp_mentions(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *p = strstr(text, name); p; p = strstr(p + 1, name))
        if ((p == text || !in_a_name(p[-1])) && !in_a_name(p[len]))
            return true;
    return false;
}
