/*
 * Records of copies sorted into what may be compared: one path, pattern and size. What pairs are judged by, and what the
 * tables of the link are made of. Finds and computes; prints nothing.
 */
#ifndef LP_JUDGE_COPIES_H
#define LP_JUDGE_COPIES_H

#include "model/result.h"
#include "p2p/path.h"

/* Queued copies up to this size are made for the time of one, back to back: their rate says nothing about the link. */
#define LP_SMALL_COPY_BYTES 4096

/* A copy that takes less is mostly its start: its rate is neither judged nor held against anything. */
#define LP_LEAST_RATED_US 20.0

/* Copies whose figures are alike. Isolated ones and rings in the modes of collectives are in none: each size is a figure of its
 * own. */
struct lp_copies {
    const struct lp_path *path;      /* NULL: a path that this linkperf does not know */
    const struct lp_cell *like;      /* of the first record: says what all have in common */
    bool timed;                      /* figures are microseconds, of one small copy or of one step; else GB/s */
    size_t bytes;                    /* as planned: the size that most pairs have, the largest of them; of small copies the least */
    const struct lp_record **record; /* those of this size, in the order they were made */
    size_t n;
};

struct lp_copies_list {
    struct lp_copies *item; /* in the order of lp_paths, then of patterns; copies by one process come first */
    size_t n;
};

/* Borrows the records, which must outlive the list. LP_ERR_MEMORY; release in any case. */
enum lp_status lp_copies_make(const struct lp_result *result, struct lp_copies_list *out);
void lp_copies_release(struct lp_copies_list *list);

/* The copies of this path, pattern and "one" or "ipc"; NULL: none. */
const struct lp_copies *lp_copies_find(const struct lp_copies_list *list, const char *path, const char *pattern,
                                       const char *processes, bool timed);

/* The first record that has this edge; NULL: none. */
const struct lp_record *lp_copies_at(const struct lp_copies *copies, struct lp_edge edge);

/* The edge's own figure in a record of these copies; NaN where the record is NULL, not ok, or has no such figure. */
double lp_copies_figure(const struct lp_copies *copies, const struct lp_record *record, struct lp_edge edge);

/* The usable figure of one directed edge. */
struct lp_figure {
    struct lp_edge edge;
    double value;     /* as lp_copies_figure gives it */
    const char *kind; /* lp_edge_kind; borrowed from the result */
    const struct lp_record *record;
};

struct lp_figures {
    struct lp_figure *item;
    size_t n;
};

/*
 * All usable figures, each edge once (the first, where it was measured again); of an exchange, whose directions have one time
 * between them, one. LP_ERR_MEMORY; release in any case.
 */
enum lp_status lp_figures_make(const struct lp_result *result, const struct lp_copies *copies, struct lp_figures *out);
void lp_figures_release(struct lp_figures *figures);

/* The middle and the worst of figures. */
struct lp_spread {
    size_t n; /* 0: the rest is not set */
    double median, worst;
    struct lp_edge worst_edge;
};

/* Over the figures of a kind; NULL: of all. The worst is the least rate, or the longest time. LP_ERR_MEMORY. */
enum lp_status lp_figures_spread(const struct lp_figures *figures, const char *kind, bool timed, struct lp_spread *out);

/* Whether this pattern has a figure of its own for each pair: one way or both ways. */
bool lp_copies_by_pair(const struct lp_copies *copies);

/* Whether a rate of these copies says something about what they went over. */
bool lp_copies_tell(const struct lp_copies *copies, double gbps);

/* Between two GPUs (or processes); else an end is host memory, or both are the same GPU. */
bool lp_edge_joins_two(struct lp_edge edge);

/* The entry of head.topology.pairs; NULL: none. Borrowed. */
const json_t *lp_pair_facts(const struct lp_result *result, struct lp_edge edge);

/* "NV18", "PIX", "host memory", ...; "unknown" where the topology does not say; "host to GPU", "GPU to host" or "one GPU" for
 * others. */
const char *lp_edge_kind(const struct lp_result *result, struct lp_edge edge);

#endif
