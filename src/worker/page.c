/*
 * Shared memory between the workers of a host, and their barrier. Who is missing at it, and for how long that is borne, is
 * the controller's business.
 */
#include "worker/page.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE_MAGIC 0x6c706167u
#define SPINS      500  /* about 10 us: longer than a barrier of running workers takes, shorter than a time slice */
#define YIELDS     1000 /* then the peer is stopped or busy elsewhere, and this core has better things to do */

#if defined(__x86_64__)
#define relax() __builtin_ia32_pause()
#else
#define relax() atomic_signal_fence(memory_order_seq_cst)
#endif

/* Those who wait read only the generation, so it has a cache line that arrivals do not take away. */
struct shared {
    uint32_t magic;
    int32_t n;
    alignas(64) _Atomic uint32_t arrived;
    alignas(64) _Atomic uint32_t generation;
    alignas(64) _Atomic uint32_t sleepers;
    _Atomic uint32_t said[3]; /* lp_page_any: one slot for this call, one being read late, one being cleared */
};

struct lp_page {
    struct shared *shared;
    int fd; /* -1 in those who opened it */
    int spins;
    unsigned asked; /* calls of lp_page_any */
    char handle[64];
};

enum lp_status lp_shared_create(size_t bytes, void **ptr, int *fd, struct lp_reason *why)
{
    int memory = memfd_create("linkperf", MFD_CLOEXEC);
    void *mapped;

    if (memory < 0)
        return lp_because(why, LP_ERR_IO, "no shared memory: memfd_create: %s", strerror(errno));
    if (ftruncate(memory, (off_t)bytes) != 0)
        goto fail;
    mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (mapped == MAP_FAILED)
        goto fail;
    *ptr = mapped;
    *fd = memory;
    return LP_OK;
fail:
    lp_because(why, LP_ERR_MEMORY, "no shared memory of %zu bytes: %s", bytes, strerror(errno));
    close(memory);
    return LP_ERR_MEMORY;
}

void lp_shared_handle(int fd, char *handle, size_t cap)
{
    snprintf(handle, cap, "/proc/%ld/fd/%d", (long)getpid(), fd);
}

enum lp_status lp_shared_open(const char *handle, size_t bytes, void **ptr, struct lp_reason *why)
{
    int fd = open(handle, O_RDWR | O_CLOEXEC);
    enum lp_status st = LP_OK;
    struct stat facts;
    void *mapped;

    if (fd < 0)
        return lp_because(why, LP_ERR_IO, "cannot open the shared memory %s: %s", handle, strerror(errno));
    /* A mapping that is longer than its file is a SIGBUS later. */
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || (uint64_t)facts.st_size < bytes) {
        st = lp_because(why, LP_ERR_IO, "%s is not shared memory of %zu bytes", handle, bytes);
        goto close_fd;
    }
    mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        st = lp_because(why, LP_ERR_MEMORY, "cannot map %zu bytes of %s: %s", bytes, handle, strerror(errno));
    else
        *ptr = mapped;
close_fd:
    close(fd);
    return st;
}

void lp_shared_close(void *ptr, size_t bytes, int fd)
{
    if (ptr)
        munmap(ptr, bytes);
    if (fd >= 0)
        close(fd);
}

/* Spinning pays only if all workers can run at once: a spinning one would keep the last from arriving. */
static int spins_for(int n)
{
    cpu_set_t cpus;

    if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
        return 0;
    return CPU_COUNT(&cpus) >= n ? SPINS : 0;
}

enum lp_status lp_page_create(int n, struct lp_page **out, struct lp_reason *why)
{
    struct lp_page *page;
    enum lp_status st;
    void *memory;

