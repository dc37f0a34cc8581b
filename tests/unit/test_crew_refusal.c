/* A worker that answers no, over a scripted link: how long the others are waited for, and what is said in the end. */
#include "control/crew.h"

#include <signal.h>

#include "scripted_crew.h"

/* One says no and the others wait for it for ever: five seconds of grace, and the refusal is the reason. */
static void test_one_refuses_others_hang(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 3);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_line(stage->script, at(2.0), 1, 1, "{'id': 1, 'status': 'failed', 'reason': 'ncclCommInitRank: system error'}");
    assert_false(ask(crew, LIMIT, replies, &why));
    assert_true(why.kind == LP_LOSS_REPLY && why.status == LP_ERR_FAILED && why.rank == 1);
    assert_string_equal(why.reason, "ncclCommInitRank: system error");
    assert_true(stage->script->time.now_ns == at(7.0));
    assert_false(lp_crew_usable(crew));
}

/* The grace never makes a limit longer. */
static void test_refusal_just_before_the_limit(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_line(stage->script, at(9.0), 0, 1, "{'id': 1, 'status': 'memory', 'reason': 'no room'}");
    assert_false(ask(crew, SECONDS(10), replies, &why));
    assert_true(why.kind == LP_LOSS_REPLY && why.status == LP_ERR_MEMORY);
    assert_true(stage->script->time.now_ns == at(10.0));
}

static void test_refusals(void **state)
{
    static const struct {
        const char *status[2], *reason;
        enum lp_status st;
        int rank;
        bool usable;
    } cases[] = {
        {{"unsupported", "unsupported"}, "first", LP_ERR_UNSUPPORTED, 0, true},
        {{"ok", "unsupported"}, "second", LP_ERR_UNSUPPORTED, 1, false},
        {{"unsupported", "failed"}, "first", LP_ERR_UNSUPPORTED, 0, false},
        {{"failed", "failed"}, "first", LP_ERR_FAILED, 0, false},
        {{"ok", "memory"}, "second", LP_ERR_MEMORY, 1, false},
        {{"dunno", "ok"}, "first", LP_ERR_FAILED, 0, false}, /* of a later worker */
    };
    struct stage *stage = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_crew *crew = ready_crew(stage, 2);
        json_t *replies[LP_MAX_RANKS];
        struct lp_loss why;
        int64_t start = stage->script->time.now_ns;

        for (int r = 0; r < 2; r++)
            script_json(stage->script, start + SECONDS(1), r, lp_crew_id(crew),
                        json_pack("{s:i, s:s, s:s}", "id", 1, "status", cases[i].status[r], "reason", r ? "second" : "first"));
        assert_false(ask(crew, LIMIT, replies, &why));
        assert_case(cases[i].status[0], why.kind == LP_LOSS_REPLY && why.status == cases[i].st && why.rank == cases[i].rank);
        assert_string_equal(why.reason, cases[i].reason);
        assert_case(cases[i].status[0], lp_crew_usable(crew) == cases[i].usable);
        assert_case(cases[i].status[0], stage->script->time.now_ns == start + SECONDS(1));
        assert_true(lp_crew_end(crew, SECONDS(1), &why));
    }
}

static void test_refusal_without_a_reason(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 1);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_line(stage->script, at(1.0), 0, 1, "{'id': 1}");
    assert_false(ask(crew, LIMIT, replies, &why));
    assert_true(why.kind == LP_LOSS_REPLY && why.status == LP_ERR_FAILED);
    assert_true(why.reason[0] != '\0');
}

/* All say "unsupported": the crew can still be asked something else. */
static void test_usable_after_unsupported(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    for (int r = 0; r < 2; r++) {
        script_line(stage->script, at(1.0), r, 1, "{'id': 1, 'status': 'unsupported', 'reason': 'no tree'}");
        script_line(stage->script, at(2.0), r, 1, "{'id': 2, 'status': 'ok'}");
    }
    assert_false(ask(crew, LIMIT, replies, &why));
    assert_true(ask(crew, LIMIT, replies, &why));
    lp_replies_release(replies, 2);
}

/* The death of one that waits for a refuser is not the news either. */
static void test_refusal_then_a_crash(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_line(stage->script, at(1.0), 0, 1, "{'id': 1, 'status': 'failed', 'reason': 'the cause'}");
    script_exit(stage->script, at(2.0), 1, 1, -1, SIGABRT);
    assert_false(ask(crew, LIMIT, replies, &why));
    assert_int_equal(why.kind, LP_LOSS_REPLY);
    assert_string_equal(why.reason, "the cause");
}

#define test_case(test) cmocka_unit_test_setup_teardown(test, stage_set_up, stage_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_case(test_one_refuses_others_hang),
        test_case(test_refusal_just_before_the_limit),
        test_case(test_refusals),
        test_case(test_refusal_without_a_reason),
        test_case(test_usable_after_unsupported),
        test_case(test_refusal_then_a_crash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
