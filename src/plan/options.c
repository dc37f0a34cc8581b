/* The command line by argp: one table entry an option. What the options mean together is the plan's. */
#include "plan/options.h"

#include "base/units.h"
#include "collectives/coll.h"
#include "plan/options_table.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUND_SECONDS  120.0
#define CAREFUL_ROUNDS 5
#define KEY_FIRST      256 /* of options without a letter: the number of their row is added */

/* ---- values ---- */

/* A bit per name of a comma-separated list. names ends with NULL. */
static enum lp_status parse_set(const char *text, const char *what, const char *const *names, unsigned *out, struct lp_reason *why)
{
    char copy[256], *save = NULL;

    *out = 0;
    if (strlen(text) >= sizeof(copy))
        return lp_because(why, LP_ERR_ARG, "--%s: the list is too long", what);
    snprintf(copy, sizeof(copy), "%s", text);
    for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        int i = 0;

        while (names[i] && strcmp(names[i], word) != 0)
            i++;
        if (!names[i]) {
            char accepted[200] = "";

            for (int k = 0; names[k]; k++)
                snprintf(accepted + strlen(accepted), sizeof(accepted) - strlen(accepted), "%s%s", k ? ", " : "", names[k]);
            return lp_because(why, LP_ERR_ARG, "unknown %s '%s': use a comma-separated list of %s", what, word, accepted);
        }
        *out |= 1u << i;
    }
    return *out ? LP_OK : lp_because(why, LP_ERR_ARG, "--%s is empty", what);
}

static enum lp_status parse_collectives(const char *text, struct lp_options *out, struct lp_reason *why)
{
    const char *names[32] = {NULL};
    unsigned set;

    for (size_t i = 0; lp_colls[i] && i + 1 < sizeof(names) / sizeof(names[0]); i++)
        names[i] = lp_colls[i]->name;
    if (strlen(text) >= sizeof(out->collectives))
        return lp_because(why, LP_ERR_ARG, "--collectives is too long");
    snprintf(out->collectives, sizeof(out->collectives), "%s", text);
    return parse_set(text, "collectives", names, &set, why);
}

static enum lp_status parse_factor(const char *what, const char *text, double *out, struct lp_reason *why)
{
    char *end = NULL;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || value <= 0.0 || value > 1e6)
        return lp_because(why, LP_ERR_ARG, "%s '%s': a number above 0, at most a million", what, text);
    *out = value;
    return LP_OK;
}

static enum lp_status parse_word(const char *text, const char *what, const char *const *accepted, char *out, size_t cap,
                                 struct lp_reason *why)
{
    unsigned set;
    enum lp_status st = strchr(text, ',') ? LP_ERR_ARG : parse_set(text, what, accepted, &set, why);

    if (st == LP_ERR_ARG && strchr(text, ','))
        return lp_because(why, st, "--%s takes one of its values, not '%s'", what, text);
    snprintf(out, cap, "%s", text);
    return st;
}

static enum lp_status add_variant(struct lp_options *out, const char *text, struct lp_reason *why)
{
    const char **grown = realloc(out->variants, (out->nvariants + 1) * sizeof(*grown));

    if (!grown)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    out->variants = grown;
    out->variants[out->nvariants++] = text;
    return LP_OK;
}

/* Names of variants; given twice, the lists are joined. */
static enum lp_status parse_names(const char *what, const char *arg, char *out, size_t cap, struct lp_reason *why)
{
    size_t used = strlen(out);

    if (used + 1 + strlen(arg) >= cap)
        return lp_because(why, LP_ERR_ARG, "--%s: the list is too long", what);
    snprintf(out + used, cap - used, "%s%s", used ? "," : "", arg);
    return LP_OK;
}

static enum lp_status parse_bind(const char *text, bool *keep, struct lp_reason *why)
{
    static const char *const binds[] = {"auto", "inherit", NULL};
    char bind[16];
    enum lp_status st = parse_word(text, "bind", binds, bind, sizeof(bind), why);

    *keep = strcmp(bind, "inherit") == 0;
    return st;
}

