/* The link's report: the order of its parts, and the slowest pair beside the baseline. The parts are in view_link_*.c. */
#include "report/views.h"

#include "base/json.h"
#include "base/units.h"
#include "report/view_link_parts.h"
#include "report/view_title.h"

#include <math.h>
#include <string.h>

/* The highest rank of the edges, plus 1: all that a journal without its head has. */
static int ranks_in(const struct lp_copies_list *list)
{
    int n = 0;

    for (size_t i = 0; i < list->n; i++)
        for (size_t r = 0; r < list->item[i].n; r++) {
            const struct lp_cell *cell = &list->item[i].record[r]->cell;

            for (int e = 0; e < cell->nedges; e++) {
                n = cell->edges[e].src >= n ? cell->edges[e].src + 1 : n;
                n = cell->edges[e].dst >= n ? cell->edges[e].dst + 1 : n;
            }
        }
    return n;
}

static bool has_pairs(const struct lp_link *link)
{
    for (size_t i = 0; i < link->copies.n; i++)
        if (lp_link_is_of_pairs(&link->copies.item[i]))
            return true;
    return false;
}

static void print_title(const struct lp_link *link, FILE *out)
{
    if (has_pairs(link))
        fprintf(out, "\n%s: one pair at a time and one way, where nothing else is said%s\n",
                link->on_host ? "host memory" : "link between GPUs", lp_title_host_note(link->result));
}

/* One way by the baseline's path, so that the two can be compared; else the first that was measured. NULL: none. */
static const struct lp_copies *beside_baseline(const struct lp_link *link)
{
    const char *path = lp_json_str(json_object_get(link->result->head, "baseline"), "path", "");
    const struct lp_copies *first = NULL;

    for (size_t i = 0; i < link->copies.n; i++) {
        const struct lp_copies *copies = &link->copies.item[i];

        if (copies->timed || !lp_link_is_of_pairs(copies) || strcmp(copies->like->pattern, "one_way") != 0)
            continue;
        if (strcmp(copies->like->op, path) == 0)
            return copies;
        first = first ? first : copies;
    }
    return first;
}

/* How far the slowest is from the middle of its kind: an average would hide a bad slot. */
static void print_slowest_pair(const struct lp_link *link, FILE *out)
{
    const struct lp_copies *copies = beside_baseline(link);
    struct lp_spread all = {.n = 0}, same = {.n = 0};
    struct lp_figures figures;
    const char *kind;
    char edge[LP_WORD * 2], path[LP_LINK_WORDS], size[LP_WORD], number[LP_WORD], percent[LP_WORD];

    if (!copies)
        return;
    if (lp_figures_make(link->result, copies, &figures) == LP_OK)
        lp_figures_spread(&figures, NULL, false, &all);
    kind = lp_edge_kind(link->result, all.worst_edge);
    if (all.n > 0 && lp_figures_spread(&figures, kind, false, &same) == LP_OK)
        fprintf(out, "slowest pair alone: %s, %s, %s bytes, %s GB/s src -> dst, %s %% of the median pair of its kind (%s)\n",
                lp_link_edge(link, all.worst_edge, edge, sizeof(edge)), lp_link_path(link, copies->like, path, sizeof(path)),
                lp_format_size(copies->bytes, size, sizeof(size)), lp_words_number(all.worst, number, sizeof(number)),
                lp_words_percent(all.worst, same.median, percent, sizeof(percent)), kind);
    lp_figures_release(&figures);
}

static void print_parts(const struct lp_link *link, FILE *out, int width)
{
    print_title(link, out);
    if (link->n == 2)
        lp_link_two(link, out, width);
    if (link->n > 2)
        lp_link_matrices(link, out, width);
    if (link->n > 2)
        lp_link_kinds(link, out, width);
    lp_link_at_once(link, out, width);
    lp_link_isolated(link, out, width);
    lp_link_references(link, out, width);
    if (link->copies.n)
        fprintf(out, "\n");
    lp_link_outliers(link, out);
    lp_link_overlaps(link, out);
    lp_link_peers(link, out);
    lp_link_notes(link, out);
    lp_view_baseline(link->result, out);
    print_slowest_pair(link, out);
    lp_view_line_rate(link->result, out);
}

void lp_view_link(const struct lp_result *result, FILE *out, int width)
{
    struct lp_link link = {.result = result, .on_host = lp_title_on_host(result)};
    int ranks = (int)json_array_size(json_object_get(result->head, "ranks"));

    if (lp_copies_make(result, &link.copies) == LP_OK) {
        link.n = ranks_in(&link.copies);
        link.n = ranks > link.n ? ranks : link.n;
        print_parts(&link, out, width);
    } else {
        fprintf(out, "the tables of the link are missing here: out of memory\n");
    }
    lp_copies_release(&link.copies);
}
