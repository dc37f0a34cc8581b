/* Tests of worker/lib_host with its algorithms and choices, in crews of real processes. The device below has its own tests. */
#include "worker/library.h"
#include "worker/host_algorithm.h"
#include "worker/host_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX_RANKS    8
#define ARENA_BYTES  ((size_t)5 << 20)
#define BOUNCE_BYTES ((size_t)4100) /* no multiple of 8 */
#define LIMIT        30             /* seconds until a barrier that hangs ends the test */

extern const struct lp_device_ops lp_device_host;
extern const struct lp_library_ops lp_library_host;

static const struct lp_device_ops *const ops = &lp_device_host;
static const struct lp_library_ops *const lib = &lp_library_host;
static const int crews[] = {1, 2, 3, 5, 8};

/* One rank with all it has open, in its own process. */
struct mate {
    int rank, n, failures;
    struct lp_device *device;
    struct lp_stream *stream;
    struct lp_page *page;
    struct lp_buffer send[MAX_RANKS], recv[MAX_RANKS], bounce[MAX_RANKS];
    struct lp_comm_config config;
    struct lp_comm *comm;
    struct lp_reason why;
};

/* cmocka's assertions belong to the parent; a rank counts, so that it goes on to the barriers where others wait. */
static bool good(struct mate *mate, bool yes, const char *what, int line)
{
    if (!yes && mate->failures++ < 5)
        fprintf(stderr, "rank %d of %d, line %d: not %s (%s)\n", mate->rank, mate->n, line, what, mate->why.text);
    return yes;
}

#define GOOD(mate, condition) good(mate, condition, #condition, __LINE__)

/* Every peer's buffer is mapped anew by its handle, as between workers. */
static void map_peers(struct mate *mate, struct lp_buffer *buffers)
{
    char handle[LP_HANDLE_MAX];

    for (int r = 0; r < mate->n; r++) {
        struct lp_buffer original = buffers[r];

        if (r == mate->rank)
            continue;
        snprintf(handle, sizeof(handle), "/proc/%ld/fd/%d", (long)getppid(), (int)(intptr_t)original.owner - 1);
        GOOD(mate, ops->import_buffer(mate->device, handle, original.bytes, &buffers[r], &mate->why) == LP_OK);
    }
}

static void open_mate(struct mate *mate, const char *page)
{
    GOOD(mate, lp_page_open(page, &mate->page, &mate->why) == LP_OK);
    GOOD(mate, ops->stream_create(mate->device, &mate->stream, &mate->why) == LP_OK);
    map_peers(mate, mate->send);
    map_peers(mate, mate->recv);
    map_peers(mate, mate->bounce);
    mate->config = (struct lp_comm_config){
        .rank = mate->rank,
        .nranks = mate->n,
        .id = "",
        .device = mate->device,
        .page = mate->page,
        .send = mate->send[mate->rank],
        .recv = mate->recv[mate->rank],
        .bounce = mate->bounce[mate->rank],
        .peer_send = mate->send,
        .peer_recv = mate->recv,
        .peer_bounce = mate->bounce,
    };
}

static int run_mate(struct mate *mate, const char *page, void (*body)(struct mate *))
{
    static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

    for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
        signal(caught[i], SIG_DFL); /* cmocka's handlers would go on with the parent's tests in here */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(LIMIT);
    open_mate(mate, page);
    if (mate->failures == 0 && GOOD(mate, lib->comm_create(&mate->config, &mate->comm, &mate->why) == LP_OK)) {
        body(mate);
        lib->comm_destroy(mate->comm);
    }
    return mate->failures != 0;
}

