/* The command line by argp: one table entry an option. What the options mean together is the plan's. */
#include "plan/options.h"

#include "base/units.h"
#include "collectives/coll.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_FIRST 256 /* of options without a letter: the number of their row is added */

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

/* ---- the table ---- */

enum value {
    HEADING,
    SIZE,
    COUNT,
    FACTOR,
    FLAG,
    TEXT,
    NAMES,
    DTYPE,
    REDOP,
    TIMINGS,
    PLACEMENTS,
    COLLECTIVES,
    DEVICE,
    BIND,
    VARIANT
};

#define RUN 1u /* options of linkperf */
#define P2P 2u /* and of linkperf p2p */

struct row {
    const char *name; /* a heading where there is no value */
    char letter;      /* 0: none */
    const char *arg, *help;
    unsigned commands;
    enum value value;
    size_t member; /* of struct lp_options */
    long min, max; /* of a COUNT */
};

#define AT(member) offsetof(struct lp_options, member)

static const struct row rows[] = {
    {"Sizes (whole numbers with K, M or G, 1024-based):", 0, 0, 0, RUN, HEADING, 0, 0, 0},
    {"Sizes of the curves (whole numbers with K, M or G, 1024-based):", 0, 0, 0, P2P, HEADING, 0, 0, 0},
    {"minbytes", 'b', "SIZE", "smallest size, 8 by default", RUN, SIZE, AT(min_bytes), 0, 0},
    {"minbytes", 'b', "SIZE", "smallest size; 64K by default, 4K on host memory", P2P, SIZE, AT(min_bytes), 0, 0},
    {"maxbytes", 'e', "SIZE", "largest size; 256M by default, 16M on host memory", RUN, SIZE, AT(max_bytes), 0, 0},
    {"maxbytes", 'e', "SIZE", "largest size; 256M by default, 8M on host memory", P2P, SIZE, AT(max_bytes), 0, 0},
    {"stepfactor", 'f', "N", "multiply the size by N, 2 by default", RUN, COUNT, AT(factor), 2, 1024},
    {"stepfactor", 'f', "N", "multiply the size by N, 4 by default", P2P, COUNT, AT(factor), 2, 1024},
    {"stepbytes", 'i', "SIZE", "add SIZE instead of multiplying", RUN | P2P, SIZE, AT(step_bytes), 0, 0},

    {"What is measured:", 0, 0, 0, RUN | P2P, HEADING, 0, 0, 0},
    {"collectives", 0, "LIST", "allreduce, allgather; all by default", RUN, COLLECTIVES, AT(collectives), 0, 0},
    {"datatype", 'd', "TYPE", "float (default), double, int32, half, bfloat16", RUN, DTYPE, AT(dtype), 0, 0},
    {"op", 'o', "OP", "sum (default), min, max", RUN, REDOP, AT(redop), 0, 0},
    {"timing", 0, "LIST", "graph (default), pipelined, isolated", RUN, TIMINGS, AT(timings), 0, 0},
    {"placement", 0, "LIST", "out (of place), in (place); both by default", RUN, PLACEMENTS, AT(placements), 0, 0},
    {"no-link", 0, 0, "leave the link out; there is no baseline then", RUN, FLAG, AT(no_link), 0, 0},
    {"no-collectives", 0, 0, "measure the link only, as far as a run does; linkperf p2p does all of it", RUN, FLAG,
     AT(no_collectives), 0, 0},
    {"all-pairs", 0, 0, "curves and latencies of every pair, not of one of each kind", RUN | P2P, FLAG, AT(all_pairs), 0, 0},

    {"How it is measured:", 0, 0, 0, RUN | P2P, HEADING, 0, 0, 0},
    {"iters", 'n', "N", "operations in a timed block; chosen per cell by default, always 1 for isolated", RUN | P2P, COUNT,
     AT(iters), 1, 1000000},
    {"warmup_iters", 'w', "N", "operations before, 5 by default", RUN, COUNT, AT(warmup), 0, 1000000},
    {"warmup_iters", 'w', "N", "copies before; by default until two agree", P2P, COUNT, AT(warmup), 0, 1000000},
    {"check", 'c', "N", "operations checked before the timed ones, and N after; 3 by default, 0 leaves the data unchecked", RUN,
     COUNT, AT(checks), 0, 1000},
    {"check", 'c', "N", "copies checked before the timed ones, and N after; 1 by default, 0 leaves the data unchecked", P2P, COUNT,
     AT(checks), 0, 1000},

    {"Variants:", 0, 0, 0, RUN, HEADING, 0, 0, 0},
    {"matrix", 0, "FILE", "run matrix (YAML) instead of the built-in one", RUN, TEXT, AT(matrix), 0, 0},
    {"variant", 0, "'NAME: K=V ...'", "one more variant; K without = removes K from the environment", RUN, VARIANT, 0, 0, 0},
    {"only", 0, "LIST", "of the variants, only these (and default)", RUN, NAMES, AT(only), 0, 0},
    {"no-lint", 0, "LIST", "run these variants although NCCL would misread them; a crash costs their cells only", RUN, NAMES,
     AT(no_lint), 0, 0},

    {"Machine:", 0, 0, 0, RUN | P2P, HEADING, 0, 0, 0},
    {"device", 0, "KIND", "auto (default: GPUs, or host memory where there is none), cuda, host", RUN | P2P, DEVICE, AT(device), 0,
     0},
    {"ranks", 0, "N", "without mpirun: that many workers instead of one per GPU", RUN | P2P, COUNT, AT(ranks), 1, LP_MAX_RANKS},
    {"nccl", 0, "PATH", "libnccl to use", RUN, TEXT, AT(nccl), 0, 0},
    {"worker", 0, "PATH", "worker program, linkperf-worker beside this one by default", RUN | P2P, TEXT, AT(worker), 0, 0},
    {"bind", 0, "HOW", "auto (default: undo the launcher's own binding), inherit", RUN | P2P, BIND, AT(keep_binding), 0, 0},
    {"init-timeout", 0, "SECONDS", "limit of a start-up step, 60 by default", RUN | P2P, FACTOR, AT(init_timeout), 0, 0},
    {"timeout", 0, "SECONDS", "least limit of a step of a cell, 10 by default (or 20 times its estimate)", RUN | P2P, FACTOR,
     AT(cell_timeout), 0, 0},
    {"slowness", 0, "X", "multiply all limits by X (also LINKPERF_SLOWNESS)", RUN | P2P, FACTOR, AT(slowness), 0, 0},

    {"Output:", 0, 0, 0, RUN | P2P, HEADING, 0, 0, 0},
    {"json", 'J', "FILE", "result file; FILE.part while running", RUN | P2P, TEXT, AT(result), 0, 0},
    {"log-dir", 0, "DIR", "keep the logs of workers and NCCL there", RUN | P2P, TEXT, AT(log_dir), 0, 0},
    {"long", 0, 0, "every variant with nccl-tests' columns, and histograms of latencies", RUN | P2P, FLAG, AT(longer), 0, 0},
    {"dry-run", 0, 0, "print the plan, with time and memory, and measure nothing", RUN | P2P, FLAG, AT(dry_run), 0, 0},
};

