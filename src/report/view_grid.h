/*
 * Records of collectives arranged as tables: one grid for what is compared (collective, type, timing mode; and round, unless rounds
 * are merged), sizes by variants by placement. Computes; how it is printed is view_coll and view_long.
 */
#ifndef LP_REPORT_VIEW_GRID_H
#define LP_REPORT_VIEW_GRID_H

#include "model/result.h"

struct lp_grid_column {
    const char *name; /* of the variant; borrowed from the result */
    int repeat;
    char label[LP_NAME_MAX + 8]; /* "default again" */
};

struct lp_grid {
    const struct lp_record *like;  /* its first record: says what all have in common */
    struct lp_grid_column *column; /* default, default again, then as in the run matrix */
    size_t *requested;             /* bytes a row, rising */
    size_t ncolumns, nrows;
    const struct lp_record **cell; /* use lp_grid_at */
    struct lp_record *made;        /* merged records, owned; NULL: none */
    int rounds;                    /* that are merged; 0: they are apart, or there is one */
    double link_gbps;              /* of the run's baseline, for rows whose records have none; NaN: unknown */
};

struct lp_grids {
    struct lp_grid *item;
    size_t n;
};

/* Borrows records and head, which must outlive the grids. LP_ERR_MEMORY; release in any case. */
enum lp_status lp_grids_make(const struct lp_result *result, struct lp_grids *out);

/*
 * The same with the rounds of a variant as one record (report/view_rounds.h), which the grids own. For tables that people read; the
 * judge goes by the rounds themselves.
 */
enum lp_status lp_grids_merge(const struct lp_result *result, struct lp_grids *out);
void lp_grids_release(struct lp_grids *grids);

/* NULL where nothing was recorded. When a cell was recorded more than once, the first. */
const struct lp_record *lp_grid_at(const struct lp_grid *grid, enum lp_placement placement, size_t row, size_t column);

/* Whether anything was recorded there. */
bool lp_grid_has_row(const struct lp_grid *grid, enum lp_placement placement, size_t row);
bool lp_grid_has_column(const struct lp_grid *grid, enum lp_placement placement, size_t column);

/* Bytes as measured (a whole number of elements on every rank), or as asked where nothing was measured. */
size_t lp_grid_size(const struct lp_grid *grid, enum lp_placement placement, size_t row);

/* False when the records have algbw only: one rank, nothing crosses a link. */
bool lp_grid_has_busbw(const struct lp_grid *grid);

/* busbw, or algbw where the grid has no busbw; NaN for a record that is NULL or has no time. */
double lp_grid_gbps(const struct lp_grid *grid, const struct lp_record *record);

/* The fastest usable record of the row; NULL: none. Wrong data and second crews are no candidates. */
const struct lp_record *lp_grid_fastest(const struct lp_grid *grid, enum lp_placement placement, size_t row);

/* What the row is compared with, GB/s per direction; NaN: nothing. The link baseline, and the exchange of the same size. */
double lp_grid_link(const struct lp_grid *grid, enum lp_placement placement, size_t row);
double lp_grid_same_size(const struct lp_grid *grid, enum lp_placement placement, size_t row);

#endif
