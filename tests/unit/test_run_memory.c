/* Whole runs on machines whose memory is short: what is skipped, with which figures, and that the rest is measured. */
#include "scripted_run.h"

#include "base/units.h"

#define MIB     ((size_t)1 << 20)
#define SMALL   "--collectives", "allreduce", "--placement", "out", "--only", "ring"
#define NOTHING "-b", "64", "-e", "64"

/* Does the reason have both figures, and the rank that has least? */
static void expect_figures(const char *name, const struct lp_record *record, size_t need, size_t have, int rank)
{
    char words[128], figure[32];

    snprintf(words, sizeof(words), "two buffers of %s ", lp_format_about(need, figure, sizeof(figure)));
    if (!strstr(record->reason, words))
        fail_msg("case \"%s\": \"%s\" does not say \"%s\"", name, record->reason, words);
    snprintf(words, sizeof(words), "rank %d has %s free", rank, lp_format_about(have, figure, sizeof(figure)));
    if (!strstr(record->reason, words))
        fail_msg("case \"%s\": \"%s\" does not say \"%s\"", name, record->reason, words);
}

/* The least free memory decides, whichever rank has it; a cell that fits by half is not tried. */
static void test_large_cells_are_skipped(void **state)
{
    static const struct {
        const char *device;
        int n;
        size_t free_mib, fits_mib; /* of the tightest rank; the largest of 1, 2, 4, ... MiB of which two fit, with a reserve */
    } cases[] = {
        {"cuda", 2, 40, 16}, {"host", 3, 40, 16}, {"cuda", 5, 32, 8}, {"host", 8, 100, 32}, {"cuda", 8, 9, 4},
        {"cuda", 2, 6, 2},   {"host", 2, 1, 0},   {"cuda", 3, 1, 0},  {"cuda", 3, 300, 64},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int tight = 0; tight < cases[i].n; tight++) {
            struct scripted_run *run = run_create(cases[i].device, cases[i].n);
            size_t have = cases[i].free_mib * MIB;
            char name[64];

            snprintf(name, sizeof(name), "%zu MiB on rank %d of %d", cases[i].free_mib, tight, cases[i].n);
            for (int r = 0; r < cases[i].n; r++)
                run->free_bytes[r] = r == tight ? have : have + (size_t)(r + 1) * 7 * MIB;
            run_play(run, (const char *[]){"-b", "1M", "-e", "64M", "--no-link", SMALL, NULL});
            assert_case(name, run->result.n == 3 * 7 && run->code == 0 && is_complete(run));
            assert_case(name, crews_of(run, "ring") == 1);
            for (size_t r = 0; r < run->result.n; r++) {
                const struct lp_record *record = run->result.record[r];
                bool fits = record->cell.size_bytes <= cases[i].fits_mib * MIB;

                if (record->outcome != (fits ? LP_DONE : LP_SKIPPED))
                    fail_msg("case \"%s\": %zu bytes are %s (%s)", name, record->cell.size_bytes, lp_outcome_name(record->outcome),
                             record->reason);
                if (!fits)
                    expect_figures(name, record, record->cell.size_bytes, have, tight);
            }
            run_free(run);
        }
}

/* Where another process takes memory between two crews, each crew goes by what it finds. */
static void take_memory(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    if (strcmp(lp_json_str(request, "do", ""), "offer") == 0)
        run->free_bytes[rank] = strcmp(run->actor[crew][rank].name, "ring") == 0 ? 10 * MIB : 1000 * MIB;
}

static void test_each_crew_looks(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run->on_request = take_memory;
    run_play(run, (const char *[]){"-b", "1M", "-e", "64M", "--no-link", SMALL, NULL});
    assert_int_equal(run->code, 0);
    for (size_t r = 0; r < run->result.n; r++) {
        const struct lp_record *record = run->result.record[r];
        bool skipped = strcmp(record->variant, "ring") == 0 && record->cell.size_bytes > 4 * MIB;

        assert_int_equal(record->outcome, skipped ? LP_SKIPPED : LP_DONE);
    }
    run_free(run);
}

/* The communicator's own memory counts: only what is free after open is there for arenas, where open comes first. */
static void shrink_at_open(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    const char *what = lp_json_str(request, "do", "");

    (void)crew;
    if (strcmp(what, "offer") == 0)
        run->free_bytes[rank] = 1000 * MIB;
    if (strcmp(what, "open") == 0)
        run->free_bytes[rank] = (size_t)(20 + rank) * MIB;
}

