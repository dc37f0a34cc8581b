/* A cell: what is asked of a crew. One measured thing, before it has been measured. */
#ifndef LP_MODEL_CELL_H
#define LP_MODEL_CELL_H

#include "model/dtype.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define LP_NAME_MAX      64
#define LP_MAX_RANKS     64
#define LP_MAX_TRANSFERS 256  /* every pair of 16 at once is 240 */
#define LP_EDGE_HOST     (-1) /* an end of an edge: memory of the host, not of a GPU */

enum lp_kind { LP_COLLECTIVE, LP_COPY };

/*
 * How operations are issued and timed (DESIGN section 4). Copies are LP_QUEUED, or LP_ISOLATED for their latency; those that
 * collectives are held against (LP_PATH_RING) are in the collectives' modes.
 */
enum lp_timing {
    LP_GRAPH,     /* K operations captured once, replayed */
    LP_PIPELINED, /* K calls back to back between two events */
    LP_ISOLATED,  /* one call, then wait; host clock */
    LP_QUEUED,    /* K copies queued behind a gate, then let go: enqueueing is outside the clock (paths that allow it) */
    LP_NTIMINGS
};

enum lp_placement { LP_OUT_OF_PLACE, LP_IN_PLACE, LP_NPLACEMENTS };

/* One copy of a pattern: the GPU (or process) that has the data and the one that gets it; or LP_EDGE_HOST. */
struct lp_edge {
    int src, dst;
};

struct lp_cell {
    enum lp_kind kind;
    char op[LP_NAME_MAX];      /* name in the table of collectives, or of copy paths */
    char library[LP_NAME_MAX]; /* "nccl", "host"; for copies the device: "cuda", "host" */
    char buffers[LP_NAME_MAX]; /* how buffers were made: "plain" */
    enum lp_dtype dtype;
    enum lp_redop redop;
    int root;               /* -1 where there is none */
    size_t requested_bytes; /* as planned */
    size_t size_bytes;      /* as measured: a whole number of elements on every rank */
    size_t count;           /* elements, as nccl-tests counts them: of the whole vector, or of a rank's part */
    enum lp_placement placement;
    enum lp_timing timing;

    /* copies */
    char pattern[LP_NAME_MAX]; /* "one_way", "ring", ... (p2p/patterns.h): the name of the list below */
    char processes[8];         /* "one": one worker holds all GPUs; "ipc": one per GPU */
    int nedges;
    struct lp_edge edges[LP_MAX_TRANSFERS];

    /* how to measure; not part of what is measured */
    int warmup; /* operations */
    int iters;  /* K; 0: chosen from the time of one operation */
    int checks; /* iterations checked before and after; 0: unchecked */
};

const char *lp_timing_name(enum lp_timing timing);          /* "graph", ... */
const char *lp_placement_name(enum lp_placement placement); /* "out_of_place", "in_place" */

/* LP_ERR_ARG names the value and the accepted names. Only the three modes of collectives. */
enum lp_status lp_timing_parse(const char *text, enum lp_timing *out, struct lp_reason *why);

/* All members, for the wire. New reference. */
json_t *lp_cell_to_json(const struct lp_cell *cell);

/* LP_ERR_PARSE with the member that is missing or wrong. */
enum lp_status lp_cell_from_json(const json_t *json, struct lp_cell *out, struct lp_reason *why);

/* The same thing asked: collective, type, operator, root, size, placement, timing and buffers (not how it is measured). */
bool lp_cell_same(const struct lp_cell *a, const struct lp_cell *b);

/* "host", or the rank's number. Returns buf. */
const char *lp_edge_end_name(int rank, char *buf, size_t cap);

/* Writes e.g. "AllReduce 64K in place, graph" style text for messages. Returns buf. */
const char *lp_cell_words(const struct lp_cell *cell, char *buf, size_t cap);

#endif
