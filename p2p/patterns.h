/* Patterns: which copies run at once. Only lists of edges; how a copy is made is a path's business. */
#ifndef LP_P2P_PATTERNS_H
#define LP_P2P_PATTERNS_H

#include "model/cell.h"

struct lp_pattern_kind {
    const char *name, *title; /* "both_ways"; "both ways at once" */
    /* The edges for these two ranks of n; patterns of all ranks look at a only, or at none. Their number, 0 if it is over most. */
    int (*edges)(int n, int a, int b, struct lp_edge *out, int most);
};

/* Ends with a NULL name. one_way, both_ways, ring, one_to_all, all_to_one, all_pairs. */
extern const struct lp_pattern_kind lp_pattern_kinds[];

const struct lp_pattern_kind *lp_pattern_kind_find(const char *name);

#endif
