/* The link: one line a directed pair, then the baseline, the slowest pair and the line rate. Collectives are view_coll's. */
#include "report/views.h"

#include "base/json.h"
#include "base/units.h"
#include "report/tables.h"
#include "report/view_title.h"
#include "report/view_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATHS 16

/* Copies of one column: how, and by how many processes. */
struct way {
    const char *path, *processes;
};

struct links {
    struct way way[MAX_PATHS];
    size_t nways;
    struct lp_edge *pair;
    size_t npairs;
};

static bool is_pair_copy(const struct lp_record *record)
{
    return record->cell.kind == LP_COPY && record->cell.nedges == 1 && strcmp(record->cell.pattern, "one_way") == 0;
}

static void add_way(struct links *links, const struct lp_cell *cell)
{
    for (size_t i = 0; i < links->nways; i++)
        if (strcmp(links->way[i].path, cell->op) == 0 && strcmp(links->way[i].processes, cell->processes) == 0)
            return;
    if (links->nways < MAX_PATHS)
        links->way[links->nways++] = (struct way){.path = cell->op, .processes = cell->processes};
}

static void add_pair(struct links *links, int src, int dst)
{
    struct lp_edge *grown;

    for (size_t i = 0; i < links->npairs; i++)
        if (links->pair[i].src == src && links->pair[i].dst == dst)
            return;
    grown = realloc(links->pair, (links->npairs + 1) * sizeof(*grown));
    if (!grown)
        return;
    links->pair = grown;
    grown[links->npairs++] = (struct lp_edge){.src = src, .dst = dst};
}

static const json_t *topology_pairs(const struct lp_result *result)
{
    return json_object_get(json_object_get(result->head, "topology"), "pairs");
}

/* Pairs and columns that the result has anything about. links->pair is the caller's to free. */
static void find_links(const struct lp_result *result, struct links *links)
{
    const json_t *pairs = topology_pairs(result);

    memset(links, 0, sizeof(*links));
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        const json_t *pair = json_array_get(pairs, i);

        add_pair(links, (int)lp_json_int(pair, "src", -1), (int)lp_json_int(pair, "dst", -1));
    }
    for (size_t i = 0; i < result->n; i++)
        if (is_pair_copy(result->record[i])) {
            add_way(links, &result->record[i]->cell);
            add_pair(links, result->record[i]->cell.edges[0].src, result->record[i]->cell.edges[0].dst);
        }
}

/* The copy of the largest size; NULL: none was recorded. */
static const struct lp_record *find_copy(const struct lp_result *result, const struct way *way, struct lp_edge pair)
{
    const struct lp_record *best = NULL;

    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];
        const struct lp_cell *cell = &record->cell;

        if (is_pair_copy(record) && cell->edges[0].src == pair.src && cell->edges[0].dst == pair.dst &&
            strcmp(cell->op, way->path) == 0 && strcmp(cell->processes, way->processes) == 0 &&
            (!best || cell->requested_bytes > best->cell.requested_bytes))
            best = record;
    }
    return best;
}

static double gbps_of(const struct lp_record *record)
{
    return record && lp_record_usable(record) ? record->algbw_gbps : (double)NAN;
}

/* Each ", " becomes a line break. */
static void break_at_commas(char *text)
{
    for (char *comma = strstr(text, ", "); comma; comma = strstr(comma, ", ")) {
        *comma = '\n';
        memmove(comma + 1, comma + 2, strlen(comma + 2) + 1);
    }
}

/* "copy engine write", "P2P on", "GB/s src -> dst" in a line each. */
static void add_way_column(struct lp_table *table, const struct way *way, bool on_host)
{
    const char *note = "";
    char heading[256];

    if (on_host)
        note = ", host memory";
    else if (strcmp(way->processes, "ipc") == 0)
        note = ", between two processes";
    snprintf(heading, sizeof(heading), "%s%s, GB/s src -> dst", lp_title_path(way->path), note);
    break_at_commas(heading);
    lp_table_column(table, LP_RIGHT, heading);
}

