/* Runs of several rounds: fresh crews in rotated order, default around them, and what a loss in one round means for the next. */
#include "scripted_run.h"

#define CELLS "-b", "64", "-e", "128", "--collectives", "allreduce", "--placement", "out", "--no-link", "-w", "1"

/* Crews in the order in which they were started, without the survey: "default ring tree default-again". */
static void order_of_crews(const struct scripted_run *run, char *buf, size_t cap)
{
    size_t used = 0;

    for (int c = 2; c <= run->ncrews; c++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", used ? " " : "", run->actor[c][0].name);
}

static void test_rotation(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);
    char crews[1024];

    (void)state;
    run_play(run, (const char *[]){CELLS, "--only", "ring,tree,p2p-off", "--rounds", "3", NULL});
    assert_true(run->code == 0 && is_complete(run));
    order_of_crews(run, crews, sizeof(crews));
    assert_string_equal(crews, "default ring tree p2p-off default-again "
                               "default tree p2p-off ring default-again "
                               "default p2p-off ring tree default-again");
    run_free(run);
}

/* Every record says its round and crew; the variant's entry has all its crews. */
static void test_records(void **state)
{
    struct scripted_run *run = run_create("host", 3);
    int seen[4] = {0};

    (void)state;
    run_play(run, (const char *[]){CELLS, "--only", "ring", "--rounds", "3", NULL});
    assert_int_equal(run->result.n, 3 * 3 * 2);
    for (size_t i = 0; i < run->result.n; i++) {
        const struct lp_record *record = run->result.record[i];

        assert_true(record->round >= 1 && record->round <= 3 && record->outcome == LP_DONE);
        seen[record->round]++;
        for (size_t k = 0; k < i; k++)
            if (run->result.record[k]->crew == record->crew)
                assert_true(run->result.record[k]->round == record->round);
    }
    assert_true(seen[1] == 6 && seen[2] == 6 && seen[3] == 6);
    assert_int_equal(json_array_size(json_object_get(entry_of(run, "ring", 0), "crews")), 3);
    run_free(run);
}

static void test_one_round_has_no_number(void **state)
{
    struct scripted_run *run = run_create("host", 2);

    (void)state;
    run_play(run, (const char *[]){CELLS, "--only", "ring", NULL});
    for (size_t i = 0; i < run->result.n; i++)
        assert_int_equal(run->result.record[i]->round, 0);
    run_free(run);
}

/* A variant that keeps failing is not tried again in later rounds, and says so there; the others are whole. */
static void test_losses_stay(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);
    size_t crashed = 0, untried = 0;

    (void)state;
    run_fault(run, (struct fault){SEGV, AT_TIME, 1, "ring", 0, 0});
    run_play(run, (const char *[]){CELLS, "--only", "ring,tree", "--rounds", "3", NULL});
    assert_int_equal(run->code, 4);
    assert_true(is_complete(run));
    assert_int_equal(crews_of(run, "ring"), 2);
    assert_int_equal(crews_of(run, "tree"), 3);
    for (size_t i = 0; i < run->result.n; i++) {
        const struct lp_record *record = run->result.record[i];

        if (strcmp(record->variant, "ring") != 0) {
            assert_int_equal(record->outcome, LP_DONE);
            continue;
        }
        crashed += record->outcome == LP_CRASH;
        untried += record->outcome == LP_SKIPPED;
    }
    assert_true(crashed == 2 && untried == 4);
    run_free(run);
}

/* Default hangs in its second round: what works without P2P goes first in what is left of that round. */
static void test_hang_later(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);
    char crews[1024];

    (void)state;
    run_fault(run, (struct fault){STALLS, AT_TIME, -1, "tree", 0, 1});
    run_play(run, (const char *[]){CELLS, "--only", "ring,tree,p2p-off", "--rounds", "2", NULL});
    assert_int_equal(run->code, 4);
    assert_true(is_complete(run));
    order_of_crews(run, crews, sizeof(crews));
    assert_string_equal(crews, "default ring tree tree p2p-off default-again default tree p2p-off ring default-again");
    run_free(run);
}

/* A signal in the second round: the first is kept, whole. */
static void test_signal_later(void **state)
{
    struct scripted_run *run = run_create("host", 2);
    size_t first = 0;

    (void)state;
    run_fault(run, (struct fault){SIGNALLED, AT_TIME, 0, "ring", 128, 0});
    run_play(run, (const char *[]){CELLS, "--only", "ring", "--rounds", "2", NULL});
    assert_int_equal(run->code, 128 + SIGTERM);
    for (size_t i = 0; i < run->result.n; i++)
        first += run->result.record[i]->round == 1;
    assert_true(first >= 3 && first == run->result.n);
    run_free(run);
}

static size_t count_warnings(const struct scripted_run *run, const char *words)
{
    const json_t *list = json_object_get(run->result.head, "warnings");
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        n += strstr(json_string_value(json_array_get(list, i)), words) != NULL;
    return n;
}

/* Crews that take 20 s to come up: a run that gets behind its budget says so once, and still measures everything. */
static void test_behind(void **state)
{
    static const struct {
        const char *budget;
        size_t warnings;
    } cases[] = {{"30", 1}, {"1000", 0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scripted_run *run = run_create("cuda", 2);

        run->open_s = 20.0;
        run_play(run, (const char *[]){CELLS, "--only", "ring,tree", "--rounds", "2", "--budget", cases[i].budget, NULL});
        assert_true(run->code == 0 && is_complete(run));
        assert_int_equal(run->result.n, 2 * 2 * 4);
        for (size_t r = 0; r < run->result.n; r++)
            assert_int_equal(run->result.record[r]->outcome, LP_DONE);
        assert_int_equal(
            count_warnings(run, "behind the run's budget of 30 s: from 'ring' on cells are timed for 8.33 ms instead of 25 ms"),
            cases[i].warnings);
        assert_int_equal(count_warnings(run, "budget"), cases[i].warnings);
        run_free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotation),    cmocka_unit_test(test_records),    cmocka_unit_test(test_one_round_has_no_number),
        cmocka_unit_test(test_losses_stay), cmocka_unit_test(test_hang_later), cmocka_unit_test(test_signal_later),
        cmocka_unit_test(test_behind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
