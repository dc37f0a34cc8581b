/* Tests of worker/page: barrier and shared memory between real processes. Who notices a missing worker is not tested here. */
#include "worker/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define ROUNDS 300
#define LIMIT  20 /* seconds until a barrier that hangs ends the test */

/* What the processes of a test see of one another. */
struct board {
    _Atomic int count[8];
};

static pid_t start_child(int (*body)(const char *page, const char *board, int rank, int n), const char *page, const char *board,
                         int rank, int n)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(LIMIT);
        _exit(body(page, board, rank, n));
    }
    assert_true(pid > 0);
    return pid;
}

static int reap(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct board *make_board(int *fd, char handle[64])
{
    struct lp_reason why;
    void *board;

    assert_int_equal(lp_shared_create(sizeof(struct board), &board, fd, &why), LP_OK);
    lp_shared_handle(*fd, handle, 64);
    return board;
}

/* Returns 0 when nobody was ever behind after a barrier, nor a round ahead of it. */
static int count_rounds(const char *page_handle, const char *board_handle, int rank, int n)
{
    struct lp_page *page;
    struct board *board;
    void *memory;

    if (lp_page_open(page_handle, &page, NULL) != LP_OK || lp_shared_open(board_handle, sizeof(*board), &memory, NULL) != LP_OK)
        return 2;
    board = memory;
    for (int round = 1; round <= ROUNDS; round++) {
        if (round % 100 == rank) /* now and then long enough for the others to fall asleep */
            usleep(5000);
        atomic_store(&board->count[rank], round);
        lp_page_barrier(page);
        for (int i = 0; i < n; i++)
            if (atomic_load(&board->count[i]) < round || atomic_load(&board->count[i]) > round + 1)
                return 1;
    }
    lp_shared_close(board, sizeof(*board), -1);
    lp_page_free(page);
    return 0;
}

static void barrier_keeps_everybody_together(void **state)
{
    static const int crews[] = {1, 2, 3, 5, 8};

    (void)state;
    for (size_t c = 0; c < sizeof(crews) / sizeof(crews[0]); c++) {
        int n = crews[c], fd;
        pid_t pids[8];
        char handle[64];
        struct lp_page *page;
        struct board *board = make_board(&fd, handle);

        assert_int_equal(lp_page_create(n, &page, NULL), LP_OK);
        for (int r = 0; r < n; r++)
            pids[r] = start_child(count_rounds, lp_page_handle(page), handle, r, n);
        for (int r = 0; r < n; r++)
            assert_int_equal(reap(pids[r]), 0);
        lp_page_free(page);
        lp_shared_close(board, sizeof(*board), fd);
    }
}

static int meet_once(const char *page_handle, const char *board_handle, int rank, int n)
{
    struct lp_page *page;

    (void)board_handle;
    (void)rank;
    (void)n;
    if (lp_page_open(page_handle, &page, NULL) != LP_OK)
        return 2;
    kill(getpid(), SIGSTOP);
    lp_page_barrier(page);
    return 0;
}

/* Processor time that this process used in the seconds of a barrier whose peer is stopped for that long. */
static double wait_for_stopped_peer(struct lp_page *page, double seconds)
{
    struct timespec nap = {.tv_nsec = (long)(seconds * 1e9)}, before, after;
    pid_t peer = start_child(meet_once, lp_page_handle(page), NULL, 1, 2), waker;

    assert_int_equal(waitpid(peer, NULL, WUNTRACED), peer);
    waker = fork();
    if (waker == 0) {
        nanosleep(&nap, NULL);
        kill(peer, SIGCONT);
        _exit(0);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    lp_page_barrier(page);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    assert_int_equal(reap(waker), 0);
    assert_int_equal(reap(peer), 0);
    return (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
}

static void waiting_for_a_stopped_peer_is_cheap(void **state)
{
    struct lp_page *page;

    (void)state;
    assert_int_equal(lp_page_create(2, &page, NULL), LP_OK);
    assert_true(wait_for_stopped_peer(page, 0.5) < 0.1);
    lp_page_free(page);
}

static void barrier_of_one_does_not_wait(void **state)
{
    struct lp_page *page;

    (void)state;
    assert_int_equal(lp_page_create(1, &page, NULL), LP_OK);
    for (int i = 0; i < 1000; i++)
        lp_page_barrier(page);
    lp_page_free(page);
}

static void page_needs_a_worker(void **state)
{
    struct lp_page *page = NULL;
    struct lp_reason why = {""};

    (void)state;
    assert_int_equal(lp_page_create(0, &page, &why), LP_ERR_ARG);
    assert_int_equal(lp_page_create(-1, &page, &why), LP_ERR_ARG);
    assert_null(page);
    assert_true(why.text[0]);
    lp_page_free(NULL);
}

static void bad_handles_are_refused(void **state)
{
    static const char *const handles[] = {"", "/proc/self/fd/999", "/proc/1234567890/fd/3", "/dev/null", "/dev/shm", "page"};
    struct lp_page *page = NULL;
    struct lp_reason why;
    void *memory = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
        why.text[0] = '\0';
        assert_int_equal(lp_page_open(handles[i], &page, &why), LP_ERR_IO);
        assert_non_null(strstr(why.text, handles[i]));
        assert_int_equal(lp_shared_open(handles[i], 16, &memory, NULL), LP_ERR_IO);
    }
    assert_null(page);
    assert_null(memory);
}

static void memory_that_is_no_page_is_refused(void **state)
{
    struct lp_page *page = NULL;
    struct lp_reason why;
    char handle[64];
    void *memory;
    int fd;

    (void)state;
    assert_int_equal(lp_shared_create(1 << 16, &memory, &fd, &why), LP_OK);
    lp_shared_handle(fd, handle, sizeof(handle));
    assert_int_equal(lp_page_open(handle, &page, &why), LP_ERR_IO);
    assert_non_null(strstr(why.text, "not a page"));
    lp_shared_close(memory, 1 << 16, fd);
    assert_int_equal(lp_page_open(handle, &page, &why), LP_ERR_IO); /* the owner is gone */
}

static int write_through(const char *page_handle, const char *board_handle, int rank, int n)
{
    struct board *board;
    void *memory;

    (void)page_handle;
    if (lp_shared_open(board_handle, sizeof(*board), &memory, NULL) != LP_OK)
        return 2;
    board = memory;
    atomic_store(&board->count[rank], n);
    return 0;
}

static void shared_memory_is_shared(void **state)
{
    struct lp_reason why;
    char handle[64];
    void *second;
    int fd;
    struct board *board = make_board(&fd, handle);

    (void)state;
    assert_int_equal(atomic_load(&board->count[3]), 0);
    assert_int_equal(reap(start_child(write_through, NULL, handle, 3, 17)), 0);
    assert_int_equal(atomic_load(&board->count[3]), 17);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);

    assert_int_equal(lp_shared_open(handle, sizeof(*board) + 1, &second, &why), LP_ERR_IO); /* longer than it is */
    assert_non_null(strstr(why.text, handle));
    assert_int_equal(lp_shared_open(handle, sizeof(*board), &second, &why), LP_OK);
    lp_shared_close(board, sizeof(*board), fd);
    assert_int_equal(atomic_load(&((struct board *)second)->count[3]), 17); /* lives on with its last user */
    lp_shared_close(second, sizeof(*board), -1);
}

static void impossible_sizes_are_refused(void **state)
{
    static const size_t sizes[] = {0, SIZE_MAX, (size_t)1 << 62};
    struct lp_reason why;
    void *memory;
    int fd;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        why.text[0] = '\0';
        assert_int_equal(lp_shared_create(sizes[i], &memory, &fd, &why), LP_ERR_MEMORY);
        assert_true(why.text[0]);
    }
}

