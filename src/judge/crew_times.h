/*
 * Records of collectives sorted for judging: what time each crew had in each cell, and which cells may be judged at all.
 * Knows the rules of what counts; knows no statistics.
 */
#ifndef LP_JUDGE_CREW_TIMES_H
#define LP_JUDGE_CREW_TIMES_H

#include "model/result.h"

#define LP_DEFAULT_SETTING 0 /* index of "default" in lp_crew_times.setting */

/* A variant, all its crews together. */
struct lp_setting {
    const char *name;  /* borrowed from the result */
    const json_t *env; /* of head.variants; NULL: not known */
    bool same;  /* default, or it sets only ways for the data and takes default's path (head.same_path): what differs is noise */
    bool wrong; /* some cell of it had wrong data: it is out as a whole */
    bool lost;  /* some cell of it hung or crashed */
};

/* What one crew took: one value, since samples of a crew agree much better than crews do. */
struct lp_crew_time {
    int setting, round, crew;
    double log_us; /* natural logarithm of the median in microseconds */
    double error;  /* standard error of that by its samples; 0: not known */
};

/* One size of a family. */
struct lp_spot {
    size_t bytes;               /* as planned */
    const struct lp_cell *like; /* of its first record, borrowed; NULL for a mean over sizes */
    struct lp_crew_time *time;  /* of cells that may be judged */
    size_t n;
    const char **why; /* per setting: why it is not judged here, static text; NULL: it is */
};

/* Cells that differ in size only. */
struct lp_family {
    const struct lp_cell *like; /* of its first record; borrowed */
    struct lp_spot *spot;       /* sizes rising */
    size_t nspots;
};

struct lp_crew_times {
    struct lp_setting *setting; /* default first, then as in the run matrix */
    size_t nsettings;
    struct lp_family *family;
    size_t nfamilies;
    int rounds; /* of the run; at least 1 */
};

/*
 * Sorts the result's collective cells; a round of 0 counts as 1. A cell is not judged where its variant had wrong data anywhere,
 * where a crew had another outcome than ok, where it is unchecked, where no crew of the variant has evidence for it (library "nccl"
 * only), where its busbw is above the line rate and NVLS is not in the evidence, and where all its crews were contended or
 * throttled (head.crews); times of such crews are left out. Borrows the result. LP_ERR_MEMORY; release in any case.
 */
enum lp_status lp_crew_times_make(const struct lp_result *result, struct lp_crew_times *out);
void lp_crew_times_release(struct lp_crew_times *times);

/* Cells that differ in size only, if at all. */
bool lp_cell_same_family(const struct lp_cell *a, const struct lp_cell *b);

/* Whether head.crews says that the crew was contended or throttled. */
bool lp_crew_disturbed(const struct lp_result *result, int crew);

/*
 * The mean over the sizes number from to to of a family as one spot: for each crew that has all of them, the mean of its logarithms
 * (so that how sizes go together within a crew is kept). Sizes at which default is not judged are left out; `bytes` is 0.
 * LP_ERR_MEMORY; release in any case.
 */
enum lp_status lp_spot_mean(const struct lp_crew_times *times, const struct lp_family *family, size_t from, size_t to,
                            struct lp_spot *out);
void lp_spot_release(struct lp_spot *spot);

#endif
