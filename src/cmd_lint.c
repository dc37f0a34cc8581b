/* `linkperf lint`: what NCCL would make of a run matrix, a shell file or a docker line. Needs no GPU and measures nothing. */
#include "cmd.h"

#include "base/log.h"
#include "collectives/coll.h"
#include "plan/env_file.h"
#include "plan/lint.h"
#include "plan/matrix.h"
#include "plan/nccl_vars.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_GOOD = 0, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 3 }; /* DESIGN section 6 */

enum { KEY_VARIANT = 256, KEY_NCCL, KEY_VERSION, KEY_COLL, KEY_RANKS, KEY_HOSTS };

#define MAX_INPUTS      64
#define MAX_COLLECTIVES 32

struct lint_options {
    const char *file[MAX_INPUTS], *variant[MAX_INPUTS]; /* in order */
    size_t nfiles, nvariants;
    const char *nccl;
    int version;
    char collectives[256];
    long ranks, hosts;
};

static const struct argp_option option_table[] = {
    {"variant", KEY_VARIANT, "'NAME: K=V ...'", 0, "a variant, as of a run", 0},
    {"nccl", KEY_NCCL, "PATH", 0, "the libnccl that will be used: which names it holds, and its version", 0},
    {"nccl-version", KEY_VERSION, "X.Y.Z", 0, "its version, where there is no file", 0},
    {"collectives", KEY_COLL, "LIST", 0, "what will be measured; allreduce, allgather, ... by default", 0},
    {"ranks", KEY_RANKS, "N", 0, "how many GPUs", 0},
    {"hosts", KEY_HOSTS, "N", 0, "on how many hosts", 0},
    {0},
};

static long take_count(struct argp_state *state, const char *what, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*end || end == text || value < 1 || value > 1000000)
        argp_error(state, "--%s '%s': a whole number from 1 up", what, text);
    return value;
}

static void take_input(struct argp_state *state, const char **list, size_t *n, const char *text)
{
    if (*n == MAX_INPUTS)
        argp_error(state, "more than %d of them", MAX_INPUTS);
    list[(*n)++] = text;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct lint_options *options = state->input;

    if (key == KEY_VARIANT)
        take_input(state, options->variant, &options->nvariants, arg);
    else if (key == ARGP_KEY_ARG)
        take_input(state, options->file, &options->nfiles, arg);
    else if (key == KEY_NCCL)
        options->nccl = arg;
    else if (key == KEY_VERSION && (options->version = lp_nccl_version_parse(arg)) == 0)
        argp_error(state, "--nccl-version '%s': write it as 2.28.3", arg);
    else if (key == KEY_COLL)
        snprintf(options->collectives, sizeof(options->collectives), "%s", arg);
    else if (key == KEY_RANKS)
        options->ranks = take_count(state, "ranks", arg);
    else if (key == KEY_HOSTS)
        options->hosts = take_count(state, "hosts", arg);
    else if (key == ARGP_KEY_END && options->nfiles + options->nvariants == 0)
        argp_error(state, "what? A file, or --variant 'name: NCCL_X=value'");
    else if (key != KEY_VERSION && key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp parser = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "FILE...",
    .doc = "Say what NCCL would misread, ignore or refuse in a run matrix (.yaml), or in a file of shell exports, docker -e or "
           "mpirun -x.\vExit: 0 nothing wrong (there may be warnings), 2 errors, 3 a file cannot be read.",
};

static bool is_matrix(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* A shell or docker file becomes one variant, named as the file. */
static enum lp_status read_shell(const char *path, struct lp_variants *list, struct lp_findings *out, struct lp_reason *why)
{
    const char *slash = strrchr(path, '/');
    struct lp_variant *variant = lp_variants_add(list, slash ? slash + 1 : path);

    return variant ? lp_env_file_read(path, variant, out, why) : lp_because(why, LP_ERR_MEMORY, "out of memory");
}

/* Matrices and --variant keep the rules of a run; files of other programs need not. */
static enum lp_status read_inputs(const struct lint_options *options, struct lp_variants *list, struct lp_findings *out,
                                  struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < options->nfiles && st == LP_OK; i++)
        if (is_matrix(options->file[i]))
            st = lp_matrix_read(options->file[i], list, why);
    for (size_t i = 0; i < options->nvariants && st == LP_OK; i++)
        st = lp_matrix_add_text(options->variant[i], list, why);
    if (st == LP_OK)
        st = lp_matrix_check(list, why);
    for (size_t i = 0; i < options->nfiles && st == LP_OK; i++)
        if (!is_matrix(options->file[i]))
            st = read_shell(options->file[i], list, out, why);
    return st;
}

/* NCCL's part of this process's environment. */
static json_t *inherited_environment(void)
{
    json_t *env = json_object();

    for (char **entry = environ; *entry; entry++) {
        const char *equals = strchr(*entry, '=');
        char name[128];

        if (!equals || strncmp(*entry, "NCCL_", 5) != 0 || (size_t)(equals - *entry) >= sizeof(name))
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(equals - *entry), *entry);
        json_object_set_new(env, name, json_string(equals + 1));
    }
    return env;
}

