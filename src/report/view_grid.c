/* Sorting records into grids. Prints nothing. */
#include "report/view_grid.h"

#include "base/json.h"
#include "model/variant.h"
#include "report/view_rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cells that may stand in one table, if their rounds may. */
static bool comparable(const struct lp_record *a, const struct lp_record *b)
{
    return strcmp(a->cell.op, b->cell.op) == 0 && strcmp(a->cell.library, b->cell.library) == 0 &&
           strcmp(a->cell.buffers, b->cell.buffers) == 0 && a->cell.dtype == b->cell.dtype && a->cell.redop == b->cell.redop &&
           a->cell.root == b->cell.root && a->cell.timing == b->cell.timing;
}

static bool belongs(const struct lp_grid *grid, const struct lp_record *record)
{
    return record->cell.kind == LP_COLLECTIVE && comparable(grid->like, record) &&
           (grid->rounds > 0 || grid->like->round == record->round);
}

static enum lp_status add_grid(struct lp_grids *grids, const struct lp_record *like, int rounds)
{
    struct lp_grid *grown;

    for (size_t i = 0; i < grids->n; i++)
        if (belongs(&grids->item[i], like))
            return LP_OK;
    grown = realloc(grids->item, (grids->n + 1) * sizeof(*grown));
    if (!grown)
        return LP_ERR_MEMORY;
    grids->item = grown;
    grown[grids->n++] = (struct lp_grid){.like = like, .link_gbps = (double)NAN, .rounds = rounds};
    return LP_OK;
}

static enum lp_status add_row(struct lp_grid *grid, size_t requested)
{
    size_t *grown, at = grid->nrows;

    while (at > 0 && grid->requested[at - 1] > requested)
        at--;
    if (at > 0 && grid->requested[at - 1] == requested)
        return LP_OK;
    grown = realloc(grid->requested, (grid->nrows + 1) * sizeof(*grown));
    if (!grown)
        return LP_ERR_MEMORY;
    grid->requested = grown;
    memmove(&grown[at + 1], &grown[at], (grid->nrows - at) * sizeof(*grown));
    grown[at] = requested;
    grid->nrows++;
    return LP_OK;
}

static size_t find_column(const struct lp_grid *grid, const char *name, int repeat)
{
    size_t c = 0;

    while (c < grid->ncolumns && (grid->column[c].repeat != repeat || strcmp(grid->column[c].name, name) != 0))
        c++;
    return c;
}

/* Adds the variant's column if the grid lacks it and some record is for it. */
static enum lp_status add_column(const struct lp_result *result, struct lp_grid *grid, const char *name, int repeat)
{
    struct lp_grid_column *grown;
    size_t i = 0;

    while (i < result->n && !(belongs(grid, result->record[i]) && result->record[i]->repeat == repeat &&
                              strcmp(result->record[i]->variant, name) == 0))
        i++;
    if (i == result->n || find_column(grid, name, repeat) < grid->ncolumns)
        return LP_OK;
    grown = realloc(grid->column, (grid->ncolumns + 1) * sizeof(*grown));
    if (!grown)
        return LP_ERR_MEMORY;
    grid->column = grown;
    grown += grid->ncolumns++;
    *grown = (struct lp_grid_column){.name = result->record[i]->variant, .repeat = repeat};
    lp_variant_label(grown->name, repeat, grown->label, sizeof(grown->label));
    return LP_OK;
}

static enum lp_status add_columns(const struct lp_result *result, struct lp_grid *grid)
{
    const json_t *variants = json_object_get(result->head, "variants");
    enum lp_status st = add_column(result, grid, "default", 0);

