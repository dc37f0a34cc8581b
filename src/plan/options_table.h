/* The options as a table: one row each. What a value means is options.c's to read. */
#ifndef LP_PLAN_OPTIONS_TABLE_H
#define LP_PLAN_OPTIONS_TABLE_H

#include <stddef.h>

enum lp_option_value {
    LP_OPT_HEADING,
    LP_OPT_SIZE,
    LP_OPT_COUNT,
    LP_OPT_FACTOR,
    LP_OPT_FLAG,
    LP_OPT_TEXT,
    LP_OPT_NAMES,
    LP_OPT_DTYPE,
    LP_OPT_REDOP,
    LP_OPT_TIMINGS,
    LP_OPT_PLACEMENTS,
    LP_OPT_COLLECTIVES,
    LP_OPT_DEVICE,
    LP_OPT_BIND,
    LP_OPT_VARIANT
};

#define LP_OPT_RUN 1u /* options of linkperf */
#define LP_OPT_P2P 2u /* and of linkperf p2p */

struct lp_option_row {
    const char *name; /* a heading where there is no value */
    char letter;      /* 0: none */
    const char *arg, *help;
    unsigned commands;
    enum lp_option_value value;
    size_t member; /* of struct lp_options */
    long min, max; /* of a LP_OPT_COUNT */
};

/* Ends with a row without a name. At most LP_OPTIONS_MAX rows. */
#define LP_OPTIONS_MAX 96
extern const struct lp_option_row lp_option_rows[];

extern const char lp_run_doc[], lp_p2p_doc[]; /* what --help says around the table */

#endif
