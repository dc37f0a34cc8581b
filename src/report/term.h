/* How wide a printed table may be. Knows terminals, not tables. */
#ifndef LP_REPORT_TERM_H
#define LP_REPORT_TERM_H

#include <stdbool.h>

#define LP_WIDTH_DEFAULT 160

/*
 * Columns for what is printed on stdout: of the terminal; else COLUMNS, if that is a number above 0; else 160. Under
 * mpirun ask on rank 0 only: its stdout is a terminal of mpirun's own making, so the terminal is looked for at the
 * parent's stderr.
 */
int lp_term_width(bool under_mpirun);

#endif
