/* What is measured of the link, as tables. Between whom exactly, and at which sizes, is plan_link's. */
#ifndef LP_PLAN_LINK_STEPS_H
#define LP_PLAN_LINK_STEPS_H

/* Whom a step is for. In a brief plan (the main run) only one pair of each kind is taken where a step is not for all. */
enum lp_scope {
    LP_FOR_PAIRS, /* every directed pair, one after the other */
    LP_FOR_TWOS,  /* every two GPUs, both ways */
    LP_FOR_KINDS, /* one directed pair of each kind */
    LP_FOR_GPUS,  /* every GPU with itself or the host, or as the one that all others deal with */
    LP_FOR_ALL,   /* all together */
};

enum lp_step_sizes { LP_AT_LARGE, LP_AT_SMALL, LP_AT_TRUTH, LP_AT_TURNS, LP_AT_CURVE, LP_AT_ISOLATED };

enum lp_depth {
    LP_ALWAYS,  /* in the main run too, as it stands */
    LP_SAMPLED, /* there for one pair of each kind */
    LP_FULL,    /* only in `linkperf p2p` */
};

struct lp_step {
    const char *path, *pattern;
    enum lp_scope scope;
    enum lp_step_sizes sizes;
    enum lp_depth depth;
};

/*
 * In the order of a run; each list ends with a NULL path. What needs no peer access comes first, since enabling it is for the
 * life of the process; references are taken of one GPU after the other, since pinned memory lies near the GPU that uses it.
 */
extern const struct lp_step lp_steps_before_peers[];
extern const struct lp_step lp_steps_references[];
extern const struct lp_step lp_steps_with_peers[];
extern const struct lp_step lp_steps_curves[]; /* of one pair of each kind, and of pairs that differ */
extern const struct lp_step lp_steps_between_processes[];
extern const struct lp_step lp_steps_on_host[];

#endif
