/* The command line by argp: one table entry an option. What the options mean together is the plan's. */
#include "plan/options.h"

#include "base/units.h"
#include "collectives/coll.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_TIMING = 256,
    KEY_PLACE,
    KEY_COLL,
    KEY_MATRIX,
    KEY_VARIANT,
    KEY_ONLY,
    KEY_DEVICE,
    KEY_RANKS,
    KEY_NCCL,
    KEY_WORKER,
    KEY_BIND,
    KEY_INIT_TIMEOUT,
    KEY_TIMEOUT,
    KEY_SLOWNESS,
    KEY_LOG_DIR,
    KEY_LONG,
    KEY_DRY_RUN,
    KEY_NO_LINK,
    KEY_NO_COLL,
    KEY_NO_LINT,
};

static const struct argp_option table[] = {
    {0, 0, 0, 0, "Sizes (whole numbers with K, M or G, 1024-based):", 1},
    {"minbytes", 'b', "SIZE", 0, "smallest size, 8 by default", 0},
    {"maxbytes", 'e', "SIZE", 0, "largest size; 256M by default, 16M on host memory", 0},
    {"stepfactor", 'f', "N", 0, "multiply the size by N, 2 by default", 0},
    {"stepbytes", 'i', "SIZE", 0, "add SIZE instead of multiplying", 0},
    {0, 0, 0, 0, "What is measured:", 2},
    {"collectives", KEY_COLL, "LIST", 0, "allreduce, allgather; all by default", 0},
    {"datatype", 'd', "TYPE", 0, "float (default), double, int32, half, bfloat16", 0},
    {"op", 'o', "OP", 0, "sum (default), min, max", 0},
    {"timing", KEY_TIMING, "LIST", 0, "graph (default), pipelined, isolated", 0},
    {"placement", KEY_PLACE, "LIST", 0, "out (of place), in (place); both by default", 0},
    {"no-link", KEY_NO_LINK, 0, 0, "leave the link out; there is no baseline then", 0},
    {"no-collectives", KEY_NO_COLL, 0, 0, "measure the link only", 0},
    {0, 0, 0, 0, "How it is measured:", 3},
    {"iters", 'n', "N", 0, "operations in a timed block; chosen per cell by default, always 1 for isolated", 0},
    {"warmup_iters", 'w', "N", 0, "operations before, 5 by default", 0},
    {"check", 'c', "N", 0, "operations checked before the timed ones, and N after; 3 by default, 0 leaves the data unchecked", 0},
    {0, 0, 0, 0, "Variants:", 4},
    {"matrix", KEY_MATRIX, "FILE", 0, "run matrix (YAML) instead of the built-in one", 0},
    {"variant", KEY_VARIANT, "'NAME: K=V ...'", 0, "one more variant; K without = removes K from the environment", 0},
    {"only", KEY_ONLY, "LIST", 0, "of the variants, only these (and default)", 0},
    {"no-lint", KEY_NO_LINT, "LIST", 0, "run these variants although NCCL would misread them; a crash costs their cells only", 0},
    {0, 0, 0, 0, "Machine:", 5},
    {"device", KEY_DEVICE, "KIND", 0, "auto (default: GPUs, or host memory where there is none), cuda, host", 0},
    {"ranks", KEY_RANKS, "N", 0, "without mpirun: that many workers instead of one per GPU", 0},
    {"nccl", KEY_NCCL, "PATH", 0, "libnccl to use", 0},
    {"worker", KEY_WORKER, "PATH", 0, "worker program, linkperf-worker beside this one by default", 0},
    {"bind", KEY_BIND, "HOW", 0, "auto (default: undo the launcher's own binding), inherit", 0},
    {"init-timeout", KEY_INIT_TIMEOUT, "SECONDS", 0, "limit of a start-up step, 60 by default", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "least limit of a step of a cell, 10 by default (or 20 times its estimate)", 0},
    {"slowness", KEY_SLOWNESS, "X", 0, "multiply all limits by X (also LINKPERF_SLOWNESS)", 0},
    {0, 0, 0, 0, "Output:", 6},
    {"json", 'J', "FILE", 0, "result file; FILE.part while running", 0},
    {"log-dir", KEY_LOG_DIR, "DIR", 0, "keep the logs of workers and NCCL there", 0},
    {"long", KEY_LONG, 0, 0, "every variant with nccl-tests' columns", 0},
    {"dry-run", KEY_DRY_RUN, 0, 0, "print the plan, with time and memory, and measure nothing", 0},
    {0},
};

static const char doc[] =
    "Which NCCL settings should this machine run, what does each reach, and how close is that to what the link carries? Start one "
    "rank per GPU (mpirun -np 2 linkperf), or linkperf alone for all GPUs of this machine."
    "\vSub-commands: linkperf show FILE prints a result file or the journal of a run that was killed (FILE.part); linkperf lint "
    "FILE says what NCCL would misread in a run matrix, a shell file of exports or a docker line.\n"
    "Exit: 0 good, 2 usage, 3 environment, 4 hang or crash, 6 wrong data (wins over all); 128+N on signal N.\n"
    "LINKPERF_LOCK names variables (NAME or NAME=VALUE) that no variant may change.";

struct parse {
    struct lp_options *out;
    struct lp_reason *why;
    enum lp_status st;
    bool factor_given;
};

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

static enum lp_status take_size(int key, const char *arg, struct lp_options *out, struct lp_reason *why)
{
    size_t *where = key == 'b' ? &out->min_bytes : key == 'e' ? &out->max_bytes : &out->step_bytes;
    enum lp_status st = lp_parse_size(arg, where, why);

    if (st == LP_OK && *where == 0)
        return lp_because(why, LP_ERR_ARG, "-%c 0: a size of at least 1", key);
    return st;
}

