/* What concerns several variants: the same effective environment, and files and plug-ins that reach into all of them. */
#include "plan/lint_parts.h"

#include "base/json.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t within(int64_t value, int64_t min, int64_t max)
{
    return value < min ? min : value > max ? max : value;
}

static void write_number(const struct lp_nccl_var *var, const char *value, int version, char *buf, size_t cap)
{
    int64_t number = lp_nccl_read_number(value).value;
    int64_t max = var->flags & LP_VAR_CHANNELS ? lp_lint_most_channels(version) : var->max;

    if (var->kind == LP_VAR_SWITCH)
        number = number != 0;
    else if (var->kind == LP_VAR_ONE)
        number = number == 1;
    else if (var->flags & LP_VAR_WARPS && number % 32 != 0)
        number = max;
    else
        number = within(number, var->flags & LP_VAR_LOW_CLAMPED ? var->min : INT64_MIN,
                        var->flags & LP_VAR_HIGH_CLAMPED ? max : INT64_MAX);
    snprintf(buf, cap, "%lld", (long long)number);
}

/* What a list allows each function. */
static void write_list(const struct lp_nccl_word *words, const char *value, int version, char *buf, size_t cap)
{
    size_t used = 0;

    for (const struct lp_nccl_word *function = lp_nccl_functions; function->name && used < cap; function++)
        used += (size_t)snprintf(buf + used, cap - used, "%x ", lp_lint_allowed(value, words, function->name, version).bits);
}

/* What NCCL makes of a value, so that two spellings of one thing are the same text. false: as if it were not set. */
static bool write_meaning(const char *name, const char *value, int version, char *buf, size_t cap)
{
    const struct lp_nccl_var *var = lp_nccl_var_find(name);

    snprintf(buf, cap, "%s", value);
    if (!var)
        return true;
    if (value[0] == '\0' && var->kind != LP_VAR_KERNEL && var->kind != LP_VAR_TEXT)
        return false;
    if (var->kind == LP_VAR_NUMBER || var->kind == LP_VAR_SWITCH || var->kind == LP_VAR_ONE)
        write_number(var, value, version, buf, cap);
    else if (var->kind == LP_VAR_ALGO)
        write_list(lp_nccl_algos, value, version, buf, cap);
    else if (var->kind == LP_VAR_PROTO)
        write_list(lp_nccl_protos, value, version, buf, cap);
    else if (var->kind == LP_VAR_LEVEL && isdigit((unsigned char)value[0]))
        for (const struct lp_nccl_word *level = lp_nccl_levels; level->name; level++)
            if ((int64_t)level->bit == within(lp_nccl_read_number(value).value, 0, 4) + 1)
                snprintf(buf, cap, "%s", level->name);
    if (var->kind == LP_VAR_LEVEL && !lp_nccl_word_find(lp_nccl_levels, buf, strlen(buf), false))
        return false;
    if (var->flags & LP_VAR_ANY_CASE)
        for (char *p = buf; *p; p++)
            *p = (char)tolower((unsigned char)*p);
    return true;
}

/* {NAME: meaning} of the inherited environment, changed by the variant (NULL: not). New reference, NULL when memory is out. */
static json_t *effective_environment(const struct lp_variant *variant, const struct lp_lint_context *context)
{
    json_t *all = json_object(), *meanings = json_object();
    const char *key;
    json_t *value;

    if (context->inherited)
        json_object_update(all, (json_t *)context->inherited); /* borrowed values; the object itself is not changed */
    for (size_t i = 0; variant && i < variant->nenv; i++)
        if (variant->env[i].value)
            json_object_set_new(all, variant->env[i].name, lp_json_text(variant->env[i].value));
        else
            json_object_del(all, variant->env[i].name);
    json_object_foreach(all, key, value)
    {
        char meaning[512];

        if (json_is_string(value) && write_meaning(key, json_string_value(value), context->version, meaning, sizeof(meaning)))
            json_object_set_new(meanings, key, json_string(meaning));
    }
    json_decref(all);
    return meanings;
}

static bool same_options(const struct lp_variant *a, const struct lp_variant *b)
{
    bool both = a->when == b->when || a->when == LP_WHEN_ALWAYS || b->when == LP_WHEN_ALWAYS;

    return both && a->timings == b->timings && (a->nccl ? b->nccl && strcmp(a->nccl, b->nccl) == 0 : !b->nccl);
}

static enum lp_status say_same(struct lp_findings *out, const struct lp_variant *variant, const char *other)
{
    struct lp_finding *finding = lp_findings_add(out, LP_LINT_WARNING, variant->name);

    if (!finding)
        return LP_ERR_MEMORY;
    snprintf(finding->text, sizeof(finding->text), "NCCL sees the same environment as in variant %s", other);
    return LP_OK;
}

