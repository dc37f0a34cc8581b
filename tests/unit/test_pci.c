/* PCI ids as CUDA and NVML write them, and line rates that people know. */
#include "machine/pci.h"

#include <math.h>

#include "unit.h"

static void test_same(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"0000:03:00.0", "0000:03:00.0", true},
        {"0000:03:00.0", "00000000:03:00.0", true},
        {"0000:B3:00.0", "00000000:b3:00.0", true},
        {"0001:03:00.0", "00000001:03:00.0", true},
        {"0001:03:00.0", "00000000:03:00.0", false},
        {"0000:03:00.0", "0000:04:00.0", false},
        {"0000:03:00.0", "0000:03:00.1", false},
        {"", "", false},
        {"", "0000:03:00.0", false},
        {"unknown", "unknown", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_case(cases[i].a,
                    lp_pci_same(cases[i].a, cases[i].b) == cases[i].same && lp_pci_same(cases[i].b, cases[i].a) == cases[i].same);
}

static void test_rates(void **state)
{
    static const struct {
        const char *name;
        int generation, width;
        double gbps;
    } cases[] = {
        {"1 x16", 1, 16, 4.0},    {"2 x16", 2, 16, 8.0},    {"3 x8", 3, 8, 7.877},   {"3 x16", 3, 16, 15.754},
        {"4 x16", 4, 16, 31.508}, {"5 x16", 5, 16, 63.015}, {"6 x16", 6, 16, 121.0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_case(cases[i].name, fabs(lp_pcie_gbps(cases[i].generation, cases[i].width) - cases[i].gbps) < 0.001);
    assert_true(isnan(lp_pcie_gbps(0, 16)) && isnan(lp_pcie_gbps(-1, 16)) && isnan(lp_pcie_gbps(7, 16)));
    assert_true(isnan(lp_pcie_gbps(5, 0)) && isnan(lp_pcie_gbps(5, -1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_rates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
