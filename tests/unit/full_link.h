/* A whole `linkperf p2p` of n GPUs as records, with figures near those of H200s; a test changes what it is about. */
#ifndef LP_TESTS_FULL_LINK_H
#define LP_TESTS_FULL_LINK_H

#include "copies.h"
#include "p2p/path.h"
#include "p2p/patterns.h"

/* GB/s one way, and of each direction when both run; 0: not measured so. */
struct full_rate {
    const char *path;
    double one_way, both;
};

static const struct full_rate full_rates[] = {
    {"ce_write", 396.2, 392.0}, {"ce_read", 394.1, 390.5}, {"memcpy", 391.0, 0.0},        {"sm_write", 369.6, 366.1},
    {"sm_read", 376.3, 338.4},  {"ce_staged", 37.2, 26.1}, {"pinned_staged", 52.7, 43.6}, {"pinned_plain", 27.1, 0.0},
};

/* What a pair over PCI Express reaches of that: peer copies no more than 50 GB/s. */
static inline double full_rate_of(const struct full_rate *rate, double gbps, bool nvlink)
{
    return !nvlink && lp_path_find(rate->path)->flags & LP_PATH_PEER ? gbps / 8.0 : gbps;
}

static inline void add_full_pair(struct lp_result *result, int a, int b, bool nvlink)
{
    struct lp_record record;

    for (size_t i = 0; i < sizeof(full_rates) / sizeof(full_rates[0]); i++) {
        const struct full_rate *rate = &full_rates[i];
        double both = full_rate_of(rate, rate->both, nvlink);

        add_rate(result, rate->path, a, b, full_rate_of(rate, rate->one_way, nvlink) + 0.1 * a - 0.05 * b);
        if (rate->both > 0.0 && a < b)
            add_record(result, both_of(rate->path, a, b, both, both - 0.1 * b));
    }
    add_latency(result, "ce_write", a, b, 2.21);
    add_latency(result, "ce_staged", a, b, 16.3);
    add_latency(result, "load_latency", a, b, nvlink ? 0.829 : 1.41);
    record = copy_of("sm_write", a, b);
    strcpy(record.cell.processes, "ipc");
    record.cell.requested_bytes = record.cell.size_bytes = 1 << 20;
    record.algbw_gbps = 301.5;
    add_record(result, record);
    if (a < b) {
        record = both_of("flag_latency", a, b, (double)NAN, (double)NAN);
        record.latency_us = nvlink ? 1.02 : 1.63;
        add_record(result, record);
    }
}

static inline void add_full_references(struct lp_result *result, int g)
{
    add_rate(result, "pinned_to_gpu", LP_EDGE_HOST, g, 55.3);
    add_rate(result, "gpu_to_pinned", g, LP_EDGE_HOST, 55.1);
    add_record(result, both_of("pinned_both", LP_EDGE_HOST, g, 43.0, 44.6));
    add_rate(result, "pageable_to_gpu", LP_EDGE_HOST, g, 5.62);
    add_rate(result, "gpu_to_pageable", g, LP_EDGE_HOST, 5.41);
    add_rate(result, "on_card", g, g, 2093.0);
}

static inline void add_isolated(struct lp_result *result, const char *path, int a, int b, size_t bytes, double us)
{
    struct lp_record record = copy_of(path, a, b);
    double times[200];

    record.cell.timing = LP_ISOLATED;
    record.cell.requested_bytes = record.cell.size_bytes = bytes;
    for (int i = 0; i < 200; i++)
        times[i] = us * (1.0 + (i % 20) / 60.0 + (i == 7));
    lp_stats_summarise(times, 200, &record.time_us);
    lp_histogram_make(times, 200, &record.histogram);
    record.latency_us = record.time_us.median;
    add_record(result, record);
}

/* A pair's curve and its small copies. */
static inline void add_full_curve(struct lp_result *result, int a, int b)
{
    for (size_t bytes = 64 << 10; bytes < LARGE; bytes *= 4) {
        struct lp_record record = copy_of("ce_write", a, b);

        record.cell.requested_bytes = record.cell.size_bytes = bytes;
        record.algbw_gbps = 396.0 * (double)bytes / ((double)bytes + 1e6);
        add_record(result, record);
    }
    for (size_t bytes = 4; bytes <= 1 << 20; bytes *= 32) {
        add_isolated(result, "ce_write", a, b, bytes, 8.1 + (double)bytes / 390e3);
        add_isolated(result, "ce_staged", a, b, bytes, 21.4 + (double)bytes / 37e3);
    }
}

static inline struct lp_record full_pattern(const char *pattern, const char *path, int n, int gpu, double gbps)
{
    struct lp_record record = copy_of(path, 0, 1);

    strcpy(record.cell.pattern, pattern);
    record.cell.nedges = lp_pattern_kind_find(pattern)->edges(n, gpu, 0, record.cell.edges, LP_MAX_TRANSFERS);
    record.sum_gbps = 0.0;
    for (int e = 0; e < record.cell.nedges; e++) {
        record.edge_gbps[e] = gbps + 0.01 * e;
        record.sum_gbps += record.edge_gbps[e];
    }
    record.algbw_gbps = gbps;
    record.overlap = 0.97;
    return record;
}

static inline void add_full_patterns(struct lp_result *result, int n)
{
    static const char *const paths[] = {"ce_write", "sm_write"};

    for (int p = 0; p < 2; p++) {
        for (int g = 0; g < n; g++) {
            add_record(result, full_pattern("one_to_all", paths[p], n, g, 392.0 / (n - 1)));
            add_record(result, full_pattern("all_to_one", paths[p], n, g, 380.0 / (n - 1)));
        }
        add_record(result, full_pattern("all_pairs", paths[p], n, 0, 360.0 / (n - 1)));
    }
}

/* n GPUs on NVLink; `apart` >= 0 is one without, which all others reach over PCI Express. */
static inline void fill_full(struct lp_result *result, int n, int apart)
{
    struct other_kind others[64] = {{0, 0, NULL, 0.0}};
    struct lp_record ring;

    for (int g = 0, i = 0; g < n && apart >= 0; g++)
        if (g != apart)
            others[i++] = (struct other_kind){g, apart, "SYS", 63.0};
    result_of_gpus(result, n, "NV18", 478.125, others);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            if (a != b)
                add_full_pair(result, a, b, a != apart && b != apart);
    for (int g = 0; g < n; g++)
        add_full_references(result, g);
    if (n > 1)
        add_full_curve(result, 0, 1);
    if (apart > 0)
        add_full_curve(result, 0, apart);
    if (n > 2)
        add_full_patterns(result, n);
    ring = full_pattern("ring", "sm_write", n, 0, 365.2);
    strcpy(ring.cell.processes, "ipc");
    if (n > 1)
        add_record(result, ring);
    json_object_set_new(result->head, "baseline",
                        json_of("{'name': 'SM write, P2P on, every GPU to its next in the ring at once', 'gbps': 365.2,"
                                " 'path': 'sm_write', 'pattern': 'ring', 'size_bytes': 536870912, 'slowest_edge': [1, 0]}"));
    json_object_set_new(json_object_get(result->head, "topology"), "line",
                        json_of("{'kind': 'nvlink', 'links': 18, 'gbps': 478.125, 'words': '18 NVLinks x 26.56 GB/s by the driver;"
                                " nominal 450 GB/s', 'nominal_words': '900 GB/s', 'reason': null}"));
}

#endif
