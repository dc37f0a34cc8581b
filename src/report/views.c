/* The order of the parts, and what all of them is said when there is room for 8 KB. The parts are in view_*.c. */
#include "report/views.h"

#include "base/json.h"
#include "base/units.h"
#include "model/variant.h"
#include "report/view_grid.h"
#include "report/view_title.h"
#include "report/view_words.h"

#include <stdlib.h>
#include <string.h>

void lp_view_all(const struct lp_result *result, bool longer, int width, FILE *out)
{
    if (!lp_json_bool(result->head, "complete", false))
        lp_view_state(result, out);
    lp_view_head(result, out, width);
    lp_view_link(result, out, width);
    lp_view_collectives(result, out, width);
    if (longer)
        lp_view_long(result, out, width);
    lp_view_proof(result, out, width);
    lp_view_judge(result, out, width);
    lp_view_variants(result, out, width);
    lp_view_time(result, out);
    lp_view_verdict(result, out);
}

/* "ring: 104 cells, 103 ok, as far as AllGather ..." */
static void print_variant_reach(const struct lp_result *result, const json_t *variant, FILE *out)
{
    const char *name = lp_json_str(variant, "name", "");
    int repeat = (int)lp_json_int(variant, "repeat", 0);
    const struct lp_record *last = NULL;
    char label[LP_WORD * 2], words[256];
    size_t cells = 0, good = 0;

    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];

        if (record->cell.kind != LP_COLLECTIVE || strcmp(record->variant, name) != 0 || record->repeat != repeat)
            continue;
        cells++;
        good += record->outcome == LP_DONE;
        last = record;
    }
    fprintf(out, "%s: ", lp_variant_label(name, repeat, label, sizeof(label)));
    if (last)
        fprintf(out, "%zu cells, %zu ok, as far as %s\n", cells, good, lp_cell_words(&last->cell, words, sizeof(words)));
    else
        fprintf(out, "no cell measured\n");
}

static void print_default_column(const struct lp_result *result, const struct lp_grid *grid, enum lp_placement placement, FILE *out)
{
    char size[LP_WORD], number[LP_WORD];
    const char *gap = "  ";

    if (strcmp(grid->column[0].label, "default") != 0 || !lp_grid_has_column(grid, placement, 0))
        return;
    lp_title_group(result, grid, placement, out);
    fprintf(out, ", default: %s\n", lp_title_quantity(grid));
    for (size_t row = 0; row < grid->nrows; row++) {
        const struct lp_record *record = lp_grid_at(grid, placement, row, 0);

        if (!record)
            continue;
        fprintf(out, "%s%s: %s", gap, lp_format_size(lp_grid_size(grid, placement, row), size, sizeof(size)),
                lp_title_cell(grid, record, number, sizeof(number)));
        gap = ", ";
    }
    fprintf(out, "\n");
}

static void print_default_columns(const struct lp_result *result, FILE *out)
{
    struct lp_grids grids;

    if (lp_grids_merge(result, &grids) == LP_OK)
        for (size_t i = 0; i < grids.n; i++)
            for (int placement = 0; placement < LP_NPLACEMENTS; placement++)
                print_default_column(result, &grids.item[i], (enum lp_placement)placement, out);
    lp_grids_release(&grids);
}

static void print_summary(const struct lp_result *result, FILE *out)
{
    const json_t *variants = json_object_get(result->head, "variants");

    lp_view_state(result, out);
    lp_view_baseline(result, out);
    lp_view_verdict(result, out);
    for (size_t i = 0; i < json_array_size(variants); i++)
        print_variant_reach(result, json_array_get(variants, i), out);
    print_default_columns(result, out);
}

/* Length of the whole lines of text that fit into room. */
static size_t whole_lines(const char *text, size_t len, size_t room)
{
    size_t end = len < room ? len : room;

    while (end > 0 && text[end - 1] != '\n')
        end--;
    return end;
}

void lp_view_summary(const struct lp_result *result, size_t cap_bytes, const char *show_line, FILE *out)
{
    static const char cut[] = "(cut here)\n";
    size_t len = 0, kept, tail = (show_line ? sizeof("all of it: \n") + strlen(show_line) : 0) + sizeof(cut);
    char *text = NULL;
    FILE *memory = open_memstream(&text, &len);

    if (memory) {
        print_summary(result, memory);
        fclose(memory);
    }
    kept = whole_lines(text, text ? len : 0, cap_bytes > tail ? cap_bytes - tail : 0);
    fwrite(text, 1, kept, out);
    if (kept < len)
        fputs(cut, out);
    if (show_line)
        fprintf(out, "all of it: %s\n", show_line);
    free(text);
}
