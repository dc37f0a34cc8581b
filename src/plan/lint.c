/* Findings, and the order in which a variant is looked at. What is wrong with a value is lint_value's, lint_list's, lint_effect's.
 */
#include "plan/lint.h"

#include "base/json.h"
#include "plan/lint_parts.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lp_lint_level_name(enum lp_lint_level level)
{
    static const char *const names[] = {[LP_LINT_ERROR] = "error", [LP_LINT_WARNING] = "warning", [LP_LINT_NOTE] = "note"};

    return names[level];
}

void lp_findings_release(struct lp_findings *findings)
{
    free(findings->item);
    memset(findings, 0, sizeof(*findings));
}

struct lp_finding *lp_findings_add(struct lp_findings *findings, enum lp_lint_level level, const char *variant)
{
    struct lp_finding *grown = realloc(findings->item, (findings->n + 1) * sizeof(*grown));
    struct lp_finding *added;

    if (!grown)
        return NULL;
    findings->item = grown;
    added = &grown[findings->n++];
    memset(added, 0, sizeof(*added));
    added->level = level;
    snprintf(added->variant, sizeof(added->variant), "%s", variant);
    return added;
}

size_t lp_findings_count(const struct lp_findings *findings, enum lp_lint_level level, const char *variant)
{
    size_t n = 0;

    for (size_t i = 0; i < findings->n; i++)
        n += findings->item[i].level == level && (!variant || strcmp(findings->item[i].variant, variant) == 0);
    return n;
}

const char *lp_finding_words(const struct lp_finding *finding, char *buf, size_t cap)
{
    const char *equals = finding->name[0] && !finding->removed ? "=" : "";
    size_t len = strlen(finding->text);
    const char *write = !finding->fix[0] ? "" : len > 0 && finding->text[len - 1] == ':' ? " write " : "; write ";

    snprintf(buf, cap, "%s: %s%s%s%s%s%s%s%s", lp_lint_level_name(finding->level), finding->name, equals, finding->value,
             finding->removed ? " removed" : "", finding->name[0] ? ": " : "", finding->text, write, finding->fix);
    return buf;
}

json_t *lp_findings_json(const struct lp_findings *findings, const char *variant)
{
    json_t *list = json_array();

    for (size_t i = 0; i < findings->n; i++) {
        const struct lp_finding *finding = &findings->item[i];

        if (variant && strcmp(finding->variant, variant) != 0)
            continue;
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "level", lp_lint_level_name(finding->level), "variant",
                                        lp_json_text(finding->variant[0] ? finding->variant : NULL), "name",
                                        lp_json_text(finding->name[0] ? finding->name : NULL), "value",
                                        lp_json_text(finding->name[0] && !finding->removed ? finding->value : NULL), "text",
                                        lp_json_text(finding->text), "fix", lp_json_text(finding->fix[0] ? finding->fix : NULL)));
    }
    return list;
}

/* One line, whatever is in it. */
static void copy_line(char *buf, size_t cap, const char *text)
{
    snprintf(buf, cap, "%s", text);
    for (char *p = buf; *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = '?';
}

void lp_lint_say(struct lp_lint *lint, enum lp_lint_level level, const struct lp_env *env, const char *fix, const char *fmt, ...)
{
    struct lp_finding *finding = lp_findings_add(lint->out, level, lint->variant->name);
    char text[sizeof(finding->text)];
    va_list args;

    if (!finding) {
        lint->st = LP_ERR_MEMORY;
        return;
    }
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    copy_line(finding->text, sizeof(finding->text), text);
    if (env) {
        snprintf(finding->name, sizeof(finding->name), "%s", env->name);
        copy_line(finding->value, sizeof(finding->value), env->value ? env->value : "");
        finding->removed = !env->value;
    }
    if (env && fix)
        snprintf(finding->fix, sizeof(finding->fix), "%s=%s", env->name, fix);
}

/* What conf files say of a name, and which file. */
static const char *of_conf(const struct lp_lint_context *context, const char *name, const char **path)
{
    const json_t *file;
    size_t i;

    json_array_foreach(context->conf, i, file)
    {
        const char *value = lp_json_str(json_object_get(file, "env"), name, NULL);

        if (value) {
            *path = lp_json_str(file, "path", "");
            return value;
        }
    }
    return NULL;
}

const char *lp_lint_effective(const struct lp_lint *lint, const char *name)
{
    const char *path, *value;
    bool found;

    value = lp_variant_get(lint->variant, name, &found);
    if (!found)
        value = lp_json_str(lint->context->inherited, name, NULL);
    return value ? value : of_conf(lint->context, name, &path);
}

int64_t lp_lint_effective_number(const struct lp_lint *lint, const char *name, int64_t fallback)
{
    const char *text = lp_lint_effective(lint, name);

    return text && text[0] ? lp_nccl_read_number(text).value : fallback;
}

const char *lp_lint_this_nccl(const struct lp_lint *lint, const char *otherwise, char *buf, size_t cap)
{
    char version[32];

    if (lint->context->version)
        snprintf(buf, cap, "this NCCL (%s)", lp_nccl_version_text(lint->context->version, version, sizeof(version)));
    else
        snprintf(buf, cap, "%s", otherwise);
    return buf;
}

/* Taking a variable away: a conf file may bring it back, or there is nothing to take. */
static void look_at_removal(struct lp_lint *lint, const struct lp_env *env)
{
    const char *path = "", *value = of_conf(lint->context, env->name, &path);

    if (value)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL,
                    "%s sets it to %s, which NCCL reads where the environment has nothing: set the value you want instead", path,
                    value);
    else if (lint->context->inherited && !json_object_get(lint->context->inherited, env->name))
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "it is not set in the first place");
}

