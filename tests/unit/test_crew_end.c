/* Crews that end, overlap, or are interrupted: signals, lost agents, late words, and processes that do not die. */
#include "control/crew.h"

#include <signal.h>

#include "scripted_crew.h"

/* ---- the run is over ---- */

static void test_signal_in_a_request(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    assert_int_equal(lp_crews_signal(stage->crews), 0);
    script_event(stage->script, at(3.0), (struct lp_event){.kind = LP_EVENT_SIGNAL, .signal = SIGTERM});
    assert_false(ask(crew, LIMIT, replies, &why));
    assert_true(why.kind == LP_LOSS_SIGNAL && why.rank == -1);
    assert_int_equal(lp_crews_signal(stage->crews), SIGTERM);
    assert_true(stage->script->time.now_ns == at(3.0));
    assert_false(lp_crew_usable(crew));
    /* no farewell: killed at once, and reaped */
    assert_true(lp_crew_end(crew, LIMIT, &why));
    assert_int_equal(stage->script->nsent, 2);
    assert_int_equal(stage->script->nkilled, 2);
    assert_true(stage->script->time.now_ns < at(3.1));
}

/* A signal that came earlier, to another crew, ends every wait. */
static void test_signal_before_a_request(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *first = ready_crew(stage, 1), *second = ready_crew(stage, 1);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_event(stage->script, at(1.0), (struct lp_event){.kind = LP_EVENT_SIGNAL, .signal = SIGINT});
    assert_false(ask(first, LIMIT, replies, &why));
    script_line(stage->script, at(1.0), 0, 2, "{'id': 1, 'status': 'ok'}");
    assert_false(ask(second, LIMIT, replies, &why));
    assert_int_equal(why.kind, LP_LOSS_SIGNAL);
    assert_int_equal(lp_crews_signal(stage->crews), SIGINT);
}

static void test_signal_while_starting(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = start_crew(stage, 2);
    struct lp_loss why;

    script_hello(stage->script, at(1.0), 0, 1);
    script_event(stage->script, at(2.0), (struct lp_event){.kind = LP_EVENT_SIGNAL, .signal = SIGINT});
    assert_false(lp_crew_ready(crew, LIMIT, &why));
    assert_int_equal(why.kind, LP_LOSS_SIGNAL);
}

static void test_agent_lost(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2), *other = ready_crew(stage, 2);
    struct lp_event lost = {.kind = LP_EVENT_LOST, .rank = 1, .words = "rank 1 on box closed its connection"};
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_event(stage->script, at(3.0), lost);
    assert_false(ask(crew, LIMIT, replies, &why));
    assert_int_equal(why.kind, LP_LOSS_AGENT);
    assert_string_equal(why.reason, "rank 1 on box closed its connection");
    assert_false(ask(other, LIMIT, replies, &why));
    assert_int_equal(why.kind, LP_LOSS_AGENT);
    /* its workers are gone with it; those of rank 0 are killed */
    assert_true(lp_crew_end(crew, LIMIT, &why));
    assert_true(lp_crew_end(other, LIMIT, &why));
    assert_int_equal(stage->script->nkilled, 2);
    assert_true(stage->script->killed[0].rank == 0 && stage->script->killed[1].rank == 0);
}

/* When mpirun ends a run the loss may come first; the signal is waited for, so that it is what is said. */
static void test_lost_agents_and_signals(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    struct lp_event lost = {.kind = LP_EVENT_LOST, .rank = 1, .words = "gone"};
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    assert_null(lp_crews_lost(stage->crews, SECONDS(1)));
    assert_true(stage->script->time.now_ns == at(0.0)); /* nothing to wait for */
    script_event(stage->script, at(1.0), lost);
    script_hello(stage->script, at(1.1), 0, 1);
    assert_false(ask(crew, LIMIT, replies, &why));
    assert_string_equal(lp_crews_lost(stage->crews, SECONDS(0.3)), "gone");
    assert_int_equal(lp_crews_signal(stage->crews), 0);
    assert_true(stage->script->time.now_ns == at(1.3));
    script_event(stage->script, at(1.4), (struct lp_event){.kind = LP_EVENT_SIGNAL, .signal = SIGTERM});
    lp_crews_lost(stage->crews, SECONDS(0.3));
    assert_int_equal(lp_crews_signal(stage->crews), SIGTERM);
    assert_true(stage->script->time.now_ns == at(1.4));
}

