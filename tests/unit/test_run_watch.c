/* Whole runs beside which somebody else is at work, or whose GPUs are held down: marks, warnings, and what --strict makes of it. */
#include "scripted_run.h"

#include <math.h>

#define GIB(n) ((long long)(n) << 30)
#define CELLS  "-b", "64", "-e", "128", "--collectives", "allreduce", "--placement", "out", "--no-link", "--only", "ring"

/* The crew that is there. */
static const char *crew_name(const struct scripted_run *run)
{
    return run->actor[run->ncrews][0].name;
}

static bool is_there(const struct scripted_run *run)
{
    return run->actor[run->ncrews][0].alive;
}

static double seconds_since(const struct scripted_run *run)
{
    return (double)(run->time.now_ns - SECONDS(1000)) / 1e9;
}

/* A GPU at rest, with our worker where there is one. */
static void quiet(struct scripted_run *run, int gpu, struct lp_nvml_now *out)
{
    bool there = is_there(run) && strcmp(crew_name(run), "survey") != 0;

    out->sm_mhz = there ? 1755 : 345;
    out->sm_max_mhz = 1980;
    out->mem_mhz = 3201;
    out->mem_max_mhz = 3201;
    out->temperature_c = there ? 41 : 30;
    out->power_w = there ? 300.5 : 75.25;
    out->busy_percent = there ? 99 : 0;
    out->ecc_uncorrected = 0;
    out->used_bytes = there ? GIB(3) : GIB(1) / 2;
    out->total_bytes = GIB(141);
    out->nprocesses = there;
    if (there)
        out->process[0] = (struct lp_nvml_process){.pid = script_pid(gpu, run->ncrews), .memory_bytes = GIB(2)};
}

static void add_process(struct lp_nvml_now *out, long pid, long long memory_bytes)
{
    out->process[out->nprocesses++] = (struct lp_nvml_process){.pid = pid, .memory_bytes = memory_bytes};
    out->used_bytes += memory_bytes;
}

/* Somebody comes to GPU 1 while ring runs, and leaves again. */
static void visited(struct scripted_run *run, int gpu, struct lp_nvml_now *out)
{
    quiet(run, gpu, out);
    if (gpu == 1 && is_there(run) && strcmp(crew_name(run), "ring") == 0)
        add_process(out, 4711, GIB(2));
}

/* GPU 0 is too hot from default's second crew on. */
static void hot(struct scripted_run *run, int gpu, struct lp_nvml_now *out)
{
    quiet(run, gpu, out);
    if (gpu == 0 && is_there(run) && strcmp(crew_name(run), "default-again") == 0)
        out->throttle = LP_THROTTLE_HW_SLOWDOWN | LP_THROTTLE_HW_THERMAL;
}

static void visited_and_hot(struct scripted_run *run, int gpu, struct lp_nvml_now *out)
{
    struct lp_nvml_now also = {0};

    visited(run, gpu, out);
    hot(run, gpu, &also);
    out->throttle = also.throttle;
}

static const json_t *crew_of(const struct scripted_run *run, const char *variant, int repeat)
{
    const json_t *crews = json_object_get(run->result.head, "crews");

    for (size_t i = 0; i < json_array_size(crews); i++)
        if (strcmp(lp_json_str(json_array_get(crews, i), "variant", ""), variant) == 0 &&
            lp_json_int(json_array_get(crews, i), "repeat", -1) == repeat)
            return json_array_get(crews, i);
    fail_msg("no crew of %s", variant);
    return NULL;
}

static void expect_json(const json_t *found, const char *want)
{
    json_t *document = json_of(want);
    char *text = json_dumps(found, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));

    if (!json_equal(found, document))
        fail_msg("%s is not %s", text, want);
    free(text);
    json_decref(document);
}

static const json_t *warnings_of(const struct scripted_run *run)
{
    return json_object_get(run->result.head, "warnings");
}

/* These and no others; second may be NULL. */
static void expect_warnings(const struct scripted_run *run, const char *first, const char *second)
{
    assert_int_equal(json_array_size(warnings_of(run)), second ? 2 : 1);
    assert_string_equal(json_string_value(json_array_get(warnings_of(run), 0)), first);
    if (second)
        assert_string_equal(json_string_value(json_array_get(warnings_of(run), 1)), second);
}