#define NROWS (sizeof(rows) / sizeof(rows[0]))

static const char run_doc[] =
    "Which NCCL settings should this machine run, what does each reach, and how close is that to what the link carries? Start one "
    "rank per GPU (mpirun -np 2 linkperf), or linkperf alone for all GPUs of this machine."
    "\vSub-commands: linkperf p2p measures the link alone, in full; linkperf show FILE prints a result file or the journal of a "
    "run "
    "that was killed (FILE.part); linkperf lint FILE says what NCCL would misread in a run matrix, a shell file of exports or a "
    "docker "
    "line.\n"
    "Exit: 0 good, 2 usage, 3 environment, 4 hang or crash, 6 wrong data (wins over all); 128+N on signal N.\n"
    "LINKPERF_LOCK names variables (NAME or NAME=VALUE) that no variant may change.";
static const char p2p_doc[] =
    "The link between the GPUs, in full: every copy path between every pair, both ways, against line rate; latencies; what is true "
    "of "
    "peer access; and references through the host. Start one rank per GPU (mpirun -np 2 linkperf p2p), or linkperf p2p alone for "
    "all "
    "GPUs of this machine."
    "\vExit: 0 good, 2 usage, 3 environment, 4 hang or crash, 6 wrong data (wins over all); 128+N on signal N.";

struct parse {
    struct lp_options *out;
    struct lp_reason *why;
    enum lp_status st;
};

/* Takes the value of one option; arg is NULL for a flag. */
static enum lp_status take_value(const struct row *row, const char *arg, struct lp_options *out, struct lp_reason *why)
{
    static const char *const timings[] = {"graph", "pipelined", "isolated", NULL};
    static const char *const placements[] = {"out", "in", NULL};
    static const char *const devices[] = {"auto", "cuda", "host", NULL};
    char *at = (char *)out + row->member, what[64];

    snprintf(what, sizeof(what), "--%s", row->name);
    switch (row->value) {
    case SIZE:
        return parse_bytes(arg, row->letter, (size_t *)(void *)at, why);
    case COUNT:
        return lp_parse_long(arg, row->min, row->max, (long *)(void *)at, why);
    case FACTOR:
        return parse_factor(what, arg, (double *)(void *)at, why);
    case FLAG:
        *(bool *)at = true;
        return LP_OK;
    case TEXT:
        *(const char **)(void *)at = arg;
        return LP_OK;
    case NAMES:
        return parse_names(row->name, arg, at, sizeof(out->only), why);
    case DTYPE:
        return lp_dtype_parse(arg, &out->dtype, why);
    case REDOP:
        return lp_redop_parse(arg, &out->redop, why);
    case TIMINGS:
        return parse_set(arg, row->name, timings, &out->timings, why);
    case PLACEMENTS:
        return parse_set(arg, row->name, placements, &out->placements, why);
    case COLLECTIVES:
        return parse_collectives(arg, out, why);
    case DEVICE:
        return parse_word(arg, row->name, devices, out->device, sizeof(out->device), why);
    case BIND:
        return parse_bind(arg, &out->keep_binding, why);
    case VARIANT:
        return add_variant(out, arg, why);
    case HEADING:
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
    return rows[row].letter ? rows[row].letter : KEY_FIRST + (int)row;
}

static unsigned command_of(const struct lp_options *options)
{
    return options->p2p ? P2P : RUN;
}

static error_t take(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;
    const struct row *row = NULL;
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < NROWS && !row; i++)
        if (rows[i].value != HEADING && rows[i].commands & command_of(parse->out) && key_of(i) == key)
            row = &rows[i];
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

    for (size_t i = 0; i < NROWS; i++) {
        if (!(rows[i].commands & command))
            continue;
        group += rows[i].value == HEADING;
        if (rows[i].value == HEADING)
            options[n++] = (struct argp_option){.doc = rows[i].name, .group = group};
        else
            options[n++] = (struct argp_option){rows[i].name, key_of(i), rows[i].arg, 0, rows[i].help, 0};
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
    struct argp_option options[NROWS + 1];
    struct argp argp = {.options = options, .parser = take, .doc = p2p ? p2p_doc : run_doc};
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