/* The copy engine's column, which is what the line rate is compared with; NULL: it was not measured, or there is no rate. */
static const struct way *rated_way(const struct lp_result *result, const struct links *links)
{
    for (size_t i = 0; i < links->nways && isfinite(lp_title_line_gbps(result)); i++)
        if (strcmp(links->way[i].path, "ce_write") == 0)
            return &links->way[i];
    return NULL;
}

static void add_copy_cell(struct lp_table *table, const struct lp_record *record)
{
    char number[LP_WORD];

    if (record && record->outcome != LP_DONE)
        lp_table_cell(table, "%s", lp_words_outcome(record->outcome));
    else
        lp_table_cell(table, "%s", lp_words_number(gbps_of(record), number, sizeof(number)));
}

/* The driver's word on peer access, with its reason. */
static void add_access_cell(struct lp_table *table, const struct lp_result *result, struct lp_edge edge)
{
    const json_t *pairs = topology_pairs(result), *access = NULL;
    const char *reason = NULL;
    char line[512];

    for (size_t i = 0; i < json_array_size(pairs) && !access; i++) {
        const json_t *pair = json_array_get(pairs, i);

        if (lp_json_int(pair, "src", -1) != edge.src || lp_json_int(pair, "dst", -1) != edge.dst)
            continue;
        access = json_object_get(pair, "peer_access");
        reason = lp_json_str(pair, "reason", NULL);
    }
    if (json_is_true(access))
        lp_table_cell(table, "yes");
    else
        lp_table_cell(table, "%s%s%s", json_is_false(access) ? "no" : "unknown", reason ? ": " : "",
                      reason ? lp_words_line(reason, line, sizeof(line)) : "");
}

static void print_table(const struct lp_result *result, const struct links *links, FILE *out, int width)
{
    const struct way *rated = rated_way(result, links);
    bool on_host = lp_title_on_host(result);
    struct lp_table *table = lp_table_create();
    char percent[LP_WORD];

    lp_table_column(table, LP_LEFT, "pair\nsrc -> dst");
    for (size_t w = 0; w < links->nways; w++)
        add_way_column(table, &links->way[w], on_host);
    if (rated)
        lp_table_column(table, LP_RIGHT, "copy engine write\nof line rate\npercent");
    lp_table_column(table, LP_LEFT, on_host ? "shared memory" : "peer access\nby the driver");
    for (size_t p = 0; p < links->npairs; p++) {
        lp_table_row(table);
        lp_table_cell(table, "%d -> %d", links->pair[p].src, links->pair[p].dst);
        for (size_t w = 0; w < links->nways; w++)
            add_copy_cell(table, find_copy(result, &links->way[w], links->pair[p]));
        if (rated)
            lp_table_cell(table, "%s",
                          lp_words_percent(gbps_of(find_copy(result, rated, links->pair[p])), lp_title_line_gbps(result), percent,
                                           sizeof(percent)));
        add_access_cell(table, result, links->pair[p]);
    }
    lp_table_print(table, width, out);
    lp_table_free(table);
}

static bool same_trouble(const struct lp_record *a, const struct lp_record *b)
{
    return b->cell.kind == LP_COPY && a->outcome == b->outcome && strcmp(a->cell.op, b->cell.op) == 0 &&
           strcmp(a->cell.pattern, b->cell.pattern) == 0 && strcmp(a->reason, b->reason) == 0;
}