/* Each rank says true in the rounds of its number: everyone hears it then, and nobody a round before or after. */
static int say_in_turn(const char *page_handle, const char *board_handle, int rank, int n)
{
    struct lp_page *page;
    int wrong = 0;

    (void)board_handle;
    if (lp_page_open(page_handle, &page, NULL) != LP_OK)
        return 2;
    for (int round = 0; round < 300; round++)
        wrong += lp_page_any(page, round % (n + 1) == rank) != (round % (n + 1) < n);
    lp_page_free(page);
    return wrong ? 1 : 0;
}

static void any_is_heard_by_all(void **state)
{
    static const int crews[] = {1, 2, 3, 8};

    (void)state;
    for (size_t c = 0; c < sizeof(crews) / sizeof(crews[0]); c++) {
        struct lp_page *page;
        pid_t pids[8];

        assert_int_equal(lp_page_create(crews[c], &page, NULL), LP_OK);
        for (int r = 0; r < crews[c]; r++)
            pids[r] = start_child(say_in_turn, lp_page_handle(page), NULL, r, crews[c]);
        for (int r = 0; r < crews[c]; r++)
            assert_int_equal(reap(pids[r]), 0);
        lp_page_free(page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_is_heard_by_all),
        cmocka_unit_test(barrier_keeps_everybody_together),
        cmocka_unit_test(waiting_for_a_stopped_peer_is_cheap),
        cmocka_unit_test(barrier_of_one_does_not_wait),
        cmocka_unit_test(page_needs_a_worker),
        cmocka_unit_test(bad_handles_are_refused),
        cmocka_unit_test(memory_that_is_no_page_is_refused),
        cmocka_unit_test(shared_memory_is_shared),
        cmocka_unit_test(impossible_sizes_are_refused),
    };

    alarm(2 * LIMIT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