static void test_beside_the_communicator(void **state)
{
    struct scripted_run *run = run_create("cuda", 3);

    (void)state;
    run->on_request = shrink_at_open;
    run_play(run, (const char *[]){"-b", "1M", "-e", "64M", "--no-link", SMALL, NULL});
    assert_int_equal(run->code, 0);
    for (size_t r = 0; r < run->result.n; r++) {
        const struct lp_record *record = run->result.record[r];
        bool fits = record->cell.size_bytes <= 8 * MIB;

        assert_int_equal(record->outcome, fits ? LP_DONE : LP_SKIPPED);
        if (!fits)
            expect_figures("after open", record, record->cell.size_bytes, 20 * MIB, 0);
    }
    run_free(run);
}

/* Known before: more than the machine has is skipped in every variant, once, and no crew hears of it. */
static void test_more_than_there_is(void **state)
{
    static const char *const devices[] = {"cuda", "host"};

    (void)state;
    for (size_t d = 0; d < COUNT_OF(devices); d++) {
        struct scripted_run *run = run_create(devices[d], 2);

        run->memory_bytes = (size_t)(d ? 2 : 1) << 30; /* host memory is shared among ranks */
        run_play(run, (const char *[]){"-b", "256M", "-e", "1G", "--no-link", SMALL, NULL});
        assert_true(run->code == 0 && run->result.n == 9);
        for (size_t r = 0; r < run->result.n; r++) {
            const struct lp_record *record = run->result.record[r];

            assert_int_equal(record->outcome, record->cell.size_bytes > 256 * MIB ? LP_SKIPPED : LP_DONE);
            if (record->outcome == LP_SKIPPED)
                assert_says(record->reason, "needs two buffers of ");
        }
        run_free(run);
    }
}

/* Copies that do not fit are skipped too, and only they; the one worker of all GPUs speaks for the tightest. */
static void play_link(const char *device, int n, int tight, size_t free_mib, size_t fits_mib)
{
    struct scripted_run *run = run_create(device, n);
    bool cuda = strcmp(device, "cuda") == 0;
    size_t pairs = (size_t)(n * (n - 1)), skipped = 0;
    char name[64];

    snprintf(name, sizeof(name), "%zu MiB on rank %d of %d, %s", free_mib, tight, n, device);
    for (int r = 0; r < n; r++)
        run->free_bytes[r] = (free_mib + (r == tight ? 0 : 10)) * MIB;
    run_play(run, (const char *[]){NOTHING, SMALL, NULL});
    assert_case(name, run->code == 0 && is_complete(run));
    for (size_t r = 0; r < run->result.n; r++) {
        const struct lp_record *record = run->result.record[r];
        bool fits = record->cell.requested_bytes <= fits_mib * MIB;

        assert_case(name, record->outcome == (fits ? LP_DONE : LP_SKIPPED));
        skipped += !fits;
        if (!fits)
            expect_figures(name, record, record->cell.requested_bytes, free_mib * MIB,
                           strcmp(record->cell.processes, "one") == 0 ? 0 : tight);
    }
    /* the large ones of each pair, of one pair both ways and of the ring; on four curves of cuda 16M, 64M and 256M */
    assert_case(name, skipped == (cuda ? 3 * pairs + 5 + 1 + 4 * 3 : 2 * pairs + 2 + 1));
    run_free(run);
}

static void test_link_without_memory(void **state)
{
    (void)state;
    for (int n = 2; n <= 8; n += 3)
        for (int tight = 0; tight < n; tight++) {
            play_link("cuda", n, tight, 20, 9);
            play_link("host", n, tight, 20, 9);
        }
}

/* An arena that is refused although it should fit: all cells of the variant are skipped with the worker's words; others run. */
static void test_arena_refused(void **state)
{
    (void)state;
    for (int who = -1; who < 3; who++) {
        struct scripted_run *run = run_create(who % 2 ? "cuda" : "host", 3);

        run_fault(run, (struct fault){MEMORY, AT_ARENA, who, "ring", 0, 0});
        run_play(run, (const char *[]){"-b", "64", "-e", "256", "--no-link", SMALL, NULL});
        assert_true(run->code == 0 && is_complete(run) && crews_of(run, "ring") == 1);
        for (size_t r = 0; r < run->result.n; r++) {
            const struct lp_record *record = run->result.record[r];
            bool ring = strcmp(record->variant, "ring") == 0;

            assert_int_equal(record->outcome, ring ? LP_SKIPPED : LP_DONE);
            if (ring)
                assert_string_equal(record->reason, "this is why");
        }
        run_free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_cells_are_skipped), cmocka_unit_test(test_each_crew_looks),
        cmocka_unit_test(test_beside_the_communicator), cmocka_unit_test(test_more_than_there_is),
        cmocka_unit_test(test_link_without_memory),     cmocka_unit_test(test_arena_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
