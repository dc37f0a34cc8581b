/* How records are sorted for the judge, what is left out and why, and which variants count as default. */
#include "judge/crew_times.h"
#include "judge/exclude.h"

#include "unit.h"

#include "sweep_of.h"

static const struct sweep small_sweep = {.setting = {"default", "a", "b"},
                                         .nsettings = 3,
                                         .nsizes = 4,
                                         .first_bytes = 1024,
                                         .collective = {"allreduce"},
                                         .ncollectives = 1,
                                         .nplacements = 2,
                                         .rounds = 3};

/* The records of a variant at a size, out of place, in every round; round 0: all. */
static void each(struct lp_result *result, const char *variant, size_t bytes, int round, void (*change)(struct lp_record *))
{
    for (size_t i = 0; i < result->n; i++) {
        struct lp_record *record = result->record[i];

        if (strcmp(record->variant, variant) == 0 && (round == 0 || record->round == round) &&
            record->cell.requested_bytes == bytes && record->cell.placement == LP_OUT_OF_PLACE)
            change(record);
    }
}

static void make_wrong(struct lp_record *record)
{
    record->outcome = LP_WRONG;
}

static void make_wrong_iteration(struct lp_record *record)
{
    record->checked.wrong_iterations = 1;
}

static void make_hang(struct lp_record *record)
{
    record->outcome = LP_HANG;
    record->time_us.n = 0;
}

static void make_unchecked(struct lp_record *record)
{
    record->checked.iterations = 0;
}

static void make_unproven(struct lp_record *record)
{
    record->evidence = (struct lp_evidence){0};
}

static void make_unknown(struct lp_record *record)
{
    strcpy(record->evidence.tag, "unknown");
}

static void make_host(struct lp_record *record)
{
    make_unproven(record);
    strcpy(record->cell.library, "host");
}

static void make_impossible(struct lp_record *record)
{
    record->busbw_gbps = 500.0;
}

static void make_nvls(struct lp_record *record)
{
    make_impossible(record);
    strcpy(record->evidence.algorithm, "NVLS");
}

static const char *why(const struct lp_crew_times *times, size_t family, size_t spot, size_t setting)
{
    const char *reason = times->family[family].spot[spot].why[setting];

    return reason ? reason : "";
}

