/* Looking things up in the table of what NCCL reads, and reading numbers as NCCL does. */
#include "plan/nccl_vars.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct lp_nccl_word lp_nccl_algos[] = {
    {"Tree", LP_ON_TREE, 0},
    {"Ring", LP_ON_RING, 0},
    {"CollNetDirect", LP_ON_COLLNET, 21400},
    {"CollNetChain", LP_ON_COLLNET_CHAIN, 21400},
    {"NVLS", LP_ON_NVLS, 21700},
    {"NVLSTree", LP_ON_NVLS_TREE, 21800},
    {"PAT", LP_ON_PAT, 22300},
    {NULL, 0, 0},
};

const struct lp_nccl_word lp_nccl_protos[] = {
    {"LL", LP_ON_LL, 0},
    {"LL128", LP_ON_LL128, 0},
    {"Simple", LP_ON_SIMPLE, 0},
    {NULL, 0, 0},
};

const struct lp_nccl_word lp_nccl_functions[] = {
    {"Broadcast", 0, 22400},     {"Reduce", 0, 22400},    {"AllGather", 0, 22400},
    {"ReduceScatter", 0, 22400}, {"AllReduce", 0, 22400}, {NULL, 0, 0},
};

/* From near to far. The bit is the old number, counted from 1: LOC was 0, PIX 1, PXB 2, PHB 3, SYS 4 and 5. */
const struct lp_nccl_word lp_nccl_levels[] = {
    {"LOC", 1, 0},     {"NVL", 0, 0}, {"NVB", 0, 0}, {"C2C", 0, 22600}, {"PIX", 2, 0}, {"PXB", 3, 0},
    {"P2C", 0, 22700}, {"PXN", 0, 0}, {"PHB", 4, 0}, {"SYS", 5, 0},     {NULL, 0, 0},
};

const struct lp_nccl_word *lp_nccl_word_find(const struct lp_nccl_word *words, const char *text, size_t len, bool any_case)
{
    for (; words->name; words++)
        if (strlen(words->name) == len && (any_case ? strncasecmp(words->name, text, len) : strncmp(words->name, text, len)) == 0)
            return words;
    return NULL;
}

const struct lp_nccl_var *lp_nccl_var_at(size_t i)
{
    const struct lp_nccl_var *const parts[] = {lp_nccl_vars_local, lp_nccl_vars_net};

    for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++)
        for (const struct lp_nccl_var *var = parts[part]; var->name; var++)
            if (i-- == 0)
                return var;
    return NULL;
}

const struct lp_nccl_var *lp_nccl_var_find(const char *name)
{
    const struct lp_nccl_var *var;

    for (size_t i = 0; (var = lp_nccl_var_at(i)) != NULL; i++)
        if (strcmp(var->name, name) == 0)
            return var;
    return NULL;
}

bool lp_nccl_var_in(const struct lp_nccl_var *var, int version)
{
    return version == 0 || (version >= var->since && (var->until == 0 || version <= var->until));
}

#define WORD_MAX 64

size_t lp_edit_distance(const char *a, const char *b)
{
    size_t la = strnlen(a, WORD_MAX), lb = strnlen(b, WORD_MAX);
    size_t row[3][WORD_MAX + 1]; /* two rows back, one back, this one */

    for (size_t k = 0; k <= lb; k++)
        row[1][k] = k;
    memset(row[0], 0, sizeof(row[0]));
    for (size_t i = 1; i <= la; i++) {
        row[2][0] = i;
        for (size_t k = 1; k <= lb; k++) {
            bool same = toupper((unsigned char)a[i - 1]) == toupper((unsigned char)b[k - 1]);
            size_t best = row[1][k - 1] + !same;

            if (row[1][k] + 1 < best)
                best = row[1][k] + 1;
            if (row[2][k - 1] + 1 < best)
                best = row[2][k - 1] + 1;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && row[0][k - 2] + 1 < best)
                best = row[0][k - 2] + 1;
            row[2][k] = best;
        }
        memcpy(row[0], row[1], sizeof(row[0]));
        memcpy(row[1], row[2], sizeof(row[1]));
    }
    return row[1][lb];
}

/* SIZE_MAX for a name that is too far to be meant. */
static size_t distance_to(const struct lp_nccl_var *var, const char *name)
{
    const char *rest = var->name + strlen("NCCL_");
    size_t len = strlen(name), var_len = strlen(var->name), limit = len < 12 ? 1 : len < 18 ? 2 : 3;
    size_t distance = lp_edit_distance(name, var->name);

    if (strcasecmp(name, var->name) == 0 || strcasecmp(name, rest) == 0)
        return 0;
    /* NCCL_PROTOCOL, NCCL_NTHREAD: a word cut or gone on with */
    if (strncasecmp(name, var->name, len < var_len ? len : var_len) == 0 && len + 3 >= var_len && var_len + 3 >= len)
        distance = 1;
    return distance <= limit && distance < strlen(rest) / 2 ? distance : SIZE_MAX;
}

const struct lp_nccl_var *lp_nccl_var_nearest(const char *name)
{
    const struct lp_nccl_var *found = NULL, *var;
    size_t best = SIZE_MAX;

    for (size_t i = 0; (var = lp_nccl_var_at(i)) != NULL; i++) {
        size_t distance = distance_to(var, name);

        if (strcmp(var->name, name) == 0)
            return NULL;
        if (distance < best) {
            best = distance;
            found = var;
        }
    }
    return found;
}

const char *lp_nccl_version_text(int version, char *buf, size_t cap)
{
    if (version % 100 == 99) /* any of that line */
        snprintf(buf, cap, "%d.%d", version / 10000, version / 100 % 100);
    else
        snprintf(buf, cap, "%d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    return buf;
}

int lp_nccl_version_parse(const char *text)
{
    int major, minor, patch = 0, used = 0;

    if (sscanf(text, "%1d.%2d%n.%2d%n", &major, &minor, &used, &patch, &used) < 2 || isdigit((unsigned char)text[used]) ||
        text[used] == '.' || major < 2 || minor < 0 || patch < 0)
        return 0;
    return major * 10000 + minor * 100 + patch;
}

/* Since C23 strtoll may take 0b11, which the libraries that NCCL was built with do not. */
static bool is_binary(const char *text)
{
    text += strspn(text, " \t\n\v\f\r");
    text += *text == '-' || *text == '+';
    return text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
}

static bool octal_matters(const char *text, const char *end, int64_t value)
{
    char *decimal_end;
    long long decimal;

    text += strspn(text, " \t\n\v\f\r");
    if (text[*text == '-' || *text == '+'] != '0')
        return false;
    decimal = strtoll(text, &decimal_end, 10);
    return decimal_end != text && *decimal_end != 'x' && *decimal_end != 'X' && (decimal != value || decimal_end != end);
}

struct lp_nccl_number lp_nccl_read_number(const char *text)
{
    struct lp_nccl_number number = {0};
    char *end;

    errno = 0;
    if (is_binary(text)) {
        end = strchr(text, '0') + 1;
    } else {
        number.value = strtoll(text, &end, 0);
        number.overflow = errno == ERANGE;
        number.octal = end != text && !number.overflow && octal_matters(text, end, number.value);
    }
    number.any = end != text;
    number.rest = end + strspn(end, " \t\n\v\f\r");
    return number;
}
