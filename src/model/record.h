/* A record: what came of a cell. Every table, file and judgement is made from records. */
#ifndef LP_MODEL_RECORD_H
#define LP_MODEL_RECORD_H

#include "model/cell.h"
#include "model/histogram.h"
#include "model/stats.h"

#include <stdint.h>

#include <jansson.h>

#define LP_MAX_SAMPLES 512

enum lp_outcome {
    LP_DONE,        /* "ok" */
    LP_WRONG,       /* measured, but the data was wrong: the time is kept and never ranked */
    LP_UNSUPPORTED, /* cannot be done here */
    LP_HANG,        /* later than its limit */
    LP_CRASH,       /* a worker died */
    LP_SKIPPED,     /* not tried, for a reason that was known before */
    LP_FAILED,      /* a call failed: the environment */
    LP_NOUTCOMES
};

/* What the checks of a cell found, all ranks together. */
struct lp_checked {
    int iterations;          /* operations compared element by element; 0: unchecked */
    int wrong_iterations;    /* of those */
    uint64_t wrong_elements; /* sum over ranks and iterations */
    int first_rank;          /* -1: nothing wrong */
    uint64_t first_offset_bytes;
};

/* How a collective really went, read from NCCL's log. "" and channels below 0: not known. */
struct lp_evidence {
    bool read; /* there was a log to read */
    char algorithm[32], protocol[64], transport[256];
    int channels;
    char tag[160]; /* for tables: "Ring/LL x1" */
};

struct lp_record {
    struct lp_cell cell;
    char variant[LP_NAME_MAX]; /* empty for copies */
    int repeat;                /* 1: from the second crew of "default" */
    int round, crew;
    enum lp_outcome outcome;
    char reason[1536];
    struct lp_stats time_us;           /* of one operation; n == 0: there is no time */
    double samples_us[LP_MAX_SAMPLES]; /* the first of them, where there are more (time_us.n) */
    int ops_per_sample;                /* K */
    bool rotated;                      /* operations walked through the arena */
    bool aligned;                      /* an untimed collective went before each block */
    double algbw_gbps, busbw_gbps;     /* NaN where there is none; for copies busbw is NaN */
    double link_gbps;                  /* the link baseline it is compared with; NaN: none */
    double link_same_gbps;             /* and the exchange of the same wire bytes in the same mode (judge/same_size); collectives */
    struct lp_checked checked;
    /* copies; NaN until measured */
    double latency_us;                  /* of one copy, or of one step of a path that only has a latency */
    double edge_gbps[LP_MAX_TRANSFERS]; /* with more than one edge: of each, while the others ran too; algbw_gbps is the least */
    double sum_gbps;                    /* of all edges together: all bytes by the time from the first start to the last end */
    double overlap;                     /* share of the time of the longest in which all edges ran; 1 is all */
    struct lp_histogram histogram;      /* of all samples of an isolated copy; n == 0: none */
    struct lp_evidence evidence;
    char library_path[1024];   /* file of the library that the crew loaded; "" where there is none */
    char log[1024];            /* of its rank 0 */
    double measure_s, check_s; /* where this cell's time went */
};

/* A record of the cell of which nothing is known yet: no times, no figures, nothing wrong. */
void lp_record_begin(struct lp_record *record, const struct lp_cell *cell);

const char *lp_outcome_name(enum lp_outcome outcome); /* "ok", "wrong", ... */

/* An outcome that may be compared and ranked: ok, with a time. */
bool lp_record_usable(const struct lp_record *record);

/* {algorithm, protocol, channels, transport, tag}, or null where nothing was read. New reference; and the reverse. */
json_t *lp_evidence_to_json(const struct lp_evidence *evidence);
void lp_evidence_from_json(const json_t *json, struct lp_evidence *out);

/* The JSON of DESIGN section 8: a p2p record or a collective record, by kind. New reference. */
json_t *lp_record_to_json(const struct lp_record *record);

/* The reverse, for `show`. kind is where it was found ("p2p" or "collectives"). LP_ERR_PARSE with the reason. */
enum lp_status lp_record_from_json(const json_t *json, enum lp_kind kind, struct lp_record *out, struct lp_reason *why);

#endif
