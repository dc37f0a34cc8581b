/*
 * Pairs held against one another: which is slower than others of its kind, and which is slower one way than back. A mean would
 * hide a bad slot, riser or cable. From records only.
 */
#ifndef LP_JUDGE_PAIRS_H
#define LP_JUDGE_PAIRS_H

#include "judge/copies.h"

#define LP_PAIRS_SLOW   0.90 /* of the median of its kind: below it a rate is an outlier, above 1/0.90 a latency */
#define LP_PAIRS_SKEWED 0.05 /* of the faster direction: what the two may not differ by */
#define LP_PAIRS_FEWEST 3    /* figures of a kind that have a median to be compared with */

enum lp_fault { LP_FAULT_SLOW, LP_FAULT_ASYMMETRIC, LP_FAULT_LATENCY };

/* One figure that stands out. Strings are borrowed from the result. */
struct lp_outlier {
    enum lp_fault fault;
    const char *path, *pattern, *processes, *kind;
    size_t bytes;
    struct lp_edge edge; /* asymmetric: the slower direction; an end may be LP_EDGE_HOST */
    double value;        /* GB/s; of LP_FAULT_LATENCY microseconds */
    double median;       /* of its kind; NaN where there are too few figures */
    double back;         /* asymmetric: of the other direction; else NaN */
    double badness;      /* 1 as it should be, 0 worst */
    size_t figures;      /* of its kind */
};

struct lp_outliers {
    struct lp_outlier *item; /* the worst first */
    size_t n;
    size_t pairs;    /* directed pairs of GPUs with a figure that could be judged */
    size_t compared; /* those of them that had a median to be compared with */
};

const char *lp_fault_name(enum lp_fault fault); /* "slow", "asymmetric", "slow latency" */

/*
 * Judges the usable figures of every path, pattern (one way, both ways) and kind of pair, at the size of judge/copies.h.
 * Copies too short to tell (judge/copies.h) are left out. A GPU's way to host memory is compared with that of other GPUs.
 * LP_ERR_MEMORY; release in any case.
 */
enum lp_status lp_outliers_find(const struct lp_result *result, struct lp_outliers *out);
void lp_outliers_release(struct lp_outliers *outliers);

/*
 * [{what, path, pattern, processes, size_bytes, src, dst, kind, unit, value, median, back}], the worst first: head.outliers. src or
 * dst is null for host memory, median and back where there is none; unit is "GB/s" or "us". New reference; JSON's null when
 * memory is out.
 */
json_t *lp_pairs_json(const struct lp_result *result);

/*
 * The distinct directed pairs of GPUs among the outliers, the worst first, at most `most` of them. Their number; 0 also when
 * memory is out.
 */
size_t lp_pairs_odd(const struct lp_result *result, struct lp_edge *out, size_t most);

#endif
