/* Numbers, switches, path levels and words: what NCCL would read instead of what is written. Lists are lint_list's. */
#include "plan/lint_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int64_t lp_lint_most_channels(int version)
{
    return version && version < 22500 ? 32 : 64;
}

/* The factor of a size suffix; 0 for what is none. MB is taken for what people mean by it in front of NCCL. */
static double suffix_factor(const char *text)
{
    static const char letters[] = "KMG";
    const char *found;

    text += *text == ' ';
    if (strcasecmp(text, "b") == 0 || strcasecmp(text, "bytes") == 0)
        return 1;
    found = *text ? strchr(letters, toupper((unsigned char)*text)) : NULL;
    if (!found || !(text[1] == '\0' || strcasecmp(text + 1, "b") == 0 || strcasecmp(text + 1, "ib") == 0))
        return 0;
    return exp2(10.0 * (double)(found - letters + 1));
}

/* "16,777,216" and "16_777_216" without what separates. */
static bool without_separators(const char *text, char *buf, size_t cap)
{
    size_t n = 0;

    for (; *text && n + 1 < cap; text++)
        if (isdigit((unsigned char)*text))
            buf[n++] = *text;
        else if ((*text != ',' && *text != '_' && *text != '\'') || !isdigit((unsigned char)text[1]))
            return false;
    buf[n] = '\0';
    return n > 0;
}

bool lp_lint_meant_number(const char *text, int64_t *value)
{
    char digits[32], *end;
    double number;

    text += strspn(text, " \t");
    if (without_separators(text, digits, sizeof(digits))) {
        *value = strtoll(digits, NULL, 10);
        return true;
    }
    if (!isdigit((unsigned char)text[*text == '-' || *text == '+']) && *text != '.')
        return false;
    number = strtod(text, &end);
    if (end == text || text[1] == 'x' || text[1] == 'X')
        return false;
    number *= *end ? suffix_factor(end) : 1;
    *value = (int64_t)number;
    return fabs(number) < 9e18 && (number != 0 || !*end) && (double)*value == number;
}

/* " from 0 to 2" of a table entry, for messages. */
static const char *range_text(const struct lp_nccl_var *var, int64_t max, char *buf, size_t cap)
{
    if (max >= INT32_MAX)
        snprintf(buf, cap, "a whole number from %lld up", (long long)var->min);
    else
        snprintf(buf, cap, "a whole number from %lld to %lld", (long long)var->min, (long long)max);
    return buf;
}

static bool is_suffix(const char *text)
{
    return suffix_factor(text) > 1;
}

/* Something follows the digits, or there are none. */
static void say_rest(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env,
                     const struct lp_nccl_number *number)
{
    char fix[32], range[64];
    int64_t meant;

    if (lp_lint_meant_number(env->value, &meant)) {
        snprintf(fix, sizeof(fix), "%lld", (long long)meant);
        if (is_suffix(number->rest))
            lp_lint_say(lint, LP_LINT_ERROR, env, fix, "NCCL reads %lld, not %lld %ciB: it knows no suffixes",
                        (long long)number->value, (long long)number->value, toupper((unsigned char)number->rest[0]));
        else
            lp_lint_say(lint, LP_LINT_ERROR, env, fix, "NCCL reads %lld and drops '%s'", (long long)number->value, number->rest);
    } else if (number->any) {
        lp_lint_say(lint, LP_LINT_ERROR, env, NULL, "NCCL reads %lld and drops '%s': %s is needed", (long long)number->value,
                    number->rest, range_text(var, var->max, range, sizeof(range)));
    } else {
        lp_lint_say(lint, LP_LINT_ERROR, env, NULL, "NCCL reads 0, since it is no number: %s is needed",
                    range_text(var, var->max, range, sizeof(range)));
    }
}

/* true, yes, on, ... and their opposites: 1, 0; -1 for another word. */
static int switch_word(const char *text)
{
    static const char *const words[][2] = {{"true", "1"},    {"yes", "1"},     {"on", "1"},       {"enable", "1"},
                                           {"enabled", "1"}, {"y", "1"},       {"false", "0"},    {"no", "0"},
                                           {"off", "0"},     {"disable", "0"}, {"disabled", "0"}, {"n", "0"}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcasecmp(words[i][0], text) == 0)
            return words[i][1][0] - '0';
    return -1;
}

