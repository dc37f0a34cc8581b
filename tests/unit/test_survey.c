/* Judging what the ranks' workers saw: which GPU is whose, what must agree, and the line in words. */
#include "machine/survey.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

#include "fixture.h"
#include "judged.h"

#define HEAD "'host': 'box', 'kernel': '6.8', 'cpus': '0-15', 'inherited': {}, 'conf_files': [],"
#define CUDA                                                                                                                       \
    HEAD "'device': 'cuda', 'library': 'nccl', 'versions': {'driver': '580.95', 'cuda_runtime': '13.0', "                          \
         "'nccl_loaded': '2.28.3', 'nccl_path': '/usr/lib/libnccl.so.2'},"
#define GPU0                                                                                                                       \
    "{'index': 0, 'name': 'H200', 'uuid': 'GPU-a', 'pci': '0000:03:00.0', 'memory_bytes': 150000000000, 'memory_gbps': 4917.0, "   \
    "'cpus': '0-7'}"
#define GPU1  "{'index': 1, 'name': 'H200', 'uuid': 'GPU-b', 'pci': '0000:04:00.0', 'memory_bytes': 140000000000, 'cpus': ''}"
#define PAIRS "'pairs': [{'src': 0, 'dst': 1, 'peer_access': true}, {'src': 1, 'dst': 0, 'peer_access': false}]"
#define BOTH  "{" CUDA "'devices': [" GPU0 "," GPU1 "]," PAIRS "}"
#define ONE0  "{" CUDA "'devices': [" GPU0 "], 'pairs': []}"
#define ONE1  "{" CUDA "'devices': [" GPU1 "], 'pairs': []}"
#define HOST                                                                                                                       \
    "{" HEAD "'device': 'host', 'library': 'host', 'versions': {}, 'devices': [{'index': 0, 'name': 'host memory',"                \
    "'memory_bytes': 1000}], 'pairs': []}"

static enum lp_status judge_texts(struct judged *judged, const char *first, const char *second)
{
    *judged = (struct judged){.n = second ? 2 : 1};
    judged->seen[0] = json_of(first);
    if (second)
        judged->seen[1] = json_of(second);
    return judge(judged);
}

static size_t warnings(const struct judged *judged)
{
    return json_array_size(json_object_get(judged->head, "warnings"));
}

static void expect_warning(const struct judged *judged, const char *part)
{
    const json_t *list = json_object_get(judged->head, "warnings");
    bool found = false;

    for (size_t i = 0; i < json_array_size(list); i++)
        found = found || strstr(json_string_value(json_array_get(list, i)), part);
    assert_case(part, found);
}

static void test_two_gpus(void **state)
{
    struct judged judged;
    const json_t *rank, *pair;

    (void)state;
    assert_int_equal(judge_texts(&judged, BOTH, BOTH), LP_OK);
    assert_string_equal(judged.machine.device, "cuda");
    assert_string_equal(judged.machine.library, "nccl");
    assert_true(judged.machine.nranks == 2 && judged.machine.visible == 2 && !judged.machine.nvls_set);
    for (int r = 0; r < 2; r++)
        assert_true(judged.machine.rank[r].device == r && judged.machine.rank[r].at_rank0 == r);
    assert_string_equal(judged.machine.rank[1].pci, "0000:04:00.0");
    assert_true(judged.machine.rank[0].memory_bytes == 150000000000u && judged.machine.rank[1].memory_bytes == 140000000000u);
    assert_string_equal(judged.machine.rank[0].cpus, "0-7");
    assert_string_equal(judged.machine.rank[1].cpus, "");
    rank = json_array_get(json_object_get(judged.head, "ranks"), 1);
    assert_string_equal(lp_json_str(rank, "host", ""), "box");
    assert_int_equal(lp_json_int(rank, "local_rank", -1), 1);
    assert_string_equal(lp_json_str(json_object_get(rank, "gpu"), "uuid", ""), "GPU-b");
    rank = json_array_get(json_object_get(judged.head, "ranks"), 0);
    assert_true(lp_json_num(json_object_get(rank, "gpu"), "memory_gbps", 0) == 4917.0);
    assert_int_equal(judged.machine.nkinds, 2);
    expect_pair(&judged, 0, 1, "unknown", (double)NAN);
    expect_pair(&judged, 1, 0, "PCIe", (double)NAN);
    pair = json_array_get(json_object_get(json_object_get(judged.head, "topology"), "pairs"), 1);
    assert_false(lp_json_bool(pair, "peer_access", true));
    assert_string_equal(lp_json_str(json_object_get(judged.head, "versions"), "kernel", ""), "6.8");
    assert_string_equal(lp_json_str(judged.head, "device", ""), "cuda");
    assert_int_equal(warnings(&judged), 0);
    release(&judged);
}

