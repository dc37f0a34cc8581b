/* What the printed report says about results that are made in memory: figures, outcome words, labels, gaps. */
#include "report/progress.h"
#include "report/view_words.h"

#include "model/variant.h"

#include <math.h>

#include "unit.h"

#include "printed.h"

#define ROWS 4

static const size_t sizes[ROWS] = {8, 1024, 1 << 20, 64 << 20};

static const char *const head_text =
    "{'schema': 'linkperf/1', 'complete': true, 'ended': null, 'command': ['./linkperf', '-b', '8'], 'device': 'cuda',"
    " 'started': '2025-01-01T00:00:00Z', 'launch': 'mpirun',"
    " 'versions': {'linkperf': '0.1', 'driver': '580.95', 'nccl_loaded': '2.28.3', 'mpi': null},"
    " 'ranks': [{'rank': 0, 'host': 'box', 'local_rank': 0, 'cpus': '0-15', 'numa': null,"
    "   'gpu': {'name': 'H200', 'uuid': 'GPU-aa', 'pci': '0000:03:00.0', 'memory_bytes': 1, 'vbios': null}},"
    "  {'rank': 1, 'host': 'box', 'local_rank': 1, 'cpus': '0-15', 'numa': null,"
    "   'gpu': {'name': 'H200', 'uuid': 'GPU-bb', 'pci': '0000:04:00.0', 'memory_bytes': 1, 'vbios': null}}],"
    " 'topology': {'pairs': [{'src': 0, 'dst': 1, 'peer_access': true, 'reason': null},"
    "   {'src': 1, 'dst': 0, 'peer_access': false, 'reason': 'the driver refuses it'}],"
    "  'line': {'kind': 'nvlink', 'links': 18, 'gbps': 478.125, 'words': '18 NVLinks x 26.56 GB/s',"
    "   'nominal_words': '900 GB/s', 'reason': null}},"
    " 'inherited': {'NCCL_DEBUG': 'INFO'}, 'conf_files': [], 'locks': ['NCCL_NVLS_ENABLE=0'], 'warnings': ['one CPU only'],"
    " 'baseline': {'name': 'SM write, ring, slowest edge', 'gbps': 365.0, 'path': 'sm_write', 'pattern': 'ring',"
    "  'size_bytes': 268435456, 'slowest_edge': [1, 0], 'reason': null},"
    " 'variants': ["
    "  {'name': 'default', 'repeat': 0, 'env_words': 'no change', 'outcome': 'ok', 'reason': null,"
    "   'seconds': {'start': 0.5, 'init': 0.6, 'measure': 3.0, 'check': 0.7, 'end': 0.1}, 'logs': ['/tmp/default.log']},"
    "  {'name': 'ring', 'repeat': 0, 'env_words': 'NCCL_ALGO=Ring', 'outcome': 'ok', 'reason': null},"
    "  {'name': 'tree', 'repeat': 0, 'env_words': 'NCCL_ALGO=Tree', 'outcome': 'partly', 'reason': 'a crew was lost',"
    "   'logs': ['/tmp/tree.log']},"
    "  {'name': 'default', 'repeat': 1, 'env_words': 'no change', 'outcome': 'ok', 'reason': null}]}";

/* A head from text with ' for ". */
static void set_head(struct lp_result *result, const char *text)
{
    char *json = strdup(text);

    for (char *p = json; *p; p++)
        if (*p == '\'')
            *p = '"';
    json_decref(result->head);
    result->head = json_loads(json, 0, NULL);
    assert_non_null(result->head);
    free(json);
}

static struct lp_record record_of(const char *variant, size_t bytes, double busbw)
{
    struct lp_record record = {.algbw_gbps = busbw, .busbw_gbps = busbw, .link_gbps = 365.0, .latency_us = (double)NAN};

    record.link_same_gbps = (double)NAN;
    record.cell.kind = LP_COLLECTIVE;
    record.cell.root = -1;
    record.cell.timing = LP_GRAPH;
    record.cell.requested_bytes = record.cell.size_bytes = bytes;
    record.cell.count = bytes / sizeof(float);
    strcpy(record.cell.op, "allreduce");
    strcpy(record.cell.library, "nccl");
    strcpy(record.cell.buffers, "plain");
    strcpy(record.variant, variant);
    record.time_us = (struct lp_stats){.median = 100.0, .p10 = 98.0, .p90 = 103.0, .n = 8};
    record.checked = (struct lp_checked){.iterations = 6, .first_rank = -1};
    return record;
}