static enum lp_status take_count(int key, const char *arg, struct lp_options *out, struct lp_reason *why)
{
    switch (key) {
    case 'f':
        return lp_parse_long(arg, 2, 1024, &out->factor, why);
    case 'n':
        return lp_parse_long(arg, 1, 1000000, &out->iters, why);
    case 'w':
        return lp_parse_long(arg, 0, 1000000, &out->warmup, why);
    case 'c':
        return lp_parse_long(arg, 0, 1000, &out->checks, why);
    default:
        return lp_parse_long(arg, 1, LP_MAX_RANKS, &out->ranks, why);
    }
}

static enum lp_status take_words(int key, const char *arg, struct lp_options *out, struct lp_reason *why)
{
    static const char *const timings[] = {"graph", "pipelined", "isolated", NULL};
    static const char *const placements[] = {"out", "in", NULL};
    static const char *const devices[] = {"auto", "cuda", "host", NULL};
    static const char *const binds[] = {"auto", "inherit", NULL};
    char bind[16];
    enum lp_status st;

    switch (key) {
    case 'd':
        return lp_dtype_parse(arg, &out->dtype, why);
    case 'o':
        return lp_redop_parse(arg, &out->redop, why);
    case KEY_TIMING:
        return parse_set(arg, "timing", timings, &out->timings, why);
    case KEY_PLACE:
        return parse_set(arg, "placement", placements, &out->placements, why);
    case KEY_COLL:
        return parse_collectives(arg, out, why);
    case KEY_DEVICE:
        return parse_word(arg, "device", devices, out->device, sizeof(out->device), why);
    default:
        st = parse_word(arg, "bind", binds, bind, sizeof(bind), why);
        out->keep_binding = strcmp(bind, "inherit") == 0;
        return st;
    }
}

/* Names of variants; given twice, the lists are joined. */
static enum lp_status take_names(const char *what, const char *arg, char *out, size_t cap, struct lp_reason *why)
{
    size_t used = strlen(out);

    if (used + 1 + strlen(arg) >= cap)
        return lp_because(why, LP_ERR_ARG, "%s: the list is too long", what);
    snprintf(out + used, cap - used, "%s%s", used ? "," : "", arg);
    return LP_OK;
}

static error_t take(int key, char *arg, struct argp_state *state)
{
    struct parse *parse = state->input;
    struct lp_options *out = parse->out;
    enum lp_status st = LP_OK;

    switch (key) {
    case 'b':
    case 'e':
    case 'i':
        st = take_size(key, arg, out, parse->why);
        break;
    case 'f':
        parse->factor_given = true; /* fall through */
    case 'n':
    case 'w':
    case 'c':
    case KEY_RANKS:
        st = take_count(key, arg, out, parse->why);
        break;
    case 'd':
    case 'o':
    case KEY_TIMING:
    case KEY_PLACE:
    case KEY_COLL:
    case KEY_DEVICE:
    case KEY_BIND:
        st = take_words(key, arg, out, parse->why);
        break;
    case KEY_INIT_TIMEOUT:
        st = parse_factor("--init-timeout", arg, &out->init_timeout, parse->why);
        break;
    case KEY_TIMEOUT:
        st = parse_factor("--timeout", arg, &out->cell_timeout, parse->why);
        break;
    case KEY_SLOWNESS:
        st = parse_factor("--slowness", arg, &out->slowness, parse->why);
        break;
    case KEY_VARIANT:
        st = add_variant(out, arg, parse->why);
        break;
    case KEY_ONLY:
        st = take_names("--only", arg, out->only, sizeof(out->only), parse->why);
        break;
    case KEY_NO_LINT:
        st = take_names("--no-lint", arg, out->no_lint, sizeof(out->no_lint), parse->why);
        break;
    case KEY_MATRIX:
        out->matrix = arg;
        break;
    case KEY_NCCL:
        out->nccl = arg;
        break;
    case KEY_WORKER:
        out->worker = arg;
        break;
    case 'J':
        out->result = arg;
        break;
    case KEY_LOG_DIR:
        out->log_dir = arg;
        break;
    case KEY_LONG:
        out->longer = true;
        break;
    case KEY_DRY_RUN:
        out->dry_run = true;
        break;
    case KEY_NO_LINK:
        out->no_link = true;
        break;
    case KEY_NO_COLL:
        out->no_collectives = true;
        break;
    case ARGP_KEY_ARG:
        st = lp_because(parse->why, LP_ERR_ARG,
                        strchr(arg, '=') ? "'%s' after the program does nothing to NCCL: export it, or use --variant 'name: %s'"
                                         : "unexpected argument '%s': see linkperf --help",
                        arg, arg);
        break;
    default:
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

    if (out->step_bytes && parse->factor_given)
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

enum lp_status lp_options_parse(int argc, char **argv, struct lp_options *out, struct lp_reason *why)
{
    static const struct argp argp = {.options = table, .parser = take, .doc = doc};
    const char *slowness = getenv("LINKPERF_SLOWNESS");
    struct parse parse = {.out = out, .why = why};
    error_t error;

    *out = (struct lp_options){
        .factor = 2,
        .warmup = 5,
        .checks = 3,
        .timings = 1u << LP_GRAPH,
        .placements = 1u << LP_OUT_OF_PLACE | 1u << LP_IN_PLACE,
        .device = "auto",
        .init_timeout = 60.0,
        .cell_timeout = 10.0,
        .slowness = 1.0,
    };
    if (slowness && parse_factor("LINKPERF_SLOWNESS", slowness, &out->slowness, why) != LP_OK)
        return LP_ERR_ARG;
    argp_err_exit_status = 2;
    error = argp_parse(&argp, argc, argv, 0, NULL, &parse);
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
