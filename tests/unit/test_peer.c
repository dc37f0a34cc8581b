/* Peer truth: what the driver's word and the records of one pair come to, and what is written into the topology. */
#include "judge/peer.h"

#include "base/json.h"

#include "copies.h"
#include "unit.h"

#define YES      "'peer_access': true"
#define NO       "'peer_access': false, 'reason': 'not supported'"
#define HIDDEN   "'peer_access': null, 'reason': 'not visible to rank 0'"
#define UNMAPPED YES ", 'ipc_error': 'cudaErrorMapBufferObjectFailed'"
#define REFUSED  "'peer_access': true, 'enable_error': 'cudaErrorPeerAccessUnsupported'"

/* A record of 0 -> 1. checked: iterations, of which `wrong` were wrong. Ends with a NULL path. */
struct copy {
    const char *path, *processes;
    enum lp_outcome outcome;
    int checked, wrong;
};

static void add_copy(struct lp_result *result, const struct copy *copy)
{
    struct lp_record record = copy_of(copy->path, 0, 1);

    strcpy(record.cell.processes, copy->processes);
    record.outcome = copy->outcome;
    record.checked = (struct lp_checked){.iterations = copy->checked,
                                         .wrong_iterations = copy->wrong,
                                         .wrong_elements = 77,
                                         .first_rank = 1,
                                         .first_offset_bytes = 4096};
    strcpy(record.reason, copy->outcome == LP_DONE ? "" : "what happened");
    add_record(result, record);
}

static void fill(struct lp_result *result, const char *facts, const struct copy *copies)
{
    char head[512];

    snprintf(head, sizeof(head), "{'device': 'cuda', 'topology': {'pairs': [{'src': 0, 'dst': 1, %s}, {'src': 1, 'dst': 0}]}}",
             facts);
    result_of(result, head);
    for (; copies->path; copies++)
        add_copy(result, copies);
}

