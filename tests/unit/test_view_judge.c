/* What the printed judgement says, and what the tables of collectives show of it. */
#include "unit.h"

#include "printed.h"
#include "sweep_of.h"

static const struct crew_noise quiet = {.small = 0.002, .large = 0.002};

/*
 * tree: 6 % slower up to 1M, 6 % faster from 4M on. p2p-off: three times slower. ll128: 15 % faster at 64K and 128K. same: nothing.
 */
static double effects(const struct lp_record *record)
{
    size_t bytes = record->cell.requested_bytes;

    if (strcmp(record->variant, "tree") == 0)
        return bytes <= 1 << 20 ? 0.06 : bytes >= 4 << 20 ? -0.06 : 0.0;
    if (strcmp(record->variant, "ll128") == 0)
        return bytes <= 128 << 10 ? -log(1.15) : 0.0;
    return strcmp(record->variant, "p2p-off") == 0 ? log(3.0) : 0.0;
}

static void begin(struct lp_result *result, int rounds, crew_effect *effect)
{
    struct dice dice = {41};
    struct sweep sweep = {.setting = {"default", "ring", "tree", "p2p-off", "ll128"},
                          .nsettings = 5,
                          .nsizes = 8,
                          .first_bytes = 64 << 10,
                          .collective = {"allreduce"},
                          .ncollectives = 1,
                          .nplacements = 1,
                          .rounds = rounds};

    sweep_make(&sweep, result);
    sweep_fill(&sweep, result, &dice, &quiet, effect);
    sweep_env(result, "ring", "{'NCCL_ALGO': 'Ring'}");
    sweep_env(result, "tree", "{'NCCL_ALGO': 'Tree'}");
    sweep_env(result, "p2p-off", "{'NCCL_P2P_DISABLE': '1'}");
    sweep_env(result, "ll128", "{'NCCL_PROTO': 'LL128'}");
}

static void test_conclusions(void **state)
{
    static const struct {
        const char *line, *also;
    } cases[] = {
        {"judged over 3 rounds", "at most 5 of 100 such runs would claim anything at all"},
        {"best by size", "really faster than default"},
        {"default / variant    of the ratio           in the range", "bytes"},
        {"AllReduce, float, sum, out of place, graph  64K to 128K  ll128", "2 of 8"},
        {"AllReduce, float, sum, out of place, graph  256K to 2M   keep the default", "-"},
        {"AllReduce, float, sum, out of place, graph  4M to 8M ", "tree"},
        {"Ring against Tree", "Ring"},
        {"Ring / Tree", "of the ratio"},
        {"crossover at about", "(1M to 4M): Ring is faster below, Tree above"},
        {"P2P on (default) against off (p2p-off)", "off"},
        {"64K to 8M  P2P on", "3.0"},
        {"tensor-parallel sizes (8K to 64M bytes", "geometric mean"},
        {"p2p-off  worse", "0.33"},
        {"ring     no difference", "to 1.0"},
        {"advice: AllReduce, float, sum, graph: ", "NCCL_ALGO=allreduce:tree for 4M to 8M bytes: 1.06"},
        {"advice: ", "naming LL128 forces it"},
    };
    struct lp_result result;
    char *text;

    (void)state;
    begin(&result, 3, effects);
    text = printed(lp_view_judge, &result, 200);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_line(text, cases[i].line, cases[i].also);
    assert_no(text, "not judged");
    assert_no(text, "candidate");
    free(text);
    lp_result_release(&result);
}

static double none(const struct lp_record *record)
{
    return strcmp(record->variant, "default") == 0 ? 0.0 : 0.0005;
}

/* Nothing differs: so it is said, everywhere. */
static void test_no_difference(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    begin(&result, 3, none);
    text = printed(lp_view_judge, &result, 200);
    assert_line(text, "64K to 8M  keep the default", "8 of 8");
    assert_line(text, "64K to 8M  no difference", "to 1.0");
    assert_line(text, "no crossover", "Ring and Tree do not differ at any size");
    assert_line(text, "advice: ", "keep the default");
    free(text);
    text = printed(lp_view_collectives, &result, 200);
    assert_line(text, "\n  64K", "no difference");
    assert_line(text, "\n   8M", "no difference");
    free(text);
    lp_result_release(&result);
}

static double tree_always(const struct lp_record *record)
{
    return strcmp(record->variant, "tree") == 0 ? -0.05 : 0.0;
}

static void test_no_crossover(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    begin(&result, 3, tree_always);
    text = printed(lp_view_judge, &result, 200);
    assert_line(text, "no crossover", "Tree is faster wherever the two differ");
    free(text);
    lp_result_release(&result);
}

/* The table's column of the best, with the noise beside it; its share of the link is the best one's. */
static void test_table(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    begin(&result, 3, effects);
    for (size_t i = 0; i < result.n; i++)
        result.record[i]->link_gbps = 365.0;
    text = printed(lp_view_collectives, &result, 200);
    assert_line(text, "best     ", "noise");
    assert_line(text, "+/- percent", "GB/s per direction");
    assert_line(text, "best / link", "link baseline");
    assert_line(text, "\n  64K", "ll128 ");
    assert_line(text, "\n 512K", "default ");
    assert_line(text, "\n   8M", "tree ");
    assert_no(text, "not judged");
    free(text);
    lp_result_release(&result);
}

/* In one round the fastest is marked where it is a candidate; what it takes to know is said. */
static void test_one_round(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    begin(&result, 1, effects);
    text = printed(lp_view_collectives, &result, 200);
    assert_line(text, "fastest (not judged)", "default again");
    assert_line(text, "\n  64K", "ll128 (candidate)");
    assert_no(text, "+/- percent");
    free(text);
    text = printed(lp_view_judge, &result, 200);
    assert_line(text, "not judged: 1 round", "--rounds 3");
    assert_line(text, "candidate: ll128 faster than default", "2 sizes (64K, 128K)");
    assert_no(text, "advice");
    free(text);
    lp_result_release(&result);
}

/* What was left out is said once for each reason, with how many cells. */
static void test_left_out(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    begin(&result, 3, effects);
    for (size_t i = 0; i < result.n; i++) {
        struct lp_record *record = result.record[i];

        if (strcmp(record->variant, "tree") == 0 && record->cell.requested_bytes == 1 << 20)
            record->outcome = LP_WRONG;
        if (strcmp(record->variant, "ll128") == 0 && record->cell.requested_bytes <= 128 << 10)
            record->evidence.read = false;
    }
    text = printed(lp_view_judge, &result, 200);
    assert_line(text, "not judged: tree, 8 cells", "wrong data");
    assert_line(text, "not judged: ll128, 2 cells", "unproven");
    assert_line(text, "64K to 8M  keep the default", "8 of 8");
    assert_line(text, "advice: ", "keep the default");
    free(text);
    lp_result_release(&result);
}

static void test_nothing_to_compare(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    lp_result_init(&result);
    text = printed(lp_view_judge, &result, 200);
    assert_string_equal(text, "");
    free(text);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conclusions),        cmocka_unit_test(test_no_difference),
        cmocka_unit_test(test_no_crossover),       cmocka_unit_test(test_table),
        cmocka_unit_test(test_one_round),          cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_nothing_to_compare),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
