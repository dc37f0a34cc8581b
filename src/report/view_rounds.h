/* The rounds of one cell of one variant as one record, for tables. */
#ifndef LP_REPORT_VIEW_ROUNDS_H
#define LP_REPORT_VIEW_ROUNDS_H

#include "model/result.h"

/* Records of one cell and variant, borrowed. All zero is empty. */
struct lp_rounds {
    const struct lp_record **record;
    size_t n;
    bool disturbed; /* all of them are from crews that were contended or throttled */
};

/* Adds a record. Those of contended or throttled crews give way to any other. LP_ERR_MEMORY. */
enum lp_status lp_rounds_add(const struct lp_result *result, struct lp_rounds *rounds, const struct lp_record *record);
void lp_rounds_release(struct lp_rounds *rounds);

/*
 * Of at least one record: where all are ok, the first with the medians over rounds in place of its time and rates; else the first
 * that is wrong, or else the first that is not ok: what went wrong once is not hidden by what went well.
 */
void lp_rounds_merge(const struct lp_rounds *rounds, struct lp_record *out);

#endif
