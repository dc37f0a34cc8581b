/* What views of one result say alike: titles and cells. */
#ifndef LP_REPORT_VIEW_TITLE_H
#define LP_REPORT_VIEW_TITLE_H

#include "report/view_grid.h"

#include <stdio.h>

/* Whether the run moved bytes between processes on the host, which must never look like a GPU link. */
bool lp_title_on_host(const struct lp_result *result);

/* What a host-memory result is called in print; "" for others. Goes behind a title. */
const char *lp_title_host_note(const struct lp_result *result);

/* "AllReduce" for "allreduce"; the name itself when this linkperf does not know it. */
const char *lp_title_collective(const char *name);

/* Whether it has a reduction operator; also true for a collective that this linkperf does not know. */
bool lp_title_reduces(const char *name);

/* "copy engine write, P2P on" for "ce_write"; the name itself when this linkperf does not know it. */
const char *lp_title_path(const char *name);

/* What the links between two GPUs could carry, GB/s per direction; NaN: unknown. */
double lp_title_line_gbps(const struct lp_result *result);

/*
 * Prints without a newline: collective, type, redop, root, placement (LP_NPLACEMENTS: none), timing mode, ranks, rounds, and
 * whether data was checked.
 */
void lp_title_group(const struct lp_result *result, const struct lp_grid *grid, enum lp_placement placement, FILE *out);

/* "busbw in GB/s per direction (10^9 bytes/s)", or why it is algbw. */
const char *lp_title_quantity(const struct lp_grid *grid);

/* A cell of a table: the figure, the outcome's word, or "-" where nothing was recorded. Returns buf. */
const char *lp_title_cell(const struct lp_grid *grid, const struct lp_record *record, char *buf, size_t cap);

#endif