/* Each variant without errors against default and those before it; the first that is the same is named. */
static enum lp_status compare(const struct lp_variants *list, json_t *const *env, struct lp_findings *out)
{
    static const struct lp_variant plain;
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < list->n && st == LP_OK; i++) {
        const struct lp_variant *variant = &list->item[i];
        bool found = strcmp(variant->name, "default") == 0 || lp_findings_count(out, LP_LINT_ERROR, variant->name) > 0;

        if (!found && same_options(variant, &plain) && json_equal(env[i], env[list->n])) {
            found = true;
            st = say_same(out, variant, "default");
        }
        for (size_t k = 0; k < i && !found; k++)
            if (same_options(variant, &list->item[k]) && json_equal(env[i], env[k])) {
                found = true;
                st = say_same(out, variant, list->item[k].name);
            }
    }
    return st;
}

static enum lp_status __attribute__((format(printf, 4, 5)))
say_all(struct lp_findings *out, const char *name, const char *value, const char *fmt, ...)
{
    struct lp_finding *finding = lp_findings_add(out, LP_LINT_WARNING, "");
    va_list args;

    if (!finding)
        return LP_ERR_MEMORY;
    snprintf(finding->name, sizeof(finding->name), "%s", name);
    snprintf(finding->value, sizeof(finding->value), "%s", value);
    va_start(args, fmt);
    vsnprintf(finding->text, sizeof(finding->text), fmt, args);
    va_end(args);
    return LP_OK;
}

static enum lp_status look_around(const struct lp_lint_context *context, struct lp_findings *out)
{
    const char *plugin = lp_json_str(context->inherited, "NCCL_ENV_PLUGIN", NULL), *key;
    enum lp_status st = LP_OK;
    json_t *file, *value;
    size_t i;

    if (plugin && plugin[0] && strcmp(plugin, "none") != 0 && (!context->version || context->version >= 22807))
        st =
            say_all(out, "NCCL_ENV_PLUGIN", plugin, "this plug-in answers when NCCL asks for a variable, and may answer otherwise");
    json_array_foreach(context->conf, i, file)
    {
        const char *path = lp_json_str(file, "path", "a conf file");

        json_object_foreach(json_object_get(file, "env"), key, value)
        {
            /* NCCL sets what the file names, and reads only its own */
            bool reaches = strncmp(key, "NCCL_", 5) == 0 && !json_object_get(context->inherited, key);

            if (reaches && st == LP_OK)
                st = say_all(out, key, json_string_value(value),
                             "set by %s in every variant that does not set it, default included", path);
        }
    }
    return st;
}

enum lp_status lp_lint_same(const struct lp_variants *list, const struct lp_lint_context *context, struct lp_findings *out)
{
    json_t **env = calloc(list->n + 1, sizeof(json_t *));
    enum lp_status st = env ? look_around(context, out) : LP_ERR_MEMORY;

    for (size_t i = 0; env && i <= list->n; i++)
        env[i] = effective_environment(i < list->n ? &list->item[i] : NULL, context);
    if (st == LP_OK)
        st = compare(list, env, out);
    for (size_t i = 0; env && i <= list->n; i++)
        json_decref(env[i]);
    free(env);
    return st;
}

/* Lines NAME=value, neither trimmed nor unquoted, '#' only at the start: as param.cc, setEnvFile. */
static json_t *read_conf(const char *path)
{
    FILE *file = fopen(path, "re");
    json_t *env = file ? json_object() : NULL;
    char *line = NULL, *equals;
    size_t cap = 0;
    ssize_t len;

    while (env && (len = getline(&line, &cap, file)) > 0) {
        if (line[len - 1] == '\n')
            line[len - 1] = '\0';
        equals = line[0] == '#' ? NULL : strchr(line, '=');
        if (!equals)
            continue;
        *equals = '\0';
        if (!json_object_get(env, line)) /* a name that is set stays */
            json_object_set_new(env, line, lp_json_text(equals + 1));
    }
    free(line);
    if (file)
        fclose(file);
    return env ? json_pack("{s:o, s:o}", "path", lp_json_text(path), "env", env) : NULL;
}

json_t *lp_lint_conf_read(const char *conf_file, const char *home, const char *etc, int version)
{
    json_t *files = json_array();
    char path[4096];

    if (conf_file && conf_file[0] && (!version || version >= 22300)) {
        json_array_append_new(files, read_conf(conf_file));
    } else if (home) {
        snprintf(path, sizeof(path), "%s/.nccl.conf", home);
        json_array_append_new(files, read_conf(path));
    }
    snprintf(path, sizeof(path), "%s/nccl.conf", etc);
    json_array_append_new(files, read_conf(path));
    return files;
}
