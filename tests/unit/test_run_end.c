/* Whole runs that end anywhere: by a signal or a lost agent at any request, or with a journal that a kill cut off at any line. */
#include "scripted_run.h"

#include <sys/types.h>

#define CELLS "-b", "64", "-e", "256", "--collectives", "allreduce", "--placement", "out", "--only", "ring,p2p-off"

/* What a run does at its request number `at`, counted over all ranks and crews. */
struct plan {
    int at, seen;
    void (*deed)(struct scripted_run *run, int rank);
};

static void count_request(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    struct plan *plan = run->user;

    (void)crew;
    (void)request;
    if (plan->seen++ == plan->at)
        plan->deed(run, rank);
}

static void send_signal(struct scripted_run *run, int rank)
{
    (void)rank;
    queue_event(run, 0.0, (struct lp_event){.kind = LP_EVENT_SIGNAL, .rank = -1, .signal = SIGINT});
}

/* Ctrl-C twice, and the agent gone in between: as mpirun does it. */
static void send_signals(struct scripted_run *run, int rank)
{
    lose_agent(run, rank);
    for (int i = 0; i < 2; i++)
        queue_event(run, 0.1, (struct lp_event){.kind = LP_EVENT_SIGNAL, .rank = -1, .signal = i ? SIGTERM : SIGINT});
}

/* The same record but for what is found out later. */
static bool same_record(const struct lp_record *a, const struct lp_record *b)
{
    json_t *left = lp_record_to_json(a), *right = lp_record_to_json(b);
    bool same;

    json_object_del(left, "evidence");
    json_object_del(right, "evidence");
    same = json_equal(left, right);
    json_decref(left);
    json_decref(right);
    return same;
}

static bool is_prefix(const struct lp_result *part, const struct lp_result *whole)
{
    bool same = part->n <= whole->n;

    for (size_t i = 0; i < part->n && same; i++)
        same = same_record(part->record[i], whole->record[i]);
    return same;
}

static struct scripted_run *play(const char *device, int n, struct plan *plan)
{
    struct scripted_run *run = run_create(device, n);

    run->on_request = count_request;
    run->user = plan;
    run_play(run, (const char *[]){CELLS, NULL});
    return run;
}

/* At each of the first requests, and then at one of `step` and one more. */
static void play_at_requests(const char *device, int n, int step, void (*deed)(struct scripted_run *, int), int code)
{
    struct plan never = {.at = -1};
    struct scripted_run *whole = play(device, n, &never);
    size_t before = 0;

    for (int at = 0; at < never.seen; at += 1 + (at > 40) * step) {
        struct plan plan = {.at = at, .deed = deed};
        struct scripted_run *run = play(device, n, &plan);
        char name[64];

        snprintf(name, sizeof(name), "request %d of %d on %d ranks of %s", at, never.seen, n, device);
        if (run->code != code && !(code == 4 && run->code == 3 && at < n)) /* in the survey nothing has been begun */
            fail_msg("case \"%s\": exit code %d, not %d", name, run->code, code);
        assert_case(name, run->written == (at >= n));
        if (run->written) {
            assert_case(name, !is_complete(run) && is_prefix(&run->result, &whole->result));
            assert_case(name, run->result.n >= before); /* the later, the more */
            assert_case(name, lp_json_str(run->result.head, "ended", NULL) != NULL);
            before = run->result.n;
        }
        run_free(run);
    }
    assert_true(before + 2 >= whole->result.n);
    run_free(whole);
}

static void test_signal_anywhere(void **state)
{
    (void)state;
    play_at_requests("host", 2, 0, send_signal, 128 + SIGINT);
    play_at_requests("cuda", 2, 4, send_signal, 128 + SIGINT);
}

static void test_agent_lost_anywhere(void **state)
{
    (void)state;
    play_at_requests("host", 2, 2, lose_agent, 4);
    play_at_requests("cuda", 3, 6, lose_agent, 4);
}

/* When mpirun ends a run, an agent may be gone before the signal is here: the signal is what counts. */
static void test_signal_after_agent(void **state)
{
    (void)state;
    play_at_requests("host", 2, 4, send_signals, 128 + SIGINT);
}

/* A signal leaves a summary and how to see the rest. */
static void test_signal_says_how_to_show(void **state)
{
    struct plan plan = {.at = 90, .deed = send_signal};
    struct scripted_run *run = play("host", 2, &plan);

    (void)state;
    assert_true(run_said(run, "run.out", "linkperf show "));
    assert_says(lp_json_str(run->result.head, "ended", ""), "signal 2");
    run_free(run);
}

