/*
 * The loop over blocks, the only one there is. It knows how to time an operation in each mode and nothing of what the
 * operation is.
 */
#ifndef LP_WORKER_BENCH_H
#define LP_WORKER_BENCH_H

#include "worker/op.h"
#include "worker/page.h"
#include "worker/where.h"

/* When a lane was busy in a block. Starts of all lanes of a host are on one clock. */
struct lp_span {
    int64_t start_ns;
    double us; /* of the whole block */
};

struct lp_bench {
    struct lp_op op;
    enum lp_timing timing;
    struct lp_page *page;   /* NULL: nobody to wait for */
    struct lp_gate *gate;   /* NULL: none; used when op.gated */
    struct lp_graph *graph; /* of graph_ops operations, slots graph_first and on; NULL: none yet */
    int graph_ops;
    size_t next;                          /* number of the next operation: it uses slot next % op.slots */
    size_t last_slot;                     /* of the last operation timed */
    struct lp_where *where;               /* NULL: nobody asks */
    int64_t started_ns[LP_MAX_TRANSFERS]; /* by lane, of the last block; CLOCK_MONOTONIC */
    bool aligned;                         /* an untimed operation goes before each block; false once the library refused it */
};

/* Takes over the op. */
void lp_bench_init(struct lp_bench *bench, const struct lp_op *op, enum lp_timing timing, struct lp_page *page,
                   struct lp_gate *gate);

/* Destroys the graph and releases the op. Safe on a zeroed bench, and twice. */
void lp_bench_release(struct lp_bench *bench);

/*
 * Times n blocks of k operations. samples_us[i] is block i's time divided by k, of the slowest lane of this worker.
 * spans may be NULL; else spans[i * lanes of the op + lane]. LP_ISOLATED takes k = 1 and one lane only, and no spans. All workers
 * of the crew must call it with the same n and k. A block whose gate opened by itself is repeated, at most a few times.
 */
enum lp_status lp_bench_blocks(struct lp_bench *bench, int k, int n, double *samples_us, struct lp_span *spans,
                               struct lp_reason *why);

/* Runs one operation on `slot` as the mode does it (graph: a capture of one), and waits for it. */
enum lp_status lp_bench_once(struct lp_bench *bench, size_t slot, struct lp_reason *why);

#endif
