/* Pairs that stand out, a line each. Which do is judge/pairs' business. */
#include "report/view_link_parts.h"

#include "judge/pairs.h"
#include "report/view_title.h"

#include <math.h>
#include <string.h>

#define MOST_LINES 24 /* the rest is in head.outliers */

static const char *pattern_words(const struct lp_outlier *outlier)
{
    return strcmp(outlier->pattern, "both_ways") == 0 ? ", both ways at once" : "";
}

static const char *process_words(const struct lp_link *link, const struct lp_outlier *outlier)
{
    return !link->on_host && strcmp(outlier->processes, "ipc") == 0 ? ", between processes (CUDA IPC)" : "";
}

/* "0.50 of the median 26.3 of its kind (PIX, 12 pairs)" */
static void print_median(const struct lp_outlier *outlier, FILE *out)
{
    const char *what = lp_edge_joins_two(outlier->edge) ? "pair" : "GPU";
    char number[LP_WORD];

    fprintf(out, "%.2f of the median %s of its kind (%s, %zu %ss)", outlier->value / outlier->median,
            lp_words_number(outlier->median, number, sizeof(number)), outlier->kind, outlier->figures, what);
}

static void print_outlier(const struct lp_link *link, const struct lp_outlier *outlier, FILE *out)
{
    const char *unit = outlier->fault == LP_FAULT_LATENCY ? "us" : "GB/s";
    char edge[LP_WORD * 2], number[LP_WORD], back[LP_WORD];

    fprintf(out, "%s: %s%s%s: %s%s: %s %s, ", outlier->fault == LP_FAULT_ASYMMETRIC ? "asymmetric" : "outlier",
            lp_title_path(outlier->path), process_words(link, outlier), pattern_words(outlier),
            lp_link_edge(link, outlier->edge, edge, sizeof(edge)), outlier->fault == LP_FAULT_LATENCY ? ", latency" : "",
            lp_words_number(outlier->value, number, sizeof(number)), unit);
    if (outlier->fault == LP_FAULT_ASYMMETRIC)
        fprintf(out, "back %s %s", lp_words_number(outlier->back, back, sizeof(back)), unit);
    else
        print_median(outlier, out);
    fprintf(out, "\n");
}

/* Nothing stands out: among how many, and compared with what? */
static void print_none(const struct lp_outliers *outliers, FILE *out)
{
    fprintf(out, "no outliers among %zu directed pairs", outliers->pairs);
    if (outliers->compared == 0)
        fprintf(out, ": fewer than %d of a kind, so only the two directions were compared with each other", LP_PAIRS_FEWEST);
    else if (outliers->compared < outliers->pairs)
        fprintf(out, "; %zu of them have fewer than %d of their kind, so only their two directions were compared",
                outliers->pairs - outliers->compared, LP_PAIRS_FEWEST);
    fprintf(out, "\n");
}

void lp_link_outliers(const struct lp_link *link, FILE *out)
{
    struct lp_outliers outliers;
    enum lp_status st = lp_outliers_find(link->result, &outliers);

    if (st != LP_OK)
        fprintf(out, "pairs were not compared: out of memory\n");
    for (size_t i = 0; i < outliers.n && i < MOST_LINES && st == LP_OK; i++)
        print_outlier(link, &outliers.item[i], out);
    if (outliers.n > MOST_LINES && st == LP_OK)
        fprintf(out, "and %zu more that stand out, less than these\n", outliers.n - MOST_LINES);
    if (outliers.n == 0 && outliers.pairs > 0 && st == LP_OK)
        print_none(&outliers, out);
    lp_outliers_release(&outliers);
}
