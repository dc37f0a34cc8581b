/* Cutting a byte stream into lines, over a socket pair as between agent and worker. */
#include "base/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit.h"

struct pair {
    int near, far; /* near is read, and does not block */
    struct lp_lines lines;
};

static int set_up(void **state)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    int fds[2];

    if (!pair || socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        return -1;
    pair->near = fds[0];
    pair->far = fds[1];
    fcntl(pair->near, F_SETFL, O_NONBLOCK);
    fcntl(pair->far, F_SETFL, O_NONBLOCK);
    *state = pair;
    return 0;
}

static int tear_down(void **state)
{
    struct pair *pair = *state;

    lp_lines_release(&pair->lines);
    close(pair->near);
    if (pair->far >= 0)
        close(pair->far);
    free(pair);
    return 0;
}

static void say(struct pair *pair, const char *text)
{
    assert_int_equal(write(pair->far, text, strlen(text)), strlen(text));
    assert_int_equal(lp_lines_read(&pair->lines, pair->near), LP_OK);
}

static void expect_line(struct pair *pair, const char *text)
{
    const char *line = lp_lines_next(&pair->lines);

    assert_non_null(line);
    assert_string_equal(line, text);
}

static void hang_up(struct pair *pair)
{
    close(pair->far);
    pair->far = -1;
}

static void test_nothing_yet(void **state)
{
    struct pair *pair = *state;

    assert_null(lp_lines_next(&pair->lines));
    assert_int_equal(lp_lines_read(&pair->lines, pair->near), LP_OK);
    assert_null(lp_lines_next(&pair->lines));
}

static void test_parts_of_lines(void **state)
{
    struct pair *pair = *state;

    say(pair, "{\"a\"");
    assert_null(lp_lines_next(&pair->lines));
    say(pair, ":1}");
    assert_null(lp_lines_next(&pair->lines));
    say(pair, "\n{");
    expect_line(pair, "{\"a\":1}");
    assert_null(lp_lines_next(&pair->lines));
    say(pair, "}\n");
    expect_line(pair, "{}");
    assert_null(lp_lines_next(&pair->lines));
}

static void test_many_at_once_and_empty_ones(void **state)
{
    struct pair *pair = *state;

    say(pair, "\n\none\ntwo\n\nrest");
    expect_line(pair, "");
    expect_line(pair, "");
    expect_line(pair, "one");
    expect_line(pair, "two");
    expect_line(pair, "");
    assert_null(lp_lines_next(&pair->lines));
    say(pair, "\r\n");
    expect_line(pair, "rest\r");
}

static void test_end_of_file(void **state)
{
    struct pair *pair = *state;

    say(pair, "last\ncut off");
    hang_up(pair);
    assert_int_equal(lp_lines_read(&pair->lines, pair->near), LP_ERR_LOST);
    expect_line(pair, "last");
    assert_null(lp_lines_next(&pair->lines));
    assert_int_equal(lp_lines_read(&pair->lines, pair->near), LP_ERR_LOST);
}

/* A peer that is killed with unread words in its socket resets the connection. */
static void test_reset_is_a_loss(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(write(pair->near, "unread\n", 7), 7);
    hang_up(pair);
    assert_int_equal(lp_lines_read(&pair->lines, pair->near), LP_ERR_LOST);
}

static void test_bad_descriptor(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(lp_lines_read(&pair->lines, -1), LP_ERR_IO);
}

/* Writes len bytes 'x' and reads them, in pieces that fit into the socket; the first status that is not ok. */
static enum lp_status pour(struct pair *pair, size_t len)
{
    static char block[65536];
    enum lp_status st = LP_OK;

    memset(block, 'x', sizeof(block));
    while (len > 0 && st == LP_OK) {
        ssize_t wrote = write(pair->far, block, len < sizeof(block) ? len : sizeof(block));

        if (wrote > 0)
            len -= (size_t)wrote;
        else
            assert_int_equal(errno, EAGAIN);
        st = lp_lines_read(&pair->lines, pair->near);
    }
    for (int i = 0; i < 64 && st == LP_OK; i++)
        st = lp_lines_read(&pair->lines, pair->near);
    return st;
}

static void test_longest_line(void **state)
{
    struct pair *pair = *state;
    const char *line;

    assert_int_equal(pour(pair, LP_LINE_MAX - 1), LP_OK);
    assert_null(lp_lines_next(&pair->lines));
    say(pair, "\n");
    line = lp_lines_next(&pair->lines);
    assert_non_null(line);
    assert_int_equal(strlen(line), LP_LINE_MAX - 1);
    say(pair, "short again\n");
    expect_line(pair, "short again");
}

static void test_too_long_a_line(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(pour(pair, LP_LINE_MAX + 1), LP_ERR_PARSE);
    assert_null(lp_lines_next(&pair->lines));
    assert_int_equal(lp_lines_read(&pair->lines, pair->near), LP_ERR_PARSE);
}

/* More than a buffer in all, with a line cut at the end of nearly every read. */
static void test_long_stream(void **state)
{
    struct pair *pair = *state;
    char text[1500];
    int next = 0;

    for (int i = 0; i < 2000; i++) {
        const char *line;

        snprintf(text, sizeof(text), "%d %0*d\n", i, 1 + i % 1400, 0);
        say(pair, text);
        while (i % 3 == 0 && (line = lp_lines_next(&pair->lines)) != NULL)
            assert_int_equal(atoi(line), next++);
    }
    for (const char *line = lp_lines_next(&pair->lines); line; line = lp_lines_next(&pair->lines))
        assert_int_equal(atoi(line), next++);
    assert_int_equal(next, 2000);
    assert_true(pair->lines.cap <= 65536);
}

static void test_release(void **state)
{
    struct pair *pair = *state;

    say(pair, "x");
    lp_lines_release(&pair->lines);
    assert_null(lp_lines_next(&pair->lines));
    say(pair, "y\n");
    expect_line(pair, "y");
}

#define test_case(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_case(test_nothing_yet),  test_case(test_parts_of_lines),  test_case(test_many_at_once_and_empty_ones),
        test_case(test_end_of_file),  test_case(test_reset_is_a_loss), test_case(test_bad_descriptor),
        test_case(test_longest_line), test_case(test_too_long_a_line), test_case(test_long_stream),
        test_case(test_release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
