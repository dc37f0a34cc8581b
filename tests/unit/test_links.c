/* Which kind each pair of GPUs is, and its line rate: link maps of machines that were reported, and answers that lack something. */
#include "machine/links.h"

#include "judged.h"

/* How much its ranks see. */
enum view { ALL, OWN, NO_NVML, NO_ENDS };

/* A machine whose GPUs are all alike but for their links. */
struct machine {
    const char *name, *model;
    int n;
    const char *topo[8][8]; /* as nvidia-smi topo -m prints it */
    double gbps_per_link;
    bool switches; /* links end at switches, else at the other GPU */
    int pcie_gen;
    double pcie_gbps;
};

static const struct machine h200x2 = {.name = "h200x2",
                                      .model = "H200",
                                      .n = 2,
                                      .topo = {{"X", "NV18"}, {"NV18", "X"}},
                                      .gbps_per_link = 26.5625,
                                      .switches = true,
                                      .pcie_gen = 5,
                                      .pcie_gbps = 63.0};
static const struct machine ti2080x2 = {.name = "2080tix2",
                                        .model = "2080 Ti",
                                        .n = 2,
                                        .topo = {{"X", "NV2"}, {"NV2", "X"}},
                                        .gbps_per_link = 25.0,
                                        .pcie_gen = 3,
                                        .pcie_gbps = 15.75};
/* Of GPU 7 all links are down. */
static const struct machine a100x8 = {.name = "a100x8-gpu7-down",
                                      .model = "A100",
                                      .n = 8,
                                      .topo = {{"X", "NV12", "NV12", "NV12", "NV12", "NV12", "NV12", "SYS"},
                                               {"NV12", "X", "NV12", "NV12", "NV12", "NV12", "NV12", "SYS"},
                                               {"NV12", "NV12", "X", "NV12", "NV12", "NV12", "NV12", "SYS"},
                                               {"NV12", "NV12", "NV12", "X", "NV12", "NV12", "NV12", "SYS"},
                                               {"NV12", "NV12", "NV12", "NV12", "X", "NV12", "NV12", "NODE"},
                                               {"NV12", "NV12", "NV12", "NV12", "NV12", "X", "NV12", "NODE"},
                                               {"NV12", "NV12", "NV12", "NV12", "NV12", "NV12", "X", "PXB"},
                                               {"SYS", "SYS", "SYS", "SYS", "NODE", "NODE", "PXB", "X"}},
                                      .gbps_per_link = 25.0,
                                      .switches = true,
                                      .pcie_gen = 4,
                                      .pcie_gbps = 31.5};
/* Two bridged pairs, one bridge half in its slot. */
static const struct machine bridges = {
    .name = "a bridge badly seated",
    .model = "A6000",
    .n = 4,
    .topo = {{"X", "NV2", "SYS", "SYS"}, {"NV2", "X", "SYS", "SYS"}, {"SYS", "SYS", "X", "NV1"}, {"SYS", "SYS", "NV1", "X"}},
    .gbps_per_link = 25.78,
    .pcie_gen = 4,
    .pcie_gbps = 31.5};

/* ---- what the workers of such a machine answer ---- */

/* NVLinks between two GPUs by the map; 0: none. */
static int mapped_links(const struct machine *machine, int a, int b)
{
    int n = 0;

    return a != b && sscanf(machine->topo[a][b], "NV%d", &n) == 1 ? n : 0;
}

static int active_links(const struct machine *machine, int gpu)
{
    int n = 0;

    for (int peer = 0; peer < machine->n; peer++)
        if (!machine->switches || n == 0)
            n += mapped_links(machine, gpu, peer);
    return n;
}

/* CUDA's spelling with 4 digits of the domain, NVML's with 8. */
static json_t *pci_json(int gpu, const char *domain)
{
    return json_sprintf("%s:%02x:00.0", domain, 16 * gpu + 10);
}

static json_t *remotes_json(const struct machine *machine, int gpu, enum view view)
{
    int n = active_links(machine, gpu);
    json_t *list = json_array();

    if (n > 0 && view == NO_ENDS)
        json_array_append_new(list, json_pack("{s:n, s:i, s:s}", "pci", "n", n, "to", "unknown"));
    else if (n > 0 && machine->switches)
        json_array_append_new(list, json_pack("{s:s, s:i, s:s}", "pci", "00000000:C5:00.0", "n", n, "to", "switch"));
    for (int peer = 0; peer < machine->n && !machine->switches && view != NO_ENDS; peer++)
        if (mapped_links(machine, gpu, peer) > 0)
            json_array_append_new(list, json_pack("{s:o, s:i, s:s}", "pci", pci_json(peer, "00000000"), "n",
                                                  mapped_links(machine, gpu, peer), "to", "gpu"));
    return list;
}

