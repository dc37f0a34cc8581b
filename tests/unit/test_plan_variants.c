/* Which variants a plan runs, in which order, with which cells, and why others are skipped. */
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "unit.h"

static struct lp_machine machine_of(const char *device, bool nvlink)
{
    struct lp_machine machine = {.nranks = 2, .visible = 2, .nvlink = nvlink};

    strcpy(machine.device, device);
    strcpy(machine.library, strcmp(device, "cuda") == 0 ? "nccl" : "host");
    for (int r = 0; r < 2; r++)
        machine.rank[r] = (struct lp_machine_rank){.device = r, .at_rank0 = r, .memory_bytes = (size_t)8 << 30};
    return machine;
}

static struct lp_options defaults(void)
{
    struct lp_options options = {.factor = 2,
                                 .rounds = 1,
                                 .max_bytes = 64,
                                 .timings = 1u << LP_GRAPH,
                                 .placements = 1u << LP_OUT_OF_PLACE | 1u << LP_IN_PLACE};

    return options;
}

static struct lp_plan plan_of(const struct lp_options *options, const struct lp_machine *machine)
{
    struct lp_reason why = {""};
    struct lp_plan plan;
    enum lp_status st = lp_plan_make(options, machine, &plan, &why);

    if (st != LP_OK)
        fail_msg("%s", why.text);
    return plan;
}

/* Names in order, with "-" before those that are skipped. */
static void expect_variants(const struct lp_plan *plan, const char *want)
{
    char got[1024] = "";

    for (size_t i = 0; i < plan->variants.n; i++)
        snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s%s", i ? " " : "", plan->variants.item[i].skip[0] ? "-" : "",
                 plan->variants.item[i].name);
    assert_string_equal(got, want);
    assert_int_equal(plan->variants.item[0].repeat, 0);
    assert_int_equal(plan->variants.item[plan->variants.n - 1].repeat, 1);
    assert_true(plan->variants.item[0].nenv == 0 && plan->variants.item[plan->variants.n - 1].nenv == 0);
}

static int without_locks(void **state)
{
    (void)state;
    unsetenv("LINKPERF_LOCK");
    return 0;
}

static void test_builtin(void **state)
{
    static const struct {
        const char *device;
        bool nvlink;
        const char *want;
    } cases[] = {
        {"cuda", true,
         "default ring tree p2p-off p2p-nvl -p2p-pix -p2p-phb p2p-sys proto-ll proto-ll128 proto-simple channels-32 default"},
        {"cuda", false,
         "default ring tree p2p-off -p2p-nvl p2p-pix p2p-phb p2p-sys proto-ll proto-ll128 proto-simple channels-32 default"},
        {"host", false, "default ring tree p2p-off default"},
    };
    struct lp_options options = defaults();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_machine machine = machine_of(cases[i].device, cases[i].nvlink);
        struct lp_plan plan = plan_of(&options, &machine);

        expect_variants(&plan, cases[i].want);
        for (size_t v = 0; v < plan.variants.n; v++)
            if (plan.variants.item[v].skip[0])
                assert_says(plan.variants.item[v].skip, cases[i].nvlink ? "PCIe" : "NVLink");
        lp_plan_release(&plan);
    }
}

static void test_only(void **state)
{
    static const struct {
        const char *only, *want;
    } cases[] = {
        {"ring", "default ring default"},       {"tree,ring", "default ring tree default"}, /* in the order of the matrix */
        {"default", "default default"},         {"default,p2p-off", "default p2p-off default"},
        {"ring,ring,", "default ring default"}, {"mine", "default mine default"},
    };
    const char *texts[] = {"mine: A=1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_machine machine = machine_of("host", false);
        struct lp_options options = defaults();
        struct lp_plan plan;

        options.variants = texts;
        options.nvariants = 1;
        strcpy(options.only, cases[i].only);
        plan = plan_of(&options, &machine);
        expect_variants(&plan, cases[i].want);
        lp_plan_release(&plan);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *only, *variant, *matrix, *says;
    } cases[] = {
        {"rings", NULL, NULL, "no variant 'rings'"},
        {"ring,Tree", NULL, NULL, "'Tree'"},
        {"rin", NULL, NULL, "'rin'"},
        {"", "ring: A=1", NULL, "'ring' is there twice"},
        {"", "default: A=1", NULL, "default"},
        {"", "nonsense", NULL, "nonsense"},
        {"", "v: NCCL_DEBUG=INFO", NULL, "NCCL_DEBUG"},
        {"", NULL, "variants: ring\n", "line 1"},
        {"ring", NULL, "variants: [{name: only}]\n", "no variant 'ring'"}, /* the file is instead of the built-in ones */
    };
    struct scratch scratch;

    (void)state;
    scratch_make(&scratch);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_machine machine = machine_of("host", false);
        struct lp_options options = defaults();
        const char *texts[] = {cases[i].variant};
        struct lp_reason why = {""};
        struct lp_plan plan;

        strcpy(options.only, cases[i].only);
        options.variants = texts;
        options.nvariants = cases[i].variant != NULL;
        if (cases[i].matrix)
            options.matrix = scratch_write(&scratch, "m.yaml", cases[i].matrix, strlen(cases[i].matrix));
        assert_case(cases[i].says, lp_plan_make(&options, &machine, &plan, &why) == LP_ERR_ARG);
        assert_says(why.text, cases[i].says);
        lp_plan_release(&plan);
    }
    scratch_remove(&scratch);
}

