/* Rounds of a ring on host memory, through operations, bench and checks, between processes and between stations of one. */
#include "worker/check.h"
#include "worker/crewmate.h"

#include "p2p/path.h"
#include "p2p/patterns.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define ARENA ((size_t)5 << 20)
#define LIMIT 30 /* seconds until a rank that waits for good ends the test */
#define MOST  5

extern const struct lp_device_ops lp_device_host;

/* Handles of all ranks' memory. */
struct board {
    char send[MOST][LP_HANDLE_MAX], recv[MOST][LP_HANDLE_MAX], flags[MOST][LP_HANDLE_MAX];
};

static struct lp_reason why; /* of the call that just failed */

static struct lp_cell ring_cell(int n, enum lp_timing timing, size_t bytes)
{
    struct lp_cell cell = {.kind = LP_COPY,
                           .op = "cpu_exchange",
                           .library = "host",
                           .pattern = "ring",
                           .root = -1,
                           .requested_bytes = bytes,
                           .size_bytes = bytes,
                           .timing = timing};

    cell.nedges = lp_pattern_kind_find("ring")->edges(n, 0, -1, cell.edges, LP_MAX_TRANSFERS);
    return cell;
}

/* ---- a process a rank ---- */

/* In a child cmocka's assertions belong to the parent: what is wrong is the exit code, as a line. */
#define NEED(condition)                                                                                                            \
    do {                                                                                                                           \
        if (!(condition)) {                                                                                                        \
            fprintf(stderr, "rank %d, line %d: not %s (%s)\n", mate->rank, __LINE__, #condition, why.text);                        \
            return 1;                                                                                                              \
        }                                                                                                                          \
    } while (0)

static int open_mate(struct lp_crewmate *mate, const char *page, struct board *board)
{
    const struct lp_device_ops *ops = mate->ops;
    int rank = mate->rank;

    NEED(lp_page_open(page, &mate->page, &why) == LP_OK);
    NEED(lp_crewmate_add_station(mate, 0, rank, &why) == LP_OK);
    NEED(lp_crewmate_add_arenas(mate, ARENA, 0, &why) == LP_OK);
    NEED(ops->export_buffer(mate->station[0].device, &mate->station[0].send, board->send[rank], &why) == LP_OK);
    NEED(ops->export_buffer(mate->station[0].device, &mate->station[0].recv, board->recv[rank], &why) == LP_OK);
    NEED(ops->export_buffer(mate->station[0].device, &mate->station[0].flags, board->flags[rank], &why) == LP_OK);
    lp_page_barrier(mate->page);
    for (int r = 0; r < mate->nranks; r++) {
        if (r == rank)
            continue;
        NEED(ops->import_buffer(mate->station[0].device, board->send[r], ARENA, &mate->peer_send[r], &why) == LP_OK);
        NEED(ops->import_buffer(mate->station[0].device, board->recv[r], ARENA, &mate->peer_recv[r], &why) == LP_OK);
        NEED(ops->import_buffer(mate->station[0].device, board->flags[r], sizeof(struct lp_flags), &mate->peer_flags[r], &why) ==
             LP_OK);
    }
    lp_page_barrier(mate->page);
    return 0;
}

static int run_mate(struct lp_crewmate *mate, const char *page, struct board *board, int (*body)(struct lp_crewmate *))
{
    static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    int code;

    for (size_t i = 0; i < COUNT_OF(caught); i++)
        signal(caught[i], SIG_DFL); /* cmocka's handlers would go on with the parent's tests in here */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(LIMIT);
    code = open_mate(mate, page, board);
    if (code == 0)
        code = body(mate);
    if (code == 0)
        lp_page_barrier(mate->page); /* others may still write here */
    lp_crewmate_release(mate);
    return code;
}

static void run_ranks(int n, int (*body)(struct lp_crewmate *))
{
    static struct lp_crewmate mate;
    struct lp_page *page;
    struct board *board;
    pid_t pids[MOST];
    int failed = 0, fd;
    void *memory;

    assert_int_equal(lp_shared_create(sizeof(*board), &memory, &fd, &why), LP_OK);
    assert_int_equal(lp_page_create(n, &page, &why), LP_OK);
    board = memory;
    for (int r = 0; r < n; r++) {
        mate = (struct lp_crewmate){.rank = r, .nranks = n, .ops = &lp_device_host};
        pids[r] = fork();
        assert_true(pids[r] >= 0);
        if (pids[r] == 0)
            _exit(run_mate(&mate, lp_page_handle(page), board, body));
    }
    for (int r = 0; r < n; r++) {
        int status = -1;

        waitpid(pids[r], &status, 0);
        failed += status != 0;
    }
    lp_page_free(page);
    lp_shared_close(memory, sizeof(*board), fd);
    assert_int_equal(failed, 0);
}

/* As a crew does it: each step after all have done the last. */
static int measure(struct lp_crewmate *mate, const struct lp_cell *cell)
{
    static struct lp_bench bench; /* large */
    struct lp_op op;
    struct lp_check check;
    double us[8];
    int k = cell->timing == LP_ISOLATED ? 1 : 7;

    NEED(lp_op_make(mate, cell, &op, &why) == LP_OK);
    NEED(op.nlanes == 1 && op.align && (op.slots > 1) == (cell->requested_bytes == (1 << 20) + 16));
    lp_bench_init(&bench, &op, cell->timing, mate->page, NULL);
    lp_page_barrier(mate->page);
    NEED(lp_bench_blocks(&bench, 1, 5, us, NULL, &why) == LP_OK);
    for (uint32_t i = 1; i <= 3; i++) {
        lp_page_barrier(mate->page);
        NEED(lp_check_once(&bench, i, &check, &why) == LP_OK && check.wrong_elements == 0);
    }
    lp_page_barrier(mate->page);
    NEED(lp_check_prepare(&bench, 4, &why) == LP_OK);
    NEED(lp_bench_blocks(&bench, k, 8, us, NULL, &why) == LP_OK);
    for (int i = 0; i < 8; i++)
        NEED(us[i] > 0.0);
    NEED(lp_check_last(&bench, 4, &check, &why) == LP_OK && check.wrong_elements == 0);
    NEED(lp_check_last(&bench, 5, &check, &why) == LP_OK && check.wrong_elements == cell->requested_bytes / sizeof(float));
    lp_page_barrier(mate->page);
    lp_bench_release(&bench);
    return 0;
}

static int every_mode(struct lp_crewmate *mate)
{
    static const enum lp_timing timings[] = {LP_PIPELINED, LP_ISOLATED, LP_GRAPH, LP_QUEUED};
    static const size_t sizes[] = {16, 4096, (1 << 20) + 16, ARENA};

    for (size_t t = 0; t < COUNT_OF(timings); t++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            struct lp_cell cell = ring_cell(mate->nranks, timings[t], sizes[s]);

            if (measure(mate, &cell) != 0)
                return 1;
        }
    return 0;
}

static void test_every_mode(void **state)
{
    (void)state;
    for (int n = 2; n <= MOST; n += n == 3 ? 2 : 1)
        run_ranks(n, every_mode);
}

/* Nobody tells rank r that rank r - 1 was late, except its flag: the data is compared at once, without a barrier. */
static int late_ranks(struct lp_crewmate *mate)
{
    struct lp_cell cell = ring_cell(mate->nranks, LP_PIPELINED, 65536);
    struct lp_station *own = &mate->station[0];
    int before = (mate->rank + mate->nranks - 1) % mate->nranks;
    struct lp_segment all = {.count = 65536 / sizeof(float), .src_rank = before};
    struct lp_op op;

    NEED(lp_op_make(mate, &cell, &op, &why) == LP_OK);
    for (uint32_t i = 0; i < 40; i++) {
        struct lp_pattern pattern = lp_pattern_make(LP_FLOAT, LP_SUM, 1, i);
        struct lp_mismatch found = {0};

        lp_page_barrier(mate->page);
        NEED(mate->ops->poison(own->device, own->stream, own->recv.ptr, 65536, &why) == LP_OK);
        NEED(mate->ops->fill(own->device, own->stream, own->send.ptr, LP_FLOAT, all.count, pattern, mate->rank, &why) == LP_OK);
        lp_page_barrier(mate->page);
        if ((int)i % mate->nranks == mate->rank)
            usleep(3000);
        NEED(op.enqueue(&op, 0, 0, &why) == LP_OK);
        NEED(mate->ops->verify(own->device, own->stream, own->recv.ptr, LP_FLOAT, pattern, &all, 1, &found, &why) == LP_OK);
        NEED(found.elements == 0);
    }
    lp_page_barrier(mate->page);
    lp_op_release(&op);
    return 0;
}

static void test_late_ranks(void **state)
{
    (void)state;
    run_ranks(2, late_ranks);
    run_ranks(4, late_ranks);
}

/* With more than two, a rank may be some rounds ahead of its next: no round is lost by that, also where the count wraps. */
static int ranks_ahead(struct lp_crewmate *mate)
{
    struct lp_cell cell = ring_cell(mate->nranks, LP_PIPELINED, 64);
    struct lp_flags *flags = mate->station[0].flags.ptr;
    struct lp_op op;

    NEED(lp_op_make(mate, &cell, &op, &why) == LP_OK);
    NEED(flags->arrived == 0 && flags->passed == 0 && flags->blocks == 0);
    flags->arrived = flags->passed = UINT32_MAX - 50;
    lp_page_barrier(mate->page);
    for (int i = 0; i < 300; i++) {
        if (mate->rank == 1 && i % 10 == 3)
            usleep(500);
        NEED(op.enqueue(&op, 0, 0, &why) == LP_OK);
    }
    lp_page_barrier(mate->page);
    NEED(flags->arrived == 249 && flags->passed == 249);
    lp_op_release(&op);
    return 0;
}

static void test_ranks_ahead(void **state)
{
    (void)state;
    run_ranks(2, ranks_ahead);
    run_ranks(5, ranks_ahead);
}

/* ---- what is refused, and several ranks in one process ---- */

static void open_stations(struct lp_crewmate *mate, int n)
{
    *mate = (struct lp_crewmate){.nranks = 1, .ops = &lp_device_host};
    for (int r = 0; r < n; r++)
        assert_int_equal(lp_crewmate_add_station(mate, r, r, &why), LP_OK);
    assert_int_equal(lp_crewmate_add_arenas(mate, ARENA, 0, &why), LP_OK);
}

/* Eager modes have a thread for each rank; a graph and a single call are of one stream, and say so. */
static void test_stations_of_one_process(void **state)
{
    static const struct {
        enum lp_timing timing;
        enum lp_status want;
        const char *says;
    } cases[] = {{LP_PIPELINED, LP_OK, ""},
                 {LP_QUEUED, LP_OK, ""},
                 {LP_GRAPH, LP_ERR_UNSUPPORTED, "one stream"},
                 {LP_ISOLATED, LP_ERR_ARG, "one copy at a time"}};
    static struct lp_crewmate mate;
    static struct lp_bench bench;

    (void)state;
    alarm(LIMIT);
    open_stations(&mate, 3);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_cell cell = ring_cell(3, cases[i].timing, 4096);
        struct lp_check check;
        struct lp_op op;
        double us[4];

        assert_int_equal(lp_op_make(&mate, &cell, &op, &why), LP_OK);
        assert_true(op.nlanes == 3 && !op.align);
        lp_bench_init(&bench, &op, cell.timing, NULL, NULL);
        assert_int_equal(lp_bench_blocks(&bench, cell.timing == LP_ISOLATED ? 1 : 5, 4, us, NULL, &why), cases[i].want);
        if (cases[i].want != LP_OK) {
            assert_says(why.text, cases[i].says);
        } else {
            assert_int_equal(lp_check_once(&bench, 7, &check, &why), LP_OK);
            assert_true(check.wrong_elements == 0);
        }
        lp_bench_release(&bench);
    }
    lp_crewmate_release(&mate);
    alarm(0);
}

