/* Crews over a scripted link: coming up, being asked, and every way of being lost meanwhile. */
#include "control/crew.h"

#include <signal.h>

#include "scripted_crew.h"

/* ---- start ---- */

static void test_all_hello(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = start_crew(stage, 3);
    struct lp_loss why;

    assert_int_equal(lp_crew_size(crew), 3);
    for (int r = 0; r < 3; r++)
        script_hello(stage->script, at(1.0 + r), r, lp_crew_id(crew));
    assert_true(lp_crew_ready(crew, LIMIT, &why));
    assert_true(lp_crew_usable(crew));
    assert_true(stage->script->time.now_ns == at(3.0));
}

/* How workers are started: on which rank, with which words and which environment. */
static void test_spawned(void **state)
{
    struct stage *stage = *state;
    json_t *env = json_of("{'NCCL_ALGO': 'Tree', 'NCCL_PROTO': null, 'NCCL_DEBUG': 'TRACE'}");
    struct lp_crew_spec spec = {.worker = "/bin/worker",
                                .name = "tree",
                                .log_dir = "/logs",
                                .env = env,
                                .nccl_log = true,
                                .nccl_subsys = "INIT,ENV",
                                .n = 2,
                                .rank = {3, 1}};
    struct lp_crew *crew = lp_crew_start(stage->crews, &spec);
    const struct scripted_deed *deed = stage->script->spawned;

    assert_int_equal(stage->script->nspawned, 2);
    assert_true(deed[0].rank == 3 && deed[1].rank == 1);
    assert_string_equal(deed[0].text, "/logs/crew001-tree-rank3.log /bin/worker --crew 1 --rank 0");
    assert_string_equal(deed[1].text, "/logs/crew001-tree-rank1.log /bin/worker --crew 1 --rank 1");
    assert_string_equal(lp_crew_log(crew, 1), "/logs/crew001-tree-rank1.log");
    assert_string_equal(lp_json_str(deed[0].json, "NCCL_ALGO", ""), "Tree");
    assert_true(json_is_null(json_object_get(deed[0].json, "NCCL_PROTO")));
    assert_true(json_is_null(json_object_get(deed[0].json, "NCCL_COMM_BLOCKING")));
    assert_string_equal(lp_json_str(deed[0].json, "NCCL_DEBUG", ""), "INFO");
    assert_string_equal(lp_json_str(deed[0].json, "NCCL_DEBUG_SUBSYS", ""), "INIT,ENV");
    assert_string_equal(lp_json_str(deed[1].json, "NCCL_DEBUG_FILE", ""), lp_crew_nccl_log(crew, 1));
    assert_string_equal(lp_json_str(env, "NCCL_DEBUG", ""), "TRACE"); /* the variant's own stays as it is */
    json_decref(env);
}

/* Without NCCL there is no log of it, and the variant's environment is all. */
static void test_spawned_without_a_log(void **state)
{
    struct stage *stage = *state;
    json_t *env = json_of("{'NCCL_ALGO': 'Tree'}");
    struct lp_crew_spec spec = {.worker = "w", .name = "tree", .log_dir = "/logs", .env = env, .n = 1};
    struct lp_crew *crew = lp_crew_start(stage->crews, &spec);

    assert_string_equal(lp_crew_nccl_log(crew, 0), "");
    assert_true(json_equal(stage->script->spawned[0].json, env));
    json_decref(env);
}

/* One of three never comes: the reason says where each was. */
static void test_never_hello(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = start_crew(stage, 3);
    struct lp_loss why;

    script_hello(stage->script, at(1.0), 0, lp_crew_id(crew));
    script_phase(stage->script, at(2.0), 0, lp_crew_id(crew), "open device");
    script_hello(stage->script, at(3.0), 2, lp_crew_id(crew));
    assert_false(lp_crew_ready(crew, LIMIT, &why));
    assert_int_equal(why.kind, LP_LOSS_HANG);
    assert_int_equal(why.rank, 1);
    assert_says(why.reason, "no answer within 60 s");
    assert_says(why.reason, "rank 0 is done with 'open device'");
    assert_says(why.reason, "rank 1 does not answer at all (stopped?), last seen in 'start'");
    assert_says(why.reason, "rank 2 is done with 'start'");
    assert_true(stage->script->time.now_ns == at(61.0)); /* a second for the control threads to say where they are */
    assert_false(lp_crew_usable(crew));
}

