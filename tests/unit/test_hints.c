/* What losses have in common: which hint comes of which records, and that none comes of others. */
#include "judge/hints.h"

#include "base/json.h"

#include <stdio.h>

#include "fixture.h"
#include "unit.h"

#define MAX_LINES 4
#define HANG_HINT "collectives hang with P2P and pass without"
#define DATA_HINT "data is wrong with P2P and right without"
#define SHM_HINT  "enlarge /dev/shm"
#define SIZE_HINT "NCCL_CUMEM_HOST_ENABLE=0"
#define STOP_HINT "did not even answer its control socket"
#define CODE_HINT "rebuild with ARCH="

/* A record: "-" for the variant makes it a copy. */
struct line {
    const char *variant;
    enum lp_outcome outcome;
    const char *reason;
    int repeat;
};

/* Without a reason, or a second crew. */
#define SAYS(variant, outcome, reason)                                                                                             \
    {                                                                                                                              \
        variant, outcome, reason, 0                                                                                                \
    }
#define IS(variant, outcome) SAYS(variant, outcome, "")

static const char head[] = "'variants': [{'name': 'default', 'repeat': 0, 'env': {}}, {'name': 'off', 'repeat': 0, 'env':"
                           " {'NCCL_ALGO': 'Ring', 'NCCL_P2P_DISABLE': '1'}}, {'name': 'two', 'repeat': 0, 'env': "
                           "{'NCCL_P2P_DISABLE': '2'}}, {'name': 'unset', 'repeat': 0, 'env': {'NCCL_P2P_DISABLE': null}},"
                           " {'name': 'bare'}, {'name': 'default', 'repeat': 1, 'env': {'NCCL_P2P_DISABLE': '1'}}]";

static void fill(struct lp_result *result, const char *device, const struct line *lines)
{
    char text[1024];

    lp_result_init(result);
    json_decref(result->head);
    snprintf(text, sizeof(text), "{'device': '%s', %s}", device, head);
    result->head = json_of(text);
    for (size_t i = 0; i < MAX_LINES && lines[i].variant; i++) {
        struct lp_record record = {.outcome = lines[i].outcome, .repeat = lines[i].repeat};

        record.cell.kind = strcmp(lines[i].variant, "-") == 0 ? LP_COPY : LP_COLLECTIVE;
        strcpy(record.cell.op, "allreduce");
        strcpy(record.variant, record.cell.kind == LP_COPY ? "" : lines[i].variant);
        strcpy(record.reason, lines[i].reason);
        assert_int_equal(lp_result_add(result, &record), LP_OK);
    }
}

