/*
 * Sub-commands: one function each, called by main with the arguments from the sub-command's name on. They return the
 * program's exit code (DESIGN section 6).
 */
#ifndef LP_CMD_H
#define LP_CMD_H

/* `linkperf show [--long] FILE|FILE.part`. A usage error and --help end the process, as argp does. Changes argv[0]. */
int lp_cmd_show(int argc, char **argv);

#endif