static void test_states(void **state)
{
    static const struct {
        const char *facts, *processes, *state, *reason;
        struct copy copies[4];
    } cases[] = {
        {YES, "one", "yes", "", {{"ce_write", "one", LP_DONE, 6, 0}}},
        {YES, "ipc", "yes", "", {{"sm_write", "ipc", LP_DONE, 6, 0}}},
        {YES, "one", "unknown", "not tried; the driver says yes", {{0}}},
        {YES, "ipc", "unknown", "not tried; the driver says yes", {{"ce_write", "one", LP_DONE, 6, 0}}},
        {YES, "one", "unknown", "copy engine write, P2P on: copied, data unchecked", {{"ce_write", "one", LP_DONE, 0, 0}}},
        {YES, "one", "unknown", "SM read, P2P on: what happened", {{"sm_read", "one", LP_SKIPPED, 0, 0}}},
        {YES, "one", "unknown", "not tried; the driver says yes", {{"ce_staged", "one", LP_DONE, 6, 0}}},
        {NO, "one", "no", "the driver says no: not supported", {{"ce_write", "one", LP_UNSUPPORTED, 0, 0}}},
        {NO, "ipc", "no", "the driver says no: not supported", {{"sm_write", "ipc", LP_UNSUPPORTED, 0, 0}}},
        {REFUSED, "one", "no", "the driver says yes, enabling peer access failed: cudaErrorPeerAccessUnsupported", {{0}}},
        {REFUSED, "ipc", "unknown", "not tried; the driver says yes", {{0}}}, /* that was in another process */
        {UNMAPPED,
         "ipc",
         "no",
         "the driver says yes, mapping the other process's memory failed: cudaErrorMapBufferObjectFailed",
         {{0}}},
        {UNMAPPED, "one", "yes", "", {{"ce_write", "one", LP_DONE, 6, 0}}},
        {REFUSED, "one", "no", "cudaErrorPeerAccessUnsupported", {{"ce_write", "one", LP_DONE, 6, 0}}},
        {REFUSED, "ipc", "yes", "", {{"sm_write", "ipc", LP_DONE, 6, 0}}},
        {YES,
         "one",
         "says yes, data wrong",
         "SM write, P2P on: 77 wrong elements in 2 of 6 checked copies, first at byte 4096 of rank 1",
         {{"ce_write", "one", LP_DONE, 6, 0}, {"sm_write", "one", LP_WRONG, 6, 2}, {"sm_read", "one", LP_HANG, 0, 0}}},
        {YES,
         "one",
         "says yes, hangs",
         "SM read, P2P on: what happened",
         {{"ce_write", "one", LP_DONE, 6, 0}, {"sm_read", "one", LP_HANG, 0, 0}, {"sm_write", "one", LP_SKIPPED, 0, 0}}},
        {YES, "one", "says yes, fails", "copy engine write, P2P on: what happened", {{"ce_write", "one", LP_CRASH, 0, 0}}},
        {YES, "ipc", "says yes, fails", "SM write, P2P on: what happened", {{"sm_write", "ipc", LP_FAILED, 0, 0}}},
        {HIDDEN, "one", "unknown", "not tried: not visible to rank 0", {{"sm_write", "ipc", LP_DONE, 6, 0}}},
        {HIDDEN, "ipc", "yes", "", {{"sm_write", "ipc", LP_DONE, 6, 0}}},
        {HIDDEN, "ipc", "hangs", "SM write, P2P on: what happened", {{"sm_write", "ipc", LP_HANG, 0, 0}}},
        {HIDDEN, "ipc", "data wrong", "first at byte 4096 of rank 1", {{"sm_write", "ipc", LP_WRONG, 6, 1}}},
        {"'kind': 'NV18'", "one", "unknown", "not tried", {{0}}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_peer_truth truth;
        struct lp_result result;
        char name[32];

        sprintf(name, "%zu", i);
        fill(&result, cases[i].facts, cases[i].copies);
        lp_peer_find(&result, (struct lp_edge){0, 1}, cases[i].processes, &truth);
        assert_string_equal(lp_peer_name(&truth), cases[i].state);
        if (cases[i].reason[0])
            assert_says(truth.reason, cases[i].reason);
        assert_case(name, (truth.reason[0] == '\0') == (cases[i].reason[0] == '\0'));
        assert_case(name, truth.driver_yes == (strstr(cases[i].facts, YES) != NULL));
        lp_result_release(&result);
    }
}

/* The other direction, and copies of several edges, say nothing about this pair. */
static void test_one_edge_only(void **state)
{
    struct lp_peer_truth truth;
    struct lp_result result;
    struct lp_record both = both_of("ce_write", 0, 1, 360.0, 360.0);

    (void)state;
    fill(&result, YES, &(struct copy){0});
    add_rate(&result, "ce_write", 1, 0, 390.0);
    add_record(&result, both);
    lp_peer_find(&result, (struct lp_edge){0, 1}, "one", &truth);
    assert_int_equal(truth.state, LP_PEER_UNKNOWN);
    lp_peer_find(&result, (struct lp_edge){1, 0}, "one", &truth);
    assert_int_equal(truth.state, LP_PEER_YES);
    lp_result_release(&result);
}

static void test_used(void **state)
{
    static const struct {
        const char *facts, *path;
        double p2p, staged;
        enum lp_peer_use want;
    } cases[] = {
        {YES, "ce_write", 390.0, 37.0, LP_PEER_USED},          {YES, "ce_write", 40.7, 37.0, LP_PEER_NOT_USED},
        {YES, "ce_write", 40.8, 37.0, LP_PEER_USED},           {YES, "sm_write", 30.0, 37.0, LP_PEER_NOT_USED},
        {YES, "sm_read", 30.0, 37.0, LP_PEER_USE_UNKNOWN},     {YES, "ce_write", NAN, 37.0, LP_PEER_USE_UNKNOWN},
        {HIDDEN, "ce_write", 30.0, 37.0, LP_PEER_USE_UNKNOWN}, {NO, "ce_write", 30.0, 37.0, LP_PEER_USE_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_peer_rates rates;
        struct lp_result result;

        fill(&result, cases[i].facts, &(struct copy){0});
        add_rate(&result, cases[i].path, 0, 1, cases[i].p2p);
        add_rate(&result, "ce_staged", 0, 1, cases[i].staged);
        assert_int_equal(lp_peer_used(&result, (struct lp_edge){0, 1}, &rates), cases[i].want);
        assert_true((cases[i].want == LP_PEER_USE_UNKNOWN) == isnan(rates.p2p_gbps));
        lp_result_release(&result);
    }
}

/* Rates are compared at the largest size that both have, not at each one's largest. */
static void test_used_same_size(void **state)
{
    struct lp_peer_rates rates;
    struct lp_result result;
    struct lp_record small = copy_of("ce_write", 0, 1);

    (void)state;
    fill(&result, YES, &(struct copy){0});
    add_rate(&result, "ce_write", 0, 1, 390.0);
    small.cell.requested_bytes = 1 << 20;
    small.algbw_gbps = 100.0;
    add_record(&result, small);
    strcpy(small.cell.op, "ce_staged");
    small.algbw_gbps = 95.0;
    add_record(&result, small);
    assert_int_equal(lp_peer_used(&result, (struct lp_edge){0, 1}, &rates), LP_PEER_NOT_USED);
    assert_int_equal(rates.bytes, 1 << 20);
    assert_string_equal(rates.path, "ce_write");
    lp_result_release(&result);
}

static void test_note(void **state)
{
    struct lp_result result;
    json_t *topology, *want;

    (void)state;
    fill(&result, YES, (struct copy[]){{"sm_write", "ipc", LP_DONE, 6, 0}, {0}});
    add_rate(&result, "ce_write", 0, 1, 390.0);
    add_rate(&result, "ce_staged", 0, 1, 37.0);
    topology = json_object_get(result.head, "topology");
    lp_peer_note(topology, &result);
    want = json_of("{'pairs': [{'src': 0, 'dst': 1, 'peer_access': true, 'one_process': {'state': 'yes', 'reason': null},"
                   " 'between_processes': {'state': 'yes', 'reason': null}, 'peer_path_used': true},"
                   " {'src': 1, 'dst': 0, 'one_process': {'state': 'unknown', 'reason': 'not tried'},"
                   " 'between_processes': {'state': 'unknown', 'reason': 'not tried'}, 'peer_path_used': null}]}");
    assert_true(json_equal(topology, want));
    lp_peer_note(topology, &result); /* again is no change */
    assert_true(json_equal(topology, want));
    json_decref(want);
    lp_result_release(&result);
}

static void test_no_note(void **state)
{
    struct lp_result result;
    json_t *bare = json_object();

    (void)state;
    fill(&result, YES, &(struct copy){0});
    lp_peer_note(bare, &result);
    lp_peer_note(NULL, &result);
    assert_int_equal(json_object_size(bare), 0);
    json_object_set_new(result.head, "device", json_string("host"));
    lp_peer_note(json_object_get(result.head, "topology"), &result);
    assert_null(json_object_get(lp_pair_facts(&result, (struct lp_edge){0, 1}), "one_process"));
    json_decref(bare);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),         cmocka_unit_test(test_one_edge_only), cmocka_unit_test(test_used),
        cmocka_unit_test(test_used_same_size), cmocka_unit_test(test_note),          cmocka_unit_test(test_no_note),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