/* Where somebody sends and nobody sends to him, he would wait for good. */
static void test_refused(void **state)
{
    static const struct {
        int nedges;
        struct lp_edge edges[3];
    } cases[] = {{1, {{0, 1}}}, {2, {{0, 1}, {1, 2}}}, {2, {{0, 1}, {2, 1}}}, {2, {{0, 1}, {0, 2}}}, {3, {{0, 1}, {1, 0}, {2, 1}}}};
    static struct lp_crewmate mate;
    struct lp_op op;

    (void)state;
    open_stations(&mate, 3);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_cell cell = ring_cell(3, LP_PIPELINED, 64);

        cell.nedges = cases[i].nedges;
        memcpy(cell.edges, cases[i].edges, sizeof(cases[i].edges));
        assert_int_equal(lp_op_make(&mate, &cell, &op, &why), LP_ERR_ARG);
        assert_says(why.text, "cpu_exchange is for rings");
        lp_op_release(&op);
    }
    lp_crewmate_release(&mate);
    open_stations(&mate, 1);
    mate.peer_recv[1] = mate.station[0].recv; /* its flags were not mapped */
    {
        struct lp_cell cell = ring_cell(2, LP_PIPELINED, 64);

        assert_int_equal(lp_op_make(&mate, &cell, &op, &why), LP_ERR_UNSUPPORTED);
        assert_says(why.text, "flags of rank 1");
        lp_op_release(&op);
    }
    memset(&mate.peer_recv[1], 0, sizeof(mate.peer_recv[1]));
    lp_crewmate_release(&mate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mode),  cmocka_unit_test(test_late_ranks),
        cmocka_unit_test(test_ranks_ahead), cmocka_unit_test(test_stations_of_one_process),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
