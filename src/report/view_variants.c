/* How each variant's crews fared, and what the whole run amounts to. Their figures are in the other views. */
#include "report/views.h"

#include "base/json.h"
#include "model/variant.h"
#include "report/tables.h"
#include "report/view_words.h"

#include <math.h>
#include <string.h>

static const char *const phases[] = {"start", "init", "measure", "check", "end"};

#define NPHASES (sizeof(phases) / sizeof(phases[0]))

static const char *label_of(const json_t *variant, char *buf, size_t cap)
{
    return lp_variant_label(lp_json_str(variant, "name", "-"), (int)lp_json_int(variant, "repeat", 0), buf, cap);
}

/* Cells of the variant by outcome. Returns how many there are. */
static size_t count_cells(const struct lp_result *result, const json_t *variant, size_t counts[LP_NOUTCOMES])
{
    size_t n = 0;

    memset(counts, 0, LP_NOUTCOMES * sizeof(counts[0]));
    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];

        if (record->cell.kind != LP_COLLECTIVE || record->repeat != (int)lp_json_int(variant, "repeat", 0) ||
            strcmp(record->variant, lp_json_str(variant, "name", "")) != 0)
            continue;
        counts[record->outcome]++;
        n++;
    }
    return n;
}

/* ---- what disturbed its crews ---- */

/* The next of head.crews, from number *i on, that measured the variant; NULL: there is no more. */
static const json_t *next_crew(const json_t *head, const json_t *variant, size_t *i)
{
    const json_t *crews = json_object_get(head, "crews");

    while (*i < json_array_size(crews)) {
        const json_t *crew = json_array_get(crews, (*i)++);

        if (lp_json_str(crew, "variant", NULL) && strcmp(lp_json_str(crew, "variant", ""), lp_json_str(variant, "name", "")) == 0 &&
            lp_json_int(crew, "repeat", 0) == lp_json_int(variant, "repeat", 0))
            return crew;
    }
    return NULL;
}

static bool is_disturbed(const json_t *crew)
{
    return lp_json_bool(crew, "contended", false) || lp_json_bool(crew, "throttled", false);
}

static bool any_disturbed(const json_t *head)
{
    const json_t *crews = json_object_get(head, "crews");

    for (size_t i = 0; i < json_array_size(crews); i++)
        if (lp_json_str(json_array_get(crews, i), "variant", NULL) && is_disturbed(json_array_get(crews, i)))
            return true;
    return false;
}

/* "contended", "throttled", or both; "-" for a crew that was left in peace. */
static const char *mark_of(bool contended, bool throttled)
{
    if (contended)
        return throttled ? "contended, throttled" : "contended";
    return throttled ? "throttled" : "-";
}

/* All crews of the variant together, and how many of them it is about when not all. */
static void add_mark(struct lp_table *table, const json_t *head, const json_t *variant)
{
    bool contended = false, throttled = false;
    size_t i = 0, n = 0, disturbed = 0;
    const json_t *crew;

    while ((crew = next_crew(head, variant, &i)) != NULL) {
        contended |= lp_json_bool(crew, "contended", false);
        throttled |= lp_json_bool(crew, "throttled", false);
        disturbed += is_disturbed(crew);
        n++;
    }
    if (disturbed > 0 && disturbed < n)
        lp_table_cell(table, "%s (%zu of %zu crews)", mark_of(contended, throttled), disturbed, n);
    else
        lp_table_cell(table, "%s", mark_of(contended, throttled));
}

static void print_disturbance(const json_t *head, const json_t *variant, FILE *out)
{
    char label[LP_WORD * 2], line[512];
    const json_t *crew;
    size_t i = 0;

    while ((crew = next_crew(head, variant, &i)) != NULL) {
        const json_t *reasons = json_object_get(crew, "reasons");

        if (!is_disturbed(crew))
            continue;
        fprintf(out, "%s: crew %d %s: ", label_of(variant, label, sizeof(label)), (int)lp_json_int(crew, "crew", 0),
                mark_of(lp_json_bool(crew, "contended", false), lp_json_bool(crew, "throttled", false)));
        for (size_t k = 0; k < json_array_size(reasons); k++) {
            const char *reason = json_string_value(json_array_get(reasons, k));

            fprintf(out, "%s%s", k ? "; " : "", reason ? lp_words_line(reason, line, sizeof(line)) : "-");
        }
        fprintf(out, "; no part in claims\n");
    }
}

/* ---- the table ---- */