/* ---- several crews at once ---- */

static void test_crews_overlap(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *first = ready_crew(stage, 2), *second = start_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    /* the second comes up while the first works; its words are not lost */
    script_hello(stage->script, at(1.0), 1, 2);
    script_line(stage->script, at(1.1), 1, 1, "{'id': 1, 'status': 'ok', 'mine': 11}");
    script_hello(stage->script, at(1.2), 0, 2);
    script_phase(stage->script, at(1.3), 0, 2, "idle");
    script_line(stage->script, at(1.4), 0, 1, "{'id': 1, 'status': 'ok', 'mine': 10}");
    assert_true(ask(first, LIMIT, replies, &why));
    assert_true(lp_json_int(replies[0], "mine", 0) == 10 && lp_json_int(replies[1], "mine", 0) == 11);
    lp_replies_release(replies, 2);
    assert_true(lp_crew_ready(second, 0, &why));
    assert_true(stage->script->time.now_ns == at(1.4));

    /* equal ids of two crews are not mixed up, and the first one's end passes by */
    script_line(stage->script, at(2.0), 0, 1, "{'id': 1, 'status': 'failed', 'mine': 10}");
    script_line(stage->script, at(2.1), 0, 2, "{'id': 1, 'status': 'ok', 'mine': 20}");
    script_exit(stage->script, at(2.2), 0, 1, 0, 0);
    script_exit(stage->script, at(2.3), 1, 1, 0, 0);
    script_line(stage->script, at(2.4), 1, 2, "{'id': 1, 'status': 'ok', 'mine': 21}");
    assert_true(ask(second, LIMIT, replies, &why));
    assert_true(lp_json_int(replies[0], "mine", 0) == 20 && lp_json_int(replies[1], "mine", 0) == 21);
    lp_replies_release(replies, 2);
    assert_true(lp_crew_end(first, LIMIT, &why));
    assert_true(stage->script->time.now_ns == at(2.4)); /* it had ended */
    assert_int_equal(stage->script->nkilled, 0);
    assert_true(lp_crew_usable(second));
}

/* Events of a crew that is gone, or of a rank that has none, belong to nobody. */
static void test_events_of_nobody(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 1);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    script_line(stage->script, at(1.0), 0, 99, "{'id': 1, 'status': 'failed'}");
    script_line(stage->script, at(1.0), 5, 1, "{'id': 1, 'status': 'failed'}");
    script_exit(stage->script, at(1.0), 0, 99, 1, 0);
    script_line(stage->script, at(2.0), 0, 1, "{'id': 1, 'status': 'ok'}");
    assert_true(ask(crew, LIMIT, replies, &why));
    lp_replies_release(replies, 1);
}

/* Answers to what was asked before, twice-said ones, and words that are none. */
static void test_late_replies(void **state)
{
    static const char *const noise[] = {
        "{'id': 1, 'status': 'failed', 'reason': 'late'}",
        "{'status': 'failed'}",
        "{'id': null, 'status': 'failed'}",
        "{'id': '2', 'status': 'failed'}",
        "{'id': 3, 'status': 'failed'}",
        "{'say': 'at'}",
        "{'say': 'whatever', 'id': 2}",
        "{}",
        "[]",
    };
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    for (int r = 0; r < 2; r++)
        script_line(stage->script, at(1.0), r, 1, "{'id': 1, 'status': 'ok'}");
    assert_true(ask(crew, LIMIT, replies, &why));
    lp_replies_release(replies, 2);
    for (size_t i = 0; i < COUNT_OF(noise); i++)
        script_line(stage->script, at(2.0), 0, 1, noise[i]);
    script_line(stage->script, at(3.0), 0, 1, "{'id': 2, 'status': 'ok', 'mine': 1}");
    script_line(stage->script, at(3.1), 0, 1, "{'id': 2, 'status': 'failed', 'mine': 2}");
    script_line(stage->script, at(4.0), 1, 1, "{'id': 2, 'status': 'ok'}");
    assert_true(ask(crew, LIMIT, replies, &why));
    assert_int_equal(lp_json_int(replies[0], "mine", 0), 1);
    lp_replies_release(replies, 2);
    assert_true(lp_crew_usable(crew));
}