static json_t *device_json(const struct machine *machine, int gpu, enum view view)
{
    int n = active_links(machine, gpu);
    json_t *device = json_pack("{s:s, s:o}", "name", machine->model, "pci", pci_json(gpu, "0000"));

    if (view != NO_NVML)
        json_object_set_new(device, "links",
                            json_pack("{s:i, s:f, s:o, s:i, s:i, s:f}", "nvlinks", n, "nvlink_gbps", n * machine->gbps_per_link,
                                      "remotes", remotes_json(machine, gpu, view), "pcie_gen", machine->pcie_gen, "pcie_width", 16,
                                      "pcie_gbps", machine->pcie_gbps));
    return device;
}

/* By lp_nvml_links_to a GPU at switches has all its links to every other one, also to one whose links are down. */
static json_t *pair_json(const struct machine *machine, int a, int b, enum view view)
{
    int mapped = mapped_links(machine, a, b), n = machine->switches ? active_links(machine, a) : mapped;
    json_t *pair = json_pack("{s:i, s:i, s:b, s:n, s:n}", "src", a, "dst", b, "peer_access", mapped > 0, "nvlinks", "common");

    if (view == ALL || (view == NO_ENDS && n == 0))
        json_object_set_new(pair, "nvlinks", json_integer(n));
    if (view != NO_NVML)
        json_object_set_new(pair, "common", json_string(mapped > 0 ? "PHB" : machine->topo[a][b]));
    return pair;
}

static json_t *answer(const struct machine *machine, int rank, enum view view)
{
    json_t *devices = json_array(), *pairs = json_array();

    for (int a = 0; a < machine->n; a++) {
        if (view == OWN && a != rank)
            continue;
        json_array_append_new(devices, device_json(machine, a, view));
        for (int b = 0; b < machine->n && view != OWN; b++)
            if (a != b)
                json_array_append_new(pairs, pair_json(machine, a, b, view));
    }
    return json_pack("{s:s, s:o, s:o, s:{}}", "device", "cuda", "devices", devices, "pairs", pairs, "versions");
}

static void judge_machine(struct judged *judged, const struct machine *machine, enum view view)
{
    *judged = (struct judged){.n = machine->n};
    for (int r = 0; r < machine->n; r++)
        judged->seen[r] = answer(machine, r, view);
    if (judge(judged) != LP_OK)
        fail_msg("%s: %s", machine->name, judged->why.text);
}

/* ---- whole machines ---- */

/* The names are those of the map, and each NVLink has its rate. */
static void expect_map(const struct judged *judged, const struct machine *machine)
{
    for (int a = 0; a < machine->n; a++)
        for (int b = 0; b < machine->n; b++) {
            int n = mapped_links(machine, a, b);

            if (a == b)
                assert_int_equal(judged->machine.kind_of[a][b], -1);
            else
                expect_pair(judged, a, b, machine->topo[a][b], n ? n * machine->gbps_per_link : machine->pcie_gbps);
        }
}