static void add(struct lp_result *result, struct lp_record record)
{
    assert_int_equal(lp_result_add(result, &record), LP_OK);
}

static void add_bad(struct lp_result *result, const char *variant, size_t bytes, enum lp_outcome outcome, const char *reason)
{
    struct lp_record record = record_of(variant, bytes, (double)NAN);

    record.outcome = outcome;
    record.time_us.n = 0;
    record.checked.iterations = 0;
    strcpy(record.reason, reason);
    add(result, record);
}

static void add_copy(struct lp_result *result, const char *path, int src, int dst, enum lp_outcome outcome, double gbps)
{
    struct lp_record record = record_of("", 256 << 20, (double)NAN);

    record.cell.kind = LP_COPY;
    record.cell.timing = LP_QUEUED;
    strcpy(record.cell.op, path);
    strcpy(record.cell.library, "cuda");
    strcpy(record.cell.pattern, "one_way");
    strcpy(record.cell.processes, "one");
    record.cell.nedges = 1;
    record.cell.edges[0] = (struct lp_edge){src, dst};
    record.algbw_gbps = gbps;
    record.outcome = outcome;
    if (outcome != LP_DONE) {
        record.time_us.n = 0;
        strcpy(record.reason, "no peer access");
    }
    add(result, record);
}

/*
 * default, ring and tree at four sizes; at 1M ring is wrong and would be the fastest, at 64M tree hangs and the second
 * default is the fastest but no candidate.
 */
static void fill(struct lp_result *result)
{
    static const double ring[ROWS] = {0.00131, 0.154, 99.0, 340.5}, base[ROWS] = {0.00133, 0.151, 72.4, 327.4};
    struct lp_record record;

    lp_result_init(result);
    set_head(result, head_text);
    add_copy(result, "ce_write", 0, 1, LP_DONE, 396.0);
    add_copy(result, "ce_write", 1, 0, LP_UNSUPPORTED, (double)NAN);
    add_copy(result, "ce_staged", 0, 1, LP_DONE, 37.0);
    add_copy(result, "ce_staged", 1, 0, LP_DONE, 36.5);
    add_copy(result, "sm_write", 0, 1, LP_DONE, 370.0);
    for (size_t i = 0; i < ROWS; i++) {
        add(result, record_of("default", sizes[i], base[i]));
        record = record_of("ring", sizes[i], ring[i]);
        if (i == 2) {
            record.outcome = LP_WRONG;
            record.checked = (struct lp_checked){
                .iterations = 6, .wrong_iterations = 2, .wrong_elements = 77, .first_rank = 1, .first_offset_bytes = 4096};
        }
        add(result, record);
        if (i < 2)
            add_bad(result, "tree", sizes[i], LP_UNSUPPORTED, "NCCL says no\nalgorithm");
        else if (i == 2)
            add(result, record_of("tree", sizes[i], 80.25));
        else
            add_bad(result, "tree", sizes[i], LP_HANG, "rank 1 did not answer within 10 s, phase timed");
        record = record_of("default", sizes[i], i == 3 ? 360.0 : base[i]);
        record.repeat = 1;
        add(result, record);
    }
}

static void test_main_table(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill(&result);
    text = printed(lp_view_collectives, &result, 160);
    assert_line(text, "AllReduce, float, sum, out of place, graph timing, 2 ranks", "busbw in GB/s per direction");
    assert_line(text, "\n    8  ", "  0.00133        0.00133  0.00131  unsupported  default ");
    assert_line(text, "\n   1M  ", "    72.40          72.40   wrong!        80.25  tree ");
    assert_line(text, "\n  64M  ", "    327.4          360.0    340.5         hang  ring ");
    assert_line(text, "\n  64M  ", "365.0              93");
    assert_line(text, "tree: unsupported, ", "2 sizes (8, 1K): NCCL says no algorithm");
    assert_line(text, "tree: hang, ", "1 size (64M): rank 1 did not answer");
    assert_line(text, "ring: wrong, ", "1 size (1M): 77 wrong elements in 2 of 6 checked iterations, first at byte 4096 of rank 1");
    assert_no(text, "unchecked");
    assert_no(text, "see --long for");
    free(text);
    lp_result_release(&result);
}