static void test_quiet(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);
    const json_t *head, *gpu;

    (void)state;
    run->on_gpu = quiet;
    run_play(run, (const char *[]){CELLS, "--strict", NULL});
    head = run->result.head;
    assert_int_equal(run->code, 0);
    assert_int_equal(json_array_size(warnings_of(run)), 0);
    assert_int_equal(json_array_size(json_object_get(head, "crews")), 3);
    expect_json(
        crew_of(run, "ring", 0),
        "{'crew': 3, 'variant': 'ring', 'round': 0, 'repeat': 0, 'contended': false, 'throttled': false, 'reasons': [],"
        " 'cpu_load_others': null, 'gpus': ["
        "{'rank': 0, 'sm_mhz': [1755, 1755], 'sm_max_mhz': 1980, 'mem_mhz': 3201, 'temperature_c': [41, 41], 'power_w': 300.5,"
        " 'throttle': [], 'others': []},"
        "{'rank': 1, 'sm_mhz': [1755, 1755], 'sm_max_mhz': 1980, 'mem_mhz': 3201, 'temperature_c': [41, 41], 'power_w': 300.5,"
        " 'throttle': [], 'others': []}]}");
    gpu = json_object_get(json_array_get(json_object_get(head, "ranks"), 1), "gpu");
    assert_true(lp_json_int(gpu, "sm_mhz", 0) == 345 && lp_json_int(gpu, "temperature_c", 0) == 30);
    assert_true(lp_json_int(gpu, "ecc_uncorrected", -1) == 0 && strcmp(lp_json_str(gpu, "name", ""), "H200") == 0);
    expect_json(
        json_array_get(json_object_get(head, "environment_after"), 1),
        "{'rank': 1, 'sm_mhz': 345, 'sm_max_mhz': 1980, 'mem_mhz': 3201, 'mem_max_mhz': 3201, 'temperature_c': 30,"
        " 'power_w': 75.25, 'throttle': [], 'busy_percent': 0, 'ecc_uncorrected': 0, 'used_bytes': 536870912, 'others': []}");
    assert_false(run_said(run, "run.out", "outcome  environment"));
    assert_false(run_said(run, "run.out", "contended"));
    run_free(run);
}

/* Without NVML all is null, and nothing is marked. */
static void test_unknown(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run_play(run, (const char *[]){CELLS, "--strict", NULL});
    assert_int_equal(run->code, 0);
    assert_int_equal(json_array_size(warnings_of(run)), 0);
    expect_json(json_array_get(json_object_get(crew_of(run, "default", 1), "gpus"), 0),
                "{'rank': 0, 'sm_mhz': [null, null], 'sm_max_mhz': null, 'mem_mhz': null, 'temperature_c': [null, null],"
                " 'power_w': null, 'throttle': [], 'others': []}");
    run_free(run);
}

static void test_marks(void **state)
{
    static const struct {
        const char *name;
        void (*on_gpu)(struct scripted_run *, int, struct lp_nvml_now *);
        bool contended, throttled; /* ring; default's second crew */
        size_t warnings;
        const char *line; /* in the output */
    } cases[] = {
        {"visited", visited, true, false, 1,
         "ring: crew 3 contended: GPU 1 was used by another process (pid 4711, 2.0 GiB); no part in claims\n"},
        {"hot", hot, false, true, 1,
         "default again: crew 4 throttled: GPU 0 was throttled (hardware slowdown, thermal (hardware)); no part in claims\n"},
        {"both", visited_and_hot, true, true, 2, "ring: crew 3 contended: "},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int strict = 0; strict < 2; strict++) {
            struct scripted_run *run = run_create("cuda", 2);
            const json_t *ring, *again;

            run->on_gpu = cases[i].on_gpu;
            run_play(run, (const char *[]){CELLS, strict ? "--strict" : NULL, NULL});
            ring = crew_of(run, "ring", 0);
            again = crew_of(run, "default", 1);
            assert_case(cases[i].name, run->code == (strict ? 3 : 0) && is_complete(run) && run->result.n == 6);
            assert_case(cases[i].name, lp_json_bool(ring, "contended", false) == cases[i].contended);
            assert_case(cases[i].name, lp_json_bool(again, "throttled", false) == cases[i].throttled);
            assert_case(cases[i].name, !lp_json_bool(ring, "throttled", true) && !lp_json_bool(again, "contended", true));
            assert_case(cases[i].name, json_array_size(json_object_get(crew_of(run, "default", 0), "reasons")) == 0);
            assert_case(cases[i].name, json_array_size(warnings_of(run)) == cases[i].warnings);
            assert_case(cases[i].name, run_said(run, "run.out", cases[i].line));
            assert_case(cases[i].name, run_said(run, "run.err", "linkperf: --strict: ") == (strict == 1));
            assert_case(cases[i].name, !run_said(run, "run.err", "logs of the workers are kept"));
            run_free(run);
        }
}