/* The body in n processes at once, in this environment; NULL unsets. */
static void run_crew(int n, const char *algo, const char *p2p_disable, void (*body)(struct mate *))
{
    struct mate mate = {.n = n};
    struct lp_page *page;
    pid_t pids[MAX_RANKS];
    int failed = 0;

    algo ? setenv("NCCL_ALGO", algo, 1) : unsetenv("NCCL_ALGO");
    p2p_disable ? setenv("NCCL_P2P_DISABLE", p2p_disable, 1) : unsetenv("NCCL_P2P_DISABLE");
    assert_int_equal(ops->open(0, &mate.device, &mate.why), LP_OK);
    assert_int_equal(lp_page_create(n, &page, &mate.why), LP_OK);
    for (int r = 0; r < n; r++) {
        assert_int_equal(ops->alloc(mate.device, ARENA_BYTES, &mate.send[r], &mate.why), LP_OK);
        assert_int_equal(ops->alloc(mate.device, ARENA_BYTES, &mate.recv[r], &mate.why), LP_OK);
        assert_int_equal(ops->alloc(mate.device, BOUNCE_BYTES, &mate.bounce[r], &mate.why), LP_OK);
    }
    for (int r = 0; r < n; r++) {
        mate.rank = r;
        pids[r] = fork();
        assert_true(pids[r] >= 0);
        if (pids[r] == 0)
            _exit(run_mate(&mate, lp_page_handle(page), body));
    }
    for (int r = 0; r < n; r++) {
        int status = -1;

        waitpid(pids[r], &status, 0);
        failed += status != 0;
    }
    for (int r = 0; r < n; r++) { /* not before all are back: one may still be opening the memory of another */
        ops->free(mate.device, &mate.send[r]);
        ops->free(mate.device, &mate.recv[r]);
        ops->free(mate.device, &mate.bounce[r]);
    }
    lp_page_free(page);
    ops->close(mate.device);
    unsetenv("NCCL_ALGO");
    unsetenv("NCCL_P2P_DISABLE");
    assert_int_equal(failed, 0);
}

/* ---- one operation and its check ---- */

struct job {
    bool gather, in_place, captured;
    enum lp_dtype dtype;
    enum lp_redop redop;
    size_t count, offset; /* as the library counts; bytes into the arenas */
    uint32_t iteration;
};

static size_t out_count(const struct mate *mate, const struct job *job)
{
    return job->gather ? job->count * (size_t)mate->n : job->count;
}

static char *recv_of(const struct mate *mate, const struct job *job)
{
    return (char *)mate->config.recv.ptr + job->offset;
}

static char *send_of(const struct mate *mate, const struct job *job)
{
    if (!job->in_place)
        return (char *)mate->config.send.ptr + job->offset;
    return recv_of(mate, job) + (job->gather ? (size_t)mate->rank * job->count * lp_dtype_size(job->dtype) : 0);
}

static struct lp_pattern pattern_of(const struct mate *mate, const struct job *job)
{
    return lp_pattern_make(job->dtype, job->redop, mate->n, job->iteration);
}

static void prepare(struct mate *mate, const struct job *job)
{
    size_t bytes = out_count(mate, job) * lp_dtype_size(job->dtype);

    GOOD(mate, ops->poison(mate->device, mate->stream, recv_of(mate, job), bytes, &mate->why) == LP_OK);
    GOOD(mate, ops->fill(mate->device, mate->stream, send_of(mate, job), job->dtype, job->count, pattern_of(mate, job), mate->rank,
                         &mate->why) == LP_OK);
}

static enum lp_status call(struct mate *mate, const struct job *job)
{
    if (job->gather)
        return lib->all_gather(mate->comm, send_of(mate, job), recv_of(mate, job), job->count, job->dtype, mate->stream,
                               &mate->why);
    return lib->all_reduce(mate->comm, send_of(mate, job), recv_of(mate, job), job->count, job->dtype, job->redop, mate->stream,
                           &mate->why);
}

static struct lp_mismatch inspect(struct mate *mate, const struct job *job)
{
    struct lp_segment segments[MAX_RANKS] = {{.count = job->count, .src_rank = LP_RANK_ALL}};
    struct lp_mismatch found = {0};

    for (int r = 0; job->gather && r < mate->n; r++)
        segments[r] = (struct lp_segment){.out_off = (uint64_t)r * job->count, .count = job->count, .src_rank = r};
    GOOD(mate, ops->verify(mate->device, mate->stream, recv_of(mate, job), job->dtype, pattern_of(mate, job), segments,
                           job->gather ? (size_t)mate->n : 1, &found, &mate->why) == LP_OK);
    return found;
}

/* A result that is right, and of which one element is then spoilt, is found wrong in that one. */
static void spoil(struct mate *mate, const struct job *job)
{
    const size_t count = out_count(mate, job), places[] = {0, count / 2, count - 1};
    size_t size = lp_dtype_size(job->dtype);

    for (size_t p = 0; p < 3; p++) {
        char *byte = recv_of(mate, job) + places[p] * size + size / 2;
        struct lp_mismatch found;

        *byte ^= 1;
        found = inspect(mate, job);
        GOOD(mate, found.elements == 1 && found.first_offset == places[p]);
        *byte ^= 1;
    }
}

