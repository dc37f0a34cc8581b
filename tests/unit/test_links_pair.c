/* One pair of GPUs in every way that answers can leave, and machines of many kinds of pairs. Whole link maps are test_links's. */
#include "machine/links.h"

#include "fixture.h"
#include "judged.h"

/* ---- one pair ---- */

#define NVLINKS(n, gbps)       "'nvlinks': " #n ", 'nvlink_gbps': " #gbps ","
#define AT_SWITCHES(n)         "'remotes': [{'pci': null, 'n': " #n ", 'to': 'switch'}],"
#define AT_GPU(n, digit)       "'remotes': [{'pci': '00000000:0" #digit ":00.0', 'n': " #n ", 'to': 'gpu'}],"
#define PCIE(gen, width, gbps) "'pcie_gen': " #gen ", 'pcie_width': " #width ", 'pcie_gbps': " #gbps
#define GEN5                   PCIE(5, 16, 63.0)
#define YES                    "'peer_access': true, 'nvlinks': "
#define NO                     "'peer_access': false, 'nvlinks': "
#define AT(word)               ", 'common': '" word "'"

/* What is said of two GPUs' links, and of the pair both ways; pair NULL: they are hidden from each other. */
struct cards {
    const char *links[2], *pair[2];
};

/* The answer of a rank with two GPUs, 0000:03:00.0 and 0000:04:00.0; it sees only its own where they are hidden. */
static json_t *two_cards(const struct cards *cards, int rank)
{
    json_t *devices = json_array(), *pairs = json_array();
    char text[512];

    for (int d = 0; d < 2; d++) {
        if (!cards->pair[0] && d != rank)
            continue;
        snprintf(text, sizeof(text), "{'name': 'card %d', 'pci': '0000:0%d:00.0', 'links': {%s}}", d, 3 + d, cards->links[d]);
        json_array_append_new(devices, json_of(text));
        if (!cards->pair[0])
            continue;
        snprintf(text, sizeof(text), "{'src': %d, 'dst': %d, %s}", d, !d, cards->pair[d]);
        json_array_append_new(pairs, json_of(text));
    }
    return json_pack("{s:s, s:o, s:o, s:{}}", "device", "cuda", "devices", devices, "pairs", pairs, "versions");
}

static void judge_cards(struct judged *judged, const struct cards *cards)
{
    *judged = (struct judged){.n = 2};
    for (int r = 0; r < 2; r++)
        judged->seen[r] = two_cards(cards, r);
    if (judge(judged) != LP_OK)
        fail_msg("%s", judged->why.text);
}

