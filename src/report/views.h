/*
 * What people read: tables and lines about a result. A live run and `linkperf show` print through these. They print what
 * is there: any member of the head may be missing, as in a journal that was cut off. Scripts read the JSON instead.
 */
#ifndef LP_REPORT_VIEWS_H
#define LP_REPORT_VIEWS_H

#include "model/result.h"

#include <stdio.h>

/*
 * Everything, in reading order; longer adds nccl-tests' columns and the distribution of isolated copies. width: terminal columns,
 * see report/term.h.
 */
void lp_view_all(const struct lp_result *result, bool longer, int width, FILE *out);

/*
 * The most useful part in at most cap_bytes, for the end on a signal: mpirun passes on no more than 8 KB then. show_line
 * is the command that prints the rest ("linkperf show run.json"); NULL: nothing was saved. It is printed in any case.
 */
void lp_view_summary(const struct lp_result *result, size_t cap_bytes, const char *show_line, FILE *out);

/* The parts of lp_view_all, in its order. */
void lp_view_head(const struct lp_result *result, FILE *out, int width);
void lp_view_link(const struct lp_result *result, FILE *out, int width);
void lp_view_collectives(const struct lp_result *result, FILE *out, int width);
void lp_view_long(const struct lp_result *result, FILE *out, int width);
void lp_view_proof(const struct lp_result *result, FILE *out, int width);
void lp_view_judge(const struct lp_result *result, FILE *out, int width);
void lp_view_variants(const struct lp_result *result, FILE *out, int width);
void lp_view_time(const struct lp_result *result, FILE *out); /* of the whole run, by phase */
void lp_view_verdict(const struct lp_result *result, FILE *out);

/* "run complete", or that it is not and why; one line. */
void lp_view_state(const struct lp_result *result, FILE *out);

/* The link baseline under its full name, with its share of the line rate; one line, none where there is no baseline. */
void lp_view_baseline(const struct lp_result *result, FILE *out);

/* The line rate per direction, and what people quote instead of it; one line, none where nothing is known of the topology. */
void lp_view_line_rate(const struct lp_result *result, FILE *out);

#endif
