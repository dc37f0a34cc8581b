/* Shared-memory files that a process maps: this one makes some below /dev/shm, and takes them all away after every test. */
#include "control/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define BYTES 4096
#define FILES (LP_MAX_SEGMENTS + 2)
#define MAPS  2

static struct {
    char path[128];
    void *map[MAPS];
} files[FILES];

static const char ours[] = "nccl-linkperf-test", others[] = "linkperf-test-nccl";

/* Makes file i, /dev/shm/PREFIX-PID-I, and maps it so often. */
static void make(int i, const char *prefix, int maps)
{
    int fd;

    snprintf(files[i].path, sizeof(files[i].path), "/dev/shm/%s-%ld-%d", prefix, (long)getpid(), i);
    fd = open(files[i].path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        fail_msg("%s: %s", files[i].path, strerror(errno));
    assert_int_equal(ftruncate(fd, BYTES), 0);
    for (int m = 0; m < maps; m++) {
        files[i].map[m] = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        assert_ptr_not_equal(files[i].map[m], MAP_FAILED);
    }
    close(fd);
}

static void unmap(int i)
{
    for (int m = 0; m < MAPS; m++) {
        if (files[i].map[m] && files[i].map[m] != MAP_FAILED)
            munmap(files[i].map[m], BYTES);
        files[i].map[m] = NULL;
    }
}

static bool is_there(int i)
{
    struct stat info;

    return lstat(files[i].path, &info) == 0;
}

static int set_up(void **state)
{
    static struct lp_segments segments;

    memset(&segments, 0, sizeof(segments));
    memset(files, 0, sizeof(files));
    *state = &segments;
    return 0;
}

static int tear_down(void **state)
{
    lp_segments_remove(*state);
    for (int i = 0; i < FILES; i++) {
        unmap(i);
        if (files[i].path[0])
            unlink(files[i].path);
    }
    return 0;
}

static void need_shm(void)
{
    if (access("/dev/shm", W_OK) != 0)
        skip();
}

/* What becomes of the file between its making, the noting and the removal. */
static void test_one_file(void **state)
{
    enum change { NOTHING, UNMAPPED, DELETED, DELETED_LATER, UNMAPPED_LATER, LINK_LATER };
    static const struct {
        const char *name, *prefix;
        int maps;
        enum change change;
        size_t noted, removed;
        bool left;
    } cases[] = {
        {"mapped", ours, 1, NOTHING, 1, 1, false},
        {"mapped twice", ours, 2, NOTHING, 1, 1, false},
        {"unmapped before the removal", ours, 1, UNMAPPED_LATER, 1, 1, false},
        {"of another prefix", others, 1, NOTHING, 0, 0, true},
        {"never mapped", ours, 0, NOTHING, 0, 0, true},
        {"no longer mapped", ours, 2, UNMAPPED, 0, 0, true},
        {"deleted already", ours, 1, DELETED, 0, 0, false},
        {"deleted since", ours, 1, DELETED_LATER, 1, 0, false},
        {"a link now", ours, 1, LINK_LATER, 1, 0, true},
    };
    struct lp_segments *segments = *state;

    need_shm();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *name = cases[i].name;
        int f = (int)i;

        make(f, cases[i].prefix, cases[i].maps);
        if (cases[i].change == UNMAPPED)
            unmap(f);
        if (cases[i].change == DELETED)
            unlink(files[f].path);
        lp_segments_note(segments, getpid());
        assert_case(name, segments->n == cases[i].noted);
        assert_case(name, segments->n == 0 || strcmp(segments->path[0], files[f].path) == 0);
        if (cases[i].change == UNMAPPED_LATER)
            unmap(f);
        if (cases[i].change == DELETED_LATER || cases[i].change == LINK_LATER)
            unlink(files[f].path);
        if (cases[i].change == LINK_LATER)
            assert_case(name, symlink("/dev/null", files[f].path) == 0);
        assert_case(name, lp_segments_remove(segments) == cases[i].removed);
        assert_case(name, segments->n == 0 && !segments->path[0]);
        assert_case(name, is_there(f) == cases[i].left);
        assert_case(name, lp_segments_remove(segments) == 0);
        unmap(f);
    }
}