    if (n < 1)
        return lp_because(why, LP_ERR_ARG, "a page for %d workers", n);
    page = calloc(1, sizeof(*page));
    if (!page)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    st = lp_shared_create(sizeof(struct shared), &memory, &page->fd, why);
    if (st != LP_OK) {
        free(page);
        return st;
    }
    page->shared = memory;
    page->shared->magic = PAGE_MAGIC;
    page->shared->n = n;
    page->spins = spins_for(n);
    lp_shared_handle(page->fd, page->handle, sizeof(page->handle));
    *out = page;
    return LP_OK;
}

const char *lp_page_handle(const struct lp_page *page)
{
    return page->handle;
}

enum lp_status lp_page_open(const char *handle, struct lp_page **out, struct lp_reason *why)
{
    struct lp_page *page;
    enum lp_status st;
    void *memory;

    st = lp_shared_open(handle, sizeof(struct shared), &memory, why);
    if (st != LP_OK)
        return st;
    page = calloc(1, sizeof(*page));
    if (!page) {
        st = lp_because(why, LP_ERR_MEMORY, "out of memory");
        goto unmap;
    }
    page->shared = memory;
    page->fd = -1;
    if (page->shared->magic != PAGE_MAGIC || page->shared->n < 1) {
        st = lp_because(why, LP_ERR_IO, "%s is not a page of linkperf", handle);
        goto free_page;
    }
    page->spins = spins_for(page->shared->n);
    snprintf(page->handle, sizeof(page->handle), "%s", handle);
    *out = page;
    return LP_OK;
free_page:
    free(page);
unmap:
    lp_shared_close(memory, sizeof(struct shared), -1);
    return st;
}

void lp_page_free(struct lp_page *page)
{
    if (!page)
        return;
    lp_shared_close(page->shared, sizeof(*page->shared), page->fd);
    free(page);
}

static bool passed(const struct shared *shared, uint32_t generation)
{
    return atomic_load(&shared->generation) != generation;
}

/*
 * A wake cannot be lost: this counts itself among the sleepers before the kernel compares the generation, and the last to
 * arrive changes the generation before it looks for sleepers. The time limit only means that nothing depends on a
 * worker that was killed between the two.
 */
static void sleep_until_passed(struct shared *shared, uint32_t generation)
{
    const struct timespec limit = {.tv_nsec = 2000000};

    atomic_fetch_add(&shared->sleepers, 1);
    while (!passed(shared, generation))
        syscall(SYS_futex, &shared->generation, FUTEX_WAIT, generation, &limit, NULL, 0);
    atomic_fetch_sub(&shared->sleepers, 1);
}

static void wait_until_passed(const struct lp_page *page, uint32_t generation)
{
    struct shared *shared = page->shared;

    for (int i = 0; i < page->spins; i++) {
        if (passed(shared, generation))
            return;
        relax();
    }
    for (int i = 0; i < YIELDS; i++) {
        if (passed(shared, generation))
            return;
        sched_yield();
    }
    sleep_until_passed(shared, generation);
}

void lp_page_barrier(struct lp_page *page)
{
    struct shared *shared = page->shared;
    uint32_t generation = atomic_load(&shared->generation); /* stays while this worker has not arrived */

    if (atomic_fetch_add(&shared->arrived, 1) + 1 < (uint32_t)shared->n) {
        wait_until_passed(page, generation);
        return;
    }
    atomic_store(&shared->arrived, 0); /* before the others are let go and arrive at the next one */
    atomic_fetch_add(&shared->generation, 1);
    if (atomic_load(&shared->sleepers) > 0)
        syscall(SYS_futex, &shared->generation, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/*
 * Three slots in turn: the slot of the call after next is cleared here, where everyone is past reading it (they have all
 * arrived) and nobody can be ahead by two calls.
 */
bool lp_page_any(struct lp_page *page, bool mine)
{
    unsigned slot = page->asked % 3, spare = (page->asked + 2) % 3;

    if (mine)
        atomic_store(&page->shared->said[slot], 1);
    lp_page_barrier(page);
    atomic_store(&page->shared->said[spare], 0);
    page->asked++;
    return atomic_load(&page->shared->said[slot]) != 0;
}