static void test_above_link(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill(&result);
    add(&result, record_of("nvls", 1 << 20, 400.0));
    add(&result, record_of("nvls", 64 << 20, 500.0));
    text = printed(lp_view_collectives, &result, 160);
    assert_line(text, "\n  64M  ", " nvls ");
    assert_line(text, "\n  64M  ", " 137");
    assert_line(text, "above link: ", "1 size (1M)");
    assert_line(text, "above link and above line rate: ", "1 size (64M): expected where the switch reduces (NVLS)");
    free(text);
    lp_result_release(&result);
}

/* Beside the link, not in its place; where all columns are too many, the share of the link goes. */
static void test_same_size(void **state)
{
    static const double same[ROWS] = {0.0155, 1.25, 100.0, (double)NAN};
    struct lp_result result;
    char *text;

    (void)state;
    fill(&result);
    for (size_t i = 0; i < result.n; i++)
        for (size_t row = 0; row < ROWS; row++)
            if (result.record[i]->cell.kind == LP_COLLECTIVE && result.record[i]->cell.requested_bytes == sizes[row])
                result.record[i]->link_same_gbps = same[row];
    text = printed(lp_view_collectives, &result, 200);
    assert_line(text, "fastest / link", "exchange GB/s  same-size");
    assert_line(text, "GB/s per direction         percent", "per direction    percent");
    assert_line(text, "\n    8  ", "365.0            <0.1         0.0155        8.6");
    assert_line(text, "\n   1M  ", "365.0              22          100.0         80");
    assert_line(text, "\n  64M  ", "365.0              93              -          -");
    assert_line(text, "\nsame-size exchange: ", "every GPU to its next");
    assert_no(text, "above same-size");
    free(text);
    text = printed(lp_view_collectives, &result, 132); /* three variants are not too many, but those with both shares are */
    assert_line(text, "see --long for: ", "see --long for: fastest / link");
    free(text);
    for (int i = 0; i < 12; i++) {
        char name[LP_NAME_MAX];
        struct lp_record record;

        snprintf(name, sizeof(name), "variant-%d", i);
        record = record_of(name, 1 << 20, 101.0 + i);
        record.link_same_gbps = same[2];
        add(&result, record);
    }
    text = printed(lp_view_collectives, &result, 132);
    assert_line(text, "\n size  ", "fastest       link baseline  exchange GB/s  same-size");
    assert_line(text, "\n   1M  ", "variant-11              112.0               365.0          100.0        112");
    assert_no(text, "fastest / link  ");
    assert_line(text, "see --long for: ", "variant-10, variant-11, fastest / link");
    assert_line(text,
                "above same-size: ", "1 size (1M): the fastest busbw is above the exchange of as many bytes: flags sent with");
    for (const char *line = strstr(text, "\n size  "); line && line[1] == ' '; line = strchr(line + 1, '\n'))
        assert_true(strcspn(line + 1, "\n") <= 132);
    free(text);
    lp_result_release(&result);
}

static void test_unchecked_is_said(void **state)
{
    struct lp_result result;
    struct lp_record record;
    char *text;

    (void)state;
    fill(&result);
    record = record_of("fast", 8, 1.0);
    record.checked.iterations = 0;
    add(&result, record);
    text = printed(lp_view_collectives, &result, 160);
    assert_line(text, "AllReduce", "data of some cells unchecked");
    free(text);
    text = printed(lp_view_long, &result, 160);
    assert_line(text, "  float  sum      -1  |         100.0   1.00   1.00       N/A", "8         2");
    free(text);
    lp_result_release(&result);
}