/* Names of the list, or of all that linkperf has; cut in place. */
static void name_collectives(char *list, const char **out)
{
    char *save = NULL;
    size_t n = 0;

    for (char *name = strtok_r(list, ", ", &save); name && n + 1 < MAX_COLLECTIVES; name = strtok_r(NULL, ", ", &save))
        out[n++] = name;
    if (n == 0)
        for (; lp_colls[n] && n + 1 < MAX_COLLECTIVES; n++)
            out[n] = lp_colls[n]->name;
    out[n] = NULL;
}

static void print(const struct lp_variants *list, const struct lp_findings *findings)
{
    size_t errors = lp_findings_count(findings, LP_LINT_ERROR, NULL), warnings = lp_findings_count(findings, LP_LINT_WARNING, NULL);
    size_t notes = lp_findings_count(findings, LP_LINT_NOTE, NULL);
    char words[1280];

    for (size_t i = 0; i < findings->n; i++) {
        const struct lp_finding *finding = &findings->item[i];

        printf("%s%s: %s\n", finding->variant[0] ? "variant " : "every variant", finding->variant,
               lp_finding_words(finding, words, sizeof(words)));
    }
    printf("%zu variant%s: %zu error%s, %zu warning%s, %zu note%s\n", list->n, list->n == 1 ? "" : "s", errors,
           errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s", notes, notes == 1 ? "" : "s");
}

static enum lp_status look(struct lint_options *options, struct lp_lint_names *names, const struct lp_variants *list,
                           struct lp_findings *findings)
{
    json_t *inherited = inherited_environment();
    const char *collectives[MAX_COLLECTIVES], *conf_file = json_string_value(json_object_get(inherited, "NCCL_CONF_FILE"));
    int version = options->version ? options->version : names->version;
    json_t *conf = lp_lint_conf_read(conf_file, getenv("HOME"), "/etc", version);
    struct lp_lint_context context = {.version = version,
                                      .collectives = collectives,
                                      .library = options->nccl ? names : NULL,
                                      .inherited = inherited,
                                      .conf = conf,
                                      .nranks = (int)options->ranks,
                                      .nhosts = (int)options->hosts};
    enum lp_status st;

    name_collectives(options->collectives, collectives);
    st = lp_lint_matrix(list, &context, findings);
    json_decref(conf);
    json_decref(inherited);
    return st;
}

static int lint(struct lint_options *options)
{
    struct lp_findings findings = {0};
    struct lp_lint_names names = {0};
    struct lp_variants list = {0};
    struct lp_reason why = {"out of memory"};
    enum lp_status st = options->nccl ? lp_lint_names_in_library(options->nccl, &names, &why) : LP_OK;
    int code;

    if (st == LP_OK)
        st = read_inputs(options, &list, &findings, &why);
    if (st == LP_OK)
        st = look(options, &names, &list, &findings);
    code = st == LP_OK ? EXIT_GOOD : st == LP_ERR_ARG ? EXIT_USAGE : EXIT_ENVIRONMENT;
    if (st == LP_OK) {
        print(&list, &findings);
        if (lp_findings_count(&findings, LP_LINT_ERROR, NULL) > 0)
            code = EXIT_USAGE;
        if (fflush(stdout) != 0 || ferror(stdout)) {
            lp_say("the findings could not be written to stdout");
            code = EXIT_ENVIRONMENT;
        }
    } else {
        lp_say("%s", why.text);
    }
    lp_variants_release(&list);
    lp_findings_release(&findings);
    lp_lint_names_release(&names);
    return code;
}

int lp_cmd_lint(int argc, char **argv)
{
    struct lint_options options = {0};

    argv[0] = (char *)"linkperf lint"; /* what argp calls us in its messages */
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&parser, argc, argv, 0, NULL, &options) != 0)
        return EXIT_USAGE;
    return lint(&options);
}
