/* Telling others from ourselves, on readings as machines and containers give them. */
#include "control/watch.h"

#include "control/crew_parts.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "scripted_clock.h"
#include "unit.h"

#define GIB(n)   ((long long)(n) << 30)
#define MIB(n)   ((long long)(n) << 20)
#define OURS     1021L /* the worker of the crew, as it says itself */
#define MOST     4
#define UNLISTED (-1)

/* Processes on the one GPU, and its memory in use; without a list: UNLISTED. */
struct reading {
    int n;
    struct lp_nvml_process process[MOST];
    long long used_bytes;
    unsigned throttle;
};

/* What the reader answers, in this order; the last one stays. */
static struct {
    struct reading reading[3];
    int n, at, opened, closed;
    struct lp_load load[2];
    long pids[8];
    int npids;
} script;

static void *open_source(void)
{
    script.opened++;
    return &script;
}

static void close_source(void *self)
{
    assert_ptr_equal(self, &script);
    script.closed++;
}

static void read_gpu(void *self, const char *pci, struct lp_nvml_now *out)
{
    const struct reading *reading = &script.reading[script.at < script.n ? script.at : script.n - 1];

    assert_ptr_equal(self, &script);
    lp_nvml_now(NULL, pci, out);
    out->nprocesses = reading->n;
    memcpy(out->process, reading->process, sizeof(reading->process));
    out->used_bytes = reading->used_bytes;
    out->total_bytes = GIB(11);
    out->throttle = reading->throttle;
    out->sm_mhz = 1000 + script.at++;
}

static void read_load(const char *cpus, const long *pids, int n, struct lp_load *out)
{
    (void)cpus;
    assert_true(n <= (int)COUNT_OF(script.pids));
    memcpy(script.pids, pids, (size_t)n * sizeof(*pids));
    script.npids = n;
    *out = script.load[script.at++];
}

const struct lp_watch_reader lp_watch_reader = {.open = open_source, .close = close_source, .gpu = read_gpu, .load = read_load};

/* ---- a crew of one worker, or two, and the watch over it ---- */

struct stage {
    struct scripted_clock time;
    struct lp_clock clock;
    struct lp_place place[2];
    struct lp_link link;
    struct lp_machine machine;
    struct lp_crews crews;
    struct lp_crew crew, last;
    struct lp_watch *watch;
};

static void set_stage(struct stage *stage, const char *device, int n)
{
    memset(stage, 0, sizeof(*stage));
    stage->clock = scripted_clock(&stage->time);
    stage->place[0].pid = 500;
    stage->place[1].pid = 501;
    stage->link = (struct lp_link){.clock = &stage->clock, .nranks = n, .place = stage->place};
    stage->machine.nranks = n;
    strcpy(stage->machine.device, device);
    strcpy(stage->machine.rank[0].pci, "0000:01:00.0");
    strcpy(stage->machine.rank[1].pci, "0000:02:00.0");
    stage->crew = (struct lp_crew){.all = &stage->crews, .id = 2, .n = n};
    for (int r = 0; r < n; r++)
        stage->crew.mate[r] = (struct mate){.rank = r, .hello = true, .pid = OURS + r};
    stage->crews = (struct lp_crews){.link = &stage->link, .first = &stage->crew};
    script.at = script.opened = script.closed = 0;
    stage->watch = lp_watch_create(&stage->machine, &stage->link);
    assert_non_null(stage->watch);
}

/* Another crew, that is ending. */
static void add_last_crew(struct stage *stage, long pid)
{
    stage->last = (struct lp_crew){.all = &stage->crews, .id = 1, .n = 1};
    stage->last.mate[0] = (struct mate){.hello = true, .pid = pid};
    stage->crew.next = &stage->last;
}