static bool check_switch(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env,
                         const struct lp_nccl_number *number)
{
    int word = switch_word(env->value);

    if (word >= 0) {
        lp_lint_say(lint, LP_LINT_ERROR, env, word ? "1" : "0", "NCCL reads 0, since it is no number");
        return false;
    }
    if (number->rest[0] || !number->any || (number->value != 0 && number->value != 1)) {
        lp_lint_say(lint, LP_LINT_ERROR, env, number->value ? "1" : NULL, "NCCL reads %lld, and %s: 0 or 1 is needed",
                    (long long)number->value,
                    var->kind == LP_VAR_SWITCH ? "takes anything but 0 for on"
                    : number->value == 1       ? "takes that for on"
                                               : "takes nothing but 1 for on, without a word");
        return false;
    }
    return true;
}

/* Outside the range; true when NCCL makes something of it. */
static bool check_range(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env, int64_t value)
{
    int64_t max = var->flags & LP_VAR_CHANNELS ? lp_lint_most_channels(lint->context->version) : var->max;
    bool low = value<var->min, high = value> max;
    char range[64], fix[32];

    if (!low && !high)
        return true;
    snprintf(fix, sizeof(fix), "%lld", (long long)(low ? var->min : max));
    range_text(var, max, range, sizeof(range));
    if (var->flags & (low ? LP_VAR_LOW_CLAMPED : LP_VAR_HIGH_CLAMPED) && value >= 0) {
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "NCCL uses %s instead (%s)", fix, range);
        return true;
    }
    if (var->flags & (low ? LP_VAR_LOW_IGNORED : LP_VAR_HIGH_IGNORED)) {
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "NCCL does not take it and goes on with its default (%s)", range);
        return true;
    }
    if (low && value >= 0 && var->flags & LP_VAR_LEAST)
        lp_lint_say(lint, LP_LINT_ERROR, env, NULL,
                    "smaller than one chunk: NCCL divides by zero and dies at the first size that uses it; the least is %s bytes",
                    fix);
    else if (low && value < 0)
        lp_lint_say(lint, LP_LINT_ERROR, env, NULL, "a negative number makes no sense here: %s is needed", range);
    else
        lp_lint_say(lint, LP_LINT_ERROR, env, NULL, "NCCL takes it unchecked, but only %s makes sense", range);
    return false;
}

static void check_shape(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env, int64_t value)
{
    if (value <= 0 || value < var->min || value > var->max)
        return;
    if (var->flags & LP_VAR_WARPS && value % 32 != 0)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "not a multiple of 32: NCCL uses %lld instead", (long long)var->max);
    else if (var->flags & LP_VAR_POWER_OF_2 && (value & (value - 1)) != 0 && strncmp(var->name, "NCCL_WORK_FIFO", 14) == 0)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "not a power of two: NCCL uses its default instead");
    else if (var->flags & LP_VAR_POWER_OF_2 && (value & (value - 1)) != 0)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL,
                    "not a power of two: such values have given wrong data or hangs at large sizes");
}

bool lp_lint_number(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    struct lp_nccl_number number = lp_nccl_read_number(env->value);
    char fix[32];
    int64_t meant;

    if (number.overflow) {
        lp_lint_say(lint, LP_LINT_ERROR, env, NULL, "does not fit 64 bits: NCCL uses its default instead");
        return false;
    }
    if (number.octal && lp_lint_meant_number(env->value, &meant)) {
        snprintf(fix, sizeof(fix), "%lld", (long long)meant);
        lp_lint_say(lint, LP_LINT_ERROR, env, fix, "NCCL reads %lld: a leading 0 makes it octal", (long long)number.value);
        return false;
    }
    if (var->kind != LP_VAR_NUMBER)
        return check_switch(lint, var, env, &number);
    if (number.rest[0] || !number.any) {
        say_rest(lint, var, env, &number);
        return false;
    }
    if (!(var->flags & LP_VAR_64_BITS) && (number.value > INT32_MAX || number.value < INT32_MIN)) {
        lp_lint_say(lint, LP_LINT_ERROR, env, NULL, "NCCL keeps 32 bits, which makes it %d", (int)(uint32_t)number.value);
        return false;
    }
    if (!check_range(lint, var, env, number.value))
        return false;
    check_shape(lint, var, env, number.value);
    return true;
}

/* What people take from nvidia-smi and from prose. */
static const struct lp_nccl_word *meant_level(const char *text)
{
    static const char *const other[][2] = {{"NVLINK", "NVL"}, {"NODE", "PHB"}, {"PCI", "PIX"}, {"PCIE", "PIX"}, {"NONE", "LOC"},
                                           {"OFF", "LOC"},    {"ALL", "SYS"},  {"ANY", "SYS"}, {"QPI", "SYS"},  {"UPI", "SYS"}};
    const struct lp_nccl_word *level;
    size_t len;

    text += strspn(text, " \t\r\n");
    len = strcspn(text, " \t\r\n");
    if ((level = lp_nccl_word_find(lp_nccl_levels, text, len, true)) != NULL)
        return level;
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        if (strncasecmp(text, other[i][0], len) == 0 && strlen(other[i][0]) == len)
            return lp_nccl_word_find(lp_nccl_levels, other[i][1], 3, false);
    if (strncasecmp(text, "NV", 2) == 0 && isdigit((unsigned char)text[2])) /* NV4, NV18 of nvidia-smi topo */
        return lp_nccl_word_find(lp_nccl_levels, "NVL", 3, false);
    for (level = lp_nccl_levels; level->name; level++)
        if (lp_edit_distance(text, level->name) == 1)
            return level;
    return NULL;
}

