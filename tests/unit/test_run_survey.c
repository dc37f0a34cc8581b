/* Whole runs that end before they begin: a survey that is lost, in every way, and what is left of a run that never was. */
#include "scripted_run.h"

#include <dirent.h>

#define CELLS "-b", "64", "-e", "128", "--collectives", "allreduce", "--placement", "out", "--no-link", "--only", "ring"

static const struct {
    const char *device;
    int n;
} scenes[] = {{"cuda", 2}, {"host", 3}, {"cuda", 5}, {"host", 8}};

/* Folders of logs in TMPDIR, which is the scratch folder. */
static int log_folders(struct scripted_run *run)
{
    DIR *dir = opendir(run->scratch.folder);
    const struct dirent *entry;
    int n = 0;

    while (dir && (entry = readdir(dir)) != NULL)
        n += strncmp(entry->d_name, "linkperf-", 9) == 0;
    if (dir)
        closedir(dir);
    return n;
}

static size_t lines_said(struct scripted_run *run)
{
    FILE *file = fopen(scratch_path(&run->scratch, "run.err"), "r");
    size_t lines = 0;

    for (int c = file ? fgetc(file) : EOF; c != EOF; c = fgetc(file))
        lines += c == '\n';
    if (file)
        fclose(file);
    return lines;
}

static bool refuses(enum kind kind)
{
    return kind >= FAILS && kind <= MEMORY;
}

static bool makes_sense(enum kind kind, enum phase phase)
{
    if (kind == NOT_STARTED)
        return phase == AT_START;
    if (refuses(kind))
        return phase == AT_SURVEY;
    return (phase == AT_START || phase == AT_SURVEY || phase == AT_BYE) && (kind <= LEAVES || kind >= AGENT_LOST);
}

/* Nothing can be planned: one line says why, and there is neither file nor folder. */
static void check_nothing(struct scripted_run *run, const char *name, enum kind kind)
{
    assert_case(name, !run->written && run->ncrews == 1);
    assert_case(name, log_folders(run) == 0);
    if (kind == SIGNALLED) {
        assert_case(name, run->code == 128 + SIGTERM);
        return;
    }
    /* a hang or crash may count as that (4) or as a machine that is not fit (3); the others are the latter */
    assert_case(name, run->code == 3 || (run->code == 4 && !refuses(kind)));
    assert_case(name, lines_said(run) == 1);
}

/* The survey had been answered, and its worker then did not leave as it should. */
static void check_after(struct scripted_run *run, const char *name, enum kind kind)
{
    bool over = kind == WEDGED || kind >= AGENT_LOST;

    assert_case(name, run->written && is_complete(run) == !over);
    assert_case(name, run->code == (kind == SIGNALLED ? 128 + SIGTERM : over ? 4 : 0));
    assert_case(name, run->result.n == (over ? 0 : 6));
}

static void play_survey(const char *device, int n, struct fault fault)
{
    struct scripted_run *run = run_create(device, n);
    char name[128];

    snprintf(name, sizeof(name), "%s at %s, rank %d of %d", kind_names[fault.kind], phase_names[fault.phase], fault.rank, n);
    run_fault(run, fault);
    run_play(run, (const char *[]){CELLS, NULL});
    if (fault.phase == AT_BYE || fault.kind == SLOW)
        check_after(run, name, fault.kind);
    else
        check_nothing(run, name, fault.kind);
    if (fault.phase != AT_BYE && refuses(fault.kind))
        assert_case(name, run_said(run, "run.err", "this is why"));
    run_free(run);
}

static void test_lost_survey(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(scenes); s++)
        for (int kind = 0; kind < NKINDS; kind++)
            for (int phase = 0; phase < NPHASES; phase++)
                for (int who = -1; who < 2; who++)
                    if (makes_sense((enum kind)kind, (enum phase)phase) && !(who < 0 && kind == AGENT_LOST))
                        play_survey(
                            scenes[s].device, scenes[s].n,
                            (struct fault){(enum kind)kind, (enum phase)phase, who > 0 ? scenes[s].n - 1 : who, "survey", 0, 0});
}

/* 40 s for start-up is a figure, not a hang; and what is a hang grows with --slowness. */
static void test_slow_start(void **state)
{
    static const struct {
        double start_s;
        const char *limit, *slowness;
        bool good;
    } cases[] = {
        {40.0, "60", "1", true},  {59.0, "60", "1", true},  {61.0, "60", "1", false},
        {100.0, "60", "2", true}, {40.0, "30", "1", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scripted_run *run = run_create("cuda", 2);

        run->start_s = cases[i].start_s;
        run_play(run, (const char *[]){CELLS, "--init-timeout", cases[i].limit, "--slowness", cases[i].slowness, NULL});
        assert_true((run->code == 0) == cases[i].good);
        if (cases[i].good) {
            const json_t *seconds = json_object_get(entry_of(run, "ring", 0), "seconds");

            assert_true(lp_json_num(seconds, "start", 0.0) > cases[i].start_s - 0.1);
            assert_true(lp_json_num(seconds, "start", 0.0) < cases[i].start_s + 0.1);
            assert_int_equal(run->result.n, 6);
        }
        run_free(run);
    }
}

/* Without a library the link is measured, collectives are not, and the exit code says that the machine is not fit. */
static void test_no_library(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run->library_error = "libnccl.so.2: cannot open shared object file";
    run_play(run, (const char *[]){"-b", "64", NULL});
    assert_int_equal(run->code, 3);
    assert_true(run_said(run, "run.err", "collectives are left out: libnccl.so.2"));
    assert_int_equal(run->result.n, 4 * 2 + 36); /* as test_run_crews has them */
    for (size_t i = 0; i < run->result.n; i++)
        assert_true(run->result.record[i]->cell.kind == LP_COPY && run->result.record[i]->outcome == LP_DONE);
    run_free(run);
}

/* A good run leaves nothing in TMPDIR; one with losses leaves the logs that its file names. */
static void test_log_folder(void **state)
{
    static const struct {
        enum kind kind;
        int folders;
    } cases[] = {{SLOW, 0}, {UNSUPPORTED, 0}, {SEGV, 1}, {STALLS, 1}, {FAILS, 1}, {WRONG_LAST, 1}, {AGENT_LOST, 1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scripted_run *run = run_create("host", 2);
        const struct lp_record *record;

        run_fault(run, (struct fault){cases[i].kind, AT_AFTER, 1, "ring", 64, 0});
        run_play(run, (const char *[]){CELLS, NULL});
        assert_case(kind_names[cases[i].kind], log_folders(run) == cases[i].folders);
        record = record_of(run, "ring", 0, 64);
        assert_case(kind_names[cases[i].kind], !record || (record->log[0] != '\0') == (cases[i].folders == 1));
        run_free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_survey),
        cmocka_unit_test(test_slow_start),
        cmocka_unit_test(test_no_library),
        cmocka_unit_test(test_log_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
