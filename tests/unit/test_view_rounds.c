/* How the rounds of a cell become one figure in a table, and what must not get lost in it. */
#include "report/view_rounds.h"
#include "report/view_grid.h"

#include "unit.h"

#include "printed.h"
#include "sweep_of.h"

static const struct sweep three_rounds = {.setting = {"default", "tree"},
                                          .nsettings = 2,
                                          .nsizes = 1,
                                          .first_bytes = 1 << 20,
                                          .collective = {"allreduce"},
                                          .ncollectives = 1,
                                          .nplacements = 1,
                                          .rounds = 3};

/* tree takes 10, 11 and 18 us in its rounds, default 20 and again 21. */
static void begin(struct lp_result *result)
{
    static const double tree[] = {10.0, 11.0, 18.0};

    sweep_make(&three_rounds, result);
    for (size_t i = 0; i < result->n; i++) {
        struct lp_record *record = result->record[i];

        sweep_time(record, strcmp(record->variant, "tree") == 0 ? tree[record->round - 1] : 20.0 + record->repeat);
    }
}

static struct lp_record *find(struct lp_result *result, const char *variant, int round)
{
    for (size_t i = 0; i < result->n; i++)
        if (strcmp(result->record[i]->variant, variant) == 0 && result->record[i]->round == round)
            return result->record[i];
    return NULL;
}

static void test_median(void **state)
{
    struct lp_result result;
    struct lp_grids apart, merged;

    (void)state;
    begin(&result);
    assert_int_equal(lp_grids_make(&result, &apart), LP_OK);
    assert_int_equal(apart.n, 3);
    assert_int_equal(lp_grids_merge(&result, &merged), LP_OK);
    assert_int_equal(merged.n, 1);
    assert_int_equal(merged.item[0].rounds, 3);
    assert_int_equal(merged.item[0].ncolumns, 3);
    assert_true(lp_grid_at(&merged.item[0], LP_OUT_OF_PLACE, 0, 2)->time_us.median == 11.0);
    assert_true(fabs(lp_grid_at(&merged.item[0], LP_OUT_OF_PLACE, 0, 2)->busbw_gbps - (1 << 20) / 11e3) < 1e-9);
    assert_true(lp_grid_at(&merged.item[0], LP_OUT_OF_PLACE, 0, 1)->time_us.median == 21.0);
    lp_grids_release(&apart);
    lp_grids_release(&merged);
    lp_result_release(&result);
}

/* One bad round shows; wrong before anything else. */
static void test_trouble(void **state)
{
    struct lp_result result;
    struct lp_grids merged;

    (void)state;
    begin(&result);
    find(&result, "tree", 1)->outcome = LP_HANG;
    assert_int_equal(lp_grids_merge(&result, &merged), LP_OK);
    assert_int_equal(lp_grid_at(&merged.item[0], LP_OUT_OF_PLACE, 0, 2)->outcome, LP_HANG);
    lp_grids_release(&merged);
    find(&result, "tree", 3)->outcome = LP_WRONG;
    assert_int_equal(lp_grids_merge(&result, &merged), LP_OK);
    assert_int_equal(lp_grid_at(&merged.item[0], LP_OUT_OF_PLACE, 0, 2)->outcome, LP_WRONG);
    lp_grids_release(&merged);
    lp_result_release(&result);
}

/* A crew that was contended counts only where there is no other. */
static void test_disturbed(void **state)
{
    struct lp_result result;
    struct lp_grids merged;

    (void)state;
    begin(&result);
    json_object_set_new(result.head, "crews", json_pack("[{s:i, s:b}]", "crew", find(&result, "tree", 3)->crew, "contended", 1));
    assert_int_equal(lp_grids_merge(&result, &merged), LP_OK);
    assert_true(lp_grid_at(&merged.item[0], LP_OUT_OF_PLACE, 0, 2)->time_us.median == 10.5);
    lp_grids_release(&merged);
    for (int round = 1; round < 3; round++)
        json_array_append_new(json_object_get(result.head, "crews"),
                              json_pack("{s:i, s:b}", "crew", find(&result, "tree", round)->crew, "throttled", 1));
    assert_int_equal(lp_grids_merge(&result, &merged), LP_OK);
    assert_true(lp_grid_at(&merged.item[0], LP_OUT_OF_PLACE, 0, 2)->time_us.median == 11.0);
    lp_grids_release(&merged);
    lp_result_release(&result);
}

/* One round has nothing to merge: the records themselves are shown. */
static void test_one_round(void **state)
{
    struct sweep sweep = three_rounds;
    struct lp_result result;
    struct lp_grids merged;

    (void)state;
    sweep.rounds = 1;
    sweep_make(&sweep, &result);
    assert_int_equal(lp_grids_merge(&result, &merged), LP_OK);
    assert_int_equal(merged.item[0].rounds, 0);
    assert_ptr_equal(lp_grid_at(&merged.item[0], LP_OUT_OF_PLACE, 0, 0), result.record[0]);
    lp_grids_release(&merged);
    lp_result_release(&result);
}

static void test_titles(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    begin(&result);
    text = printed(lp_view_collectives, &result, 200);
    assert_line(text, "AllReduce", "graph timing, median of 3 rounds");
    assert_no(text, "round 1");
    free(text);
    text = printed(lp_view_long, &result, 200);
    assert_line(text, "\ntree", "round 1");
    assert_line(text, "\ntree", "AllReduce");
    assert_int_equal(count_lines(text, "tree: "), 3);
    free(text);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),    cmocka_unit_test(test_trouble), cmocka_unit_test(test_disturbed),
        cmocka_unit_test(test_one_round), cmocka_unit_test(test_titles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