static void expect_others(const char *name, const struct lp_watched *seen, const struct lp_other *want)
{
    const struct lp_watched_gpu *gpu = &seen->gpu[0];
    int n = 0;

    while (n < MOST && want[n].memory_bytes != 0)
        n++;
    if (gpu->nothers != n)
        fail_msg("case \"%s\": %d others, not %d", name, gpu->nothers, n);
    for (int i = 0; i < n; i++)
        if (gpu->other[i].pid != want[i].pid || gpu->other[i].memory_bytes != want[i].memory_bytes)
            fail_msg("case \"%s\": pid %ld with %lld bytes", name, gpu->other[i].pid, gpu->other[i].memory_bytes);
    assert_case(name, seen->contended == (n > 0));
}

/* Before the run, at the crew's begin, at its end. One worker on one GPU, whose driver holds 300 MiB for itself. */
static void test_others(void **state)
{
    static const struct {
        const char *name;
        struct reading alone, begin, end;
        struct lp_other want[MOST]; /* memory 0: no more */
    } cases[] = {
        {"nothing is given", {UNLISTED, {{0}}, -1, 0}, {UNLISTED, {{0}}, -1, 0}, {UNLISTED, {{0}}, -1, 0}, {{0}}},
        {"only ours",
         {0, {{0}}, MIB(300), 0},
         {1, {{OURS, GIB(3)}}, GIB(3) + MIB(300), 0},
         {1, {{OURS, GIB(4)}}, GIB(4) + MIB(300), 0},
         {{0}}},
        {"another one at the end",
         {0, {{0}}, MIB(300), 0},
         {1, {{OURS, GIB(3)}}, GIB(3) + MIB(300), 0},
         {2, {{OURS, GIB(3)}, {4711, GIB(2)}}, GIB(5) + MIB(300), 0},
         {{4711, GIB(2)}}},
        {"at the begin only, and then another one",
         {0, {{0}}, MIB(300), 0},
         {2, {{4711, GIB(2)}, {OURS, GIB(3)}}, GIB(5) + MIB(300), 0},
         {2, {{OURS, GIB(3)}, {4712, MIB(5)}}, GIB(3) + MIB(300), 0},
         {{4711, GIB(2)}, {4712, MIB(5)}}},
        {"the most memory that it had",
         {1, {{4711, MIB(100)}}, MIB(400), 0},
         {2, {{4711, GIB(2)}, {OURS, -1}}, GIB(5), 0},
         {2, {{4711, GIB(1)}, {OURS, -1}}, GIB(5), 0},
         {{4711, GIB(2)}}},
        {"there before, and gone",
         {1, {{4711, GIB(2)}}, GIB(2), 0},
         {1, {{OURS, GIB(3)}}, GIB(3) + MIB(300), 0},
         {1, {{OURS, GIB(3)}}, GIB(3) + MIB(300), 0},
         {{0}}},
        {"its memory is not given",
         {0, {{0}}, MIB(300), 0},
         {2, {{OURS, -1}, {4711, -1}}, GIB(5), 0},
         {2, {{OURS, -1}, {4711, -1}}, GIB(5), 0},
         {{4711, -1}}},
        {"a container: ours under a number of the host",
         {0, {{0}}, MIB(300), 0},
         {1, {{90001, GIB(3)}}, GIB(3) + MIB(300), 0},
         {1, {{90001, GIB(3)}}, GIB(3) + MIB(300), 0},
         {{0}}},
        {"... with one who was there before",
         {1, {{80001, GIB(2)}}, GIB(2) + MIB(300), 0},
         {2, {{80001, GIB(2)}, {90001, GIB(3)}}, GIB(5) + MIB(300), 0},
         {2, {{80001, GIB(2)}, {90001, GIB(3)}}, GIB(5) + MIB(300), 0},
         {{80001, GIB(2)}}},
        {"... with one too many",
         {0, {{0}}, MIB(300), 0},
         {1, {{90001, GIB(3)}}, GIB(3) + MIB(300), 0},
         {2, {{90001, GIB(3)}, {90002, GIB(2)}}, GIB(5) + MIB(300), 0},
         {{0, -1}}},
        {"a container: all are 0",
         {0, {{0}}, MIB(300), 0},
         {1, {{0, GIB(3)}}, GIB(3) + MIB(300), 0},
         {1, {{0, GIB(3)}}, GIB(3) + MIB(300), 0},
         {{0}}},
        {"... with one who was there before",
         {1, {{0, GIB(2)}}, GIB(2) + MIB(300), 0},
         {2, {{0, GIB(2)}, {0, GIB(3)}}, GIB(5) + MIB(300), 0},
         {2, {{0, GIB(2)}, {0, GIB(3)}}, GIB(5) + MIB(300), 0},
         {{0, -1}}},
        {"ours by name, another one as 0",
         {0, {{0}}, MIB(300), 0},
         {2, {{OURS, GIB(3)}, {0, -1}}, GIB(5), 0},
         {2, {{OURS, GIB(3)}, {0, -1}}, GIB(5), 0},
         {{0, -1}}},
        {"a container: nobody is listed",
         {0, {{0}}, MIB(300), 0},
         {0, {{0}}, GIB(3) + MIB(300), 0},
         {0, {{0}}, GIB(3) + MIB(900), 0},
         {{0}}},
        {"... and memory was in use before", {0, {{0}}, GIB(2), 0}, {0, {{0}}, GIB(5), 0}, {0, {{0}}, GIB(5), 0}, {{0, GIB(2)}}},
        {"memory in use before, and gone, as is seen since ours is listed",
         {0, {{0}}, GIB(9), 0},
         {1, {{OURS, GIB(3)}}, GIB(3) + MIB(300), 0},
         {1, {{OURS, GIB(3)}}, GIB(3) + MIB(300), 0},
         {{0}}},
        {"memory in use before, and still there",
         {0, {{0}}, GIB(6), 0},
         {1, {{OURS, GIB(3)}}, GIB(9), 0},
         {1, {{OURS, GIB(3)}}, GIB(9), 0},
         {{0, GIB(6)}}},
        {"nobody is listed, and more memory in use while the crew was there",
         {0, {{0}}, MIB(300), 0},
         {0, {{0}}, GIB(3) + MIB(300), 0},
         {0, {{0}}, GIB(5) + MIB(300), 0},
         {{0, GIB(2)}}},
        {"ours is listed, and memory that nobody holds",
         {0, {{0}}, MIB(300), 0},
         {1, {{OURS, GIB(3)}}, GIB(5) + MIB(300), 0},
         {1, {{OURS, GIB(3)}}, GIB(5) + MIB(300), 0},
         {{0, GIB(2)}}},
        {"a desktop's memory is the driver's",
         {0, {{0}}, MIB(900), 0},
         {1, {{OURS, GIB(3)}}, GIB(3) + MIB(1200), 0},
         {1, {{OURS, GIB(3)}}, GIB(3) + MIB(1200), 0},
         {{0}}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct lp_watched *seen;
        struct stage stage;

        script.reading[0] = cases[i].alone;
        script.reading[1] = cases[i].begin;
        script.reading[2] = cases[i].end;
        script.n = 3;
        set_stage(&stage, "cuda", 1);
        assert_non_null(lp_watch_alone(stage.watch));
        lp_watch_begin(stage.watch, &stage.crew);
        seen = lp_watch_end(stage.watch, &stage.crew);
        assert_case(cases[i].name, seen && seen->ngpus == 1 && !seen->throttled && isnan(seen->load));
        expect_others(cases[i].name, seen, cases[i].want);
        assert_case(cases[i].name, seen->gpu[0].before.sm_mhz == 1001 && seen->gpu[0].after.sm_mhz == 1002);
        lp_watch_free(stage.watch);
        assert_case(cases[i].name, script.opened == 1 && script.closed == 1);
    }
}

/* Before the run everybody is somebody else. */
static void test_alone(void **state)
{
    static const struct {
        const char *name;
        struct reading reading;
        struct lp_other want[MOST];
    } cases[] = {
        {"nobody", {0, {{0}}, MIB(300), 0}, {{0}}},
        {"unknown", {UNLISTED, {{0}}, -1, 0}, {{0}}},
        {"two", {2, {{4711, GIB(2)}, {4712, MIB(1)}}, GIB(3), 0}, {{4711, GIB(2)}, {4712, MIB(1)}}},
        {"by no name", {1, {{0, GIB(2)}}, GIB(2), 0}, {{0, -1}}},
        {"by memory", {0, {{0}}, GIB(9), 0}, {{0, GIB(9)}}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct stage stage;

        script.reading[0] = cases[i].reading;
        script.n = 1;
        set_stage(&stage, "cuda", 1);
        expect_others(cases[i].name, lp_watch_alone(stage.watch), cases[i].want);
        expect_others(cases[i].name, lp_watch_alone(stage.watch), cases[i].want); /* and again */
        lp_watch_free(stage.watch);
    }
}

/* Where no pid is ours, two workers may be two processes on one GPU, since each has memory of the other; but three are not. */
static void test_two_workers(void **state)
{
    static const struct {
        const char *name;
        long pid[3];
        int others;
    } cases[] = {
        {"by name", {OURS, OURS + 1, 4711}, 1},
        {"one by name", {OURS, 0, 0}, 2},
        {"by no name", {0, 0, 0}, 1},
        {"by the host's", {90001, 90002, 90003}, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int n = 1; n <= 3; n++) {
            const struct lp_watched *seen;
            struct stage stage;

            script.n = 3;
            script.reading[0] = script.reading[1] = (struct reading){0, {{0}}, -1, 0}; /* both GPUs */
            script.reading[2] = (struct reading){n, {{cases[i].pid[0], -1}, {cases[i].pid[1], -1}, {cases[i].pid[2], -1}}, -1, 0};
            set_stage(&stage, "cuda", 2);
            lp_watch_alone(stage.watch);
            lp_watch_begin(stage.watch, &stage.crew);
            seen = lp_watch_end(stage.watch, &stage.crew);
            if (n < 3 && strcmp(cases[i].name, "one by name") != 0)
                assert_case(cases[i].name, seen->gpu[0].nothers == 0);
            if (n == 3)
                assert_case(cases[i].name, seen->gpu[0].nothers == cases[i].others);
            lp_watch_free(stage.watch);
        }
}

/* A worker of the crew before, which is still leaving, is ours under every number. */
static void test_two_crews(void **state)
{
    static const long numbers[][2] = {{OURS, 1011}, {0, 0}, {90001, 90002}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        const struct lp_watched *seen;
        struct stage stage;

        script.n = 3;
        script.reading[0] = (struct reading){0, {{0}}, -1, 0};
        script.reading[1] = (struct reading){2, {{numbers[i][0], -1}, {numbers[i][1], -1}}, -1, 0};
        script.reading[2] = (struct reading){1, {{numbers[i][0], -1}}, -1, 0};
        set_stage(&stage, "cuda", 1);
        add_last_crew(&stage, 1011);
        lp_watch_alone(stage.watch);
        lp_watch_begin(stage.watch, &stage.crew);
        stage.last.mate[0].ended = true;
        seen = lp_watch_end(stage.watch, &stage.crew);
        assert_int_equal(seen->gpu[0].nothers, 0);
        lp_watch_free(stage.watch);
    }
}

/* All reasons that were seen at any time; looks are three seconds apart. */
static void test_looks(void **state)
{
    const struct reading quiet = {0, {{0}}, -1, 0};
    const struct lp_watched *seen;
    struct stage stage;

    (void)state;
    script.reading[0] = quiet;
    script.reading[1] = (struct reading){0, {{0}}, -1, LP_THROTTLE_POWER_CAP};
    script.reading[2] = quiet;
    script.n = 3;
    set_stage(&stage, "cuda", 1);
    lp_watch_begin(stage.watch, &stage.crew);
    for (int i = 0; i < 29; i++) {
        stage.time.now_ns += 100 * LP_MILLISECOND;
        lp_watch_look(stage.watch, &stage.crew);
    }
    assert_int_equal(script.at, 1);
    stage.time.now_ns += 200 * LP_MILLISECOND;
    lp_watch_look(stage.watch, &stage.crew);
    lp_watch_look(stage.watch, &stage.crew);
    assert_int_equal(script.at, 2);
    seen = lp_watch_end(stage.watch, &stage.crew);
    assert_true(seen->throttled && !seen->contended && seen->gpu[0].throttle == LP_THROTTLE_POWER_CAP);
    assert_int_equal(seen->gpu[0].after.throttle, 0);
    lp_watch_begin(stage.watch, &stage.crew); /* starts anew */
    seen = lp_watch_end(stage.watch, &stage.crew);
    assert_true(!seen->throttled && seen->gpu[0].throttle == 0);
    lp_watch_free(stage.watch);
}

/* A crew that was not begun has no end; and without memory for a watch nothing happens. */
static void test_no_begin(void **state)
{
    struct stage stage;

    (void)state;
    script.reading[0] = (struct reading){0, {{0}}, -1, 0};
    script.n = 1;
    set_stage(&stage, "cuda", 1);
    lp_watch_look(stage.watch, &stage.crew);
    assert_null(lp_watch_end(stage.watch, &stage.crew));
    lp_watch_begin(stage.watch, &stage.crew);
    add_last_crew(&stage, 1011);
    assert_null(lp_watch_end(stage.watch, &stage.last));
    assert_non_null(lp_watch_end(stage.watch, &stage.crew));
    assert_null(lp_watch_end(stage.watch, &stage.crew));
    lp_watch_free(stage.watch);
    assert_null(lp_watch_alone(NULL));
    lp_watch_begin(NULL, &stage.crew);
    lp_watch_look(NULL, &stage.crew);
    assert_null(lp_watch_end(NULL, &stage.crew));
    lp_watch_free(NULL);
}

/* On host memory: CPU time, with workers, agents and this process counted as ours, each once. */
static void test_host(void **state)
{
    static const struct {
        const char *name;
        struct lp_load before, after;
        double load;
        bool contended;
    } cases[] = {
        {"quiet", {2, 0, 0, 0}, {2, 1000, 600, 590}, 0.01, false},
        {"at the threshold", {2, 0, 0, 0}, {2, 1000, 750, 500}, 0.25, false},
        {"above it", {2, 0, 0, 0}, {2, 1000, 760, 500}, 0.26, true},
        {"too short to tell", {2, 0, 0, 0}, {2, 40, 40, 0}, (double)NAN, false},
        {"unknown", {0, 0, 0, 0}, {0, 0, 0, 0}, (double)NAN, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const long ours[] = {OURS, OURS + 1, getpid(), 500, 501};
        const struct lp_watched *seen;
        struct stage stage;

        script.load[0] = cases[i].before;
        script.load[1] = cases[i].after;
        set_stage(&stage, "host", 2);
        assert_null(lp_watch_alone(stage.watch));
        lp_watch_begin(stage.watch, &stage.crew);
        seen = lp_watch_end(stage.watch, &stage.crew);
        assert_case(cases[i].name, seen->ngpus == 0 && !seen->throttled && seen->contended == cases[i].contended);
        assert_case(cases[i].name, isnan(cases[i].load) ? isnan(seen->load) : fabs(seen->load - cases[i].load) < 1e-9);
        assert_case(cases[i].name, script.npids == 5 && memcmp(script.pids, ours, sizeof(ours)) == 0);
        assert_case(cases[i].name, script.opened == 0);
        lp_watch_free(stage.watch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others),    cmocka_unit_test(test_alone), cmocka_unit_test(test_two_workers),
        cmocka_unit_test(test_two_crews), cmocka_unit_test(test_looks), cmocka_unit_test(test_no_begin),
        cmocka_unit_test(test_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