static void test_exit_before_hello(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = start_crew(stage, 2);
    struct lp_loss why;

    script_hello(stage->script, at(1.0), 0, lp_crew_id(crew));
    script_exit(stage->script, at(2.0), 1, lp_crew_id(crew), 3, 0);
    assert_false(lp_crew_ready(crew, LIMIT, &why));
    assert_true(why.kind == LP_LOSS_CRASH && why.rank == 1);
    assert_says(why.reason, "left with exit code 3");
    assert_says(why.reason, "'start'");
    assert_true(stage->script->time.now_ns == at(2.0)); /* at once, not at the limit */
    assert_false(lp_crew_usable(crew));
}

/* The exit carries the pid, and it is what a person looks for in dmesg: also of a worker that never said it. */
static void test_exit_before_hello_names_the_pid(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = start_crew(stage, 1);
    struct lp_loss why;

    script_exit(stage->script, at(1.0), 0, lp_crew_id(crew), -1, SIGSEGV);
    assert_false(lp_crew_ready(crew, LIMIT, &why));
    assert_says(why.reason, "pid 1100");
}

static void test_could_not_be_started(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = start_crew(stage, 1);
    struct lp_event event = {
        .kind = LP_EVENT_EXIT, .crew = lp_crew_id(crew), .exit_code = 127, .words = "could not be started: no such file"};
    struct lp_loss why;

    script_event(stage->script, at(1.0), event);
    assert_false(lp_crew_ready(crew, LIMIT, &why));
    assert_int_equal(why.kind, LP_LOSS_CRASH);
    assert_says(why.reason, "could not be started: no such file");
}

static void test_no_agent_to_start_it(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew;
    struct lp_loss why;

    stage->script->no_agent_rank = 1;
    crew = start_crew(stage, 2);
    script_hello(stage->script, at(1.0), 0, lp_crew_id(crew));
    assert_false(lp_crew_ready(crew, LIMIT, &why));
    assert_true(why.kind == LP_LOSS_AGENT);
    assert_says(why.reason, "the agent of rank 1 is gone");
    stage->script->no_agent_rank = -1;
}

/* ---- requests ---- */

static void test_all_answer(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 3);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    for (int id = 1; id <= 2; id++) {
        for (int r = 2; r >= 0; r--)
            script_json(stage->script, at(id * 10.0 + r), r, 1, json_pack("{s:i, s:s, s:i}", "id", id, "status", "ok", "mine", r));
        assert_true(ask(crew, LIMIT, replies, &why));
        for (int r = 0; r < 3; r++)
            assert_int_equal(lp_json_int(replies[r], "mine", -1), r);
        lp_replies_release(replies, 3);
    }
    assert_int_equal(stage->script->nsent, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(stage->script->sent[i].rank, i % 3);
        assert_int_equal(lp_json_int(stage->script->sent[i].json, "id", -1), 1 + i / 3);
        assert_int_equal(lp_json_int(stage->script->sent[i].json, "crew", -1), 1);
        assert_string_equal(lp_json_str(stage->script->sent[i].json, "do", ""), "offer");
    }
    assert_true(lp_crew_usable(crew));
}

static void test_hang_in_a_request(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_phase(stage->script, at(1.0), 0, 1, "time 8 x 64");
    script_phase(stage->script, at(1.0), 1, 1, "barrier");
    assert_false(ask(crew, SECONDS(10), replies, &why));
    assert_true(why.kind == LP_LOSS_HANG && why.rank == 0);
    assert_string_equal(why.reason,
                        "no answer within 10 s: rank 0 does not answer at all (stopped?), last seen in 'time 8 x 64'; rank 1 "
                        "does not answer at all (stopped?), last seen in 'barrier'");
    assert_false(lp_crew_usable(crew));
}

/* The control thread answers where the main one cannot: who is silent there too is the one to blame. */
static void test_hang_with_one_that_says_where(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_phase(stage->script, at(1.0), 0, 1, "time 8 x 64");
    script_line(stage->script, at(10.1), 0, 1,
                "{'id': 2, 'status': 'ok', 'step': 'waiting for the device', 'block': 3, 'blocks': 8, 'async_error': 'remote "
                "process exited'}");
    assert_false(ask(crew, SECONDS(10), replies, &why));
    assert_true(why.kind == LP_LOSS_HANG && why.rank == 1);
    assert_says(why.reason,
                "rank 0 is waiting for the device in 'time 8 x 64', block 3 of 8; its communicator says remote process exited");
    assert_says(why.reason, "rank 1 does not answer at all");
}

