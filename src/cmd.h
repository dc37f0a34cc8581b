/*
 * Sub-commands: one function each, called by main with the arguments from the sub-command's name on. They return the
 * program's exit code (DESIGN section 6).
 */
#ifndef LP_CMD_H
#define LP_CMD_H

/* `linkperf show [--long] FILE|FILE.part`. A usage error and --help end the process, as argp does. Changes argv[0]. */
int lp_cmd_show(int argc, char **argv);

/*
 * `linkperf lint [--nccl PATH] [--nccl-version 2.28.3] FILE|--variant 'name: K=V' ...`: findings on stdout, one a line. 0 without
 * errors, 2 with, 3 for a file that cannot be read. Ends and changes argv[0] as show does.
 */
int lp_cmd_lint(int argc, char **argv);

#endif