static void test_what_is_said(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);
    const json_t *gpus;

    (void)state;
    run->on_gpu = visited_and_hot;
    run_play(run, (const char *[]){CELLS, NULL});
    expect_warnings(run,
                    "GPU 1 was used by another process (pid 4711, 2.0 GiB) while 'ring' ran: its figures take no part in claims",
                    "GPU 0 was throttled (hardware slowdown, thermal (hardware)) while 'default again' ran: its figures take no "
                    "part in claims");
    gpus = json_object_get(crew_of(run, "ring", 0), "gpus");
    expect_json(json_object_get(json_array_get(gpus, 1), "others"), "[{'pid': 4711, 'memory_bytes': 2147483648}]");
    expect_json(json_object_get(json_array_get(gpus, 0), "others"), "[]");
    expect_json(json_object_get(crew_of(run, "ring", 0), "reasons"), "['GPU 1 was used by another process (pid 4711, 2.0 GiB)']");
    gpus = json_object_get(crew_of(run, "default", 1), "gpus");
    expect_json(json_object_get(json_array_get(gpus, 0), "throttle"), "['hardware slowdown', 'thermal (hardware)']");
    run_free(run);
}

/* Somebody who is there all the time is in the head's warnings before anything is measured. Two without a name, one with. */
static void always(struct scripted_run *run, int gpu, struct lp_nvml_now *out)
{
    quiet(run, gpu, out);
    if (gpu == 1) {
        add_process(out, 4711, GIB(2));
        add_process(out, 0, -1);
        add_process(out, 0, -1);
    }
}

static void test_in_use_before(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run->on_gpu = always;
    run_play(run, (const char *[]){CELLS, NULL});
    assert_int_equal(run->code, 0);
    assert_true(run_said(run, "run.out",
                         "\nwarning: GPU 1 is in use by 3 other processes (pid 4711, 2.0 GiB; not to be seen from "
                         "here; not to be seen from here)\n"));
    for (int repeat = 0; repeat < 2; repeat++)
        assert_true(lp_json_bool(crew_of(run, "default", repeat), "contended", false));
    assert_int_equal(json_array_size(warnings_of(run)), 2);
    expect_json(json_object_get(json_array_get(json_object_get(crew_of(run, "ring", 0), "gpus"), 1), "others"),
                "[{'pid': 4711, 'memory_bytes': 2147483648}, {'pid': null, 'memory_bytes': null}, {'pid': null, 'memory_bytes': "
                "null}]");
    run_free(run);
}

/* ---- --strict before a run ---- */

/* What was burnt in until a moment ago: utilisation falls after so many seconds. */
static double burnt_until_s;

static void burnt_in(struct scripted_run *run, int gpu, struct lp_nvml_now *out)
{
    quiet(run, gpu, out);
    if (gpu == 1 && seconds_since(run) < burnt_until_s)
        out->busy_percent = 97;
}

static void in_use(struct scripted_run *run, int gpu, struct lp_nvml_now *out)
{
    quiet(run, gpu, out);
    if (gpu == 1 && seconds_since(run) < burnt_until_s)
        add_process(out, 4711, GIB(2));
}

