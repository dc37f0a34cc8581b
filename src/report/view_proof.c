/* What each variant really did: its standing, the transport NCCL used, and what became of each variable it asked for. */
#include "report/views.h"

#include "base/json.h"
#include "model/variant.h"
#include "report/tables.h"
#include "report/view_words.h"

#include <string.h>

static bool is_proven(const json_t *variant)
{
    return json_is_object(json_object_get(variant, "nccl_log"));
}

/* The variables' fates in a row: "asked NCCL_ALGO=Ring, NCCL took Ring; ...". */
static const char *fates(const json_t *variant, char *buf, size_t cap)
{
    json_t *taken = json_object_get(variant, "acknowledged"), *fate;
    size_t used = 0;
    const char *name;

    snprintf(buf, cap, "%s", json_object_size(taken) ? "" : "nothing asked");
    json_object_foreach(taken, name, fate) if (used < cap) used +=
        (size_t)snprintf(buf + used, cap - used, "%s%s", used ? "; " : "", lp_json_str(fate, "words", name));
    return buf;
}

static void add_row(struct lp_table *table, const json_t *variant)
{
    char label[LP_WORD * 2], words[4096];
    bool first = strcmp(lp_json_str(variant, "name", ""), "default") == 0 && lp_json_int(variant, "repeat", 0) == 0;

    lp_table_row(table);
    lp_table_cell(
        table, "%s",
        lp_variant_label(lp_json_str(variant, "name", "-"), (int)lp_json_int(variant, "repeat", 0), label, sizeof(label)));
    lp_table_cell(table, "%s", lp_json_str(variant, "standing", first ? "what others are held against" : "unproven"));
    lp_table_cell(table, "%s", lp_json_str(json_object_get(variant, "nccl_log"), "transport", "unknown"));
    lp_table_cell(table, "%s", fates(variant, words, sizeof(words)));
}

/* Variants that are one path: what differs among them is noise, or a buffer's size. */
static void print_groups(const json_t *groups, FILE *out)
{
    for (size_t g = 0; g < json_array_size(groups); g++) {
        const json_t *members = json_array_get(groups, g);

        fprintf(out, "one path: ");
        for (size_t i = 0; i < json_array_size(members); i++)
            fprintf(out, "%s%s", i ? ", " : "", json_string_value(json_array_get(members, i)));
        fprintf(out, "\n");
    }
}

/* Sentences that need room: why a variant has its standing, in what its ranks differ, what NCCL warned of. */
static void print_notes(const json_t *variant, FILE *out)
{
    const json_t *warnings = json_object_get(json_object_get(variant, "nccl_log"), "warnings");
    const char *standing = lp_json_str(variant, "standing_words", NULL), *differences = lp_json_str(variant, "differences", NULL);
    char label[LP_WORD * 2], line[1024];

    lp_variant_label(lp_json_str(variant, "name", "-"), (int)lp_json_int(variant, "repeat", 0), label, sizeof(label));
    if (standing)
        fprintf(out, "%s: %s\n", label, lp_words_line(standing, line, sizeof(line)));
    if (differences)
        fprintf(out, "%s: ranks differ: %s\n", label, lp_words_line(differences, line, sizeof(line)));
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const char *text = lp_json_str(json_array_get(warnings, i), "text", json_string_value(json_array_get(warnings, i)));

        if (text)
            fprintf(out, "%s: NCCL says: %s\n", label, lp_words_line(text, line, sizeof(line)));
    }
}

void lp_view_proof(const struct lp_result *result, FILE *out, int width)
{
    const json_t *variants = json_object_get(result->head, "variants");
    struct lp_table *table;
    size_t proven = 0;

    for (size_t i = 0; i < json_array_size(variants); i++)
        proven += is_proven(json_array_get(variants, i));
    if (!proven)
        return;
    table = lp_table_create();
    lp_table_column(table, LP_LEFT, "variant");
    lp_table_column(table, LP_LEFT, "standing");
    lp_table_column(table, LP_LEFT, "transport");
    lp_table_column(table, LP_LEFT, "asked and taken");
    for (size_t i = 0; i < json_array_size(variants); i++)
        if (is_proven(json_array_get(variants, i)))
            add_row(table, json_array_get(variants, i));
    fprintf(out, "\nwhat each variant did, by NCCL's own log\n");
    lp_table_print(table, width, out);
    lp_table_free(table);
    print_groups(json_object_get(result->head, "same_path"), out);
    for (size_t i = 0; i < json_array_size(variants); i++)
        if (is_proven(json_array_get(variants, i)))
            print_notes(json_array_get(variants, i), out);
}
