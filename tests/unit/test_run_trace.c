/* Whole runs with eager modes, whose variants are run once more for NCCL's log: when there is such a crew, and that it costs
 * nothing. */
#include "scripted_run.h"

#define CELLS "-b", "64", "-e", "256", "--collectives", "allreduce", "--placement", "out", "--no-link", "--only", "ring"

static bool is_trace(const char *crew)
{
    const char *end = strstr(crew, "-trace");

    return end && strcmp(end, "-trace") == 0;
}

static int traces_of(const struct scripted_run *run)
{
    int n = 0;

    for (int c = 1; c <= run->ncrews; c++)
        n += is_trace(run->actor[c][0].name);
    return n;
}

static void test_when_there_is_one(void **state)
{
    static const struct {
        const char *device, *timing;
        int traces;
    } cases[] = {{"cuda", "graph", 0}, {"cuda", "pipelined", 3}, {"cuda", "isolated,graph", 3}, {"host", "pipelined", 0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scripted_run *run = run_create(cases[i].device, 2);

        run_play(run, (const char *[]){CELLS, "--timing", cases[i].timing, NULL});
        assert_int_equal(run->code, 0);
        assert_case(cases[i].timing, traces_of(run) == cases[i].traces);
        for (int c = 1; c <= run->ncrews; c++)
            if (is_trace(run->actor[c][0].name))
                assert_says(lp_json_str(run->actor[c][0].env, "NCCL_DEBUG_SUBSYS", ""), "TUNING");
        run_free(run);
    }
}

/* Whatever happens to it, the variant has its records, and the run its outcome; only what ends a run ends this one. */
static void test_its_loss_costs_nothing(void **state)
{
    static const enum kind kinds[] = {STALLS,      STOPS, LATE,        SLOW,   SEGV,    LEAVES,
                                      NOT_STARTED, FAILS, UNSUPPORTED, MEMORY, GARBLED, WEDGED};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (int phase = 0; phase < NPHASES; phase++)
            for (int n = 2; n <= 8; n += 3) {
                struct scripted_run *run = run_create("cuda", n);
                bool asked = (phase < AT_CHECK && phase != AT_SURVEY && phase != AT_PEERS) || phase == AT_BYE;
                bool refuses = kinds[k] >= FAILS && kinds[k] <= GARBLED, over = kinds[k] == WEDGED && asked;
                char name[96];

                snprintf(name, sizeof(name), "%s at %s, %d ranks", kind_names[kinds[k]], phase_names[phase], n);
                run_fault(run, (struct fault){kinds[k], (enum phase)phase, n - 1, "ring-trace", 0, 0});
                if (!(refuses && phase == AT_START) && !(kinds[k] == NOT_STARTED && phase != AT_START)) {
                    run_play(run, (const char *[]){CELLS, "--timing", "pipelined", NULL});
                    assert_case(name, run->result.n == (over ? 6 : 9));
                    for (size_t r = 0; r < run->result.n; r++)
                        assert_case(name, run->result.record[r]->outcome == LP_DONE);
                    assert_case(name, run->code == (over ? 4 : 0) && is_complete(run) == !over);
                }
                run_free(run);
            }
}

/* A variant that measured nothing has nothing to show, and its crew would only hang once more. */
static void test_nothing_to_trace(void **state)
{
    (void)state;
    for (int phase = AT_OPEN; phase <= AT_WARM_UP; phase += 1 + (phase == AT_OPEN)) { /* AT_PEERS is the link's */
        struct scripted_run *run = run_create("cuda", 2);

        run_fault(run, (struct fault){STALLS, (enum phase)phase, -1, "ring", 0, 0});
        run_fault(run, (struct fault){STALLS, (enum phase)phase, -1, "ring-trace", 0, 0});
        run_play(run, (const char *[]){CELLS, "--timing", "pipelined", NULL});
        assert_int_equal(crews_of(run, "ring"), 2);
        assert_int_equal(crews_of(run, "ring-trace"), 0);
        assert_int_equal(crews_of(run, "default-trace"), 1);
        run_free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_when_there_is_one),
        cmocka_unit_test(test_its_loss_costs_nothing),
        cmocka_unit_test(test_nothing_to_trace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
