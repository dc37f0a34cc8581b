/* `linkperf show FILE`: a saved result, or the journal of a run that did not end, as the tables of a live run. Measures nothing. */
#include "cmd.h"

#include "base/log.h"
#include "model/result.h"
#include "report/term.h"
#include "report/views.h"

#include <argp.h>
#include <stdio.h>

enum { EXIT_GOOD = 0, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 3 }; /* DESIGN section 6 */

struct show_options {
    const char *path;
    bool longer;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct show_options *options = state->input;

    if (key == 'l')
        options->longer = true;
    else if (key == ARGP_KEY_ARG && !options->path)
        options->path = arg;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "one file at a time: '%s' is one too many", arg);
    else if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "which file? One that -J wrote, or its FILE.part");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option option_table[] = {
    {"long", 'l', NULL, 0, "also print nccl-tests' columns of every variant", 0},
    {0},
};

static const struct argp parser = {
    .options = option_table,
    .parser = parse_option,
    .args_doc = "FILE|FILE.part",
    .doc = "Print the tables of a result that -J wrote, or of the journal (FILE.part) of a run that did not end.",
};

static int show(const struct show_options *options)
{
    struct lp_result result;
    struct lp_reason why = {""};
    enum lp_status st = lp_result_load(options->path, &result, &why);

    if (st == LP_OK)
        lp_view_all(&result, options->longer, lp_term_width(false), stdout);
    else
        lp_say("%s", why.text[0] ? why.text : lp_status_name(st));
    if (st == LP_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        lp_say("the tables could not be written to stdout");
        st = LP_ERR_IO;
    }
    lp_result_release(&result);
    return st == LP_OK ? EXIT_GOOD : EXIT_ENVIRONMENT;
}

int lp_cmd_show(int argc, char **argv)
{
    struct show_options options = {0};

    argv[0] = (char *)"linkperf show"; /* what argp calls us in its messages */
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&parser, argc, argv, 0, NULL, &options) != 0)
        return EXIT_USAGE;
    return show(&options);
}