static void do_job(struct mate *mate, const struct job *job)
{
    size_t end = out_count(mate, job) * lp_dtype_size(job->dtype);
    struct lp_graph *graph;

    recv_of(mate, job)[end] = 0x55;
    prepare(mate, job);
    if (job->captured) {
        GOOD(mate, ops->capture_begin(mate->stream, &mate->why) == LP_OK);
        GOOD(mate, call(mate, job) == LP_OK);
        GOOD(mate, ops->capture_end(mate->stream, &graph, &mate->why) == LP_OK);
        GOOD(mate, ops->graph_launch(graph, mate->stream, &mate->why) == LP_OK);
        ops->graph_free(graph);
    } else {
        GOOD(mate, call(mate, job) == LP_OK);
    }
    if (!GOOD(mate, inspect(mate, job).elements == 0))
        fprintf(stderr, "  %s %s %s count %zu %s\n", job->gather ? "all_gather" : "all_reduce", lp_dtype_name(job->dtype),
                lp_redop_name(job->redop), job->count, job->in_place ? "in place" : "out of place");
    GOOD(mate, recv_of(mate, job)[end] == 0x55);
}

/* ---- bodies that run in a crew ---- */

static bool gathers_here(void)
{
    const char *algo = getenv("NCCL_ALGO");

    return !algo || strcasecmp(algo, "tree") != 0;
}

static void every_type_and_operation(struct mate *mate)
{
    static const size_t counts[] = {1, 7, 64, 1023};
    struct job job = {0};

    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
        for (int i = 0; i < LP_NDTYPES * (LP_NREDOPS + 1) * 2; i++) {
            job.in_place = i % 2;
            job.gather = i / 2 % (LP_NREDOPS + 1) == LP_NREDOPS;
            job.redop = (enum lp_redop)(i / 2 % (LP_NREDOPS + 1) % LP_NREDOPS);
            job.dtype = (enum lp_dtype)(i / 2 / (LP_NREDOPS + 1));
            job.count = counts[c];
            job.offset = (size_t)(i % 3) * 4096;
            job.captured = i % 5 == 0;
            job.iteration++;
            if (!job.gather || gathers_here())
                do_job(mate, &job);
        }
}

static void one_spoilt_element(struct mate *mate)
{
    struct job job = {.count = 70001, .dtype = LP_FLOAT};

    for (int i = 0; i < 4; i++) {
        job.gather = i / 2;
        job.in_place = i % 2;
        job.iteration++;
        if (job.gather && !gathers_here())
            continue;
        do_job(mate, &job);
        spoil(mate, &job);
    }
}

/*
 * Nothing but the library keeps ranks apart here: inputs are overwritten, and outputs poisoned, as soon as a call is back. Now
 * and then a rank is late.
 */
static void back_to_back(struct mate *mate)
{
    struct job job[2] = {{.dtype = LP_INT32}, {.dtype = LP_HALF, .offset = 8192}};

    for (uint32_t i = 0; i < 150; i++) {
        struct job *one = &job[i % 2];

        one->in_place = i / 2 % 2;
        one->gather = i / 4 % 2 && gathers_here();
        one->count = 1 + i * 7;
        one->redop = (enum lp_redop)(i % 3);
        one->iteration = i;
        if (i % 13 == (uint32_t)mate->rank)
            usleep(300);
        do_job(mate, one);
        memset(send_of(mate, one), 0xaa, one->count * lp_dtype_size(one->dtype));
    }
}

/* Many calls of one recording, and launches one after another; the maximum in place stays what it is. */
static void graph_of_several(struct mate *mate)
{
    struct job reduce = {.dtype = LP_BFLOAT16, .redop = LP_MAX, .count = 333, .in_place = true};
    struct job other = {.dtype = LP_DOUBLE, .redop = LP_SUM, .count = 200, .offset = 65536};
    struct lp_graph *graph;

    prepare(mate, &reduce);
    GOOD(mate, ops->capture_begin(mate->stream, &mate->why) == LP_OK);
    for (int i = 0; i < 5; i++) {
        GOOD(mate, call(mate, &reduce) == LP_OK);
        GOOD(mate, call(mate, &other) == LP_OK);
    }
    GOOD(mate, ops->capture_end(mate->stream, &graph, &mate->why) == LP_OK);
    for (other.iteration = 0; other.iteration < 4; other.iteration++) {
        prepare(mate, &other);
        GOOD(mate, ops->graph_launch(graph, mate->stream, &mate->why) == LP_OK);
        GOOD(mate, inspect(mate, &other).elements == 0);
    }
    GOOD(mate, inspect(mate, &reduce).elements == 0);
    ops->graph_free(graph);
}

