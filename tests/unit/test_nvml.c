/* What is worked out from NVML's answers: links between two GPUs, and their rate. Asking NVML is for machines that have it. */
#include "machine/nvml.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

#define SWITCH  LP_REMOTE_SWITCH
#define GPU     LP_REMOTE_GPU
#define OTHER   LP_REMOTE_OTHER
#define UNKNOWN LP_REMOTE_UNKNOWN
#define PEER    "00000000:04:00.0"
#define THIRD   "00000000:05:00.0"
#define NVSW    "00000000:C5:00.0"

static void test_links_to(void **state)
{
    static const struct {
        const char *name;
        int nlinks;
        struct {
            enum lp_remote to;
            const char *pci;
        } link[4];
        int want;
    } cases[] = {
        {"number unknown", -1, {{UNKNOWN, ""}}, -1},
        {"none", 0, {{UNKNOWN, ""}}, 0},
        {"a bridge", 2, {{GPU, PEER}, {GPU, PEER}}, 2},
        {"some to each", 4, {{GPU, PEER}, {GPU, THIRD}, {GPU, THIRD}, {GPU, PEER}}, 2},
        {"all to another", 2, {{GPU, THIRD}, {GPU, THIRD}}, 0},
        {"all to switches", 3, {{SWITCH, NVSW}, {SWITCH, ""}, {SWITCH, NVSW}}, 3},
        {"a switch and another GPU", 2, {{SWITCH, NVSW}, {GPU, THIRD}}, 0},
        {"to the CPU", 2, {{OTHER, NVSW}, {OTHER, NVSW}}, 0},
        {"the place is known, its kind is not", 2, {{UNKNOWN, PEER}, {UNKNOWN, PEER}}, 2},
        {"one is unknown", 2, {{GPU, PEER}, {UNKNOWN, ""}}, 1},
        {"all are unknown", 2, {{UNKNOWN, ""}, {UNKNOWN, ""}}, -1},
        {"a GPU, but which", 2, {{GPU, ""}, {GPU, ""}}, -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_nvml_gpu gpu = {.nlinks = cases[i].nlinks};

        for (int k = 0; k < gpu.nlinks; k++) {
            gpu.link[k].remote = cases[i].link[k].to;
            snprintf(gpu.link[k].remote_pci, sizeof(gpu.link[k].remote_pci), "%s", cases[i].link[k].pci);
        }
        assert_case(cases[i].name, lp_nvml_links_to(&gpu, "0000:04:00.0") == cases[i].want);
    }
}

static void test_rate(void **state)
{
    struct lp_nvml_gpu gpu = {.nlinks = 2, .link = {{.gbps = 25.0}, {.gbps = 25.0}, {.gbps = 99.0}}};

    (void)state;
    assert_true(lp_nvml_nvlink_gbps(&gpu) == 50.0);
    gpu.link[1].gbps = (double)NAN;
    assert_true(isnan(lp_nvml_nvlink_gbps(&gpu)));
    gpu.nlinks = 0;
    assert_true(lp_nvml_nvlink_gbps(&gpu) == 0.0);
    gpu.nlinks = -1;
    assert_true(isnan(lp_nvml_nvlink_gbps(&gpu)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links_to),
        cmocka_unit_test(test_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