static void test_one_rank(void **state)
{
    struct judged judged;

    (void)state;
    assert_int_equal(judge_texts(&judged, BOTH, NULL), LP_OK);
    assert_int_equal(json_array_size(json_object_get(judged.head, "ranks")), 1);
    assert_int_equal(json_array_size(json_object_get(json_object_get(judged.head, "topology"), "pairs")), 0);
    release(&judged);
}

/* A scheduler gave each rank its own GPU: device 0 of 1 on both, and no word on a pair that nobody sees whole. */
static void test_each_sees_its_own(void **state)
{
    struct judged judged;
    const json_t *pairs;

    (void)state;
    assert_int_equal(judge_texts(&judged, ONE0, ONE1), LP_OK);
    assert_true(judged.machine.rank[0].device == 0 && judged.machine.rank[1].device == 0);
    assert_true(judged.machine.rank[0].at_rank0 == 0 && judged.machine.rank[1].at_rank0 == -1);
    assert_true(judged.machine.visible == 1);
    pairs = json_object_get(json_object_get(judged.head, "topology"), "pairs");
    assert_int_equal(json_array_size(pairs), 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(json_is_null(json_object_get(json_array_get(pairs, i), "peer_access")));
        assert_says(lp_json_str(json_array_get(pairs, i), "reason", ""), "not visible");
    }
    release(&judged);
}

/* CUDA_VISIBLE_DEVICES=1,0 on rank 1 only: its device 1 is rank 0's device 0. */
static void test_same_gpu_in_another_order(void **state)
{
    struct judged judged;

    (void)state;
    assert_int_equal(judge_texts(&judged, BOTH, "{" CUDA "'devices': [" GPU1 "," GPU0 "]," PAIRS "}"), LP_ERR_ENV);
    assert_says(judged.why.text, "ranks 0 and 1 use the same GPU 0000:03:00.0");
    release(&judged);
}