static void test_one_rank(void **state)
{
    struct lp_result result;
    struct lp_record record = record_of("default", 1 << 20, 900.0);
    char *text;

    (void)state;
    lp_result_init(&result);
    set_head(&result, "{'complete': true, 'device': 'cuda', 'ranks': [{'rank': 0}]}");
    record.busbw_gbps = (double)NAN;
    record.link_gbps = (double)NAN;
    add(&result, record);
    text = printed(lp_view_collectives, &result, 160);
    assert_line(text, "AllReduce", "1 rank: algbw in GB/s");
    assert_line(text, "\n   1M  ", "900.0");
    assert_no(text, "fastest / link");
    free(text);
    lp_result_release(&result);
}

static void test_narrow(void **state)
{
    struct lp_result result;
    struct lp_record record;
    char name[LP_NAME_MAX], *text;

    (void)state;
    fill(&result);
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof(name), "variant-%d", i);
        record = record_of(name, 64 << 20, 100.0 + i);
        record.busbw_gbps = i == 7 ? 350.25 : 100.0;
        add(&result, record);
    }
    add_bad(&result, "variant-3", 8, LP_CRASH, "rank 0 died of signal 8");
    text = printed(lp_view_collectives, &result, 130);
    assert_line(text, "default again", "tree");
    assert_no(text, "variant-0\n");
    assert_line(text, "see --long for: ", "variant-0, variant-1, variant-2");
    assert_line(text, "see --long for: ", "variant-11");
    assert_line(text, "\n  64M", "variant-7               350.2               365.0              96");
    assert_line(text, "variant-3: crash, ", "1 size (8): rank 0 died of signal 8");
    free(text);
    text = printed(lp_view_collectives, &result, 1000);
    assert_no(text, "see --long for");
    free(text);
    lp_result_release(&result);
}

static void test_head(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill(&result);
    text = printed(lp_view_head, &result, 160);
    assert_line(text, "GPU-bb", "1  box            1  H200  0000:04:00.0  GPU-bb  0-15");
    assert_line(text, "versions: ", "linkperf 0.1, driver 580.95, NCCL loaded 2.28.3");
    assert_line(text, "inherited: ", "NCCL_DEBUG=INFO");
    assert_line(text, "site locks: ", "NCCL_NVLS_ENABLE=0");
    assert_line(text, "warning: ", "one CPU only");
    assert_line(text, "tree  ", "NCCL_ALGO=Tree");
    assert_no(text, "INCOMPLETE");
    free(text);
    lp_result_release(&result);
}

/* The link's part is test_view_link's; here it stands before the collectives. */
static void test_link_is_there(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill(&result);
    text = printed(print_all, &result, 160);
    assert_line(text, "copy engine write, P2P on", "396.0 ");
    assert_true(strstr(text, "copy engine write, P2P on") < strstr(text, "AllReduce"));
    assert_line(text, "link baseline: ", "365.0 GB/s per direction (edge 1 -> 0), 76 % of line rate");
    free(text);
    lp_result_release(&result);
}

static void test_host_memory_is_said(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill(&result);
    json_object_set_new(result.head, "device", json_string("host"));
    add_copy(&result, "cpu_write", 0, 1, LP_DONE, 9.0);
    text = printed(print_all, &result, 200);
    assert_line(text, "AllReduce, float, sum, out of place", "host memory: copies between processes, not a GPU link");
    assert_line(text, "\nhost memory: one pair at a time", "copies between processes, not a GPU link");
    assert_line(text, "link baseline: ", "host memory");
    assert_line(text, "(host memory)", "(host memory)");
    assert_line(text, "\n   0  box", "host memory");
    assert_no(text, "H200");
    assert_no(text, "line rate: ");
    free(text);
    lp_result_release(&result);
}

/* Every figure that is printed says its unit, and its direction where it has one. */
static void test_labels(void **state)
{
    static const struct {
        view *print;
        const char *label, *also;
    } cases[] = {
        {lp_view_collectives, "size  default", "fastest (not judged)       link baseline"},
        {lp_view_collectives, "bytes ", "GB/s           GB/s"},
        {lp_view_collectives, "bytes ", "GB/s per direction         percent"},
        {lp_view_collectives, "fastest / link", "default again"},
        {lp_view_long, "out of place", "in place"},
        {lp_view_long, "algbw  busbw", "#wrong"},
        {lp_view_long, " us   GB/s   GB/s  elements  percent       percent", "bytes  elements  type   redop  root"},
        {lp_view_variants, "start", "measure"},
        {lp_view_variants, "seconds in each phase", "cells"},
    };
    struct lp_result result;

    (void)state;
    fill(&result);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *text = printed(cases[i].print, &result, 160);

        assert_line(text, cases[i].label, cases[i].also);
        free(text);
    }
    lp_result_release(&result);
}

