/* What views ask of a judgement, and its JSON. */
#include "judge/judge.h"

#include "unit.h"

#include "sweep_of.h"

static const struct crew_noise quiet = {.small = 0.002, .large = 0.002};

/* tree is 6 % slower up to 1M and 6 % faster from 4M on; p2p-off is three times slower. */
static double effects(const struct lp_record *record)
{
    if (strcmp(record->variant, "tree") == 0)
        return record->cell.requested_bytes <= 1 << 20 ? 0.06 : record->cell.requested_bytes >= 4 << 20 ? -0.06 : 0.0;
    return strcmp(record->variant, "p2p-off") == 0 ? log(3.0) : 0.0;
}

static void begin(struct lp_result *result, struct sweep *sweep, int rounds)
{
    struct dice dice = {31};

    *sweep = (struct sweep){.setting = {"default", "ring", "tree", "p2p-off"},
                            .nsettings = 4,
                            .nsizes = 8,
                            .first_bytes = 64 << 10,
                            .collective = {"allreduce"},
                            .ncollectives = 1,
                            .nplacements = 2,
                            .timing = LP_PIPELINED,
                            .rounds = rounds};
    sweep_make(sweep, result);
    sweep_fill(sweep, result, &dice, &quiet, effects);
    sweep_env(result, "ring", "{'NCCL_ALGO': 'Ring'}");
    sweep_env(result, "tree", "{'NCCL_ALGO': 'Tree'}");
    sweep_env(result, "p2p-off", "{'NCCL_P2P_DISABLE': '1'}");
}

/* The cell of the sweep's size, in place. */
static struct lp_cell cell_of(const struct sweep *sweep, size_t size)
{
    static const struct sweep_crew any = {.crew = 1};
    struct lp_record record = sweep_record(sweep, 0, LP_IN_PLACE, size, &any);

    return record.cell;
}

static void test_find(void **state)
{
    struct sweep sweep;
    struct lp_result result;
    struct lp_judgement judgement;
    struct lp_cell small, large, other;

    (void)state;
    begin(&result, &sweep, 3);
    small = cell_of(&sweep, 0);
    large = other = cell_of(&sweep, 7);
    other.timing = LP_GRAPH;
    assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
    assert_true(lp_judgement_claims(&judgement));
    assert_int_equal(lp_judgement_find(&judgement, &small, "tree")->call, LP_WORSE);
    assert_int_equal(lp_judgement_find(&judgement, &large, "tree")->call, LP_BETTER);
    assert_int_equal(lp_judgement_find(&judgement, &large, "ring")->call, LP_NO_DIFFERENCE);
    assert_null(lp_judgement_find(&judgement, &large, "default"));
    assert_null(lp_judgement_find(&judgement, &large, "no such variant"));
    assert_null(lp_judgement_find(&judgement, &other, "tree"));
    assert_true(lp_judgement_noise_percent(&judgement, &large) > 0.5 && lp_judgement_noise_percent(&judgement, &large) < 3.0);
    assert_true(isnan(lp_judgement_noise_percent(&judgement, &other)));
    lp_judgement_release(&judgement);
    lp_result_release(&result);
}

static void leave_out(struct lp_result *result, const char *variant)
{
    for (size_t i = 0; i < result->n; i++)
        if (strcmp(result->record[i]->variant, variant) == 0)
            result->record[i]->outcome = LP_WRONG;
}

static void test_best(void **state)
{
    struct sweep sweep;
    struct lp_result result;
    struct lp_judgement judgement;
    struct lp_cell small, large, other;

    (void)state;
    begin(&result, &sweep, 3);
    small = cell_of(&sweep, 0);
    large = other = cell_of(&sweep, 7);
    other.timing = LP_GRAPH;
    assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
    assert_string_equal(lp_judgement_best(&judgement, &large), "tree");
    assert_string_equal(lp_judgement_best(&judgement, &small), "default");
    assert_string_equal(lp_judgement_best(&judgement, &other), "not judged");
    lp_judgement_release(&judgement);
    leave_out(&result, "tree");
    leave_out(&result, "p2p-off");
    assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
    assert_string_equal(lp_judgement_best(&judgement, &large), "no difference");
    lp_judgement_release(&judgement);
    leave_out(&result, "ring");
    assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
    assert_string_equal(lp_judgement_best(&judgement, &large), "not judged");
    lp_judgement_release(&judgement);
    lp_result_release(&result);
}

/*
 * C17: 1.07 of the line rate is believed where the log shows NVLS, and otherwise never wins; nor does anything if default itself is
 * above it, as with a timer that reads half the time.
 */