/* ---- the journal ---- */

struct journal {
    char *text;
    size_t len;
    int cells; /* that have been asked for */
};

static void read_part(struct scripted_run *run, struct journal *journal)
{
    FILE *file = fopen(scratch_path(&run->scratch, "run.json.part"), "r");
    size_t cap = (size_t)8 << 20;

    free(journal->text);
    journal->text = malloc(cap);
    journal->len = file ? fread(journal->text, 1, cap, file) : 0;
    if (file)
        fclose(file);
}

/* Before a cell starts all those before it are on disk. The last bye finds all of them. */
static void watch_journal(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    struct journal *journal = run->user;
    const char *what = lp_json_str(request, "do", "");
    struct lp_result part;

    if (rank == 0 && strcmp(what, "bye") == 0 && strcmp(run->actor[crew][0].name, "default-again") == 0)
        read_part(run, journal);
    if (rank != 0 || strcmp(what, "cell") != 0)
        return;
    if (lp_result_load(scratch_path(&run->scratch, "run.json.part"), &part, NULL) != LP_OK || part.n < (size_t)journal->cells)
        foul(run, "asked before the journal had the cells before:", run->actor[crew][0].name);
    lp_result_release(&part);
    journal->cells++;
}

/* The journal, cut off after `len` bytes, has the first records of the run, one for every whole line that holds one. */
static void check_cut(struct scripted_run *run, const struct journal *journal, size_t len, size_t records)
{
    const char *path = scratch_write(&run->scratch, "cut.part", journal->text, len);
    struct lp_reason why = {""};
    struct lp_result part;

    if (lp_result_load(path, &part, &why) != LP_OK)
        fail_msg("cut at byte %zu: %s", len, why.text);
    if (part.n != records || !is_prefix(&part, &run->result))
        fail_msg("cut at byte %zu: %zu records, not the first %zu", len, part.n, records);
    assert_false(lp_json_bool(part.head, "complete", false));
    lp_result_release(&part);
}

static void play_journal(const char *device, int n, const struct fault *faults, size_t nfaults)
{
    struct scripted_run *run = run_create(device, n);
    struct journal journal = {0};
    size_t records = 0, lines = 0;

    for (size_t i = 0; i < nfaults; i++)
        run_fault(run, faults[i]);
    run->on_request = watch_journal;
    run->user = &journal;
    run_play(run, (const char *[]){CELLS, NULL});
    assert_true(is_complete(run) && journal.len > 0);
    for (size_t from = 0, to; from < journal.len; from = to) {
        const char *line = journal.text + from;

        to = (size_t)((const char *)memchr(line, '\n', journal.len - from) - journal.text) + 1;
        if (lines > 0) /* the first line is the head, without which there is no journal */
            check_cut(run, &journal, from + (to - from) / 2, records);
        records += strncmp(line, "{\"p2p\"", 6) == 0 || strncmp(line, "{\"collective\"", 13) == 0;
        check_cut(run, &journal, to, records);
        lines++;
    }
    assert_int_equal(records, run->result.n);
    free(journal.text);
    run_free(run);
}

/* Good runs, and one with every sort of outcome: those of a cell that is asked for, one crew and the next. */
static void test_journal_cut_anywhere(void **state)
{
    static const struct fault faults[] = {
        {STALLS, AT_TIME, 0, "ring", 64, 0},          {SEGV, AT_WARM_UP, 1, "p2p-off", 128, 0},
        {FAILS, AT_CHECK, 1, "default", 256, 0},      {UNSUPPORTED, AT_CELL, -1, "ring", 256, 0},
        {STALE, AT_AFTER, 1, "default-again", 64, 0}, {WRONG_ONCE, AT_CHECK, 0, "p2p-off", 64, 0},
        {SEGV, AT_TIME, 0, LINK_WITH_P2P, 16, 0},
    };

    (void)state;
    play_journal("host", 2, NULL, 0);
    play_journal("cuda", 3, NULL, 0);
    play_journal("cuda", 2, faults, COUNT_OF(faults));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signal_anywhere),      cmocka_unit_test(test_agent_lost_anywhere),
        cmocka_unit_test(test_signal_after_agent),   cmocka_unit_test(test_signal_says_how_to_show),
        cmocka_unit_test(test_journal_cut_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