static enum lp_status parse_bytes(const char *text, char letter, size_t *out, struct lp_reason *why)
{
    enum lp_status st = lp_parse_size(text, out, why);

    return st == LP_OK && *out == 0 ? lp_because(why, LP_ERR_ARG, "-%c 0: a size of at least 1", letter) : st;
}

struct parse {
    struct lp_options *out;
    struct lp_reason *why;
    enum lp_status st;
};

/* Takes the value of one option; arg is NULL for a flag. */
static enum lp_status take_value(const struct lp_option_row *row, const char *arg, struct lp_options *out, struct lp_reason *why)
{
    static const char *const timings[] = {"graph", "pipelined", "isolated", NULL};
    static const char *const placements[] = {"out", "in", NULL};
    static const char *const devices[] = {"auto", "cuda", "host", NULL};
    char *at = (char *)out + row->member, what[64];

    snprintf(what, sizeof(what), "--%s", row->name);
    switch (row->value) {
    case LP_OPT_SIZE:
        return parse_bytes(arg, row->letter, (size_t *)(void *)at, why);
    case LP_OPT_COUNT:
        return lp_parse_long(arg, row->min, row->max, (long *)(void *)at, why);
    case LP_OPT_FACTOR:
        return parse_factor(what, arg, (double *)(void *)at, why);
    case LP_OPT_FLAG:
        *(bool *)at = true;
        return LP_OK;
    case LP_OPT_TEXT:
        *(const char **)(void *)at = arg;
        return LP_OK;
    case LP_OPT_NAMES:
        return parse_names(row->name, arg, at, sizeof(out->only), why);
    case LP_OPT_DTYPE:
        return lp_dtype_parse(arg, &out->dtype, why);
    case LP_OPT_REDOP:
        return lp_redop_parse(arg, &out->redop, why);
    case LP_OPT_TIMINGS:
        return parse_set(arg, row->name, timings, &out->timings, why);
    case LP_OPT_PLACEMENTS:
        return parse_set(arg, row->name, placements, &out->placements, why);
    case LP_OPT_COLLECTIVES:
        return parse_collectives(arg, out, why);
    case LP_OPT_DEVICE:
        return parse_word(arg, row->name, devices, out->device, sizeof(out->device), why);
    case LP_OPT_BIND:
        return parse_bind(arg, &out->keep_binding, why);
    case LP_OPT_VARIANT:
        return add_variant(out, arg, why);
    case LP_OPT_HEADING:
        break;
    }
    return LP_ERR_ARG;
}

static enum lp_status refuse_argument(const struct parse *parse, const char *arg)
{
    const char *program = parse->out->p2p ? "linkperf p2p" : "linkperf";

    if (strchr(arg, '='))
        return lp_because(parse->why, LP_ERR_ARG,
                          "'%s' after the program does nothing to NCCL: export it, or use --variant 'name: %s'", arg, arg);
    return lp_because(parse->why, LP_ERR_ARG, "unexpected argument '%s': see %s --help", arg, program);
}

static int key_of(size_t row)
{
    return lp_option_rows[row].letter ? lp_option_rows[row].letter : KEY_FIRST + (int)row;
}

static unsigned command_of(const struct lp_options *options)
{
    return options->p2p ? LP_OPT_P2P : LP_OPT_RUN;
}