    if (st == LP_OK)
        st = add_column(result, grid, "default", 1);
    for (size_t i = 0; i < json_array_size(variants) && st == LP_OK; i++) {
        const json_t *variant = json_array_get(variants, i);

        st = add_column(result, grid, lp_json_str(variant, "name", ""), (int)lp_json_int(variant, "repeat", 0));
    }
    for (size_t i = 0; i < result->n && st == LP_OK; i++) /* a journal may have records before its variants */
        if (belongs(grid, result->record[i]))
            st = add_column(result, grid, result->record[i]->variant, result->record[i]->repeat);
    return st;
}

static size_t cell_index(const struct lp_grid *grid, enum lp_placement placement, size_t row, size_t column)
{
    return ((size_t)placement * grid->nrows + row) * grid->ncolumns + column;
}

/* Where the record belongs; the caller has made its row and column. */
static size_t slot_of(const struct lp_grid *grid, const struct lp_record *record)
{
    size_t row = 0;

    while (grid->requested[row] != record->cell.requested_bytes)
        row++;
    return cell_index(grid, record->cell.placement, row, find_column(grid, record->variant, record->repeat));
}

static enum lp_status fill(const struct lp_result *result, struct lp_grid *grid)
{
    grid->cell = calloc(LP_NPLACEMENTS * grid->nrows * grid->ncolumns, sizeof(struct lp_record *));
    if (!grid->cell)
        return LP_ERR_MEMORY;
    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record **slot;

        if (!belongs(grid, result->record[i]))
            continue;
        slot = &grid->cell[slot_of(grid, result->record[i])];
        if (!*slot)
            *slot = result->record[i];
    }
    return LP_OK;
}

/* Puts one record for all rounds wherever there is any. */
static enum lp_status merge(const struct lp_result *result, struct lp_grid *grid)
{
    size_t nslots = LP_NPLACEMENTS * grid->nrows * grid->ncolumns;
    struct lp_rounds *rounds = calloc(nslots, sizeof(*rounds));
    enum lp_status st = LP_OK;

    grid->made = calloc(nslots, sizeof(*grid->made));
    if (!rounds || !grid->made)
        st = LP_ERR_MEMORY;
    for (size_t i = 0; i < result->n && st == LP_OK; i++)
        if (belongs(grid, result->record[i]))
            st = lp_rounds_add(result, &rounds[slot_of(grid, result->record[i])], result->record[i]);
    for (size_t slot = 0; slot < nslots && st == LP_OK; slot++)
        if (rounds[slot].n) {
            lp_rounds_merge(&rounds[slot], &grid->made[slot]);
            grid->cell[slot] = &grid->made[slot];
        }
    for (size_t slot = 0; rounds && slot < nslots; slot++)
        lp_rounds_release(&rounds[slot]);
    free(rounds);
    return st;
}

static enum lp_status make_grid(const struct lp_result *result, struct lp_grid *grid)
{
    enum lp_status st = add_columns(result, grid);

    grid->link_gbps = lp_json_num(json_object_get(result->head, "baseline"), "gbps", (double)NAN);
    for (size_t i = 0; i < result->n && st == LP_OK; i++)
        if (belongs(grid, result->record[i]))
            st = add_row(grid, result->record[i]->cell.requested_bytes);
    if (st == LP_OK)
        st = fill(result, grid);
    return st == LP_OK && grid->rounds > 0 ? merge(result, grid) : st;
}

static enum lp_status make_grids(const struct lp_result *result, int rounds, struct lp_grids *out)
{
    enum lp_status st = LP_OK;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < result->n && st == LP_OK; i++)
        if (result->record[i]->cell.kind == LP_COLLECTIVE)
            st = add_grid(out, result->record[i], rounds);
    for (size_t i = 0; i < out->n && st == LP_OK; i++)
        st = make_grid(result, &out->item[i]);
    return st;
}

enum lp_status lp_grids_make(const struct lp_result *result, struct lp_grids *out)
{
    return make_grids(result, 0, out);
}

enum lp_status lp_grids_merge(const struct lp_result *result, struct lp_grids *out)
{
    int last = 0;