/* Both are alive: the one that has come least far holds the other up. */
static void test_hang_of_the_slower_one(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_line(stage->script, at(10.1), 0, 1, "{'id': 2, 'status': 'ok', 'step': 'waiting', 'block': 5, 'blocks': 8}");
    script_line(stage->script, at(10.2), 1, 1, "{'id': 2, 'status': 'ok', 'step': 'calling', 'block': 4, 'blocks': 8}");
    assert_false(ask(crew, SECONDS(10), replies, &why));
    assert_true(why.kind == LP_LOSS_HANG && why.rank == 1);
}

/* An answer at the very end of the limit is one. */
static void test_answer_at_the_limit(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 1);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_line(stage->script, at(10.0), 0, 1, "{'id': 1, 'status': 'ok'}");
    assert_true(ask(crew, SECONDS(10), replies, &why));
    lp_replies_release(replies, 1);
}

static void test_crash_in_a_request(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_phase(stage->script, at(1.0), 1, 1, "init communicator");
    script_line(stage->script, at(1.0), 0, 1, "{'id': 1, 'status': 'ok'}");
    script_exit(stage->script, at(2.0), 1, 1, -1, SIGFPE);
    assert_false(ask(crew, LIMIT, replies, &why));
    assert_true(why.kind == LP_LOSS_CRASH && why.rank == 1);
    assert_says(why.reason, "rank 1 (pid 1101)");
    assert_says(why.reason, "killed by signal 8");
    assert_says(why.reason, "'init communicator'");
    assert_false(lp_crew_usable(crew));
}

static void test_exit_in_a_request(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_exit(stage->script, at(2.0), 0, 1, 0, 0); /* left as if all were well */
    assert_false(ask(crew, LIMIT, replies, &why));
    assert_true(why.kind == LP_LOSS_CRASH && why.rank == 0);
    assert_says(why.reason, "left with exit code 0");
}

/* It answered and then died: the answer counts, the next request meets the loss. */
static void test_exit_after_the_answer(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_line(stage->script, at(1.0), 0, 1, "{'id': 1, 'status': 'ok'}");
    script_exit(stage->script, at(1.5), 0, 1, 1, 0);
    script_line(stage->script, at(2.0), 1, 1, "{'id': 1, 'status': 'ok'}");
    assert_true(ask(crew, LIMIT, replies, &why));
    lp_replies_release(replies, 2);
    assert_false(ask(crew, LIMIT, replies, &why));
    assert_true(why.kind == LP_LOSS_CRASH && why.rank == 0);
}

static void test_the_end_of_the_log_is_quoted(void **state)
{
    struct stage *stage = *state;
    struct scratch scratch;
    struct lp_crew_spec spec = {.worker = "/bin/worker", .name = "x", .n = 1};
    char text[400];
    struct lp_loss why;

    scratch_make(&scratch);
    memset(text, 'a', sizeof(text));
    strcpy(text + sizeof(text) - 40, "\nNCCL WARN Cuda failure 1\nout\tof luck\n");
    scratch_write(&scratch, "crew001-x-rank0.log", text, strlen(text));
    spec.log_dir = scratch.folder;
    script_exit(stage->script, at(1.0), 0, 1, 1, 0);
    assert_false(lp_crew_ready(lp_crew_start(stage->crews, &spec), LIMIT, &why));
    assert_says(why.reason, "log ends: aaa");
    assert_says(why.reason, "|NCCL WARN Cuda failure 1|out|of luck");
    assert_null(strchr(why.reason, '\n'));
    scratch_remove(&scratch);
}

#define test_case(test) cmocka_unit_test_setup_teardown(test, stage_set_up, stage_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_case(test_all_hello),
        test_case(test_spawned),
        test_case(test_spawned_without_a_log),
        test_case(test_never_hello),
        test_case(test_exit_before_hello),
        test_case(test_exit_before_hello_names_the_pid),
        test_case(test_could_not_be_started),
        test_case(test_no_agent_to_start_it),
        test_case(test_all_answer),
        test_case(test_hang_in_a_request),
        test_case(test_hang_with_one_that_says_where),
        test_case(test_hang_of_the_slower_one),
        test_case(test_answer_at_the_limit),
        test_case(test_crash_in_a_request),
        test_case(test_exit_in_a_request),
        test_case(test_exit_after_the_answer),
        test_case(test_the_end_of_the_log_is_quoted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