/* The line for one path, outcome and reason, with all it happened to; nothing when an earlier record has said it. */
static void print_note(const struct lp_result *result, size_t index, FILE *out)
{
    const struct lp_record *record = result->record[index];
    const struct lp_cell *cell = &record->cell;
    char reason[512];

    for (size_t i = 0; i < index; i++)
        if (same_trouble(record, result->record[i]))
            return;
    fprintf(out, "%s: %s, ", lp_title_path(cell->op), lp_outcome_name(record->outcome));
    if (!is_pair_copy(record))
        fprintf(out, "%s", cell->pattern);
    for (size_t i = index; i < result->n && is_pair_copy(record); i++)
        if (same_trouble(record, result->record[i]))
            fprintf(out, "%s%d -> %d", i > index ? ", " : "", result->record[i]->cell.edges[0].src,
                    result->record[i]->cell.edges[0].dst);
    fprintf(out, ": %s\n", lp_words_reason(record, reason, sizeof(reason)));
}

/* Copies that have no good figure; rings too, since the baseline is one. */
static void print_notes(const struct lp_result *result, FILE *out)
{
    for (size_t i = 0; i < result->n; i++)
        if (result->record[i]->cell.kind == LP_COPY && result->record[i]->outcome != LP_DONE)
            print_note(result, i, out);
}

/* The size of the copies in the table when it is one; 0 otherwise. */
static size_t common_size(const struct lp_result *result, const struct links *links)
{
    size_t size = 0;

    for (size_t p = 0; p < links->npairs; p++)
        for (size_t w = 0; w < links->nways; w++) {
            const struct lp_record *record = find_copy(result, &links->way[w], links->pair[p]);

            if (record && size && record->cell.requested_bytes != size)
                return 0;
            if (record)
                size = record->cell.requested_bytes;
        }
    return size;
}

static void print_title(const struct lp_result *result, const struct links *links, FILE *out)
{
    size_t bytes = common_size(result, links);
    char size[LP_WORD];

    fprintf(out, "\n%s: one copy at a time", lp_title_on_host(result) ? "host memory" : "link between GPUs");
    if (bytes)
        fprintf(out, " of %s bytes", lp_format_size(bytes, size, sizeof(size)));
    fprintf(out, ", GB/s in the one direction src -> dst (10^9 bytes/s)%s\n", lp_title_host_note(result));
}

/* The slowest pair of a column, and how far it is from the middle one: an average would hide a bad slot. */
static void print_slowest(const struct lp_result *result, const struct links *links, const struct way *way, FILE *out)
{
    double *gbps = calloc(links->npairs, sizeof(*gbps));
    struct lp_edge slowest = {0, 0};
    double least = (double)INFINITY;
    size_t n = 0;
    char number[LP_WORD], percent[LP_WORD];

    for (size_t p = 0; p < links->npairs && gbps; p++) {
        double here = gbps_of(find_copy(result, way, links->pair[p]));

        if (!isfinite(here))
            continue;
        gbps[n++] = here;
        if (here < least) {
            least = here;
            slowest = links->pair[p];
        }
    }
    if (n > 0)
        fprintf(out, "slowest pair alone: %d -> %d, %s, %s GB/s src -> dst, %s %% of the median pair\n", slowest.src, slowest.dst,
                lp_title_path(way->path), lp_words_number(least, number, sizeof(number)),
                lp_words_percent(least, lp_median(gbps, n), percent, sizeof(percent)));
    free(gbps);
}

/* For the baseline's path, so that the two can be compared; else for the first that was measured. */
static void print_slowest_pair(const struct lp_result *result, const struct links *links, FILE *out)
{
    const char *path = lp_json_str(json_object_get(result->head, "baseline"), "path", "");
    const struct way *way = links->nways ? &links->way[0] : NULL;

    for (size_t w = links->nways; w-- > 0;)
        if (strcmp(links->way[w].path, path) == 0)
            way = &links->way[w];
    if (way)
        print_slowest(result, links, way, out);
}

void lp_view_link(const struct lp_result *result, FILE *out, int width)
{
    struct links links;

    find_links(result, &links);
    if (links.npairs) {
        print_title(result, &links, out);
        print_table(result, &links, out, width);
    }
    print_notes(result, out);
    lp_view_baseline(result, out);
    print_slowest_pair(result, &links, out);
    lp_view_line_rate(result, out);
    free(links.pair);
}
