/*
 * linkperf: the program that people start, alone or one process per GPU under mpirun. It never touches a GPU itself.
 */
#include "base/log.h"
#include "cmd.h"
#include "control/launcher.h"
#include "control/run.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum lp_status make_link(const struct lp_options *options, struct lp_link **out, struct lp_reason *why)
{
    int nranks = (int)options->ranks;
    enum lp_status st = LP_OK;

    if (lp_launched_by_mpi())
        return lp_link_mpi_create(options->keep_binding, out, why);
    if (nranks == 0)
        st = lp_run_count_ranks(options, &nranks, why);
    return st == LP_OK ? lp_link_local_create(nranks, out, why) : st;
}

static int run(int argc, char **argv)
{
    struct lp_options options;
    struct lp_reason why = {""};
    struct lp_link *link = NULL;
    enum lp_status st = lp_options_parse(argc, argv, &options, &why);
    int code = 0;

    if (st == LP_OK)
        st = make_link(&options, &link, &why);
    if (st == LP_OK && link) {
        code = lp_run(&options, link, argc, argv);
        link->close(link);
    } else if (st != LP_OK) {
        if (lp_launcher_speaks() && why.text[0])
            lp_say("%s", why.text);
        code = st == LP_ERR_ARG ? 2 : 3;
    }
    lp_options_release(&options);
    return code;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); /* names of variants may be UTF-8; numbers stay as in C */
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (argc > 1 && strcmp(argv[1], "show") == 0)
        return lp_cmd_show(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "lint") == 0)
        return lp_cmd_lint(argc - 1, argv + 1);
    return run(argc, argv);
}