static void test_long(void **state)
{
    struct lp_result result;
    struct lp_record record;
    char *text;

    (void)state;
    fill(&result);
    record = record_of("default", 64 << 20, 300.0);
    record.cell.placement = LP_IN_PLACE;
    add(&result, record);
    text = printed(lp_view_long, &result, 160);
    assert_line(text, "tree (NCCL_ALGO=Tree): ", "AllReduce, float, sum, graph timing, 2 ranks");
    assert_line(text, "67108864  16777216  float  sum ", "100.0    327.4    327.4         0      5.0            90  |");
    assert_line(text, "67108864  16777216  float  sum ", "100.0  300.0  300.0         0      5.0            82");
    assert_line(text, "  99.00        77 ", "1048576    262144  float  sum ");
    assert_line(text, "|   unsupported      -      -         -        -             -  |", "       8         2  float  sum ");
    free(text);
    lp_result_release(&result);
}

static void test_variants_and_verdict(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill(&result);
    text = printed(print_all, &result, 160);
    assert_line(text, "\ntree           partly", "tree           partly       1       3");
    assert_line(text, "tree: partly: ", "a crew was lost");
    assert_line(text, "tree: log ", "/tmp/tree.log");
    assert_no(text, "/tmp/default.log");
    assert_line(text, "verdict: ", "21 cells, 16 ok");
    assert_line(text, "wrong: ", "1 cell");
    assert_line(text, "\nhang: ", "1 cell");
    assert_line(text, "\nunsupported: ", "3 cells");
    assert_no(text, "no cell failed");
    free(text);
    lp_result_release(&result);
}

static void print_verdict(const struct lp_result *result, FILE *out, int width)
{
    (void)width;
    lp_view_verdict(result, out);
}

static void test_nothing_failed(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    lp_result_init(&result);
    text = printed(print_verdict, &result, 160);
    assert_line(text, "no cell was measured", "no cell was measured");
    assert_no(text, "no cell failed");
    free(text);
    add(&result, record_of("default", 8, 1.0));
    add_bad(&result, "tree", 8, LP_UNSUPPORTED, "no");
    text = printed(print_verdict, &result, 160);
    assert_line(text, "no cell failed", "no cell failed");
    free(text);
    lp_result_release(&result);
}

/* A journal that was cut off early: no member of the head is needed, and null is as good as missing. */
static void test_partial_head(void **state)
{
    static const char *const heads[] = {
        "{}",
        "{'ended': 'SIGTERM', 'variants': [{}], 'ranks': [{}], 'topology': {}, 'baseline': {}, 'versions': null}",
        "{'ended': 'SIGTERM', 'variants': [{'name': 'tree', 'seconds': null, 'logs': [null]}], 'ranks': [{'gpu': null, 'rank': "
        "null}],"
        " 'topology': {'pairs': [{}], 'line': {}}, 'baseline': {'gbps': null, 'reason': 'no peer access'}, 'command': [null],"
        " 'inherited': {'NCCL_ALGO': null}, 'warnings': null, 'device': null}",
    };
    struct lp_result result;

    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        char *text;

        fill(&result);
        set_head(&result, heads[i]);
        text = printed(print_all, &result, 160);
        assert_int_equal(strncmp(text, "INCOMPLETE RUN: ", 16), 0);
        assert_line(text, "INCOMPLETE RUN: ", i ? "SIGTERM" : "it did not reach its end");
        assert_line(text, "\n  64M  ", " ring ");
        free(text);
        lp_result_release(&result);
    }
}

static void test_empty_result(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    lp_result_init(&result);
    text = printed(print_all, &result, 160);
    assert_line(text, "INCOMPLETE RUN: ", "it did not reach its end");
    free(text);
    lp_result_release(&result);
}

