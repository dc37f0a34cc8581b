/*
 * A crew that leaves by itself does so while the next one comes up. What must never be beside what is for the scripted link to
 * say (check_alone), in these and in all other runs.
 */
#include "scripted_run.h"

#include <math.h>

#define CELLS "-b", "64", "-e", "128", "--collectives", "allreduce", "--placement", "out", "-w", "1", "--only", "ring,tree,p2p-off"

/* Crews that were started before the one before had left. */
static int count_overlaps(const struct scripted_run *run)
{
    int n = 0;

    for (int c = 2; c <= run->ncrews; c++)
        n += run->actor[c][0].spawned_ns < run->actor[c - 1][0].ended_ns;
    return n;
}

/* Not after the survey, since idle GPUs are looked at then, nor after the first round's first and last crew, whose logs are read.
 */
static void test_overlaps(void **state)
{
    static const struct {
        const char *device, *rounds, *timing;
        int crews, overlaps;
    } cases[] = {
        {"cuda", "1", "graph", 8, 5},       /* survey, link, link-ipc, five variants */
        {"cuda", "3", "graph", 18, 14},     /* logs are read in the first round only */
        {"cuda", "1", "pipelined", 13, 10}, /* a crew more for each variant's log */
        {"host", "1", "pipelined", 1 + 1 + 5, 5},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scripted_run *run = run_create(cases[i].device, 2);

        run_play(run, (const char *[]){CELLS, "--rounds", cases[i].rounds, "--timing", cases[i].timing, NULL});
        assert_true(run->code == 0 && is_complete(run));
        if (run->ncrews != cases[i].crews || count_overlaps(run) != cases[i].overlaps)
            fail_msg("case %zu: %d crews, %d overlaps", i, run->ncrews, count_overlaps(run));
        run_free(run);
    }
}

static void test_exclusive(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run->exclusive = true;
    run_play(run, (const char *[]){CELLS, "--rounds", "2", NULL});
    assert_true(run->code == 0 && is_complete(run) && run->ncrews == 13);
    assert_int_equal(count_overlaps(run), 0);
    run_free(run);
}

/* Its records and its evidence are what they would have been. */
static void test_same_results(void **state)
{
    struct scripted_run *beside = run_create("cuda", 2), *alone = run_create("cuda", 2);

    (void)state;
    run_play(beside, (const char *[]){CELLS, NULL});
    alone->exclusive = true;
    run_play(alone, (const char *[]){CELLS, NULL});
    assert_int_equal(beside->result.n, alone->result.n);
    for (size_t i = 0; i < alone->result.n; i++) {
        json_t *one = lp_record_to_json(beside->result.record[i]), *other = lp_record_to_json(alone->result.record[i]);

        assert_true(json_equal(one, other));
        json_decref(one);
        json_decref(other);
    }
    run_free(beside);
    run_free(alone);
}

/* After a kill the next crew waits, also where the one before that left by itself. */
static void test_never_after_a_kill(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run_fault(run, (struct fault){SEGV, AT_TIME, 1, "tree", 0, 0});
    run_play(run, (const char *[]){CELLS, NULL});
    assert_int_equal(run->code, 4);
    for (int c = 2; c <= run->ncrews; c++)
        if (run->actor[c - 1][0].killed)
            assert_true(run->actor[c][0].spawned_ns >= run->actor[c - 1][0].ended_ns);
    run_free(run);
}

/* A crew that leaves slowly: its seconds are its variant's, whoever waits for it, and are in the phases once. */
static void test_seconds(void **state)
{
    static const char *const timings[] = {"graph", "pipelined"};
    static const char *const crews[] = {"default", "ring", "tree-trace", "default-again", "link-ipc"};

    (void)state;
    for (size_t t = 0; t < COUNT_OF(timings); t++)
        for (size_t c = 0; c < COUNT_OF(crews); c++) {
            struct scripted_run *run = run_create("cuda", 2);
            const json_t *seconds, *value;
            const char *name;
            double sum = 0.0;

            run_fault(run, (struct fault){SLOW, AT_BYE, 1, crews[c], 0, 1});
            run_play(run, (const char *[]){CELLS, "--timing", timings[t], NULL});
            assert_true(run->code == 0 && is_complete(run));
            seconds = json_object_get(run->result.head, "seconds");
            json_object_foreach((json_t *)seconds, name, value) sum += strcmp(name, "total") ? json_number_value(value) : 0.0;
            assert_true(fabs(sum - lp_json_num(seconds, "total", 0.0)) < 1e-6);
            if (lp_json_num(seconds, "other", -1.0) < -1e-6)
                fail_msg("%s, %s: other is %g s", timings[t], crews[c], lp_json_num(seconds, "other", 0.0));
            if (strcmp(crews[c], "ring") == 0)
                assert_true(lp_json_num(json_object_get(entry_of(run, "ring", 0), "seconds"), "end", 0.0) > 10.0);
            run_free(run);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlaps),           cmocka_unit_test(test_exclusive), cmocka_unit_test(test_same_results),
        cmocka_unit_test(test_never_after_a_kill), cmocka_unit_test(test_seconds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