static bool check_old_level(struct lp_lint *lint, const struct lp_env *env)
{
    struct lp_nccl_number number = lp_nccl_read_number(env->value);
    int64_t old = number.value > 4 ? 4 : number.value;
    const struct lp_nccl_word *level = lp_nccl_levels;

    while (level->name && (int64_t)level->bit != old + 1)
        level++;
    if (number.rest[0] || number.octal || number.overflow) {
        lp_lint_say(lint, LP_LINT_ERROR, env, NULL, "NCCL reads the old number %lld, which is %s", (long long)number.value,
                    level->name);
        return false;
    }
    lp_lint_say(lint, LP_LINT_WARNING, env, level->name, "an old number, which NCCL takes for %s", level->name);
    return true;
}

static bool check_level(struct lp_lint *lint, const struct lp_env *env)
{
    const struct lp_nccl_word *level = lp_nccl_word_find(lp_nccl_levels, env->value, strlen(env->value), false);
    char since[32];

    if (isdigit((unsigned char)env->value[0]))
        return check_old_level(lint, env);
    if (level && lint->context->version && lint->context->version < level->since) {
        lp_lint_say(lint, LP_LINT_ERROR, env, NULL,
                    "this NCCL does not know it and ignores it without a word; the first that does is %s",
                    lp_nccl_version_text(level->since, since, sizeof(since)));
        return false;
    }
    if (level)
        return true;
    level = meant_level(env->value);
    lp_lint_say(lint, LP_LINT_ERROR, env, level ? level->name : NULL,
                "NCCL ignores it without a word: exactly one of LOC NVL NVB C2C PIX PXB P2C PXN PHB SYS, upper case, no blanks");
    return false;
}

/* Place of the text among blank-separated words, from 0; -1 when it is none of them. */
static int place_of(const char *words, const char *text, size_t len, bool any_case)
{
    for (int place = 0; *words; place++) {
        size_t word_len = strcspn(words, " ");

        if (word_len == len && (any_case ? strncasecmp(words, text, len) : strncmp(words, text, len)) == 0)
            return place;
        words += word_len + (words[word_len] == ' ');
    }
    return -1;
}

/* Words joined by |, which NCCL before 2.29 read as a number. */
static bool check_joined(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    int place = place_of(var->words, env->value, strcspn(env->value, "|"), true);
    char fix[16];

    if (!lint->context->version || lint->context->version >= 22900 || isdigit((unsigned char)env->value[0]))
        return true;
    snprintf(fix, sizeof(fix), "%d", place);
    lp_lint_say(lint, LP_LINT_ERROR, env, fix, "words are read since 2.29: this NCCL reads 0");
    return false;
}

static bool check_words(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    bool any_case = var->flags & LP_VAR_ANY_CASE;

    for (const char *at = env->value; at;) {
        size_t len = var->flags & LP_VAR_JOINED ? strcspn(at, "|") : strlen(at);

        if (place_of(var->words, at, len, any_case) < 0) {
            lp_lint_say(lint, LP_LINT_ERROR, env, NULL, "NCCL goes on as if it were not set: it takes %s%s", var->words,
                        any_case ? "" : ", spelt so");
            return false;
        }
        at = at[len] == '|' ? at + len + 1 : NULL;
    }
    return !(var->flags & LP_VAR_JOINED) || check_joined(lint, var, env);
}

bool lp_lint_word(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    const char *text = env->value;

    if (var->kind == LP_VAR_LEVEL)
        return check_level(lint, env);
    if (var->kind == LP_VAR_WORD)
        return check_words(lint, var, env);
    if (var->kind == LP_VAR_KERNEL && strcspn(text, ",; ") != strlen(text)) {
        lp_lint_say(lint, LP_LINT_ERROR, env, NULL, "one kernel by its exact name, no list: NCCL then allows none");
        return false;
    }
    if (var->kind == LP_VAR_KERNEL && text[0] == '\0')
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL,
                    "an empty name allows no symmetric kernel at all; to remove it say so (~ in YAML)");
    if ((var->kind == LP_VAR_PATH || var->kind == LP_VAR_PLUGIN) && text[0] == '~')
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "NCCL does not expand ~: write the path out");
    return true;
}