/* What is done to variant b at 2K, and what follows there and at other sizes. */
static void test_reasons(void **state)
{
    static const struct {
        const char *name;
        void (*change)(struct lp_record *);
        int round;
        const char *here, *elsewhere;
    } cases[] = {
        {"wrong", make_wrong, 2, "wrong data", "wrong data"},
        {"wrong iteration", make_wrong_iteration, 1, "wrong data", "wrong data"},
        {"hang", make_hang, 3, "hang", ""},
        {"unchecked", make_unchecked, 1, "unchecked", ""},
        {"unproven", make_unproven, 0, "unproven", ""},
        {"unproven in one round", make_unproven, 1, "", ""},
        {"log does not tell", make_unknown, 0, "unproven", ""},
        {"impossible", make_impossible, 2, "busbw above the line rate without NVLS", ""},
        {"NVLS", make_nvls, 0, "", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_result result;
        struct lp_crew_times times;

        sweep_make(&small_sweep, &result);
        json_object_set_new(result.head, "topology", json_of("{'line': {'gbps': 478.1}}"));
        each(&result, "b", 2048, cases[i].round, cases[i].change);
        assert_int_equal(lp_crew_times_make(&result, &times), LP_OK);
        assert_case(cases[i].name, strcmp(why(&times, 0, 1, 2), cases[i].here) == 0);
        assert_case(cases[i].name, strcmp(why(&times, 0, 2, 2), cases[i].elsewhere) == 0);
        assert_case(cases[i].name, strcmp(why(&times, 1, 1, 2), cases[i].elsewhere) == 0);
        assert_case(cases[i].name, !times.family[0].spot[1].why[0] && !times.family[0].spot[1].why[1]);
        assert_int_equal(times.family[0].spot[1].n, cases[i].here[0] ? 9 : 12);
        assert_int_equal(times.setting[2].wrong, cases[i].elsewhere[0] != '\0');
        assert_int_equal(times.setting[2].lost, cases[i].change == make_hang);
        lp_crew_times_release(&times);
        lp_result_release(&result);
    }
}

/* Host memory has no log and no line rate. */
static void test_host(void **state)
{
    struct lp_result result;
    struct lp_crew_times times;

    (void)state;
    sweep_make(&small_sweep, &result);
    for (size_t i = 0; i < result.n; i++) {
        make_host(result.record[i]);
        make_impossible(result.record[i]);
    }
    json_object_set_new(result.head, "topology", json_of("{'line': {'gbps': 478.1}}"));
    assert_int_equal(lp_crew_times_make(&result, &times), LP_OK);
    assert_string_equal(why(&times, 0, 0, 1), "");
    lp_crew_times_release(&times);
    lp_result_release(&result);
}

/* A crew that was disturbed is left out; if all of a variant's were, it is not judged. */
static void test_disturbed(void **state)
{
    struct lp_result result;
    struct lp_crew_times times;
    json_t *crews = json_array();

    (void)state;
    sweep_make(&small_sweep, &result);
    for (size_t i = 0; i < result.n; i++)
        if (strcmp(result.record[i]->variant, "a") == 0 && result.record[i]->cell.requested_bytes == 1024)
            json_array_append_new(crews, json_pack("{s:i, s:b}", "crew", result.record[i]->crew, "contended", 1));
    json_array_append_new(crews, json_pack("{s:i, s:b, s:b}", "crew", 1, "contended", 0, "throttled", 1));
    json_array_append_new(crews, json_pack("{s:i, s:b, s:b}", "crew", 4, "contended", 0, "throttled", 0));
    json_object_set_new(result.head, "crews", crews);
    assert_int_equal(lp_crew_times_make(&result, &times), LP_OK);
    assert_string_equal(why(&times, 0, 0, 1), "contended or throttled");
    assert_string_equal(why(&times, 0, 0, 0), "");
    assert_int_equal(times.family[0].spot[0].n, 12 - 3 - 1);
    assert_true(lp_crew_disturbed(&result, 1));
    assert_false(lp_crew_disturbed(&result, 4));
    assert_false(lp_crew_disturbed(&result, 99));
    lp_crew_times_release(&times);
    lp_result_release(&result);
}

static void test_order(void **state)
{
    struct sweep sweep = small_sweep;
    struct lp_result result;
    struct lp_crew_times times;

    (void)state;
    sweep.rounds = 1;
    sweep_make(&sweep, &result);
    for (size_t i = 0; i < result.n / 2; i++) { /* records in any order */
        struct lp_record *other = result.record[result.n - 1 - i];

        result.record[result.n - 1 - i] = result.record[i];
        result.record[i] = other;
    }
    assert_int_equal(lp_crew_times_make(&result, &times), LP_OK);
    assert_int_equal(times.rounds, 1);
    assert_int_equal(times.nsettings, 3);
    assert_string_equal(times.setting[0].name, "default");
    assert_string_equal(times.setting[2].name, "b");
    assert_int_equal(times.nfamilies, 2);
    for (size_t s = 0; s < 4; s++)
        assert_int_equal(times.family[1].spot[s].bytes, 1024 << s);
    assert_int_equal(times.family[0].spot[0].time[0].round, 1);
    lp_crew_times_release(&times);
    lp_result_release(&result);
}

/* Only ways for the data, and in default's group. */
static void test_same(void **state)
{
    struct sweep sweep = small_sweep;
    struct lp_result result;
    struct lp_crew_times times;
    static const bool want[] = {true, true, false, false, false, true};

    (void)state;
    sweep.nsettings = 6;
    sweep.setting[3] = "c";
    sweep.setting[4] = "d";
    sweep.setting[5] = "e";
    sweep_make(&sweep, &result);
    sweep_env(&result, "a", "{'NCCL_ALGO': 'Ring', 'NCCL_P2P_LEVEL': 'SYS'}");
    sweep_env(&result, "b", "{'NCCL_ALGO': 'Ring'}");
    sweep_env(&result, "c", "{'NCCL_ALGO': 'Ring', 'NCCL_BUFFSIZE': '4194304'}");
    sweep_env(&result, "d", "{'NCCL_PROTO': null}");
    json_object_set_new(json_array_get(json_object_get(result.head, "variants"), 4), "nccl", json_string("/other/libnccl.so"));
    json_object_set_new(result.head, "same_path", json_of("[['tree', 'b'], ['default', 'a', 'c', 'd', 'e', 'default again']]"));
    assert_int_equal(lp_crew_times_make(&result, &times), LP_OK);
    for (size_t s = 0; s < COUNT_OF(want); s++)
        assert_case(times.setting[s].name, times.setting[s].same == want[s]);
    lp_crew_times_release(&times);
    lp_result_release(&result);
}

/* A mean over sizes keeps crews apart, and needs every size at which default is judged. */
static void test_mean(void **state)
{
    struct lp_result result;
    struct lp_crew_times times;
    struct lp_spot spot;

    (void)state;
    sweep_make(&small_sweep, &result);
    for (size_t i = 0; i < result.n; i++)
        sweep_time(result.record[i], exp((double)result.record[i]->crew + log2((double)result.record[i]->cell.size_bytes)));
    each(&result, "default", 2048, 0, make_unchecked);
    each(&result, "b", 4096, 0, make_unchecked);
    assert_int_equal(lp_crew_times_make(&result, &times), LP_OK);
    assert_int_equal(lp_spot_mean(&times, &times.family[0], 0, 3, &spot), LP_OK);
    assert_int_equal(spot.n, 9);
    for (size_t i = 0; i < spot.n; i++)
        assert_true(fabs(spot.time[i].log_us - spot.time[i].crew - (10.0 + 12.0 + 13.0) / 3.0) < 1e-9);
    assert_null(spot.why[1]);
    assert_string_equal(spot.why[2], "unchecked");
    lp_spot_release(&spot);
    assert_int_equal(lp_spot_mean(&times, &times.family[0], 1, 1, &spot), LP_OK);
    assert_int_equal(spot.n, 0);
    assert_string_equal(spot.why[1], "unchecked");
    lp_spot_release(&spot);
    lp_crew_times_release(&times);
    lp_result_release(&result);
}

static void test_empty(void **state)
{
    struct lp_result result;
    struct lp_crew_times times;

    (void)state;
    lp_result_init(&result);
    assert_int_equal(lp_crew_times_make(&result, &times), LP_OK);
    assert_int_equal(times.nfamilies, 0);
    assert_int_equal(times.rounds, 1);
    lp_crew_times_release(&times);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons), cmocka_unit_test(test_host), cmocka_unit_test(test_disturbed), cmocka_unit_test(test_order),
        cmocka_unit_test(test_same),    cmocka_unit_test(test_mean), cmocka_unit_test(test_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