static void no_ring_no_gather(struct mate *mate)
{
    struct job gather = {.gather = true, .dtype = LP_FLOAT, .count = 8}, reduce = {.dtype = LP_FLOAT, .count = 8};
    struct lp_graph *graph;

    for (int i = 0; i < 3; i++) {
        if (mate->rank == i % mate->n) /* only some ask: nobody is left waiting */
            GOOD(mate, call(mate, &gather) == LP_ERR_UNSUPPORTED);
        do_job(mate, &reduce); /* and the communicator still works */
    }
    GOOD(mate, call(mate, &gather) == LP_ERR_UNSUPPORTED);
    GOOD(mate, strstr(mate->why.text, "function AllGather. NCCL_ALGO was set to TREE.") != NULL);
    prepare(mate, &reduce);
    GOOD(mate, ops->capture_begin(mate->stream, &mate->why) == LP_OK);
    GOOD(mate, call(mate, &gather) == LP_ERR_UNSUPPORTED);
    GOOD(mate, call(mate, &reduce) == LP_OK);
    GOOD(mate, ops->capture_end(mate->stream, &graph, &mate->why) == LP_OK);
    GOOD(mate, ops->graph_launch(graph, mate->stream, &mate->why) == LP_OK);
    GOOD(mate, inspect(mate, &reduce).elements == 0);
    ops->graph_free(graph);
}

static void nothing_at_all(struct mate *mate)
{
    struct job job = {.dtype = LP_FLOAT, .count = 8};

    GOOD(mate, call(mate, &job) == LP_ERR_UNSUPPORTED);
    GOOD(mate, strstr(mate->why.text, "function AllReduce. NCCL_ALGO was set to nvls.") != NULL);
    job.gather = true;
    GOOD(mate, call(mate, &job) == LP_ERR_UNSUPPORTED);
}

/* Bytes of the own bounce buffer that were written to. */
static size_t bounced_bytes(struct mate *mate, size_t count)
{
    struct job job = {.dtype = LP_FLOAT, .count = count};
    const unsigned char *bounce = mate->config.bounce.ptr;
    size_t n = BOUNCE_BYTES;

    memset(mate->config.bounce.ptr, 0xee, BOUNCE_BYTES);
    do_job(mate, &job);
    while (n > 0 && bounce[n - 1] == 0xee)
        n--;
    return n;
}

static void goes_direct(struct mate *mate)
{
    GOOD(mate, bounced_bytes(mate, 64) == 0);
}

/* Two ranks: a ring passes half vectors on, a tree whole ones. */
static void bounces_halves(struct mate *mate)
{
    GOOD(mate, bounced_bytes(mate, 64) == 128);
}

static void bounces_wholes(struct mate *mate)
{
    GOOD(mate, bounced_bytes(mate, 64) == 256);
}

/* The untimed operation before a block has a buffer of its own, which peers cannot read. */
static void outside_the_arenas(struct mate *mate)
{
    float one = 1, all[MAX_RANKS] = {0};

    GOOD(mate, lib->all_reduce(mate->comm, &one, &one, 1, LP_FLOAT, LP_SUM, mate->stream, &mate->why) == LP_OK);
    GOOD(mate, one == (float)mate->n);
    one = (float)mate->rank;
    GOOD(mate, lib->all_gather(mate->comm, &one, all, 1, LP_FLOAT, mate->stream, &mate->why) == LP_OK);
    for (int r = 0; r < mate->n; r++)
        GOOD(mate, all[r] == (float)r);
}