/* What comes of 0 -> 1. */
static void test_one_pair(void **state)
{
    static const struct {
        const char *name;
        struct cards cards;
        const char *kind;
        double gbps;
        const char *says;
    } cases[] = {
        {"slower links at one end",
         {{NVLINKS(4, 100.0) GEN5, NVLINKS(4, 80.0) GEN5}, {YES "4", YES "4"}},
         "NV4",
         80.0,
         "4 NVLinks x 20.00 GB/s"},
        {"a rate at one end only",
         {{NVLINKS(4, null) GEN5, NVLINKS(4, 100.0) GEN5}, {YES "4", YES "4"}},
         "NV4",
         100.0,
         "4 NVLinks x 25.00 GB/s"},
        {"no rate",
         {{NVLINKS(4, null) GEN5, NVLINKS(4, null) GEN5}, {YES "4", YES "4"}},
         "NV4",
         (double)NAN,
         "4 NVLinks whose rate the driver does not give"},
        {"one way has fewer",
         {{NVLINKS(4, 100.0) GEN5, NVLINKS(3, 75.0) GEN5}, {YES "4", YES "3"}},
         "NV3",
         75.0,
         "3 NVLinks x 25.00 GB/s"},
        {"links to other GPUs",
         {{NVLINKS(4, 100.0) GEN5, NVLINKS(4, 100.0) GEN5}, {YES "0" AT("PHB"), YES "0" AT("PHB")}},
         "PHB",
         63.0,
         "PCIe generation 5 x16"},
        {"not let into the fabric",
         {{NVLINKS(12, 300.0) AT_SWITCHES(12) GEN5, NVLINKS(12, 300.0) AT_SWITCHES(12) GEN5},
          {NO "12" AT("SYS"), NO "12" AT("SYS")}},
         "SYS",
         63.0,
         "PCIe generation 5 x16"},
        {"a bridge, whatever the driver allows",
         {{NVLINKS(2, 50.0) AT_GPU(2, 4) GEN5, NVLINKS(2, 50.0) AT_GPU(2, 3) GEN5}, {NO "2", NO "2"}},
         "NV2",
         50.0,
         "2 NVLinks x 25.00 GB/s"},
        {"NVML knows one GPU",
         {{NVLINKS(2, 50.0) AT_GPU(2, 4) GEN5, ""}, {YES "2", YES "null"}},
         "NV2",
         50.0,
         "2 NVLinks x 25.00 GB/s"},
        {"fewer links, ends unknown",
         {{NVLINKS(18, 450.0) GEN5, NVLINKS(6, 150.0) GEN5}, {YES "null", YES "null"}},
         "NV6",
         150.0,
         "taken for all of its links"},
        {"ends known at one GPU, which has more links",
         {{NVLINKS(12, 300.0) AT_SWITCHES(12) GEN5, NVLINKS(3, 75.0) GEN5}, {YES "null", YES "null"}},
         "NV3",
         75.0,
         "3 NVLinks x 25.00 GB/s by the driver"},
        {"ends unknown and refused",
         {{NVLINKS(18, 478.1) GEN5, NVLINKS(18, 478.1) GEN5}, {NO "null", NO "null"}},
         "PCIe",
         63.0,
         "PCIe generation 5 x16, its maximum"},
        {"ends unknown and hidden",
         {{NVLINKS(18, 478.1) GEN5, NVLINKS(18, 478.1) GEN5}, {NULL, NULL}},
         "unknown",
         (double)NAN,
         "does not say whether NVLinks"},
        {"a worker without the members, NVLink",
         {{NVLINKS(18, 478.1) GEN5, NVLINKS(18, 478.1) GEN5}, {"'peer_access': true", "'peer_access': true"}},
         "NV18",
         478.1,
         "taken for all of its links"},
        {"a worker without the members, PCIe",
         {{NVLINKS(null, 478.1) GEN5, NVLINKS(null, 478.1) GEN5}, {"'peer_access': true", "'peer_access': true"}},
         "PCIe",
         63.0,
         "PCIe generation 5 x16, its maximum"},
        {"narrow at dst",
         {{NVLINKS(0, 0.0) GEN5, NVLINKS(0, 0.0) PCIE(3, 8, 7.88)}, {YES "0" AT("PIX"), YES "0" AT("PIX")}},
         "PIX",
         7.88,
         "PCIe generation 3 x8, the slower of the two: GPU 1"},
        {"narrow at src",
         {{NVLINKS(0, 0.0) PCIE(4, 4, 7.88), NVLINKS(0, 0.0) GEN5}, {NO "0" AT("NODE"), NO "0" AT("NODE")}},
         "NODE",
         7.88,
         "PCIe generation 4 x4, the slower of the two: GPU 0"},
        {"nothing of dst",
         {{NVLINKS(0, 0.0) GEN5, NVLINKS(0, 0.0) PCIE(-1, -1, null)}, {YES "0" AT("SYS"), YES "0" AT("SYS")}},
         "SYS",
         (double)NAN,
         "does not give PCIe generation and width of one of the two: GPU 1"},
        {"nothing of src",
         {{NVLINKS(0, 0.0) PCIE(0, 0, 0.0), NVLINKS(0, 0.0) GEN5}, {YES "0", YES "0"}},
         "PCIe",
         (double)NAN,
         "of one of the two: GPU 0"},
        {"no figures",
         {{NVLINKS(0, 0.0) PCIE(-1, -1, null), NVLINKS(0, 0.0) PCIE(-1, -1, null)}, {YES "0", YES "0"}},
         "PCIe",
         (double)NAN,
         "of either GPU"},
        {"nothing at all", {{"", ""}, {YES "null", YES "null"}}, "unknown", (double)NAN, "does not say whether NVLinks"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct judged judged;

        judge_cards(&judged, &cases[i].cards);
        if (strcmp(kind_of(&judged, 0, 1)->name, cases[i].kind) != 0)
            fail_msg("case \"%s\": %s", cases[i].name, kind_of(&judged, 0, 1)->name);
        expect_pair(&judged, 0, 1, cases[i].kind, cases[i].gbps);
        assert_says(lp_json_str(entry_of(&judged, 0, 1), "line_words", ""), cases[i].says);
        release(&judged);
    }
}

/* ---- many kinds ---- */

/* GPUs of which each has a faster slot than the one before: one kind fewer than GPUs. */
static void judge_slots(struct judged *judged, int n)
{
    *judged = (struct judged){.n = n};
    for (int r = 0; r < n; r++) {
        json_t *devices = json_array();

        for (int d = 0; d < n; d++)
            json_array_append_new(devices,
                                  json_pack("{s:s, s:o, s:{s:i, s:f}}", "name", "card", "pci", json_sprintf("0000:%02x:00.0", d),
                                            "links", "nvlinks", 0, "pcie_gbps", 1.0 + d));
        judged->seen[r] = json_pack("{s:s, s:o, s:[], s:{}}", "device", "cuda", "devices", devices, "pairs", "versions");
    }
    assert_int_equal(judge(judged), LP_OK);
}

static void test_as_many_kinds_as_fit(void **state)
{
    struct judged judged;

    (void)state;
    judge_slots(&judged, LP_MAX_PAIR_KINDS + 1);
    assert_int_equal(judged.machine.nkinds, LP_MAX_PAIR_KINDS);
    for (int a = 0; a < LP_MAX_PAIR_KINDS; a++)
        expect_pair(&judged, LP_MAX_PAIR_KINDS, a, "PCIe", 1.0 + a);
    release(&judged);
}

/* The last kind is of all that did not fit, also of the pairs that were its first; a pair's own rate stays. */
static void test_too_many_kinds(void **state)
{
    int n = LP_MAX_PAIR_KINDS + 3, last = LP_MAX_PAIR_KINDS - 1;
    struct judged judged;

    (void)state;
    judge_slots(&judged, n);
    assert_int_equal(judged.machine.nkinds, LP_MAX_PAIR_KINDS);
    expect_pair(&judged, n - 1, last - 1, "PCIe", last);
    assert_string_equal(judged.machine.kind[last].name, "other");
    assert_true(isnan(judged.machine.kind[last].line_gbps));
    for (int a = last; a < n - 1; a++) {
        const json_t *entry = entry_of(&judged, a, n - 1);

        assert_int_equal(judged.machine.kind_of[a][n - 1], last);
        assert_string_equal(lp_json_str(entry, "kind", ""), "other");
        assert_true(lp_json_num(entry, "line_gbps", 0) == 1.0 + a);
    }
    release(&judged);
}

/* Cards of another model have what they have. */
static void test_no_shortage_between_models(void **state)
{
    static const struct cards cards = {{NVLINKS(2, 50.0) AT_GPU(2, 4) GEN5, NVLINKS(0, 0.0) GEN5}, {YES "2", YES "0"}};
    struct judged judged;

    (void)state;
    judge_cards(&judged, &cards);
    for (int r = 0; r < 2; r++)
        assert_null(lp_links_shortage(judged.seen, &judged.machine, r));
    release(&judged);
}

static void test_host(void **state)
{
    struct judged judged = {.n = 3};

    (void)state;
    for (int r = 0; r < 3; r++)
        judged.seen[r] =
            json_of("{'device': 'host', 'devices': [{'name': 'host memory', 'pci': ''}], 'pairs': [], 'versions': {}}");
    assert_int_equal(judge(&judged), LP_OK);
    assert_int_equal(judged.machine.nkinds, 1);
    for (int a = 0; a < 3; a++)
        expect_pair(&judged, a, (a + 1) % 3, "host memory", (double)NAN);
    assert_true(lp_json_bool(entry_of(&judged, 0, 2), "peer_access", false));
    assert_says(lp_json_str(entry_of(&judged, 0, 2), "line_words", ""), "no line rate");
    release(&judged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_pair),       cmocka_unit_test(test_as_many_kinds_as_fit),
        cmocka_unit_test(test_too_many_kinds), cmocka_unit_test(test_no_shortage_between_models),
        cmocka_unit_test(test_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
