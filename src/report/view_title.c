/* Titles and cells that several views share. Prints no table. */
#include "report/view_title.h"

#include "base/json.h"
#include "collectives/coll.h"
#include "p2p/path.h"
#include "report/view_words.h"

#include <math.h>
#include <string.h>

bool lp_title_on_host(const struct lp_result *result)
{
    return strcmp(lp_json_str(result->head, "device", ""), "host") == 0;
}

const char *lp_title_host_note(const struct lp_result *result)
{
    return lp_title_on_host(result) ? " (host memory: copies between processes, not a GPU link)" : "";
}

const char *lp_title_collective(const char *name)
{
    const struct lp_coll *coll = lp_coll_find(name);

    return coll ? coll->title : name;
}

bool lp_title_reduces(const char *name)
{
    const struct lp_coll *coll = lp_coll_find(name);

    return !coll || coll->flags & LP_COLL_REDUCES;
}

const char *lp_title_path(const char *name)
{
    const struct lp_path *path = lp_path_find(name);

    return path ? path->title : name;
}

double lp_title_line_gbps(const struct lp_result *result)
{
    return lp_json_num(json_object_get(json_object_get(result->head, "topology"), "line"), "gbps", (double)NAN);
}

/* What the records with a time say about their data; "" when all were checked. */
static const char *unchecked_note(const struct lp_grid *grid, enum lp_placement placement)
{
    size_t timed = 0, unchecked = 0;

    for (size_t i = 0; i < LP_NPLACEMENTS * grid->nrows * grid->ncolumns; i++) {
        const struct lp_record *record = grid->cell[i];

        if (!record || record->time_us.n == 0 || (placement != LP_NPLACEMENTS && record->cell.placement != placement))
            continue;
        timed++;
        unchecked += record->checked.iterations == 0;
    }
    if (unchecked == 0)
        return "";
    return unchecked == timed ? ", data unchecked" : ", data of some cells unchecked";
}

void lp_title_group(const struct lp_result *result, const struct lp_grid *grid, enum lp_placement placement, FILE *out)
{
    const struct lp_cell *cell = &grid->like->cell;
    size_t nranks = json_array_size(json_object_get(result->head, "ranks"));

    fprintf(out, "%s, %s", lp_title_collective(cell->op), lp_dtype_name(cell->dtype));
    if (lp_title_reduces(cell->op))
        fprintf(out, ", %s", lp_redop_name(cell->redop));
    if (cell->root >= 0)
        fprintf(out, ", root %d", cell->root);
    if (placement != LP_NPLACEMENTS)
        fprintf(out, ", %s", placement == LP_IN_PLACE ? "in place" : "out of place");
    fprintf(out, ", %s timing", lp_timing_name(cell->timing));
    if (nranks)
        fprintf(out, ", %zu rank%s", nranks, nranks == 1 ? "" : "s");
    if (cell->buffers[0] && strcmp(cell->buffers, "plain") != 0)
        fprintf(out, ", %s buffers", cell->buffers);
    if (grid->rounds > 0)
        fprintf(out, ", median of %d rounds", grid->rounds);
    else if (grid->like->round > 0)
        fprintf(out, ", round %d", grid->like->round);
    fprintf(out, "%s%s", lp_title_host_note(result), unchecked_note(grid, placement));
}

const char *lp_title_quantity(const struct lp_grid *grid)
{
    return lp_grid_has_busbw(grid) ? "busbw in GB/s per direction (10^9 bytes/s)"
                                   : "algbw in GB/s (10^9 bytes/s; one rank has no busbw: nothing crosses a link)";
}

const char *lp_title_cell(const struct lp_grid *grid, const struct lp_record *record, char *buf, size_t cap)
{
    if (record && record->outcome != LP_DONE) {
        snprintf(buf, cap, "%s", lp_words_outcome(record->outcome));
        return buf;
    }
    return lp_words_number(lp_grid_gbps(grid, record), buf, cap);
}