static void outside_without_a_bounce_buffer(struct mate *mate)
{
    float one[2] = {1, 1};
    char *last = (char *)mate->config.recv.ptr + ARENA_BYTES - 4;

    lib->comm_destroy(mate->comm);
    mate->comm = NULL;
    mate->config.peer_bounce = NULL;
    if (!GOOD(mate, lib->comm_create(&mate->config, &mate->comm, &mate->why) == LP_OK))
        return;
    GOOD(mate, lib->all_reduce(mate->comm, one, one, 1, LP_FLOAT, LP_SUM, mate->stream, &mate->why) == LP_ERR_ARG);
    GOOD(mate, strstr(mate->why.text, "no bounce buffers") != NULL);
    GOOD(mate, lib->all_reduce(mate->comm, last, last, 2, LP_FLOAT, LP_SUM, mate->stream, &mate->why) == LP_ERR_ARG);
    GOOD(mate, lib->all_reduce(mate->comm, last, last, 1, LP_FLOAT, LP_SUM, mate->stream, &mate->why) == LP_OK);
    GOOD(mate, lib->all_gather(mate->comm, one, last, 1, LP_FLOAT, mate->stream, &mate->why) == LP_ERR_ARG);
}

static void nothing_and_too_much(struct mate *mate)
{
    struct job job = {.dtype = LP_DOUBLE};

    GOOD(mate, call(mate, &job) == LP_OK);
    job.gather = true;
    GOOD(mate, call(mate, &job) == LP_OK);
    job.count = SIZE_MAX / 4;
    GOOD(mate, call(mate, &job) == LP_ERR_ARG);
}

/* ---- tests ---- */

static void in_every_crew(void (*body)(struct mate *))
{
    static const char *const algos[] = {NULL, "tree"}, *const p2p[] = {NULL, "1"};

    for (size_t c = 0; c < sizeof(crews) / sizeof(crews[0]); c++)
        for (size_t a = 0; a < 2; a++)
            for (size_t p = 0; p < 2; p++)
                run_crew(crews[c], algos[a], p2p[p], body);
}

static void all_types_and_operations_are_right(void **state)
{
    (void)state;
    in_every_crew(every_type_and_operation);
}

static void a_spoilt_element_is_found(void **state)
{
    (void)state;
    in_every_crew(one_spoilt_element);
}

static void operations_do_not_overtake(void **state)
{
    (void)state;
    in_every_crew(back_to_back);
}

static void graphs_replay(void **state)
{
    (void)state;
    in_every_crew(graph_of_several);
}

static void what_no_algorithm_does_is_unsupported(void **state)
{
    (void)state;
    run_crew(2, "TREE", NULL, no_ring_no_gather);
    run_crew(3, "TREE", "1", no_ring_no_gather);
    run_crew(2, "nvls", NULL, nothing_at_all);
    run_crew(1, "tree", NULL, every_type_and_operation);
}

static void the_environment_chooses_the_way(void **state)
{
    (void)state;
    run_crew(2, NULL, NULL, goes_direct);
    run_crew(2, NULL, "0", goes_direct);
    run_crew(2, "Tree", "2", goes_direct);
    run_crew(2, NULL, "1", bounces_halves);
    run_crew(2, "Tree,Ring", "0x1", bounces_halves);
    run_crew(2, "^Ring", "1", bounces_wholes);
    run_crew(2, "allreduce:TREE", "1", bounces_wholes);
}

static void memory_outside_the_arenas_is_bounced(void **state)
{
    (void)state;
    run_crew(1, NULL, NULL, outside_the_arenas);
    run_crew(2, NULL, NULL, outside_the_arenas);
    run_crew(3, "tree,ring", "1", outside_the_arenas);
    run_crew(3, NULL, NULL, outside_without_a_bounce_buffer);
}

static void odd_counts_are_answered(void **state)
{
    (void)state;
    run_crew(1, NULL, NULL, nothing_and_too_much);
    run_crew(3, NULL, NULL, nothing_and_too_much);
}

