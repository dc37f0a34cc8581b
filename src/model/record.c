/* Records to and from JSON. */
#include "model/record.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const outcomes[LP_NOUTCOMES] = {
    [LP_DONE] = "ok",     [LP_WRONG] = "wrong",     [LP_UNSUPPORTED] = "unsupported", [LP_HANG] = "hang",
    [LP_CRASH] = "crash", [LP_SKIPPED] = "skipped", [LP_FAILED] = "failed",
};

const char *lp_outcome_name(enum lp_outcome outcome)
{
    return outcomes[outcome];
}

void lp_record_begin(struct lp_record *record, const struct lp_cell *cell)
{
    memset(record, 0, sizeof(*record));
    record->cell = *cell;
    record->algbw_gbps = record->busbw_gbps = record->link_gbps = record->latency_us = (double)NAN;
    record->link_same_gbps = record->sum_gbps = record->overlap = (double)NAN;
    for (int i = 0; i < LP_MAX_TRANSFERS; i++)
        record->edge_gbps[i] = (double)NAN;
    record->checked.first_rank = -1;
}

bool lp_record_usable(const struct lp_record *record)
{
    return record->outcome == LP_DONE && record->time_us.n > 0;
}

static json_t *stats_json(const struct lp_stats *stats)
{
    if (stats->n == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "median", lp_json_real(stats->median), "p10",
                     lp_json_real(stats->p10), "p90", lp_json_real(stats->p90), "p99", lp_json_real(stats->p99), "min",
                     lp_json_real(stats->min), "max", lp_json_real(stats->max), "ci95_low", lp_json_real(stats->ci95_low),
                     "ci95_high", lp_json_real(stats->ci95_high), "n", (json_int_t)stats->n);
}

static json_t *samples_json(const struct lp_record *record)
{
    json_t *list = json_array();

    for (size_t i = 0; i < record->time_us.n && i < LP_MAX_SAMPLES; i++)
        json_array_append_new(list, lp_json_real(record->samples_us[i]));
    return list;
}

static json_t *first_wrong_json(const struct lp_checked *checked)
{
    if (checked->first_rank < 0)
        return json_null();
    return json_pack("{s:i, s:I}", "rank", checked->first_rank, "offset_bytes", (json_int_t)checked->first_offset_bytes);
}

static json_t *text_or_null(const char *text)
{
    return text[0] ? lp_json_text(text) : json_null();
}

/* Members that both kinds have. */
static json_t *common_json(const struct lp_record *record)
{
    const struct lp_checked *checked = &record->checked;

    return json_pack("{s:s, s:o, s:I, s:I, s:i, s:s, s:o, s:o, s:i, s:b, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:{s:f, s:f}}",
                     "outcome", outcomes[record->outcome], "reason", record->reason[0] ? lp_json_text(record->reason) : json_null(),
                     "requested_bytes", (json_int_t)record->cell.requested_bytes, "size_bytes", (json_int_t)record->cell.size_bytes,
                     "crew", record->crew, "library", record->cell.library, "time_us", stats_json(&record->time_us), "samples_us",
                     samples_json(record), "ops_per_sample", record->ops_per_sample, "rotated", record->rotated, "checked",
                     checked->iterations, "wrong_iterations", checked->wrong_iterations, "wrong_elements",
                     checked->iterations ? json_integer((json_int_t)checked->wrong_elements) : json_null(), "first_wrong",
                     first_wrong_json(checked), "link_gbps", lp_json_real(record->link_gbps), "library_path",
                     text_or_null(record->library_path), "log", text_or_null(record->log), "seconds", "measure", record->measure_s,
                     "check", record->check_s);
}

/* Rank of a GPU; null for host memory, and where there is more than one edge. */
static json_t *end_json(const struct lp_cell *cell, int rank)
{
    return cell->nedges == 1 && rank != LP_EDGE_HOST ? json_integer(rank) : json_null();
}

static json_t *edge_rates_json(const struct lp_record *record)
{
    json_t *list = record->cell.nedges > 1 ? json_array() : json_null();

    for (int i = 0; i < record->cell.nedges && record->cell.nedges > 1; i++)
        json_array_append_new(list, lp_json_real(record->edge_gbps[i]));
    return list;
}

