/* What a worker says of GPUs and their links: a device table and an NVML of this file's, which answer what it says above them. */
#include "worker/see.h"

#include "base/json.h"
#include "machine/nvml.h"
#include "worker/library.h"

#include <math.h>
#include <stdio.h>

#include "fixture.h"
#include "unit.h"

/* Three GPUs: 0 says that two links go to 1, one to a CPU, and one nobody knows where; 1 has none; NVML does not know 2. */
#define NGPUS 3
static const char *const pci[NGPUS] = {"0000:03:00.0", "0000:04:00.0", "0000:05:00.0"};
static bool there_is_nvml;

static enum lp_status count(int *n, struct lp_reason *why)
{
    (void)why;
    *n = NGPUS;
    return LP_OK;
}

static enum lp_status describe(int index, struct lp_device_info *out, struct lp_reason *why)
{
    (void)why;
    *out = (struct lp_device_info){.name = "card", .memory_bytes = 1000, .memory_gbps = index == 0 ? 616.0 : (double)NAN};
    snprintf(out->pci, sizeof(out->pci), "%s", pci[index]);
    return LP_OK;
}

static enum lp_status can_access(int index, int peer, bool *yes, struct lp_reason *why)
{
    (void)why;
    *yes = index + peer == 1;
    return LP_OK;
}

static const struct lp_device_ops cards = {.name = "cuda", .count = count, .describe = describe, .can_access = can_access};
const struct lp_device_ops *const lp_devices[] = {&cards, NULL};
const struct lp_library_ops *const lp_libraries[] = {NULL};

enum lp_status lp_nvml_open(struct lp_nvml **out, struct lp_reason *why)
{
    static char opened;

    *out = there_is_nvml ? (struct lp_nvml *)&opened : NULL;
    return there_is_nvml ? LP_OK : lp_because(why, LP_ERR_UNSUPPORTED, "no NVML");
}

void lp_nvml_close(struct lp_nvml *nvml)
{
    assert_int_equal(nvml != NULL, there_is_nvml);
}

const char *lp_nvml_driver(const struct lp_nvml *nvml)
{
    (void)nvml;
    return "580.95";
}

enum lp_status lp_nvml_gpu(struct lp_nvml *nvml, const char *id, struct lp_nvml_gpu *out, struct lp_reason *why)
{
    static const struct lp_nvml_gpu gpus[] = {
        {.nlinks = 4,
         .link = {{25.0, LP_REMOTE_GPU, "00000000:04:00.0"},
                  {25.0, LP_REMOTE_OTHER, "00000000:00:01.0"},
                  {25.0, LP_REMOTE_GPU, "00000000:04:00.0"},
                  {25.0, LP_REMOTE_UNKNOWN, ""}},
         .pcie_max_gen = 3,
         .pcie_max_width = 16,
         .pcie_max_gbps = 15.75},
        {.nlinks = 0, .pcie_max_gen = -1, .pcie_max_width = -1, .pcie_max_gbps = (double)NAN},
    };

    (void)nvml;
    for (size_t i = 0; i < COUNT_OF(gpus); i++)
        if (strcmp(id, pci[i]) == 0) {
            *out = gpus[i];
            return LP_OK;
        }
    *out = (struct lp_nvml_gpu){.nlinks = -1};
    return lp_because(why, LP_ERR_UNSUPPORTED, "not known");
}

double lp_nvml_nvlink_gbps(const struct lp_nvml_gpu *gpu)
{
    return 25.0 * gpu->nlinks;
}

int lp_nvml_links_to(const struct lp_nvml_gpu *gpu, const char *peer_pci)
{
    if (gpu->nlinks <= 0)
        return gpu->nlinks;
    return strcmp(peer_pci, pci[1]) == 0 ? 2 : 0;
}

const char *lp_nvml_common(struct lp_nvml *nvml, const char *id, const char *peer_pci)
{
    (void)nvml;
    return strcmp(id, pci[2]) == 0 || strcmp(peer_pci, pci[2]) == 0 ? NULL : "PHB";
}

/* The survey of this machine. New reference. */
static json_t *see(bool with_nvml)
{
    json_t *machine = json_object();
    struct lp_reason why = {""};

    there_is_nvml = with_nvml;
    assert_int_equal(lp_see_machine("auto", NULL, machine, &why), LP_OK);
    return machine;
}

static void expect_json(const json_t *found, const char *want)
{
    json_t *list = json_of(want);
    char *text = json_dumps(found, JSON_ENCODE_ANY);

    if (!json_equal(found, list))
        fail_msg("%s is not %s", text, want);
    free(text);
    json_decref(list);
}

static void test_links_of_a_gpu(void **state)
{
    json_t *machine = see(true), *devices = json_object_get(machine, "devices");

    (void)state;
    expect_json(json_object_get(json_array_get(devices, 0), "links"),
                "{'nvlinks': 4, 'nvlink_gbps': 100.0, 'pcie_gen': 3, 'pcie_width': 16, 'pcie_gbps': 15.75, 'remotes': ["
                "{'pci': '00000000:04:00.0', 'n': 2, 'to': 'gpu'}, {'pci': '00000000:00:01.0', 'n': 1, 'to': 'other'},"
                "{'pci': null, 'n': 1, 'to': 'unknown'}]}");
    expect_json(json_object_get(json_array_get(devices, 1), "links"),
                "{'nvlinks': 0, 'nvlink_gbps': 0.0, 'pcie_gen': -1, 'pcie_width': -1, 'pcie_gbps': null, 'remotes': []}");
    assert_null(json_object_get(json_array_get(devices, 2), "links"));
    json_decref(machine);
}

static void test_memory_rate(void **state)
{
    json_t *machine = see(true), *devices = json_object_get(machine, "devices");

    (void)state;
    assert_true(lp_json_num(json_array_get(devices, 0), "memory_gbps", 0) == 616.0);
    assert_true(json_is_null(json_object_get(json_array_get(devices, 1), "memory_gbps")));
    json_decref(machine);
}

static void test_pairs(void **state)
{
    json_t *machine = see(true);

    (void)state;
    expect_json(json_object_get(machine, "pairs"), "[{'src': 0, 'dst': 1, 'peer_access': true, 'nvlinks': 2, 'common': 'PHB'},"
                                                   "{'src': 0, 'dst': 2, 'peer_access': false, 'nvlinks': 0, 'common': null},"
                                                   "{'src': 1, 'dst': 0, 'peer_access': true, 'nvlinks': 0, 'common': 'PHB'},"
                                                   "{'src': 1, 'dst': 2, 'peer_access': false, 'nvlinks': 0, 'common': null},"
                                                   "{'src': 2, 'dst': 0, 'peer_access': false, 'nvlinks': null, 'common': null},"
                                                   "{'src': 2, 'dst': 1, 'peer_access': false, 'nvlinks': null, 'common': null}]");
    json_decref(machine);
}

static void test_without_nvml(void **state)
{
    json_t *machine = see(false), *pairs = json_object_get(machine, "pairs");

    (void)state;
    assert_int_equal(json_array_size(pairs), NGPUS * (NGPUS - 1));
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        assert_true(json_is_null(json_object_get(json_array_get(pairs, i), "nvlinks")));
        assert_true(json_is_null(json_object_get(json_array_get(pairs, i), "common")));
    }
    assert_null(json_object_get(json_array_get(json_object_get(machine, "devices"), 0), "links"));
    json_decref(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_of_a_gpu),
        cmocka_unit_test(test_memory_rate),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_without_nvml),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
