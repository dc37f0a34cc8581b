/*
 * The parts of the link's report and what they share: sorted copies, names of ends and paths, and what a rate is held against.
 * view_link has the order of the parts. Each prints nothing where the result has nothing for it.
 */
#ifndef LP_REPORT_VIEW_LINK_PARTS_H
#define LP_REPORT_VIEW_LINK_PARTS_H

#include "judge/copies.h"
#include "report/tables.h"
#include "report/view_words.h"

#include <stdio.h>

#define LP_LINK_WORDS 256

struct lp_link {
    const struct lp_result *result;
    struct lp_copies_list copies;
    int n; /* GPUs, or processes on host memory */
    bool on_host;
};

/* ---- words (view_link_words.c); each returns buf ---- */

/* "GPU 2", "process 2" on host memory; "host" for LP_EDGE_HOST. And "GPU 2 -> GPU 3". */
const char *lp_link_end(const struct lp_link *link, int rank, char *buf, size_t cap);
const char *lp_link_edge(const struct lp_link *link, struct lp_edge edge, char *buf, size_t cap);

/* "SM write, P2P on, between processes (CUDA IPC)": the path's title, and by how many processes. */
const char *lp_link_path(const struct lp_link *link, const struct lp_cell *cell, char *buf, size_t cap);

/* What is measured, with the size: "512M bytes", "each way while the other runs, 512M bytes", ... */
const char *lp_link_measure(const struct lp_copies *copies, char *buf, size_t cap);

/* "GB/s", "us", "ns": what lp_link_value is in. */
const char *lp_link_unit(const struct lp_copies *copies);

/* lp_copies_figure in that unit, and any time in microseconds likewise. */
double lp_link_value(const struct lp_copies *copies, const struct lp_record *record, struct lp_edge edge);
double lp_link_scaled(const struct lp_copies *copies, double figure);

/* The next cell of a table: the figure of the edge, the outcome's word, or "-". */
void lp_link_cell(const struct lp_copies *copies, struct lp_edge edge, struct lp_table *table);

/* Between two GPUs, with a figure for each pair: what matrices and kinds are made of. */
bool lp_link_is_of_pairs(const struct lp_copies *copies);

/* What a rate of the path is held against, per direction; gbps is NaN, and what "", where there is nothing. */
struct lp_held {
    double gbps;
    const char *what; /* "line rate", "PCIe rate", "half the memory rate" */
};
struct lp_held lp_link_held(const struct lp_link *link, const struct lp_copies *copies, struct lp_edge edge);

/* The last three cells of a row of rates: what it is held against, in GB/s and by name, and `gbps` in percent of it (if it tells).
 */
void lp_link_share_columns(struct lp_table *table, const char *whose);
void lp_link_share_cells(const struct lp_link *link, const struct lp_copies *copies, struct lp_edge edge, double gbps,
                         struct lp_table *table);

/* ---- parts ---- */

void lp_link_two(const struct lp_link *link, FILE *out, int width);        /* tables of two GPUs */
void lp_link_matrices(const struct lp_link *link, FILE *out, int width);   /* of three and more */
void lp_link_kinds(const struct lp_link *link, FILE *out, int width);      /* median and slowest pair of each kind */
void lp_link_at_once(const struct lp_link *link, FILE *out, int width);    /* patterns of more than two copies */
void lp_link_outliers(const struct lp_link *link, FILE *out);              /* pairs that stand out */
void lp_link_overlaps(const struct lp_link *link, FILE *out);              /* copies at once that were not at once */
void lp_link_references(const struct lp_link *link, FILE *out, int width); /* to host memory, and on the card */
void lp_link_isolated(const struct lp_link *link, FILE *out, int width);   /* small copies, each waited for */
void lp_link_peers(const struct lp_link *link, FILE *out);                 /* peer truth */
void lp_link_notes(const struct lp_link *link, FILE *out);                 /* copies that have no good figure */

/* For --long, the distribution of each isolated copy's time. */
void lp_view_histograms(const struct lp_result *result, FILE *out);

#endif