/* hint: parts of the sentences, in their order. */
static void test_hints(void **state)
{
    static const struct {
        const char *name, *device;
        struct line lines[MAX_LINES];
        const char *hint[3];
    } cases[] = {
        {"no records", "cuda", {{0}}, {0}},
        {"all well", "cuda", {IS("default", LP_DONE), IS("off", LP_DONE), IS("-", LP_DONE)}, {0}},
        {"hang", "cuda", {IS("default", LP_HANG), IS("off", LP_DONE)}, {HANG_HINT}},
        {"hang in some", "cuda", {IS("default", LP_DONE), IS("default", LP_HANG), IS("off", LP_DONE)}, {HANG_HINT}},
        {"hang where P2P_DISABLE is 2", "cuda", {IS("two", LP_HANG), IS("off", LP_DONE)}, {HANG_HINT}},
        {"hang where P2P_DISABLE is unset", "cuda", {IS("unset", LP_HANG), IS("off", LP_DONE)}, {HANG_HINT}},
        {"hang of a variant without env", "cuda", {IS("bare", LP_HANG), IS("off", LP_DONE)}, {HANG_HINT}},
        {"env of the second crew", "cuda", {IS("default", LP_HANG), {"default", LP_DONE, "", 1}}, {HANG_HINT}},
        {"hang, other value passes", "cuda", {IS("default", LP_HANG), IS("two", LP_DONE)}, {0}},
        {"hang in both", "cuda", {IS("default", LP_HANG), IS("off", LP_HANG)}, {0}},
        {"hang in both, some pass", "cuda", {IS("default", LP_HANG), IS("off", LP_HANG), IS("off", LP_DONE)}, {0}},
        {"hang only without", "cuda", {IS("default", LP_DONE), IS("off", LP_HANG)}, {0}},
        {"hang, nothing without", "cuda", {IS("default", LP_HANG), IS("default", LP_DONE)}, {0}},
        {"hang, skipped without", "cuda", {IS("default", LP_HANG), IS("off", LP_SKIPPED)}, {0}},
        {"hang of a copy", "cuda", {IS("-", LP_HANG), IS("off", LP_DONE)}, {0}},
        {"hang on host memory", "host", {IS("default", LP_HANG), IS("off", LP_DONE)}, {0}},
        {"wrong", "cuda", {IS("default", LP_WRONG), IS("off", LP_DONE)}, {DATA_HINT}},
        {"wrong in both", "cuda", {IS("default", LP_WRONG), IS("off", LP_WRONG), IS("off", LP_DONE)}, {0}},
        {"wrong, nothing without", "cuda", {IS("default", LP_WRONG)}, {0}},
        {"wrong on host memory", "host", {IS("default", LP_WRONG), IS("off", LP_DONE)}, {0}},
        {"hang and wrong", "cuda", {IS("default", LP_WRONG), IS("default", LP_HANG), IS("off", LP_DONE)}, {HANG_HINT, DATA_HINT}},
        {"hang, wrong without", "cuda", {IS("default", LP_HANG), IS("off", LP_WRONG)}, {0}},
        {"no room", "cuda", {SAYS("default", LP_FAILED, "ncclInit: No space left on device (28)")}, {SHM_HINT}},
        {"no room, often",
         "host",
         {SAYS("a", LP_FAILED, "No space left on device"), SAYS("b", LP_CRASH, "No space left on device")},
         {SHM_HINT}},
        {"no room, but done", "cuda", {SAYS("default", LP_DONE, "No space left on device")}, {0}},
        {"size 0", "cuda", {SAYS("default", LP_FAILED, "shmOpen /dev/shm/nccl-x (size 0)")}, {SIZE_HINT}},
        {"size 01", "cuda", {SAYS("default", LP_FAILED, "shmOpen /dev/shm/nccl-x (size 01)")}, {0}},
        {"stopped", "cuda", {SAYS("default", LP_HANG, "rank 1 does not answer at all")}, {STOP_HINT}},
        {"a copy's worker", "cuda", {SAYS("-", LP_HANG, "rank 1 does not answer at all")}, {STOP_HINT}},
        {"no kernels", "cuda", {SAYS("default", LP_UNSUPPORTED, "the worker is built without code for sm_90")}, {CODE_HINT}},
        {"other words", "cuda", {SAYS("default", LP_FAILED, "an internal error"), SAYS("off", LP_CRASH, "rank 0 died")}, {0}},
        {"three",
         "cuda",
         {SAYS("default", LP_HANG, "rank 1 does not answer at all"), IS("off", LP_DONE),
          SAYS("a", LP_FAILED, "No space left on device")},
         {HANG_HINT, SHM_HINT, STOP_HINT}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_result result;
        json_t *hints;
        size_t n = 0;

        fill(&result, cases[i].device, cases[i].lines);
        hints = lp_hints(&result);
        while (n < COUNT_OF(cases[i].hint) && cases[i].hint[n])
            n++;
        assert_case(cases[i].name, json_is_array(hints) && json_array_size(hints) == n);
        for (size_t h = 0; h < n; h++)
            assert_says(json_string_value(json_array_get(hints, h)), cases[i].hint[h]);
        json_decref(hints);
        lp_result_release(&result);
    }
}

/* A journal that was cut off: no device, no variants. */
static void test_bare_head(void **state)
{
    static const struct line lines[MAX_LINES] = {SAYS("default", LP_HANG, "No space left on device"), IS("off", LP_DONE)};
    struct lp_result result;
    json_t *hints;

    (void)state;
    fill(&result, "cuda", lines);
    json_object_clear(result.head);
    hints = lp_hints(&result);
    assert_int_equal(json_array_size(hints), 1);
    assert_says(json_string_value(json_array_get(hints, 0)), SHM_HINT);
    json_decref(hints);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_bare_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