static json_t *copy_json(const struct lp_record *record)
{
    const struct lp_cell *cell = &record->cell;
    json_t *edges = json_array();

    for (int i = 0; i < cell->nedges; i++)
        json_array_append_new(edges, json_pack("[i,i]", cell->edges[i].src, cell->edges[i].dst));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "path", cell->op, "op", "copy",
                     "pattern", cell->pattern, "processes", cell->processes, "timing", lp_timing_name(cell->timing), "src",
                     end_json(cell, cell->edges[0].src), "dst", end_json(cell, cell->edges[0].dst), "edges", edges, "samples",
                     (json_int_t)record->time_us.n, "gbps", lp_json_real(record->algbw_gbps), "sum_gbps",
                     lp_json_real(record->sum_gbps), "edge_gbps", edge_rates_json(record), "overlap", lp_json_real(record->overlap),
                     "latency_us", lp_json_real(record->latency_us));
}

json_t *lp_evidence_to_json(const struct lp_evidence *evidence)
{
    if (!evidence->read)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "algorithm", text_or_null(evidence->algorithm), "protocol",
                     text_or_null(evidence->protocol), "channels",
                     evidence->channels < 0 ? json_null() : json_integer(evidence->channels), "transport",
                     text_or_null(evidence->transport), "tag", text_or_null(evidence->tag));
}

void lp_evidence_from_json(const json_t *json, struct lp_evidence *out)
{
    memset(out, 0, sizeof(*out));
    out->channels = (int)lp_json_int(json, "channels", -1);
    out->read = json_is_object(json);
    lp_json_copy(json, "algorithm", out->algorithm, sizeof(out->algorithm));
    lp_json_copy(json, "protocol", out->protocol, sizeof(out->protocol));
    lp_json_copy(json, "transport", out->transport, sizeof(out->transport));
    lp_json_copy(json, "tag", out->tag, sizeof(out->tag));
}

static json_t *collective_json(const struct lp_record *record)
{
    const struct lp_cell *cell = &record->cell;

    return json_pack("{s:s, s:s, s:s, s:i, s:I, s:s, s:s, s:s, s:s, s:i, s:i, s:b, s:o, s:o, s:o, s:o}", "collective", cell->op,
                     "datatype", lp_dtype_name(cell->dtype), "redop", lp_redop_name(cell->redop), "root", cell->root, "count",
                     (json_int_t)cell->count, "placement", lp_placement_name(cell->placement), "timing",
                     lp_timing_name(cell->timing), "buffers", cell->buffers, "variant", record->variant, "repeat", record->repeat,
                     "round", record->round, "aligned", record->aligned, "algbw_gbps", lp_json_real(record->algbw_gbps),
                     "busbw_gbps", lp_json_real(record->busbw_gbps), "link_same_gbps", lp_json_real(record->link_same_gbps),
                     "evidence", lp_evidence_to_json(&record->evidence));
}

json_t *lp_record_to_json(const struct lp_record *record)
{
    json_t *json = record->cell.kind == LP_COPY ? copy_json(record) : collective_json(record);
    json_t *rest = common_json(record);

    json_object_update(json, rest);
    json_decref(rest);
    if (record->cell.kind == LP_COPY)
        json_object_set_new(json, "histogram_us", lp_histogram_to_json(&record->histogram));
    return json;
}

static void stats_from_json(const json_t *json, struct lp_stats *out)
{
    out->median = lp_json_num(json, "median", (double)NAN);
    out->p10 = lp_json_num(json, "p10", (double)NAN);
    out->p90 = lp_json_num(json, "p90", (double)NAN);
    out->p99 = lp_json_num(json, "p99", (double)NAN);
    out->min = lp_json_num(json, "min", (double)NAN);
    out->max = lp_json_num(json, "max", (double)NAN);
    out->ci95_low = lp_json_num(json, "ci95_low", (double)NAN);
    out->ci95_high = lp_json_num(json, "ci95_high", (double)NAN);
    out->n = (size_t)lp_json_int(json, "n", 0);
}

static void checked_from_json(const json_t *json, struct lp_checked *out)
{
    const json_t *first = json_object_get(json, "first_wrong");

    out->iterations = (int)lp_json_int(json, "checked", 0);
    out->wrong_iterations = (int)lp_json_int(json, "wrong_iterations", 0);
    out->wrong_elements = (uint64_t)lp_json_int(json, "wrong_elements", 0);
    out->first_rank = (int)lp_json_int(first, "rank", -1);
    out->first_offset_bytes = (uint64_t)lp_json_int(first, "offset_bytes", 0);
}