static void test_strict_waits(void **state)
{
    static const struct {
        const char *name;
        void (*on_gpu)(struct scripted_run *, int, struct lp_nvml_now *);
        double until_s;
        const char *slowness;
        int code;
        double least_s; /* that have passed when the first crew starts, or the run ends */
        const char *said;
    } cases[] = {
        {"falls", burnt_in, 7, "1", 0, 7, NULL},
        {"does not", burnt_in, 1e6, "1", 3, 10, "GPU 1 is 97 % busy, and not with this run, after 10 s of waiting for it"},
        {"falls on a slow machine", burnt_in, 20, "3", 0, 20, NULL},
        {"does not, there", burnt_in, 1e6, "3", 3, 30, "after 30 s of waiting for it"},
        {"leaves", in_use, 4, "1", 0, 4, NULL},
        {"stays", in_use, 1e6, "1", 3, 10, "GPU 1 is in use by another process (pid 4711, 2.0 GiB), after 10 s"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scripted_run *run = run_create("cuda", 2);
        double spent_s;

        burnt_until_s = cases[i].until_s;
        run->on_gpu = cases[i].on_gpu;
        run_play(run, (const char *[]){CELLS, "--strict", "--slowness", cases[i].slowness, NULL});
        assert_case(cases[i].name, run->code == cases[i].code && run->written == (cases[i].code == 0));
        assert_case(cases[i].name, !cases[i].said || run_said(run, "run.err", cases[i].said));
        assert_case(cases[i].name, run->ncrews == (cases[i].code ? 1 : 4));
        spent_s = cases[i].code ? seconds_since(run) : (double)(run->actor[2][0].spawned_ns - SECONDS(1000)) / 1e9;
        assert_case(cases[i].name, spent_s >= cases[i].least_s && spent_s < cases[i].least_s + 3.0);
        run_free(run);
    }
}

/* Without --strict nobody waits, and --dry-run measures nothing that could be disturbed. */
static void test_only_strict_waits(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    burnt_until_s = 1e6;
    run->on_gpu = in_use;
    run_play(run, (const char *[]){CELLS, NULL});
    assert_true(run->code == 0 && run->actor[2][0].spawned_ns - SECONDS(1000) < SECONDS(3));
    run_free(run);
    run = run_create("cuda", 2);
    run->on_gpu = in_use;
    run_play(run, (const char *[]){CELLS, "--strict", "--dry-run", NULL});
    assert_true(run->code == 0 && seconds_since(run) < 3.0);
    assert_true(run_said(run, "run.out", "warning: GPU 1 is in use by another process (pid 4711, 2.0 GiB)"));
    run_free(run);
}

/* Ctrl-C while it waits: two seconds after it has begun to. */
static void interrupted(struct scripted_run *run, int gpu, struct lp_nvml_now *out)
{
    quiet(run, gpu, out);
    out->busy_percent = 50;
    if (gpu == 0 && !run->user) {
        run->user = run;
        queue_event(run, 2.0, (struct lp_event){.kind = LP_EVENT_SIGNAL, .rank = -1, .signal = SIGTERM});
    }
}

static void test_signal_while_waiting(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run->on_gpu = interrupted;
    run_play(run, (const char *[]){CELLS, "--strict", NULL});
    assert_int_equal(run->code, 128 + SIGTERM);
    assert_true(seconds_since(run) < 6.0 && !run->written);
    run_free(run);
}

/* ---- host memory ---- */

/* One CPU in two is somebody else's while ring runs. */
static void busy_host(struct scripted_run *run, struct lp_load *out)
{
    long long ticks = run->time.now_ns / (10 * LP_MILLISECOND);
    bool ring = strcmp(crew_name(run), "ring") == 0;

    *out = (struct lp_load){.cpus = 2, .total = 2 * ticks, .busy = ring ? ticks : 0};
}

static void test_host(void **state)
{
    struct scripted_run *run = run_create("host", 2);

    (void)state;
    run->on_load = busy_host;
    run_play(run, (const char *[]){CELLS, "--strict", NULL});
    assert_int_equal(run->code, 3);
    assert_true(lp_json_bool(crew_of(run, "ring", 0), "contended", false));
    assert_false(lp_json_bool(crew_of(run, "ring", 0), "throttled", true));
    assert_true(fabs(lp_json_num(crew_of(run, "ring", 0), "cpu_load_others", 0) - 0.5) < 0.01);
    assert_false(lp_json_bool(crew_of(run, "default", 1), "contended", true));
    assert_int_equal(json_array_size(json_object_get(crew_of(run, "ring", 0), "gpus")), 0);
    expect_warnings(run, "other processes took 50 % of the CPUs' time while 'ring' ran: its figures take no part in claims", NULL);
    assert_true(
        run_said(run, "run.out", "\nring: crew 3 contended: other processes took 50 % of the CPUs' time; no part in claims\n"));
    run_free(run);
}

/* The link's crews are watched, too; what they say is no claim. */
static void busy_link(struct scripted_run *run, struct lp_load *out)
{
    long long ticks = run->time.now_ns / (10 * LP_MILLISECOND);

    *out = (struct lp_load){.cpus = 2, .total = 2 * ticks, .busy = strncmp(crew_name(run), "link", 4) == 0 ? 2 * ticks : 0};
}

static void test_link(void **state)
{
    struct scripted_run *run = run_create("host", 2);
    const json_t *crew;

    (void)state;
    run->on_load = busy_link;
    run_play(run, (const char *[]){"-b", "64", "-e", "64", "--no-collectives", NULL});
    crew = json_array_get(json_object_get(run->result.head, "crews"), 0);
    assert_true(json_is_null(json_object_get(crew, "variant")) && lp_json_bool(crew, "contended", false));
    expect_warnings(run,
                    "other processes took 100 % of the CPUs' time while the link was measured: it may carry more than its "
                    "figures say",
                    NULL);
    assert_false(run_said(run, "run.out", "contended"));
    run_free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet),        cmocka_unit_test(test_unknown),           cmocka_unit_test(test_marks),
        cmocka_unit_test(test_what_is_said), cmocka_unit_test(test_in_use_before),     cmocka_unit_test(test_link),
        cmocka_unit_test(test_strict_waits), cmocka_unit_test(test_only_strict_waits), cmocka_unit_test(test_signal_while_waiting),
        cmocka_unit_test(test_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
