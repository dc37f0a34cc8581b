/* What the user asked for on the command line, filled once and then const. */
#ifndef LP_PLAN_OPTIONS_H
#define LP_PLAN_OPTIONS_H

#include "model/cell.h"

#include <stdbool.h>
#include <stddef.h>

struct lp_options {
    /* sizes */
    size_t min_bytes, max_bytes; /* 0: the default of the device */
    size_t step_bytes;           /* 0: multiply by factor */
    long factor;
    bool factor_given; /* -f was */
    /* cells */
    char collectives[256]; /* comma-separated names; "" is all */
    enum lp_dtype dtype;
    enum lp_redop redop;
    unsigned timings;           /* bit per enum lp_timing */
    unsigned placements;        /* bit per enum lp_placement */
    long iters, warmup, checks; /* iters 0: chosen per cell */
    long rounds;                /* of fresh crews for every variant */
    bool careful;
    double budget; /* seconds for the whole run; lp_options_parse fills in the default */
    /* copies */
    bool p2p;       /* `linkperf p2p`: only the link, in full */
    bool all_pairs; /* curves and latencies for every pair */
    /* variants */
    const char *matrix;    /* path, or NULL for the built-in one */
    const char **variants; /* texts of --variant, in order; owned */
    size_t nvariants;
    char only[1024];    /* comma-separated names; "" is all */
    char no_lint[1024]; /* comma-separated names of variants that run although NCCL would misread them */
    bool no_link, no_collectives;
    /* machine */
    char device[16];    /* "auto", "cuda", "host" */
    long ranks;         /* of the local link; 0: one per GPU */
    const char *nccl;   /* path of the library, or NULL */
    const char *worker; /* path, or NULL for the one beside this program */
    bool keep_binding;
    bool strict; /* only GPUs and CPUs that nobody else uses */
    /* limits, in seconds before slowness */
    double init_timeout, cell_timeout, slowness;
    /* output */
    const char *result; /* -J */
    const char *log_dir;
    bool longer, dry_run;
};

/*
 * Parses argv (argv[0] is the program; "p2p" as argv[1] is the sub-command of that name, which has options of its own). --help and
 * --usage print and exit 0. LP_ERR_ARG with one line that names the value, the accepted ones and the fix. Strings point into argv.
 */
enum lp_status lp_options_parse(int argc, char **argv, struct lp_options *out, struct lp_reason *why);

/* Is the name in a comma-separated list? */
bool lp_list_has(const char *list, const char *name);

void lp_options_release(struct lp_options *options);

#endif