static void algo_is_read_as_nccl_does(void **state)
{
    enum { R = LP_HOST_RING, T = LP_HOST_TREE, BOTH = R | T };
    static const struct {
        const char *text;
        enum lp_status st;
        unsigned all_reduce, all_gather;
        const char *quoted; /* in the reason */
    } cases[] = {
        {NULL, LP_OK, BOTH, BOTH, NULL},
        {"", LP_OK, BOTH, BOTH, NULL},
        {"Ring", LP_OK, R, R, NULL},
        {"rInG", LP_OK, R, R, NULL},
        {"tree", LP_OK, T, T, NULL},
        {"Ring,Tree", LP_OK, BOTH, BOTH, NULL},
        {"Ring,,Tree,", LP_OK, BOTH, BOTH, NULL},
        {"^Ring", LP_OK, T, T, NULL},
        {"^Ring,Tree", LP_OK, 0, 0, NULL},
        {"^", LP_OK, BOTH, BOTH, NULL},
        {"NVLS,PAT", LP_OK, 0, 0, NULL},
        {"^NVLS,NVLSTree", LP_OK, BOTH, BOTH, NULL},
        {"allreduce:tree", LP_OK, T, BOTH, NULL},
        {"AllReduce:Tree;AllGather:Ring", LP_OK, T, R, NULL},
        {"ring;allreduce:tree", LP_OK, T, R, NULL},
        {"ring;allreduce:^ring", LP_OK, T, R, NULL},
        {"tree;broadcast:ring;", LP_OK, T, T, NULL},
        {"allreduce:tree;allreduce:ring", LP_OK, R, BOTH, NULL},
        {"Rnig", LP_ERR_FAILED, 0, 0, "'Rnig'"},
        {"Ring, Tree", LP_ERR_FAILED, 0, 0, "' Tree'"},
        {" Ring", LP_ERR_FAILED, 0, 0, "' Ring'"},
        {"Ring ", LP_ERR_FAILED, 0, 0, "'Ring '"},
        {" ", LP_ERR_FAILED, 0, 0, "' '"},
        {"Rin", LP_ERR_FAILED, 0, 0, "'Rin'"},
        {"Ring,^Tree", LP_ERR_FAILED, 0, 0, "'^Tree'"},
        {"allreduce:tree;ring", LP_ERR_FAILED, 0, 0, "'ring'"},
        {"ring;tree", LP_ERR_FAILED, 0, 0, "'tree'"},
        {"all_reduce:tree", LP_ERR_FAILED, 0, 0, "'all_reduce'"},
        {"allreduce:", LP_ERR_FAILED, 0, 0, "'allreduce'"},
        {"ring;:", LP_ERR_FAILED, 0, 0, "':'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lp_host_choice choice = {0};
        struct lp_reason why = {""};

        assert_int_equal(lp_host_choose(cases[i].text, NULL, &choice, &why), cases[i].st);
        assert_int_equal(choice.all_reduce & BOTH, cases[i].all_reduce);
        assert_int_equal(choice.all_gather & BOTH, cases[i].all_gather);
        if (cases[i].quoted)
            assert_non_null(strstr(why.text, cases[i].quoted));
    }
}

static void p2p_disable_is_read_as_nccl_does(void **state)
{
    static const struct {
        const char *text;
        bool off;
    } cases[] = {{NULL, false},   {"", false},
                 {"0", false},    {"1", true},
                 {"01", true},    {"0x1", true},
                 {"1x", true},    {" 1", true},
                 {"2", false},    {"-1", false},
                 {"10", false},   {"yes", false},
                 {"true", false}, {"99999999999999999999", false}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lp_host_choice choice;

        assert_int_equal(lp_host_choose(NULL, cases[i].text, &choice, NULL), LP_OK);
        assert_int_equal(choice.p2p_off, cases[i].off);
    }
}

/* What algorithms promise: nobody reads what is being written, nobody gives to two, and nothing lies outside the output. */
static void check_takes(const struct lp_host_algorithm *algorithm, size_t count, int n)
{
    size_t out = algorithm->gathers ? count * (size_t)n : count;

    for (int step = 0; step < algorithm->steps(n); step++) {
        int given = 0;

        for (int r = 0; r < n; r++) {
            struct lp_host_take mine = algorithm->take(count, n, r, step), its;

            if (mine.count == 0)
                continue;
            assert_in_range(mine.source, 0, n - 1);
            assert_int_not_equal(mine.source, r);
            assert_true(mine.first <= out && mine.count <= out - mine.first);
            assert_false(given & 1 << mine.source);
            given |= 1 << mine.source;
            its = algorithm->take(count, n, mine.source, step);
            assert_true(its.count == 0 || its.first + its.count <= mine.first || mine.first + mine.count <= its.first);
        }
    }
}

static void algorithms_keep_their_promises(void **state)
{
    static const struct lp_host_algorithm *const all[] = {&lp_host_ring_all_reduce, &lp_host_tree_all_reduce,
                                                          &lp_host_ring_all_gather};
    static const size_t counts[] = {1, 2, 7, 8, 1000, ((size_t)1 << 33) + 5, SIZE_MAX / 8};

    (void)state;
    for (size_t a = 0; a < 3; a++)
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
            for (int n = 1; n <= MAX_RANKS; n++)
                check_takes(all[a], counts[c], n);
}

static void bad_surroundings_are_refused(void **state)
{
    static const struct lp_buffer some[2] = {{.ptr = (void *)8, .bytes = 64}, {.ptr = (void *)8, .bytes = 64}};
    static const struct lp_buffer half[2] = {{.ptr = (void *)8, .bytes = 64}};
    static const struct {
        const char *algo, *p2p_disable;
        int rank, nranks;
        bool page;
        const struct lp_buffer *peers, *bounce;
        enum lp_status st;
    } cases[] = {
        {NULL, NULL, 0, 2, true, some, some, LP_OK},       {NULL, NULL, 0, 2, true, some, NULL, LP_OK},
        {NULL, "1", 1, 2, true, NULL, some, LP_OK},        {NULL, NULL, 0, 1, false, NULL, NULL, LP_OK},
        {NULL, "1", 0, 1, false, NULL, NULL, LP_OK},       {NULL, NULL, 2, 2, true, some, some, LP_ERR_ARG},
        {NULL, NULL, -1, 2, true, some, some, LP_ERR_ARG}, {NULL, NULL, 0, 0, true, some, some, LP_ERR_ARG},
        {NULL, NULL, 0, 2, false, some, some, LP_ERR_ARG}, {NULL, NULL, 0, 2, true, half, some, LP_ERR_ARG},
        {NULL, NULL, 0, 2, true, NULL, some, LP_ERR_ARG},  {NULL, "1", 0, 2, true, some, NULL, LP_ERR_ARG},
        {NULL, "1", 0, 2, true, some, half, LP_ERR_ARG},   {"Rnig", NULL, 0, 2, true, some, some, LP_ERR_FAILED},
    };
    struct lp_page *page;

    (void)state;
    assert_int_equal(lp_page_create(2, &page, NULL), LP_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lp_comm_config config = {.rank = cases[i].rank,
                                        .nranks = cases[i].nranks,
                                        .page = cases[i].page ? page : NULL,
                                        .peer_send = cases[i].peers,
                                        .peer_recv = cases[i].peers,
                                        .peer_bounce = cases[i].bounce};
        struct lp_comm *comm = NULL;
        struct lp_reason why = {""};

        cases[i].algo ? setenv("NCCL_ALGO", cases[i].algo, 1) : unsetenv("NCCL_ALGO");
        cases[i].p2p_disable ? setenv("NCCL_P2P_DISABLE", cases[i].p2p_disable, 1) : unsetenv("NCCL_P2P_DISABLE");
        assert_int_equal(lib->comm_create(&config, &comm, &why), cases[i].st);
        assert_int_equal(comm == NULL, cases[i].st != LP_OK);
        assert_int_equal(why.text[0] == '\0', cases[i].st == LP_OK);
        lib->comm_destroy(comm);
    }
    unsetenv("NCCL_ALGO");
    unsetenv("NCCL_P2P_DISABLE");
    lp_page_free(page);
}

static void the_library_describes_itself(void **state)
{
    char version[32], path[32] = "x", id[LP_COMM_ID_MAX] = "x";
    struct lp_reason why;

    (void)state;
    assert_string_equal(lib->name, "host");
    assert_int_equal(lib->load(NULL, &why), LP_OK);
    assert_int_equal(lib->load("/no/such/file", &why), LP_OK);
    lib->describe(version, sizeof(version), path, sizeof(path));
    assert_string_equal(version, "linkperf host");
    assert_string_equal(path, "");
    assert_int_equal(lib->make_id(id, &why), LP_OK);
    assert_string_equal(id, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_describes_itself),
        cmocka_unit_test(algo_is_read_as_nccl_does),
        cmocka_unit_test(p2p_disable_is_read_as_nccl_does),
        cmocka_unit_test(algorithms_keep_their_promises),
        cmocka_unit_test(bad_surroundings_are_refused),
        cmocka_unit_test(all_types_and_operations_are_right),
        cmocka_unit_test(a_spoilt_element_is_found),
        cmocka_unit_test(operations_do_not_overtake),
        cmocka_unit_test(graphs_replay),
        cmocka_unit_test(what_no_algorithm_does_is_unsupported),
        cmocka_unit_test(the_environment_chooses_the_way),
        cmocka_unit_test(memory_outside_the_arenas_is_bounced),
        cmocka_unit_test(odd_counts_are_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