static enum lp_status outcome_from_json(const json_t *json, enum lp_outcome *out, struct lp_reason *why)
{
    const char *text = lp_json_str(json, "outcome", "");

    for (int i = 0; i < LP_NOUTCOMES; i++)
        if (strcmp(text, outcomes[i]) == 0) {
            *out = (enum lp_outcome)i;
            return LP_OK;
        }
    return lp_because(why, LP_ERR_PARSE, "record: unknown outcome '%s'", text);
}

/* The cell of a record, from the members that name it. */
static enum lp_status cell_from_record(const json_t *json, enum lp_kind kind, struct lp_cell *out, struct lp_reason *why)
{
    json_t *merged = json_copy((json_t *)json);
    enum lp_status st;

    json_object_set_new(merged, "kind", json_string(kind == LP_COPY ? "copy" : "collective"));
    if (kind == LP_COPY) {
        json_object_set(merged, "op", json_object_get(json, "path"));
        if (!json_object_get(json, "timing"))
            json_object_set_new(merged, "timing", json_string(lp_timing_name(LP_QUEUED)));
        json_object_set_new(merged, "placement", json_string(lp_placement_name(LP_OUT_OF_PLACE)));
        json_object_set_new(merged, "datatype", json_string(lp_dtype_name(LP_FLOAT)));
        json_object_set_new(merged, "redop", json_string(lp_redop_name(LP_SUM)));
    } else {
        json_object_set(merged, "op", json_object_get(json, "collective"));
    }
    st = lp_cell_from_json(merged, out, why);
    json_decref(merged);
    return st;
}

static void rates_from_json(const json_t *json, struct lp_record *out)
{
    const json_t *edges = json_object_get(json, "edge_gbps");

    out->sum_gbps = lp_json_num(json, "sum_gbps", (double)NAN);
    out->overlap = lp_json_num(json, "overlap", (double)NAN);
    for (size_t i = 0; i < json_array_size(edges) && i < LP_MAX_TRANSFERS; i++)
        if (json_is_number(json_array_get(edges, i)))
            out->edge_gbps[i] = json_number_value(json_array_get(edges, i));
    lp_histogram_from_json(json_object_get(json, "histogram_us"), &out->histogram);
}

enum lp_status lp_record_from_json(const json_t *json, enum lp_kind kind, struct lp_record *out, struct lp_reason *why)
{
    const json_t *samples = json_object_get(json, "samples_us");
    struct lp_cell cell;
    enum lp_status st = cell_from_record(json, kind, &cell, why);

    lp_record_begin(out, &cell);
    if (st == LP_OK)
        st = outcome_from_json(json, &out->outcome, why);
    if (st != LP_OK)
        return st;
    lp_json_copy(json, "variant", out->variant, sizeof(out->variant));
    lp_json_copy(json, "reason", out->reason, sizeof(out->reason));
    out->repeat = (int)lp_json_int(json, "repeat", 0);
    out->round = (int)lp_json_int(json, "round", 0);
    out->crew = (int)lp_json_int(json, "crew", 0);
    out->ops_per_sample = (int)lp_json_int(json, "ops_per_sample", 0);
    out->rotated = lp_json_bool(json, "rotated", false);
    out->aligned = lp_json_bool(json, "aligned", false);
    out->algbw_gbps = lp_json_num(json, kind == LP_COPY ? "gbps" : "algbw_gbps", (double)NAN);
    out->busbw_gbps = lp_json_num(json, "busbw_gbps", (double)NAN);
    out->link_gbps = lp_json_num(json, "link_gbps", (double)NAN);
    out->link_same_gbps = lp_json_num(json, "link_same_gbps", (double)NAN);
    out->latency_us = lp_json_num(json, "latency_us", (double)NAN);
    lp_json_copy(json, "library_path", out->library_path, sizeof(out->library_path));
    lp_json_copy(json, "log", out->log, sizeof(out->log));
    lp_evidence_from_json(json_object_get(json, "evidence"), &out->evidence);
    out->measure_s = lp_json_num(json_object_get(json, "seconds"), "measure", 0.0);
    out->check_s = lp_json_num(json_object_get(json, "seconds"), "check", 0.0);
    stats_from_json(json_object_get(json, "time_us"), &out->time_us);
    checked_from_json(json, &out->checked);
    rates_from_json(json, out);
    for (size_t i = 0; i < json_array_size(samples) && i < LP_MAX_SAMPLES; i++)
        out->samples_us[i] = json_number_value(json_array_get(samples, i));
    return LP_OK;
}