static void add_variant(struct lp_table *table, const struct lp_result *result, const json_t *variant, bool marked)
{
    const json_t *seconds = json_object_get(variant, "seconds");
    size_t counts[LP_NOUTCOMES], n = count_cells(result, variant, counts);
    char text[LP_WORD * 2];

    lp_table_row(table);
    lp_table_cell(table, "%s", label_of(variant, text, sizeof(text)));
    lp_table_cell(table, "%s", lp_json_str(variant, "outcome", "-"));
    if (marked)
        add_mark(table, result->head, variant);
    lp_table_cell(table, "%zu", counts[LP_DONE]);
    lp_table_cell(table, "%zu", n - counts[LP_DONE]);
    for (size_t i = 0; i < NPHASES; i++) {
        double spent = lp_json_num(seconds, phases[i], (double)NAN);

        if (isfinite(spent))
            lp_table_cell(table, "%.1f", spent);
        else
            lp_table_cell(table, "-");
    }
}

/* Why a variant is not fully ok, and where its workers' words are. */
static void print_trouble(const struct lp_result *result, const json_t *variant, FILE *out)
{
    const json_t *logs = json_object_get(variant, "logs");
    const char *reason = lp_json_str(variant, "reason", NULL), *outcome = lp_json_str(variant, "outcome", "");
    size_t counts[LP_NOUTCOMES];
    char label[LP_WORD * 2], line[1024];

    count_cells(result, variant, counts);
    label_of(variant, label, sizeof(label));
    if (reason)
        fprintf(out, "%s: %s%s%s\n", label, outcome, outcome[0] ? ": " : "", lp_words_line(reason, line, sizeof(line)));
    if (!(counts[LP_WRONG] + counts[LP_HANG] + counts[LP_CRASH] + counts[LP_FAILED]) && strcmp(outcome, "failed") != 0)
        return;
    for (size_t i = 0; i < json_array_size(logs); i++) {
        const char *path = json_string_value(json_array_get(logs, i));

        if (path)
            fprintf(out, "%s: log %s\n", label, lp_words_line(path, line, sizeof(line)));
    }
}

void lp_view_variants(const struct lp_result *result, FILE *out, int width)
{
    const json_t *variants = json_object_get(result->head, "variants");
    bool marked = any_disturbed(result->head);
    struct lp_table *table;
    char heading[LP_WORD];

    if (json_array_size(variants) == 0)
        return;
    table = lp_table_create();
    lp_table_column(table, LP_LEFT, "variant");
    lp_table_column(table, LP_LEFT, "outcome");
    if (marked)
        lp_table_column(table, LP_LEFT, "environment");
    lp_table_column(table, LP_RIGHT, "ok\ncells");
    lp_table_column(table, LP_RIGHT, "not ok\ncells");
    for (size_t i = 0; i < NPHASES; i++) {
        snprintf(heading, sizeof(heading), "%s\ns", phases[i]);
        lp_table_column(table, LP_RIGHT, heading);
    }
    for (size_t i = 0; i < json_array_size(variants); i++)
        add_variant(table, result, json_array_get(variants, i), marked);
    fprintf(out, "\nvariants: outcome, cells, seconds in each phase\n");
    lp_table_print(table, width, out);
    lp_table_free(table);
    for (size_t i = 0; i < json_array_size(variants); i++) {
        print_trouble(result, json_array_get(variants, i), out);
        print_disturbance(result->head, json_array_get(variants, i), out);
    }
}

void lp_view_verdict(const struct lp_result *result, FILE *out)
{
    static const enum lp_outcome worst_first[] = {LP_WRONG, LP_HANG, LP_CRASH, LP_FAILED, LP_UNSUPPORTED, LP_SKIPPED};
    size_t counts[LP_NOUTCOMES] = {0};

    for (size_t i = 0; i < result->n; i++)
        counts[result->record[i]->outcome]++;
    fprintf(out, "\nverdict: %zu cells, %zu ok\n", result->n, counts[LP_DONE]);
    for (size_t i = 0; i < sizeof(worst_first) / sizeof(worst_first[0]); i++)
        if (counts[worst_first[i]])
            fprintf(out, "%s: %zu cell%s\n", lp_outcome_name(worst_first[i]), counts[worst_first[i]],
                    counts[worst_first[i]] == 1 ? "" : "s");
    if (result->n == 0)
        fprintf(out, "no cell was measured\n");
    else if (counts[LP_WRONG] + counts[LP_HANG] + counts[LP_CRASH] + counts[LP_FAILED] == 0)
        fprintf(out, "no cell failed\n");
    for (size_t i = 0; i < json_array_size(json_object_get(result->head, "hints")); i++)
        fprintf(out, "hint: %s\n", json_string_value(json_array_get(json_object_get(result->head, "hints"), i)));
    if (!lp_json_bool(result->head, "complete", false))
        lp_view_state(result, out);
}