static void test_maps(void **state)
{
    static const struct {
        const struct machine *machine;
        int nkinds;
        const char *first;
    } cases[] = {
        {&h200x2, 1, "18 NVLinks x 26.56 GB/s by the driver"},
        {&ti2080x2, 1, "2 NVLinks x 25.00 GB/s by the driver"},
        {&a100x8, 4, "12 NVLinks x 25.00 GB/s by the driver"},
        {&bridges, 3, "2 NVLinks x 25.78 GB/s by the driver"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct judged judged;

        judge_machine(&judged, cases[i].machine, ALL);
        expect_map(&judged, cases[i].machine);
        assert_case(cases[i].machine->name, judged.machine.nkinds == cases[i].nkinds);
        assert_string_equal(kind_of(&judged, 0, 1)->words, cases[i].first);
        release(&judged);
    }
}

static void test_words_of_a_map(void **state)
{
    struct judged judged;

    (void)state;
    judge_machine(&judged, &a100x8, ALL);
    assert_string_equal(lp_json_str(entry_of(&judged, 7, 6), "line_words", ""), "PCIe generation 4 x16, its maximum");
    release(&judged);
    judge_machine(&judged, &bridges, ALL);
    assert_string_equal(lp_json_str(entry_of(&judged, 3, 2), "line_words", ""), "1 NVLink x 25.78 GB/s by the driver");
    release(&judged);
}

/* Each rank sees its own GPU only: NVLinks are matched from both answers, and where PCI Express meets nobody says. */
static void test_hidden(void **state)
{
    static const struct machine *const machines[] = {&h200x2, &ti2080x2, &a100x8, &bridges};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        const struct machine *machine = machines[i];
        struct judged judged;

        judge_machine(&judged, machine, OWN);
        for (int a = 0; a < machine->n; a++)
            for (int b = 0; b < machine->n; b++) {
                int n = mapped_links(machine, a, b);

                if (a != b)
                    expect_pair(&judged, a, b, n ? machine->topo[a][b] : "PCIe",
                                n ? n * machine->gbps_per_link : machine->pcie_gbps);
            }
        assert_says(lp_json_str(entry_of(&judged, 0, 1), "reason", ""), "not visible");
        release(&judged);
    }
}

/* The driver knows of peer access only: NVLinks may be there or not. Where it refuses peer access, they are not used. */
static void test_no_nvml(void **state)
{
    struct judged judged;

    (void)state;
    judge_machine(&judged, &a100x8, NO_NVML);
    expect_pair(&judged, 0, 1, "unknown", (double)NAN);
    assert_says(lp_json_str(entry_of(&judged, 0, 1), "line_words", ""), "does not say whether NVLinks");
    expect_pair(&judged, 0, 7, "PCIe", (double)NAN);
    assert_says(lp_json_str(entry_of(&judged, 0, 7), "line_words", ""), "either GPU");
    assert_null(json_object_get(judged.head, "warnings"));
    release(&judged);
}

/* Virtual machines may not say where links end. */
static void test_no_ends(void **state)
{
    struct judged judged;

    (void)state;
    judge_machine(&judged, &h200x2, NO_ENDS);
    expect_pair(&judged, 0, 1, "NV18", 478.125);
    assert_string_equal(kind_of(&judged, 0, 1)->words, "18 NVLinks x 26.56 GB/s by the driver, taken for all of its links: the "
                                                       "driver does not say where they end");
    release(&judged);
    judge_machine(&judged, &a100x8, NO_ENDS);
    expect_map(&judged, &a100x8);
    release(&judged);
}

static void test_one_rank(void **state)
{
    struct judged judged = {.n = 1};

    (void)state;
    judged.seen[0] = answer(&h200x2, 0, ALL);
    assert_int_equal(judge(&judged), LP_OK);
    assert_int_equal(judged.machine.nkinds, 0);
    release(&judged);
}

/* ---- links that are down ---- */

/* One warning for each GPU that has fewer links than its like. */
static void test_shortage(void **state)
{
    static const struct {
        const struct machine *machine;
        enum view view;
        const char *says[2];
    } cases[] = {
        {&h200x2, ALL, {NULL}},
        {&a100x8, ALL, {"GPU 7 has 0 active NVLinks, others of its model 12: see nvidia-smi nvlink -s"}},
        {&a100x8, OWN, {"GPU 7 has 0 active NVLinks, others of its model 12: see nvidia-smi nvlink -s"}},
        {&a100x8, NO_NVML, {NULL}},
        {&bridges,
         ALL,
         {"GPU 2 has 1 active NVLink, others of its model 2: a bridge may be badly seated",
          "GPU 3 has 1 active NVLink, others of its model 2: a bridge may be badly seated"}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct judged judged;
        const json_t *warnings;
        size_t n = 0;

        judge_machine(&judged, cases[i].machine, cases[i].view);
        warnings = json_object_get(judged.head, "warnings");
        while (n < 2 && cases[i].says[n])
            n++;
        assert_case(cases[i].machine->name, json_array_size(warnings) == n);
        for (size_t k = 0; k < n; k++)
            assert_says(json_string_value(json_array_get(warnings, k)), cases[i].says[k]);
        release(&judged);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_maps),     cmocka_unit_test(test_words_of_a_map), cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_no_nvml),  cmocka_unit_test(test_no_ends),        cmocka_unit_test(test_one_rank),
        cmocka_unit_test(test_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