    for (size_t i = 0; i < result->n; i++)
        if (result->record[i]->cell.kind == LP_COLLECTIVE && result->record[i]->round > last)
            last = result->record[i]->round;
    return make_grids(result, last > 1 ? last : 0, out);
}

void lp_grids_release(struct lp_grids *grids)
{
    for (size_t i = 0; i < grids->n; i++) {
        free(grids->item[i].column);
        free(grids->item[i].requested);
        free(grids->item[i].cell);
        free(grids->item[i].made);
    }
    free(grids->item);
    memset(grids, 0, sizeof(*grids));
}

const struct lp_record *lp_grid_at(const struct lp_grid *grid, enum lp_placement placement, size_t row, size_t column)
{
    return grid->cell[cell_index(grid, placement, row, column)];
}

bool lp_grid_has_row(const struct lp_grid *grid, enum lp_placement placement, size_t row)
{
    for (size_t c = 0; c < grid->ncolumns; c++)
        if (lp_grid_at(grid, placement, row, c))
            return true;
    return false;
}

bool lp_grid_has_column(const struct lp_grid *grid, enum lp_placement placement, size_t column)
{
    for (size_t row = 0; row < grid->nrows; row++)
        if (lp_grid_at(grid, placement, row, column))
            return true;
    return false;
}

size_t lp_grid_size(const struct lp_grid *grid, enum lp_placement placement, size_t row)
{
    for (size_t c = 0; c < grid->ncolumns; c++) {
        const struct lp_record *record = lp_grid_at(grid, placement, row, c);

        if (record && record->cell.size_bytes)
            return record->cell.size_bytes;
    }
    return grid->requested[row];
}

bool lp_grid_has_busbw(const struct lp_grid *grid)
{
    bool algbw = false;

    for (size_t i = 0; i < LP_NPLACEMENTS * grid->nrows * grid->ncolumns; i++) {
        if (grid->cell[i] && isfinite(grid->cell[i]->busbw_gbps))
            return true;
        algbw = algbw || (grid->cell[i] && isfinite(grid->cell[i]->algbw_gbps));
    }
    return !algbw;
}

double lp_grid_gbps(const struct lp_grid *grid, const struct lp_record *record)
{
    if (!record || record->time_us.n == 0)
        return (double)NAN;
    return lp_grid_has_busbw(grid) ? record->busbw_gbps : record->algbw_gbps;
}

const struct lp_record *lp_grid_fastest(const struct lp_grid *grid, enum lp_placement placement, size_t row)
{
    const struct lp_record *best = NULL;

    for (size_t c = 0; c < grid->ncolumns; c++) {
        const struct lp_record *record = lp_grid_at(grid, placement, row, c);

        if (!record || record->repeat > 0 || !lp_record_usable(record) || !isfinite(lp_grid_gbps(grid, record)))
            continue;
        if (!best || lp_grid_gbps(grid, record) > lp_grid_gbps(grid, best))
            best = record;
    }
    return best;
}

double lp_grid_link(const struct lp_grid *grid, enum lp_placement placement, size_t row)
{
    const struct lp_record *fastest = lp_grid_fastest(grid, placement, row);

    if (fastest && isfinite(fastest->link_gbps))
        return fastest->link_gbps;
    for (size_t c = 0; c < grid->ncolumns; c++) {
        const struct lp_record *record = lp_grid_at(grid, placement, row, c);

        if (record && isfinite(record->link_gbps))
            return record->link_gbps;
    }
    return grid->link_gbps;
}

/* All records of a row have the same one, but those of sizes that were not measured. */
double lp_grid_same_size(const struct lp_grid *grid, enum lp_placement placement, size_t row)
{
    for (size_t c = 0; c < grid->ncolumns; c++) {
        const struct lp_record *record = lp_grid_at(grid, placement, row, c);

        if (record && isfinite(record->link_same_gbps))
            return record->link_same_gbps;
    }
    return (double)NAN;
}
