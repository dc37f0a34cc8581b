/* Lists of CPUs as text. */
#include "machine/cpus.h"

#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

static void test_parse(void **state)
{
    static const struct {
        const char *list;
        enum lp_status st;
        int count, first, last;
    } cases[] = {
        {"0", LP_OK, 1, 0, 0},           {"0-3", LP_OK, 4, 0, 3},           {"0-3,8", LP_OK, 5, 0, 8},
        {"8,0-3", LP_OK, 5, 0, 8},       {"1,1,1", LP_OK, 1, 1, 1},         {"0-3,2-5", LP_OK, 6, 0, 5},
        {"1023", LP_OK, 1, 1023, 1023},  {"", LP_ERR_PARSE, 0, 0, 0},       {"none", LP_ERR_PARSE, 0, 0, 0},
        {"1024", LP_ERR_PARSE, 0, 0, 0}, {"0-5000", LP_ERR_PARSE, 0, 0, 0}, {"3-", LP_ERR_PARSE, 0, 0, 0}, /* without end */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        cpu_set_t set;

        assert_case(cases[i].list, lp_cpus_parse(cases[i].list, &set) == cases[i].st);
        if (cases[i].st != LP_OK)
            continue;
        assert_case(cases[i].list, CPU_COUNT(&set) == cases[i].count && lp_cpus_count(cases[i].list) == cases[i].count);
        assert_case(cases[i].list, CPU_ISSET((unsigned)cases[i].first, &set) && CPU_ISSET((unsigned)cases[i].last, &set));
    }
}

/* hwloc reads as far as it can, and numbers modulo 2^32; neither is what was written. */
static void test_parse_refuses_what_hwloc_takes(void **state)
{
    static const char *const lists[] = {"0-3x", "0 1", "0xff", "4294967296", "-1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        cpu_set_t set;

        assert_case(lists[i], lp_cpus_parse(lists[i], &set) == LP_ERR_PARSE);
        assert_case(lists[i], lp_cpus_count(lists[i]) == 0);
    }
}

static void test_count_of_nothing(void **state)
{
    (void)state;
    assert_int_equal(lp_cpus_count(""), 0);
    assert_int_equal(lp_cpus_count("words"), 0);
    assert_int_equal(lp_cpus_count("0-"), 0);
}

static void test_common(void **state)
{
    static const struct {
        const char *a, *b, *out;
    } cases[] = {
        {"0-7", "4-11", "4-7"}, {"4-11", "0-7", "4-7"}, {"0-3", "0-3", "0-3"}, {"0,2,4", "1-4", "2,4"}, {"0-3", "4-7", ""},
        {"", "0-3", ""},        {"0-3", "", ""},        {"", "", ""},          {"x", "0-3", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char buf[LP_CPUS_MAX] = "old";

        assert_string_equal(lp_cpus_common(cases[i].a, cases[i].b, buf, sizeof(buf)), cases[i].out);
    }
}

/* A list that does not fit is unknown, never another list. */
static void test_no_room(void **state)
{
    char buf[6];

    (void)state;
    assert_string_equal(lp_cpus_common("0-3,8", "0-3,8", buf, sizeof(buf)), "0-3,8");
    assert_string_equal(lp_cpus_common("0-3,18", "0-3,18", buf, sizeof(buf)), "");
}

static void test_this_process(void **state)
{
    char mine[LP_CPUS_MAX], again[LP_CPUS_MAX];
    cpu_set_t set, kernel;

    (void)state;
    assert_string_not_equal(lp_cpus_of_process(0, mine, sizeof(mine)), "");
    assert_int_equal(sched_getaffinity(0, sizeof(kernel), &kernel), 0);
    assert_int_equal(lp_cpus_parse(mine, &set), LP_OK);
    assert_true(CPU_EQUAL(&set, &kernel));
    assert_int_equal(lp_cpus_apply(mine), LP_OK);
    assert_string_equal(lp_cpus_of_process(getpid(), again, sizeof(again)), mine);
    assert_string_equal(lp_cpus_of_process(-7, again, sizeof(again)), "");
}

static void test_apply_refused(void **state)
{
    (void)state;
    assert_int_equal(lp_cpus_apply(""), LP_ERR_PARSE);
    assert_int_equal(lp_cpus_apply("all"), LP_ERR_PARSE);
    assert_int_equal(lp_cpus_apply("1023"), LP_ERR_ENV); /* no machine here is that large */
}

/* Devices that are not there, and text that is no address. */
static void test_pci_unknown(void **state)
{
    static const char *const ids[] = {"ffff:ff:1f.7", "", "nonsense", "../../../../etc"};
    char buf[LP_CPUS_MAX];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        assert_string_equal(lp_cpus_of_pci(ids[i], buf, sizeof(buf)), "");
        assert_int_equal(lp_numa_of_pci(ids[i]), -1);
    }
}

/* Every CPU goes to one part, in order; fewer CPUs than parts are not shared out. */
static void test_share(void **state)
{
    static const struct {
        const char *list;
        int part, parts;
        const char *out;
    } cases[] = {
        {"0-1", 0, 2, "0"},   {"0-1", 1, 2, "1"},   {"0-7", 1, 2, "4-7"}, {"0-6", 0, 3, "0-2"}, {"0-6", 1, 3, "3-4"},
        {"0-6", 2, 3, "5-6"}, {"2,5,9", 1, 3, "5"}, {"0-1", 0, 3, ""},    {"3", 0, 1, "3"},     {"", 0, 2, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char buf[LP_CPUS_MAX] = "old";

        assert_string_equal(lp_cpus_share(cases[i].list, cases[i].part, cases[i].parts, buf, sizeof(buf)), cases[i].out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_count_of_nothing),
        cmocka_unit_test(test_common),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_this_process),
        cmocka_unit_test(test_apply_refused),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_pci_unknown),
        cmocka_unit_test(test_parse_refuses_what_hwloc_takes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