/* ---- the end ---- */

static void leave_when_asked(struct scripted_link *self, int rank, int crew, const json_t *request)
{
    if (strcmp(lp_json_str(request, "do", ""), "bye") == 0)
        script_exit(self, self->time.now_ns + SECONDS(0.5) * (rank + 1), rank, crew, 0, 0);
}

static void test_leaves_when_asked(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    struct lp_loss why;

    stage->script->answer = leave_when_asked;
    assert_true(lp_crew_end(crew, SECONDS(10), &why));
    assert_int_equal(stage->script->nsent, 2);
    assert_string_equal(lp_json_str(stage->script->sent[1].json, "do", ""), "bye");
    assert_int_equal(stage->script->nkilled, 0);
    assert_true(stage->script->time.now_ns == at(1.0));
}

static void test_killed_when_it_does_not_leave(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 3);
    struct lp_loss why;

    script_exit(stage->script, at(1.0), 1, 1, 0, 0);
    assert_true(lp_crew_end(crew, SECONDS(10), &why));
    assert_int_equal(stage->script->nkilled, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(stage->script->killed[i].rank, i * 2);
        assert_int_equal(stage->script->killed[i].signal, SIGKILL);
        assert_true(stage->script->killed[i].at_ns == at(10.0));
    }
}

/* A broken crew is not asked, and not waited for. */
static void test_broken_crew_is_killed_at_once(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    json_t *replies[LP_MAX_RANKS];
    struct lp_loss why;

    assert_false(ask(crew, SECONDS(10), replies, &why));
    assert_true(lp_crew_end(crew, SECONDS(10), &why));
    assert_int_equal(stage->script->nsent, 4); /* the request, and where they are */
    assert_int_equal(stage->script->nkilled, 2);
    assert_true(stage->script->killed[0].at_ns == at(11.0));
}

/* Stuck in the driver: neither bye nor SIGKILL helps, and the run has to stop with that pid. */
static void test_wedged(void **state)
{
    struct stage *stage = *state;
    struct lp_crew *crew = ready_crew(stage, 2);
    struct lp_loss why = {.kind = LP_LOSS_NONE};

    stage->script->immortal = true;
    script_exit(stage->script, at(0.5), 0, 1, 0, 0);
    assert_false(lp_crew_end(crew, SECONDS(5), &why));
    assert_int_equal(why.rank, 1);
    assert_says(why.reason, "wedged pid 1101");
    assert_says(why.reason, "rank 1");
    assert_true(stage->script->time.now_ns == at(15.0));
    assert_int_equal(stage->script->nkilled, 1);
}

/* What crews_free finds is killed, and a wedged one does not keep it for ever. */
static void test_free_kills_what_is_left(void **state)
{
    struct stage *stage = *state;

    ready_crew(stage, 2);
    start_crew(stage, 1);
    lp_crews_free(stage->crews);
    assert_int_equal(stage->script->nkilled, 3);
    assert_int_equal(stage->script->nsent, 0);
    assert_int_equal(lp_crews_create(&stage->script->link, &stage->crews), LP_OK);
}

#define test_case(test) cmocka_unit_test_setup_teardown(test, stage_set_up, stage_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_case(test_signal_in_a_request),
        test_case(test_signal_before_a_request),
        test_case(test_signal_while_starting),
        test_case(test_agent_lost),
        test_case(test_lost_agents_and_signals),
        test_case(test_crews_overlap),
        test_case(test_events_of_nobody),
        test_case(test_late_replies),
        test_case(test_leaves_when_asked),
        test_case(test_killed_when_it_does_not_leave),
        test_case(test_broken_crew_is_killed_at_once),
        test_case(test_wedged),
        test_case(test_free_kills_what_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