static error_t take(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;
    const struct lp_option_row *row = NULL;
    enum lp_status st = LP_OK;

    for (size_t i = 0; lp_option_rows[i].name && !row; i++)
        if (lp_option_rows[i].value != LP_OPT_HEADING && lp_option_rows[i].commands & command_of(parse->out) && key_of(i) == key)
            row = &lp_option_rows[i];
    if (row) {
        parse->out->factor_given |= key == 'f';
        st = take_value(row, arg, parse->out, parse->why);
    } else if (key == ARGP_KEY_ARG) {
        st = refuse_argument(parse, arg);
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    if (st == LP_OK || parse->st != LP_OK)
        return 0;
    parse->st = st; /* the first mistake is the one that is said */
    return EINVAL;
}

static enum lp_status check_together(const struct parse *parse)
{
    const struct lp_options *out = parse->out;
    char a[32], b[32];

    if (out->step_bytes && out->factor_given)
        return lp_because(parse->why, LP_ERR_ARG, "-f and -i contradict each other: give one");
    if (out->min_bytes && out->max_bytes && out->min_bytes > out->max_bytes)
        return lp_because(parse->why, LP_ERR_ARG, "-b %s is above -e %s", lp_format_size(out->min_bytes, a, sizeof(a)),
                          lp_format_size(out->max_bytes, b, sizeof(b)));
    if (out->iters > 0 && out->timings == 1u << LP_ISOLATED)
        return lp_because(parse->why, LP_ERR_ARG,
                          "-n and --timing isolated contradict each other: an isolated sample is one operation");
    if (out->no_link && out->no_collectives)
        return lp_because(parse->why, LP_ERR_ARG, "--no-link and --no-collectives leave nothing to measure");
    return LP_OK;
}

/* The rows of the command as argp wants them; options has room for one more than there are rows. */
static void fill_table(unsigned command, struct argp_option *options)
{
    int group = 0;
    size_t n = 0;

    for (size_t i = 0; lp_option_rows[i].name; i++) {
        if (!(lp_option_rows[i].commands & command))
            continue;
        group += lp_option_rows[i].value == LP_OPT_HEADING;
        if (lp_option_rows[i].value == LP_OPT_HEADING)
            options[n++] = (struct argp_option){.doc = lp_option_rows[i].name, .group = group};
        else
            options[n++] =
                (struct argp_option){lp_option_rows[i].name, key_of(i), lp_option_rows[i].arg, 0, lp_option_rows[i].help, 0};
    }
    options[n] = (struct argp_option){0};
}

static void set_defaults(bool p2p, struct lp_options *out)
{
    *out = (struct lp_options){
        .p2p = p2p,
        .no_collectives = p2p,
        .factor = 2,
        .warmup = p2p ? 0 : 5,
        .checks = p2p ? 1 : 3,
        .rounds = 1,
        .timings = 1u << LP_GRAPH,
        .placements = 1u << LP_OUT_OF_PLACE | 1u << LP_IN_PLACE,
        .device = "auto",
        .init_timeout = 60.0,
        .cell_timeout = 10.0,
        .slowness = 1.0,
    };
}

enum lp_status lp_options_parse(int argc, char **argv, struct lp_options *out, struct lp_reason *why)
{
    bool p2p = argc > 1 && strcmp(argv[1], "p2p") == 0;
    const char *slowness = getenv("LINKPERF_SLOWNESS");
    struct parse parse = {.out = out, .why = why};
    struct argp_option options[LP_OPTIONS_MAX + 1];
    struct argp argp = {.options = options, .parser = take, .doc = p2p ? lp_p2p_doc : lp_run_doc};
    error_t error;

    set_defaults(p2p, out);
    fill_table(command_of(out), options);
    if (slowness && parse_factor("LINKPERF_SLOWNESS", slowness, &out->slowness, why) != LP_OK)
        return LP_ERR_ARG;
    argp_err_exit_status = 2;
    if (p2p) { /* argp takes its first argument for the program's name */
        argv[1] = (char *)"linkperf p2p";
        error = argp_parse(&argp, argc - 1, argv + 1, 0, NULL, &parse);
        argv[1] = (char *)"p2p";
    } else {
        error = argp_parse(&argp, argc, argv, 0, NULL, &parse);
    }
    if (parse.st != LP_OK)
        return parse.st;
    if (error)
        return lp_because(why, LP_ERR_ARG, "%s", strerror(error));
    if (out->careful && out->rounds == 1)
        out->rounds = CAREFUL_ROUNDS;
    if (out->budget <= 0.0)
        out->budget = (out->careful ? 2.0 : 1.0) * ROUND_SECONDS * (double)out->rounds;
    return check_together(&parse);
}

bool lp_list_has(const char *list, const char *name)
{
    size_t len = strlen(name);

    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
        if (strncmp(p, name, len) == 0 && (p[len] == ',' || p[len] == '\0'))
            return true;
    return false;
}

void lp_options_release(struct lp_options *options)
{
    free(options->variants);
    options->variants = NULL;
    options->nvariants = 0;
}
