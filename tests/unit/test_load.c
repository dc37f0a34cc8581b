/* CPU time by copies of /proc with known figures, and by the real one. */
#include "machine/load.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"
#include "unit.h"

/* Two CPUs with 1000 ticks in all, 600 of them busy: the second has 100 stolen, and its guests are counted once. */
static const char stat_text[] = "cpu  300 40 110 350 50 20 30 100 5 0\n"
                                "cpu0 100 20 60 250 50 10 10 0 0 0\n"
                                "cpu1 200 20 50 100 0 10 20 100 5 0\n"
                                "intr 12345 1 2 3\n"
                                "cpu7 1 1 1 1 is not one of them\n";

static void write_process(struct scratch *scratch, long pid, const char *text)
{
    char name[64];

    snprintf(name, sizeof(name), "%ld", pid);
    mkdir(scratch_path(scratch, name), 0777);
    snprintf(name, sizeof(name), "%ld/stat", pid);
    scratch_write(scratch, name, text, strlen(text));
}

static void drop_process(struct scratch *scratch, long pid)
{
    char name[64];

    snprintf(name, sizeof(name), "%ld/stat", pid);
    unlink(scratch_path(scratch, name));
}

static void test_cpus(void **state)
{
    static const struct {
        const char *list;
        int cpus;
        long long total, busy;
    } cases[] = {{"", 2, 1000, 600}, {"0-1", 2, 1000, 600}, {"0", 1, 500, 200}, {"1", 1, 500, 400}, {"5", 0, 0, 0}};
    struct scratch scratch;
    struct lp_load load;

    (void)state;
    scratch_make(&scratch);
    scratch_write(&scratch, "stat", stat_text, strlen(stat_text));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        lp_load_read(scratch.folder, cases[i].list, NULL, 0, &load);
        assert_case(cases[i].list, load.cpus == cases[i].cpus && load.total == cases[i].total && load.busy == cases[i].busy);
    }
    scratch_remove(&scratch);
}

/* A name may hold blanks and brackets; a process that is gone, or a line that is cut, counts nothing. */
static void test_processes(void **state)
{
    static const long pids[] = {10, 11, 12, 13};
    struct scratch scratch;
    struct lp_load load;

    (void)state;
    scratch_make(&scratch);
    scratch_write(&scratch, "stat", stat_text, strlen(stat_text));
    write_process(&scratch, 10, "10 (linkperf) S 1 10 10 0 -1 4194560 1 2 3 4 30 12 400 50 20 0 1 0 99\n");
    write_process(&scratch, 11, "11 (a) b) R (c) R 1 11 11 0 -1 4194560 1 2 3 4 100 11 0 0 20 0 1 0 99\n");
    write_process(&scratch, 12, "12 (cut) R 1 12");
    lp_load_read(scratch.folder, "", pids, 4, &load);
    assert_int_equal(load.ours, 30 + 12 + 400 + 50 + 100 + 11);
    for (int i = 0; i < 3; i++)
        drop_process(&scratch, pids[i]);
    scratch_remove(&scratch);
}

static void test_nothing_there(void **state)
{
    struct lp_load load;

    (void)state;
    lp_load_read("/nonexistent", "", (const long[]){1}, 1, &load);
    assert_true(load.cpus == 0 && load.total == 0 && load.ours == 0);
}

static void test_others(void **state)
{
    static const struct {
        const char *name;
        struct lp_load before, after;
        double want;
    } cases[] = {
        {"quiet", {2, 1000, 500, 100}, {2, 1200, 600, 200}, 0.0},
        {"half of both", {2, 1000, 500, 100}, {2, 1200, 700, 200}, 0.5},
        {"all", {1, 0, 0, 0}, {1, 100, 100, 0}, 1.0},
        {"ours ran elsewhere, too", {1, 0, 0, 0}, {1, 100, 100, 300}, 0.0},
        {"too short", {2, 1000, 500, 100}, {2, 1048, 548, 100}, (double)NAN},
        {"just long enough", {2, 1000, 500, 100}, {2, 1050, 550, 100}, 1.0},
        {"unknown before", {0, 0, 0, 0}, {2, 1200, 600, 200}, (double)NAN},
        {"unknown after", {2, 1000, 500, 100}, {0, 0, 0, 0}, (double)NAN},
        {"a CPU went", {2, 1000, 500, 100}, {1, 1200, 600, 200}, (double)NAN},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double share = lp_load_others(&cases[i].before, &cases[i].after);

        assert_case(cases[i].name, isnan(cases[i].want) ? isnan(share) : fabs(share - cases[i].want) < 1e-9);
    }
}

/* Half a second of work of our own is ours. */
static void test_real(void **state)
{
    const long self = getpid();
    struct lp_load before, after;
    volatile unsigned n = 0;

    (void)state;
    lp_load_read("/proc", "", &self, 1, &before);
    if (before.total == 0)
        skip(); /* a sandbox without it */
    do {
        for (int i = 0; i < 1000000; i++)
            n++;
        lp_load_read("/proc", "", &self, 1, &after);
    } while (after.ours - before.ours < 50);
    assert_true(after.cpus == before.cpus && after.total > before.total);
    assert_true(after.busy - before.busy >= 40); /* CPUs and processes are read one after the other */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpus),   cmocka_unit_test(test_processes), cmocka_unit_test(test_nothing_there),
        cmocka_unit_test(test_others), cmocka_unit_test(test_real),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