/* Whatever the cap, the line that leads to the rest is there, and no line is cut in two. */
static void test_summary(void **state)
{
    static const size_t caps[] = {8192, 400, 150, 0};
    static const char show[] = "linkperf show run.json.part";
    struct lp_result result;

    (void)state;
    fill(&result);
    json_object_set_new(result.head, "complete", json_false());
    json_object_set_new(result.head, "ended", json_string("SIGTERM"));
    for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
        char *text = NULL;
        size_t len;
        FILE *memory = open_memstream(&text, &len);

        lp_view_summary(&result, caps[i], show, memory);
        fclose(memory);
        assert_true(len <= caps[i] || caps[i] == 0);
        assert_line(text, "all of it: ", show);
        if (caps[i] < 8192)
            assert_line(text, "(cut here)", "(cut here)");
        free(text);
    }
    lp_result_release(&result);
}

static void print_summary(const struct lp_result *result, FILE *out, int width)
{
    (void)width;
    lp_view_summary(result, 8192, NULL, out);
}

static void test_summary_content(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill(&result);
    text = printed(print_summary, &result, 0);
    assert_line(text, "tree: ", "4 cells, 1 ok, as far as allreduce 64M out of place graph");
    assert_line(text, "  8: 0.00133, ", "1K: 0.151, 1M: 72.40, 64M: 327.4");
    assert_line(text, "link baseline: ", "365.0 GB/s per direction");
    assert_no(text, "all of it");
    free(text);
    lp_result_release(&result);
}

static void test_numbers(void **state)
{
    static const struct {
        double value;
        const char *words;
    } cases[] = {{0.0013349, "0.00133"}, {0.15449, "0.154"}, {1.0, "1.00"},      {72.404, "72.40"},
                 {327.44, "327.4"},      {0.0, "0.00"},      {(double)NAN, "-"}, {(double)INFINITY, "-"}};
    char buf[LP_WORD];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(lp_words_number(cases[i].value, buf, sizeof(buf)), cases[i].words);
    assert_string_equal(lp_words_percent(1.0, 0.0, buf, sizeof(buf)), "-");
    assert_string_equal(lp_words_percent(0.001, 365.0, buf, sizeof(buf)), "<0.1");
    assert_string_equal(lp_words_percent(400.0, 365.0, buf, sizeof(buf)), "110");
}

static void test_runs(void **state)
{
    struct lp_runs runs = {0}, many = {0};
    char buf[256];

    (void)state;
    for (size_t row = 0; row < 26; row++)
        if (row != 4 && row != 5)
            lp_runs_add(&runs, row, (size_t)8 << row);
    assert_string_equal(lp_runs_words(&runs, buf, sizeof(buf)), "24 sizes (8 to 64, 512 to 256M)");
    for (size_t row = 0; row < 1000; row += 2)
        lp_runs_add(&many, row, 1000000001 + row);
    assert_non_null(strstr(lp_runs_words(&many, buf, sizeof(buf)), ", ...)"));
}

static void test_progress(void **state)
{
    struct lp_progress progress = {
        .index = 3, .total = 13, .label = "ring", .cells = {[LP_DONE] = 103, [LP_HANG] = 1}, .seconds = 5.1, .left = 40.0};
    char buf[256];

    (void)state;
    assert_string_equal(lp_progress_words(&progress, buf, sizeof(buf)),
                        "[3/13] ring: 104 cells, 103 ok, 1 hang, 5.1 s; about 40 s left");
    progress.left = 180.0;
    assert_non_null(strstr(lp_progress_words(&progress, buf, sizeof(buf)), "; about 3 min left"));
    progress.left = -1.0;
    assert_null(strstr(lp_progress_words(&progress, buf, sizeof(buf)), "left"));
    assert_int_equal(strlen(lp_progress_words(&progress, buf, 10)), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_main_table),
        cmocka_unit_test(test_above_link),
        cmocka_unit_test(test_same_size),
        cmocka_unit_test(test_unchecked_is_said),
        cmocka_unit_test(test_one_rank),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_link_is_there),
        cmocka_unit_test(test_host_memory_is_said),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_variants_and_verdict),
        cmocka_unit_test(test_nothing_failed),
        cmocka_unit_test(test_partial_head),
        cmocka_unit_test(test_empty_result),
        cmocka_unit_test(test_summary),
        cmocka_unit_test(test_summary_content),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_progress),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