static void test_noted_again(void **state)
{
    struct lp_segments *segments = *state;

    need_shm();
    make(0, ours, 1);
    lp_segments_note(segments, getpid());
    lp_segments_note(segments, getpid());
    assert_int_equal(segments->n, 1);
    make(1, ours, 1);
    lp_segments_note(segments, getpid());
    assert_int_equal(segments->n, 2);
    assert_string_equal(segments->path[0], files[0].path);
    assert_string_equal(segments->path[1], files[1].path);
    assert_int_equal(lp_segments_remove(segments), 2);
    assert_false(is_there(0) || is_there(1));
}

/* Another process, which is killed between the two steps as a worker is. */
static void test_of_a_killed_process(void **state)
{
    struct lp_segments *segments = *state;
    pid_t child;

    need_shm();
    make(0, ours, 1);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        for (;;)
            pause();
    }
    unmap(0);
    lp_segments_note(segments, child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(segments->n, 1);
    assert_int_equal(lp_segments_remove(segments), 1);
    assert_false(is_there(0));
    lp_segments_note(segments, child);
    assert_int_equal(segments->n, 0);
}

static void test_no_such_process(void **state)
{
    static const pid_t cases[] = {INT32_MAX, -1};
    struct lp_segments *segments = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        lp_segments_note(segments, cases[i]);
        assert_int_equal(segments->n, 0);
        assert_int_equal(lp_segments_remove(segments), 0);
    }
}

static void test_more_than_fit(void **state)
{
    struct lp_segments *segments = *state;
    int left = 0;

    need_shm();
    for (int i = 0; i < FILES; i++)
        make(i, ours, 1);
    lp_segments_note(segments, getpid());
    assert_int_equal(segments->n, LP_MAX_SEGMENTS);
    assert_int_equal(lp_segments_remove(segments), LP_MAX_SEGMENTS);
    for (int i = 0; i < FILES; i++)
        left += is_there(i);
    assert_int_equal(left, FILES - LP_MAX_SEGMENTS);
}

static void test_of_another_user(void **state)
{
    struct lp_segments *segments = *state;

    need_shm();
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    make(0, ours, 1);
    lp_segments_note(segments, getpid());
    assert_int_equal(segments->n, 1);
    if (chown(files[0].path, 65534, (gid_t)-1) != 0)
        skip(); /* a root that may not */
    assert_int_equal(lp_segments_remove(segments), 0);
    assert_true(is_there(0));
}

/* A file elsewhere whose path goes on like a segment's: the segment of that name belongs to somebody else. */
static void test_path_that_contains_the_prefix(void **state)
{
    struct lp_segments *segments = *state;
    char folder[64], path[256], *slash;
    void *map;
    int fd;

    need_shm();
    make(0, ours, 0);
    snprintf(folder, sizeof(folder), "/tmp/linkperf-segments-%ld", (long)getpid());
    snprintf(path, sizeof(path), "%s%s", folder, files[0].path);
    for (slash = strchr(path + strlen(folder) - 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && ftruncate(fd, BYTES) == 0);
    map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    assert_ptr_not_equal(map, MAP_FAILED);
    lp_segments_note(segments, getpid());
    munmap(map, BYTES);
    unlink(path);
    for (slash = strrchr(path, '/'); slash && slash > path + strlen("/tmp"); slash = strrchr(path, '/')) {
        *slash = '\0';
        rmdir(path);
    }
    assert_int_equal(segments->n, 0);
    assert_true(is_there(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_noted_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_of_a_killed_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_such_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_more_than_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_of_another_user, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_path_that_contains_the_prefix, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