/* Does this NCCL read the name? The library's own strings decide; without them its version. */
static void look_at_release(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    const struct lp_lint_context *context = lint->context;
    char since[32], until[32], range[96] = "", who[64];

    if ((var->flags & LP_VAR_PLUGINS_OWN) ||
        (context->library ? lp_lint_names_has(context->library, var->name) : lp_nccl_var_in(var, context->version)))
        return;
    if (var->until && (!context->version || context->version > var->until))
        snprintf(range, sizeof(range), "; the last that does is %s", lp_nccl_version_text(var->until, until, sizeof(until)));
    else if (var->since && (!context->version || context->version < var->since))
        snprintf(range, sizeof(range), "; the first that does is %s", lp_nccl_version_text(var->since, since, sizeof(since)));
    lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "%s does not read it%s",
                lp_lint_this_nccl(lint, "the libnccl that is loaded", who, sizeof(who)), range);
}

static void look_at_value(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    const char *inherited = lp_json_str(lint->context->inherited, env->name, NULL);
    bool good = true;

    if (env->value[0] == '\0' && var->kind != LP_VAR_KERNEL && var->kind != LP_VAR_TEXT) {
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL, "an empty value is as if it were not set; to remove it say so (~ in YAML)");
        return;
    }
    if (var->kind == LP_VAR_NUMBER || var->kind == LP_VAR_SWITCH || var->kind == LP_VAR_ONE)
        good = lp_lint_number(lint, var, env);
    else if (var->kind == LP_VAR_ALGO || var->kind == LP_VAR_PROTO)
        good = lp_lint_list(lint, var, env);
    else
        good = lp_lint_word(lint, var, env);
    if (!good)
        return;
    look_at_release(lint, var, env);
    if (inherited && strcmp(inherited, env->value) == 0)
        lp_lint_say(lint, LP_LINT_WARNING, env, NULL,
                    "the inherited environment has it already: this changes nothing against default");
    lp_lint_effect(lint, var, env);
}

enum lp_status lp_lint_variant(const struct lp_variant *variant, const struct lp_lint_context *context, struct lp_findings *out)
{
    struct lp_lint lint = {.variant = variant, .context = context, .out = out};

    for (size_t i = 0; i < variant->nenv; i++) {
        const struct lp_env *env = &variant->env[i];
        const struct lp_nccl_var *var = lp_nccl_var_find(env->name);

        if (!var)
            lp_lint_unknown_name(&lint, env);
        else if (var->flags & LP_VAR_OURS)
            lp_lint_say(&lint, LP_LINT_NOTE, env, NULL, "linkperf sets it for its workers: it cannot be part of a variant");
        else if (env->value)
            look_at_value(&lint, var, env);
        else
            look_at_removal(&lint, env);
    }
    lp_lint_together(&lint);
    return lint.st;
}

enum lp_status lp_lint_matrix(const struct lp_variants *list, const struct lp_lint_context *context, struct lp_findings *out)
{
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < list->n && st == LP_OK; i++)
        st = lp_lint_variant(&list->item[i], context, out);
    return st == LP_OK ? lp_lint_same(list, context, out) : st;
}