static void test_matrix_that_is_not_there(void **state)
{
    struct lp_machine machine = machine_of("host", false);
    struct lp_options options = defaults();
    struct lp_reason why = {""};
    struct lp_plan plan;

    (void)state;
    options.matrix = "/nonexistent/m.yaml";
    assert_int_equal(lp_plan_make(&options, &machine, &plan, &why), LP_ERR_ARG);
    assert_says(why.text, "/nonexistent/m.yaml");
    lp_plan_release(&plan);
}

static size_t cells_of(const struct lp_plan *plan, const struct lp_options *options, const char *variant, enum lp_timing timing)
{
    size_t n = 0;

    for (size_t i = 0; i < plan->cells.n; i++)
        n += plan->cells.item[i].cell.timing == timing &&
             lp_plan_has(lp_variants_find(&plan->variants, variant, 0), options, &plan->cells.item[i].cell);
    return n;
}

static size_t exchanges_of(const struct lp_plan *plan, enum lp_timing timing)
{
    size_t n = 0;

    for (size_t i = 0; i < plan->group[0].copies.n; i++)
        n += strcmp(plan->group[0].copies.item[i].cell.op, "cpu_exchange") == 0 &&
             plan->group[0].copies.item[i].cell.timing == timing;
    return n;
}

/* A variant may name its own modes: the plan has their cells, and the others do not run them. */
static void test_timing_of_a_variant(void **state)
{
    static const char yaml[] = "variants:\n- name: plain\n- name: eager\n  options: {timing: 'pipelined,isolated'}\n";
    struct lp_machine machine = machine_of("host", false);
    struct lp_options options = defaults();
    struct scratch scratch;
    struct lp_plan plan;
    size_t each;

    (void)state;
    scratch_make(&scratch);
    options.matrix = scratch_write(&scratch, "m.yaml", yaml, strlen(yaml));
    plan = plan_of(&options, &machine);
    expect_variants(&plan, "default plain eager default");
    each = plan.cells.n / 3;
    assert_int_equal(each, 4 * 2 * 2);
    assert_int_equal(cells_of(&plan, &options, "plain", LP_GRAPH), each);
    assert_int_equal(cells_of(&plan, &options, "plain", LP_PIPELINED), 0);
    assert_int_equal(cells_of(&plan, &options, "default", LP_ISOLATED), 0);
    assert_int_equal(cells_of(&plan, &options, "eager", LP_GRAPH), 0);
    assert_int_equal(cells_of(&plan, &options, "eager", LP_PIPELINED), each);
    assert_int_equal(cells_of(&plan, &options, "eager", LP_ISOLATED), each);
    assert_int_equal(exchanges_of(&plan, LP_GRAPH), exchanges_of(&plan, LP_ISOLATED)); /* sizes of all modes have their exchange */
    assert_int_equal(exchanges_of(&plan, LP_GRAPH), exchanges_of(&plan, LP_PIPELINED));
    assert_int_equal(exchanges_of(&plan, LP_GRAPH), 3);
    assert_true(lp_plan_variant_seconds(&plan, &options, lp_variants_find(&plan.variants, "eager", 0)) >
                lp_plan_variant_seconds(&plan, &options, lp_variants_find(&plan.variants, "plain", 0)));
    lp_plan_release(&plan);
    scratch_remove(&scratch);
}

static void test_locks(void **state)
{
    struct lp_machine machine = machine_of("cuda", true);
    struct lp_options options = defaults();
    struct lp_plan plan;

    (void)state;
    strcpy(options.only, "ring,p2p-off,p2p-pix");
    setenv("LINKPERF_LOCK", "NCCL_ALGO,NCCL_P2P_LEVEL", 1);
    strcpy(machine.nvls, "0");
    machine.nvls_set = true;
    plan = plan_of(&options, &machine);
    unsetenv("LINKPERF_LOCK");
    expect_variants(&plan, "default -ring p2p-off -p2p-pix default");
    assert_says(plan.variants.item[1].skip, "site lock NCCL_ALGO");
    assert_says(plan.variants.item[3].skip, "site lock"); /* the first reason stays */
    assert_int_equal(plan.locks.n, 3);
    assert_true(lp_plan_variant_seconds(&plan, &options, &plan.variants.item[1]) == 0.0);
    lp_plan_release(&plan);
}

static void test_bad_lock(void **state)
{
    struct lp_machine machine = machine_of("host", false);
    struct lp_options options = defaults();
    struct lp_reason why = {""};
    struct lp_plan plan;

    (void)state;
    setenv("LINKPERF_LOCK", "=1", 1);
    assert_int_equal(lp_plan_make(&options, &machine, &plan, &why), LP_ERR_ARG);
    unsetenv("LINKPERF_LOCK");
    assert_says(why.text, "LINKPERF_LOCK");
    lp_plan_release(&plan);
}

/* A run is the longer the more there is to do; what is skipped takes no time. */
static void test_estimates(void **state)
{
    struct lp_machine machine = machine_of("host", false);
    struct lp_options options = defaults();
    struct lp_plan all = plan_of(&options, &machine), few;

    (void)state;
    strcpy(options.only, "default");
    few = plan_of(&options, &machine);
    assert_true(all.seconds > few.seconds && few.seconds > 0.0);
    lp_plan_release(&all);
    lp_plan_release(&few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin),  cmocka_unit_test(test_only),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_matrix_that_is_not_there),
        cmocka_unit_test(test_locks),    cmocka_unit_test(test_timing_of_a_variant),
        cmocka_unit_test(test_bad_lock), cmocka_unit_test(test_estimates),
    };

    return cmocka_run_group_tests(tests, without_locks, NULL);
}