static void test_above_line(void **state)
{
    static const struct {
        const char *who, *algorithm;
        enum lp_call call;
        const char *best;
    } cases[] = {
        {"tree", "NVLS", LP_BETTER, "tree"}, {"tree", "Ring", LP_NOT_JUDGED, "default"}, {"", "Ring", LP_NOT_JUDGED, "not judged"}};
    struct sweep sweep;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_result result;
        struct lp_judgement judgement;
        struct lp_cell large;

        begin(&result, &sweep, 3);
        large = cell_of(&sweep, 7);
        json_object_set_new(result.head, "topology", json_of("{'line': {'gbps': 450.0}}"));
        for (size_t k = 0; k < result.n; k++)
            if (!cases[i].who[0] || strcmp(result.record[k]->variant, cases[i].who) == 0) {
                result.record[k]->busbw_gbps = 1.07 * 450.0;
                strcpy(result.record[k]->evidence.algorithm, cases[i].algorithm);
            }
        assert_int_equal(lp_judgement_make(&result, &judgement), LP_OK);
        assert_int_equal(lp_judgement_find(&judgement, &large, "tree")->call, cases[i].call);
        assert_string_equal(lp_judgement_best(&judgement, &large), cases[i].best);
        if (cases[i].call == LP_NOT_JUDGED)
            assert_says(lp_judgement_find(&judgement, &large, "tree")->reason, "above the line rate without NVLS");
        lp_judgement_release(&judgement);
        lp_result_release(&result);
    }
}

/* ---- JSON ---- */

static const json_t *member(const json_t *json, const char *list, size_t i)
{
    const json_t *found = json_array_get(json_object_get(json, list), i);

    if (!found)
        fail_msg("no %s[%zu]", list, i);
    return found;
}

static void test_json(void **state)
{
    struct sweep sweep;
    struct lp_result result;
    const json_t *entry;
    json_t *json;

    (void)state;
    begin(&result, &sweep, 3);
    json_object_set_new(result.head, "versions", json_of("{'nccl_loaded': '2.28.3'}"));
    json = lp_judge_json(&result);
    assert_int_equal(lp_json_int(json, "rounds", 0), 3);
    assert_true(lp_json_bool(json, "claims", false));
    assert_int_equal(lp_json_int(json_object_get(json, "method"), "comparisons", 0), 2 * 8 * 3 + 2 * 3 + 2 * 8);
    entry = member(json, "winners", 1);
    assert_string_equal(lp_json_str(entry, "variant", ""), "tree");
    assert_string_equal(lp_json_str(entry, "placement", ""), "out_of_place");
    assert_int_equal(lp_json_int(entry, "from_bytes", 0), 4 << 20);
    assert_int_equal(lp_json_int(entry, "to_bytes", 0), 8 << 20);
    assert_true(lp_json_num(entry, "low", 0.0) > 1.0);
    entry = member(json, "crossovers", 1);
    assert_string_equal(lp_json_str(entry, "below", ""), "ring");
    assert_int_equal(lp_json_int(entry, "low_bytes", 0), 1 << 20);
    assert_int_equal(lp_json_int(entry, "high_bytes", 0), 4 << 20);
    entry = member(json, "p2p", 0);
    assert_string_equal(lp_json_str(entry, "against", ""), "p2p-off");
    assert_string_equal(lp_json_str(entry, "verdict", ""), "better");
    assert_true(fabs(lp_json_num(entry, "ratio", 0.0) - 3.0) < 0.05);
    entry = member(json, "tensor_parallel", 2);
    assert_string_equal(lp_json_str(entry, "variant", ""), "p2p-off");
    assert_string_equal(lp_json_str(entry, "verdict", ""), "worse");
    assert_string_equal(lp_json_str(member(json, "ring_tree", 0), "verdict", ""), "worse");
    entry = member(json, "advice", 0);
    assert_string_equal(lp_json_str(entry, "set", ""), "NCCL_ALGO=allreduce:tree");
    entry = member(member(member(json, "cells", 1), "sizes", 7), "verdicts", 1);
    assert_string_equal(lp_json_str(entry, "variant", ""), "tree");
    assert_string_equal(lp_json_str(entry, "verdict", ""), "better");
    assert_int_equal(lp_json_int(entry, "rounds", 0), 3);
    assert_true(lp_json_num(member(member(json, "cells", 1), "sizes", 7), "noise_percent", 0.0) > 0.0);
    json_decref(json);
    lp_result_release(&result);
}

/* null not NaN, reasons where nothing is claimed, and an empty result has an empty judgement. */
static void test_json_without(void **state)
{
    struct sweep sweep;
    struct lp_result result;
    const json_t *entry;
    json_t *json;

    (void)state;
    begin(&result, &sweep, 1);
    leave_out(&result, "tree");
    json = lp_judge_json(&result);
    assert_false(lp_json_bool(json, "claims", true));
    assert_int_equal(json_array_size(json_object_get(json, "advice")), 0);
    assert_string_equal(lp_json_str(member(json, "excluded", 0), "variant", ""), "tree");
    entry = member(member(member(json, "cells", 0), "sizes", 0), "verdicts", 1);
    assert_string_equal(lp_json_str(entry, "verdict", ""), "not judged");
    assert_string_equal(lp_json_str(entry, "reason", ""), "wrong data");
    assert_true(json_is_null(json_object_get(entry, "ratio")));
    entry = member(member(member(json, "cells", 0), "sizes", 0), "verdicts", 2);
    assert_string_equal(lp_json_str(entry, "verdict", ""), "candidate");
    json_decref(json);
    lp_result_release(&result);
    lp_result_init(&result);
    json = lp_judge_json(&result);
    assert_int_equal(json_array_size(json_object_get(json, "cells")), 0);
    json_decref(json);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find), cmocka_unit_test(test_best),         cmocka_unit_test(test_above_line),
        cmocka_unit_test(test_json), cmocka_unit_test(test_json_without),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
