/* Three GPUs and more: a matrix for each path, source down and destination across. Two GPUs have view_link_two. */
#include "report/view_link_parts.h"

#include "report/view_title.h"

#include <math.h>

/* Without one the matrix would say no more than the note on what happened. */
static bool has_figure(const struct lp_link *link, const struct lp_copies *copies)
{
    for (int a = 0; a < link->n; a++)
        for (int b = 0; b < link->n; b++) {
            struct lp_edge edge = {a, b};

            if (isfinite(lp_copies_figure(copies, lp_copies_at(copies, edge), edge)))
                return true;
        }
    return false;
}

static void print_heading(const struct lp_link *link, const struct lp_copies *copies, FILE *out)
{
    char path[LP_LINK_WORDS], measure[LP_LINK_WORDS];

    fprintf(out, "\n%s, %s, source (down) -> destination (across), %s%s%s\n", lp_link_path(link, copies->like, path, sizeof(path)),
            lp_link_measure(copies, measure, sizeof(measure)), lp_link_unit(copies), copies->timed ? "" : " (10^9 bytes/s)",
            lp_title_host_note(link->result));
}

static void print_matrix(const struct lp_link *link, const struct lp_copies *copies, FILE *out, int width)
{
    struct lp_table *table = lp_table_create();
    char name[LP_WORD];

    lp_table_column(table, LP_LEFT, "");
    for (int b = 0; b < link->n; b++) {
        snprintf(name, sizeof(name), "%d", b);
        lp_table_column(table, LP_RIGHT, name);
    }
    for (int a = 0; a < link->n; a++) {
        lp_table_row(table);
        lp_table_cell(table, "%s", lp_link_end(link, a, name, sizeof(name)));
        for (int b = 0; b < link->n; b++)
            if (a == b)
                lp_table_cell(table, ".");
            else
                lp_link_cell(copies, (struct lp_edge){a, b}, table);
    }
    print_heading(link, copies, out);
    lp_table_print(table, width, out);
    lp_table_free(table);
}

static void print_matrices(const struct lp_link *link, bool timed, FILE *out, int width)
{
    for (size_t i = 0; i < link->copies.n; i++) {
        const struct lp_copies *copies = &link->copies.item[i];

        if (copies->timed == timed && lp_link_is_of_pairs(copies) && has_figure(link, copies))
            print_matrix(link, copies, out, width);
    }
}

void lp_link_matrices(const struct lp_link *link, FILE *out, int width)
{
    print_matrices(link, false, out, width);
    print_matrices(link, true, out, width);
}