static void test_refused(void **state)
{
    static const struct {
        const char *first, *second, *says[3];
    } cases[] = {
        {ONE0, ONE0, {"same GPU", "0000:03:00.0", "one rank per GPU"}},
        {BOTH, HOST, {"kind of device", "rank 0 has cuda", "rank 1 has host"}},
        {BOTH, "{'device': 'cuda', 'versions': {'driver': '570.1'}, 'devices': []}", {"driver", "580.95", "570.1"}},
        {BOTH, "{'device': 'cuda', 'versions': {'driver': '580.95', 'cuda_runtime': '12.8'}}", {"CUDA runtime", "13.0", "12.8"}},
        {BOTH,
         "{'device': 'cuda', 'versions': {'driver': '580.95', 'cuda_runtime': '13.0', 'nccl_loaded': '2.27.7'}}",
         {"NCCL version", "2.28.3", "2.27.7"}},
        {BOTH,
         "{'device': 'cuda', 'versions': {'driver': '580.95', 'cuda_runtime': '13.0', 'nccl_loaded': '2.28.3', 'nccl_path': '/x'}}",
         {"NCCL library", "/usr/lib/libnccl.so.2", "/x"}},
        {BOTH, "{'device': 'cuda', 'versions': {'driver': '580.95', 'cuda_runtime': '13.0'}}", {"NCCL version", "2.28.3", "none"}},
        {"{" CUDA "'devices': []}", NULL, {"rank 0", "no GPU", "0 are visible"}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct judged judged;

        assert_case(cases[i].says[0], judge_texts(&judged, cases[i].first, cases[i].second) == LP_ERR_ENV);
        for (size_t k = 0; k < COUNT_OF(cases[i].says); k++)
            assert_says(judged.why.text, cases[i].says[k]);
        release(&judged);
    }
}

static void test_fewer_gpus_than_ranks(void **state)
{
    struct judged judged = {.n = 3};

    (void)state;
    for (int r = 0; r < 3; r++)
        judged.seen[r] = json_of(BOTH);
    assert_int_equal(judge(&judged), LP_ERR_ENV);
    assert_says(judged.why.text, "rank 2 has no GPU");
    assert_says(judged.why.text, "2 are visible");
    assert_says(judged.why.text, "-np 2");
    release(&judged);
}

static void test_host(void **state)
{
    struct judged judged = {.n = 4};
    const json_t *line;

    (void)state;
    for (int r = 0; r < 4; r++)
        judged.seen[r] = json_of(HOST);
    assert_int_equal(judge(&judged), LP_OK);
    assert_string_equal(judged.machine.device, "host");
    assert_false(judged.machine.nvlink);
    for (int r = 0; r < 4; r++) {
        assert_true(judged.machine.rank[r].memory_bytes == 250); /* they share it */
        assert_true(judged.machine.rank[r].device == 0 && judged.machine.rank[r].at_rank0 == (r == 0 ? 0 : -1));
        assert_true(json_is_null(json_object_get(json_array_get(json_object_get(judged.head, "ranks"), (size_t)r), "gpu")));
    }
    line = json_object_get(json_object_get(judged.head, "topology"), "line");
    assert_true(json_is_null(json_object_get(line, "gbps")));
    assert_says(lp_json_str(line, "reason", ""), "host memory");
    assert_int_equal(warnings(&judged), 0);
    release(&judged);
}

/* Line rate in words, with the figure that people know beside it. links: of both devices; nominal NULL: there is none. */
static void test_lines(void **state)
{
    static const struct {
        const char *links, *kind;
        double gbps;
        const char *says, *nominal;
        bool nvlink;
    } cases[] = {
        {"{'nvlinks': 18, 'nvlink_gbps': 478.125}", "nvlink", 478.125, "18 NVLinks x 26.56 GB/s by the driver; nominal 450 GB/s",
         "900 GB/s", true},
        {"{'nvlinks': 12, 'nvlink_gbps': 300.0}", "nvlink", 300.0, "12 NVLinks x 25.00 GB/s by the driver; nominal 300 GB/s",
         "600 GB/s", true},
        {"{'nvlinks': 2, 'nvlink_gbps': 51.5625}", "nvlink", 51.5625, "2 NVLinks x 25.78 GB/s by the driver; nominal 50 GB/s",
         "100 GB/s", true},
        {"{'nvlinks': 2, 'nvlink_gbps': 50.0}", "nvlink", 50.0, "2 NVLinks x 25.00 GB/s", "100 GB/s", true},
        {"{'nvlinks': 4, 'nvlink_gbps': 80.0}", "nvlink", 80.0, "nominal 80 GB/s", "160 GB/s", true},
        {"{'nvlinks': 18, 'nvlink_gbps': 956.25}", "nvlink", 956.25, "nominal 900 GB/s", "1800 GB/s", true},
        {"{'nvlinks': 1, 'nvlink_gbps': 26.5625}", "nvlink", 26.5625, "1 NVLink", "50 GB/s", true},
        {"{'nvlinks': 18, 'nvlink_gbps': null}", "nvlink", (double)NAN, "no link rate", NULL, true},
        {"{'nvlinks': 0, 'nvlink_gbps': null, 'pcie_gen': 5, 'pcie_width': 16, 'pcie_gbps': 63.0}", "pcie", 63.0,
         "PCIe generation 5 x16", NULL, false},
        {"{'nvlinks': null, 'pcie_gen': 3, 'pcie_width': 8, 'pcie_gbps': 7.88}", "pcie", 7.88, "PCIe generation 3 x8", NULL, false},
        {"{'nvlinks': 0, 'pcie_gen': 0, 'pcie_width': 0, 'pcie_gbps': null}", NULL, (double)NAN, "unknown", NULL, false},
        {"{'nvlinks': 0, 'pcie_gbps': 0.0}", NULL, (double)NAN, "unknown", NULL, false},
        {"{}", NULL, (double)NAN, "unknown", NULL, false},
        {"null", NULL, (double)NAN, "unknown", NULL, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct judged judged = {.n = 2};
        const json_t *line;
        double gbps;

        for (int r = 0; r < 2; r++) {
            judged.seen[r] = json_of(BOTH);
            for (size_t d = 0; d < 2; d++) {
                char text[160];

                snprintf(text, sizeof(text), "[%s]", cases[i].links);
                json_t *list = json_of(text);
                json_object_set(json_array_get(json_object_get(judged.seen[r], "devices"), d), "links", json_array_get(list, 0));
                json_decref(list);
            }
        }
        assert_case(cases[i].links, judge(&judged) == LP_OK);
        line = json_object_get(json_object_get(judged.head, "topology"), "line");
        gbps = lp_json_num(line, "gbps", (double)NAN);
        assert_case(cases[i].links, gbps == cases[i].gbps || (isnan(gbps) && isnan(cases[i].gbps)));
        if (cases[i].kind)
            assert_string_equal(lp_json_str(line, "kind", ""), cases[i].kind);
        else
            assert_case(cases[i].links, !lp_json_str(line, "kind", NULL));
        assert_says(lp_json_str(line, "words", lp_json_str(line, "reason", "")), cases[i].says);
        assert_string_equal(lp_json_str(line, "nominal_words", "-"), cases[i].nominal ? cases[i].nominal : "-");
        assert_case(cases[i].links, judged.machine.nvlink == cases[i].nvlink);
        release(&judged);
    }
}

static void test_inherited_nvls(void **state)
{
    static const char *const values[] = {"0", "", "2"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        struct judged judged = {.n = 1, .seen = {json_of(BOTH)}};

        json_object_set_new(json_object_get(judged.seen[0], "inherited"), "NCCL_NVLS_ENABLE", json_string(values[i]));
        assert_int_equal(judge(&judged), LP_OK);
        assert_true(judged.machine.nvls_set);
        assert_string_equal(judged.machine.nvls, values[i]);
        assert_string_equal(lp_json_str(json_object_get(judged.head, "inherited"), "NCCL_NVLS_ENABLE", "-"), values[i]);
        release(&judged);
    }
}

/* Facts that change what a number means are said, and stop nothing. */
static void test_warnings(void **state)
{
    struct judged judged = {.n = 2, .seen = {json_of(BOTH), json_of(BOTH)}};

    (void)state;
    json_object_set_new(json_object_get(judged.seen[0], "versions"), "nccl_compiled", json_string("2.27.3"));
    json_object_set_new(json_array_get(json_object_get(judged.seen[1], "devices"), 1), "name", json_string("A100"));
    json_object_set_new(judged.seen[0], "cpus", json_string("3"));
    json_object_set_new(judged.seen[0], "library_error", json_string("libnccl.so.2: no such file"));
    assert_int_equal(judge(&judged), LP_OK);
    expect_warning(&judged, "NCCL 2.28.3 is loaded; the worker was compiled with the header of 2.27.3");
    expect_warning(&judged, "rank 0 has H200, rank 1 has A100");
    expect_warning(&judged, "one CPU");
    expect_warning(&judged, "no collectives: libnccl.so.2: no such file");
    assert_string_equal(judged.machine.library_error, "libnccl.so.2: no such file");
    release(&judged);
}

static void test_host_with_few_cpus(void **state)
{
    struct judged judged;

    (void)state;
    judged = (struct judged){.n = 2, .seen = {json_of(HOST), json_of(HOST)}};
    json_object_set_new(judged.seen[0], "cpus", json_string("5"));
    assert_int_equal(judge(&judged), LP_OK);
    expect_warning(&judged, "2 ranks share 1 CPUs");
    release(&judged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_gpus),
        cmocka_unit_test(test_one_rank),
        cmocka_unit_test(test_each_sees_its_own),
        cmocka_unit_test(test_same_gpu_in_another_order),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_fewer_gpus_than_ranks),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_inherited_nvls),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_host_with_few_cpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
