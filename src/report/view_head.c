/* The head of a report: who ran where, with which versions and settings. Numbers come in the other views. */
#include "report/views.h"

#include "base/json.h"
#include "model/variant.h"
#include "report/tables.h"
#include "report/view_title.h"
#include "report/view_words.h"

#include <string.h>

void lp_view_state(const struct lp_result *result, FILE *out)
{
    char line[512];

    if (lp_json_bool(result->head, "complete", false))
        fprintf(out, "run complete\n");
    else
        fprintf(out, "INCOMPLETE RUN: %s; what was measured follows\n",
                lp_words_line(lp_json_str(result->head, "ended", "it did not reach its end"), line, sizeof(line)));
}

/* Items of a list of strings on one line under a name; nothing for an empty or missing list. */
static void print_list(const json_t *head, const char *key, const char *name, const char *gap, FILE *out)
{
    const json_t *list = json_object_get(head, key);
    char line[4096];

    if (json_array_size(list) == 0)
        return;
    fprintf(out, "%s: ", name);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));

        fprintf(out, "%s%s", i ? gap : "", text ? lp_words_line(text, line, sizeof(line)) : "-");
    }
    fprintf(out, "\n");
}

static void add_number(struct lp_table *table, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_integer(value))
        lp_table_cell(table, "%lld", (long long)json_integer_value(value));
    else
        lp_table_cell(table, "-");
}

static void add_rank(struct lp_table *table, const json_t *rank, bool on_host)
{
    const json_t *gpu = json_object_get(rank, "gpu");

    lp_table_row(table);
    add_number(table, rank, "rank");
    lp_table_cell(table, "%s", lp_json_str(rank, "host", "-"));
    add_number(table, rank, "local_rank");
    lp_table_cell(table, "%s", on_host ? "host memory" : lp_json_str(gpu, "name", "-"));
    if (!on_host) {
        lp_table_cell(table, "%s", lp_json_str(gpu, "pci", "-"));
        lp_table_cell(table, "%s", lp_json_str(gpu, "uuid", "-"));
    }
    if (lp_json_str(rank, "worker_cpus", NULL) && strcmp(lp_json_str(rank, "worker_cpus", ""), lp_json_str(rank, "cpus", "")) != 0)
        lp_table_cell(table, "%s of %s", lp_json_str(rank, "worker_cpus", ""), lp_json_str(rank, "cpus", "unknown"));
    else
        lp_table_cell(table, "%s", lp_json_str(rank, "cpus", "unknown"));
}

static void print_ranks(const struct lp_result *result, FILE *out, int width)
{
    const json_t *ranks = json_object_get(result->head, "ranks");
    bool on_host = lp_title_on_host(result);
    struct lp_table *table;

    if (json_array_size(ranks) == 0)
        return;
    table = lp_table_create();
    lp_table_column(table, LP_RIGHT, "rank");
    lp_table_column(table, LP_LEFT, "host");
    lp_table_column(table, LP_RIGHT, "local rank");
    lp_table_column(table, LP_LEFT, on_host ? "device" : "GPU");
    if (!on_host) {
        lp_table_column(table, LP_LEFT, "PCI id");
        lp_table_column(table, LP_LEFT, "UUID");
    }
    lp_table_column(table, LP_LEFT, "CPUs");
    for (size_t i = 0; i < json_array_size(ranks); i++)
        add_rank(table, json_array_get(ranks, i), on_host);
    fprintf(out, "\n");
    lp_table_print(table, width, out);
    lp_table_free(table);
}

static void print_versions(const json_t *head, FILE *out)
{
    static const struct {
        const char *key, *name;
    } versions[] = {{"linkperf", "linkperf"},
                    {"driver", "driver"},
                    {"cuda_runtime", "CUDA runtime"},
                    {"nccl_loaded", "NCCL loaded"},
                    {"nccl_compiled", "NCCL compiled for"},
                    {"nccl_path", "NCCL from"},
                    {"mpi", "MPI"},
                    {"kernel", "kernel"}};
    const json_t *known = json_object_get(head, "versions");
    const char *gap = "\nversions: ";
    char line[512];

    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        const char *text = lp_json_str(known, versions[i].key, NULL);

        if (!text)
            continue;
        fprintf(out, "%s%s %s", gap, versions[i].name, lp_words_line(text, line, sizeof(line)));
        gap = ", ";
    }
    fprintf(out, "%s", strcmp(gap, ", ") == 0 ? "\n" : "");
}

static void print_inherited(const json_t *head, FILE *out)
{
    json_t *inherited = json_object_get(head, "inherited"), *value;
    const char *name;
    char line[4096];

    if (!json_is_object(inherited))
        return;
    fprintf(out, "inherited:");
    json_object_foreach(inherited, name, value)
    {
        const char *text = json_string_value(value);

        fprintf(out, " %s=%s", name, text ? lp_words_line(text, line, sizeof(line)) : "");
    }
    fprintf(out, "%s\n", json_object_size(inherited) ? "" : " no NCCL or CUDA variables");
}

static void print_matrix(const json_t *head, FILE *out, int width)
{
    const json_t *variants = json_object_get(head, "variants");
    struct lp_table *table;
    char label[LP_NAME_MAX * 2], line[4096];

    if (json_array_size(variants) == 0)
        return;
    table = lp_table_create();
    lp_table_column(table, LP_LEFT, "variant");
    lp_table_column(table, LP_LEFT, "changes of the environment");
    for (size_t i = 0; i < json_array_size(variants); i++) {
        const json_t *variant = json_array_get(variants, i);
        const char *name = lp_json_str(variant, "name", "-");

        lp_table_row(table);
        lp_table_cell(table, "%s", lp_variant_label(name, (int)lp_json_int(variant, "repeat", 0), label, sizeof(label)));
        lp_table_cell(table, "%s", lp_words_line(lp_json_str(variant, "env_words", "-"), line, sizeof(line)));
    }
    fprintf(out, "\nrun matrix\n");
    lp_table_print(table, width, out);
    lp_table_free(table);
}

void lp_view_head(const struct lp_result *result, FILE *out, int width)
{
    const json_t *head = result->head;
    const char *started = lp_json_str(head, "started", NULL), *launch = lp_json_str(head, "launch", NULL);

    print_list(head, "command", "command", " ", out);
    if (started)
        fprintf(out, "started: %s%s%s%s\n", started, launch ? " (" : "", launch ? launch : "", launch ? ")" : "");
    if (lp_title_on_host(result))
        fprintf(out, "device: host memory: copies between processes; no GPU and no GPU link is measured\n");
    print_ranks(result, out, width);
    print_versions(head, out);
    print_inherited(head, out);
    print_list(head, "conf_files", "NCCL settings files", ", ", out);
    print_list(head, "locks", "site locks", " ", out);
    print_list(head, "warnings", "warning", "\nwarning: ", out);
    print_matrix(head, out, width);
}
