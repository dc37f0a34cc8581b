/* How a log is cut into messages: whole files, damaged ones, long ones, several writers. */
#include "proof/nccl_log.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

#include "nccl_logs.h"

static void read_text(struct lp_nccl_log *log, const char *text)
{
    lp_nccl_log_init(log);
    lp_nccl_log_feed(log, text, strlen(text));
    lp_nccl_log_end(log);
}

/* Whole files: what each is known for. */
static void test_files(void **state)
{
    static const struct {
        const char *name, *version, *transport;
        size_t writers, sets, selections, warnings;
        int channels; /* of rank 0; -1: not said */
    } cases[] = {
        {"h200-default", "2.28.3", "P2P/CUMEM", 2, 1, 19, 0, 24},
        {"h200-tree", "2.28.3", "P2P/CUMEM", 2, 2, 19, 0, 24},
        {"h200-p2p-off", "2.28.3", "SHM/direct/direct", 2, 2, 19, 0, 4},
        {"h200-level-loc", "2.28.3", "SHM/direct/direct", 2, 2, 19, 0, 4},
        {"h200-level-foo", "2.28.3", "P2P/CUMEM", 2, 1, 1, 0, 24},
        {"h200-algo-ringg", "2.28.3", "", 2, 2, 0, 1, -1},
        {"h200-buffsize-16m", "2.28.3", "P2P/CUMEM", 2, 2, 1, 0, 24},
        {"h200-p2p-shm-off", "2.28.3", "NET/Socket/0", 2, 3, 7, 0, 2},
        {"written-2.18-no-choices", "2.18.3", "P2P/direct pointer/read", 2, 0, 0, 0, 2},
        {"written-2.20-numbers", "2.20.5", "P2P/IPC/read", 2, 1, 5, 0, 4},
        {"written-2.23-numbers", "2.23.4", "SHM/direct/direct", 2, 1, 3, 0, 4},
        {"written-2.24-text", "2.24.3", "P2P/IPC", 2, 0, 5, 0, 16},
        {"written-2.27-symmetric", "2.27.3", "", 2, 0, 2, 0, 4},
        {"written-2.30-newer", "2.30.7", "mixed: SHM/direct, P2P/CUMEM", 2, 0, 8, 0, 4},
        {"written-nvls", "2.28.3", "P2P/CUMEM", 2, 0, 2, 0, 24},
        {"written-nvls-off", "2.28.3", "", 2, 0, 0, 2, -1},
        {"written-four-ranks", "2.28.3",
         "mixed: P2P/CUMEM, SHM/direct/direct, NET/IB/1(2)/GDRDMA/Shared, NET/IB/1/GDRDMA, P2P/indirect/1[1], unknown", 4, 0, 0, 0,
         2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *name = cases[i].name;
        const struct lp_nccl_writer *rank0;
        struct lp_nccl_log log;
        char transport[256];

        lp_nccl_log_init(&log);
        read_file(&log, name);
        lp_nccl_log_transport(&log, -1, -1, LP_LINKS_ALL, transport, sizeof(transport));
        rank0 = lp_nccl_log_rank(&log, 0);
        assert_string_equal(log.version, cases[i].version);
        if (strcmp(transport, cases[i].transport) != 0)
            fail_msg("%s: transport is %s", name, transport);
        assert_case(name, log.nwriters == cases[i].writers);
        if (log.nset != cases[i].sets || log.nselections != cases[i].selections || log.nwarnings != cases[i].warnings)
            fail_msg("%s: %zu sets, %zu selections, %zu warnings", name, log.nset, log.nselections, log.nwarnings);
        assert_case(name, rank0 && rank0->coll_channels == cases[i].channels);
        assert_case(name, log.dropped == 0 && log.warnings_dropped == 0);
        lp_nccl_log_release(&log);
    }
}

static void test_version_that_the_caller_knows(void **state)
{
    struct lp_nccl_log log;

    (void)state;
    lp_nccl_log_init(&log);
    lp_nccl_log_assume(&log, "2.20.5");
    read_file(&log, "written-2.20-rank1-only");
    assert_string_equal(log.selection[0].algorithm, "Ring");
    lp_nccl_log_release(&log);

    lp_nccl_log_init(&log);
    lp_nccl_log_assume(&log, "2.20.5");
    lp_nccl_log_assume(&log, "nonsense");
    read_file(&log, "h200-default");
    assert_int_equal(log.version_code, 22803); /* what the log says wins */
    lp_nccl_log_release(&log);
}

/* Lines that another writer cut are not believed; what follows the cut is. */
static void test_two_writers(void **state)
{
    struct lp_nccl_log log;
    char text[64];

    (void)state;
    lp_nccl_log_init(&log);
    read_file(&log, "written-two-writers");
    assert_int_equal(log.nselections, 2); /* 2048 with a damaged prefix, 4096 behind a table's row; not the cut one */
    assert_true(log.selection[0].bytes == 2048 && log.selection[1].bytes == 4096);
    assert_string_equal(lp_nccl_log_transport(&log, -1, -1, LP_LINKS_ALL, text, sizeof(text)), "P2P/CUMEM");
    assert_string_equal(lp_nccl_log_rank(&log, 1)->network, "Socket");
    assert_int_equal(log.unfinished, 3); /* two cut by the other, the last by the end */
    lp_nccl_log_release(&log);
}

static void test_junk(void **state)
{
    struct lp_nccl_log log;

    (void)state;
    lp_nccl_log_init(&log);
    read_file(&log, "written-junk");
    assert_int_equal(log.nwriters, 2);
    assert_true(lp_nccl_log_rank(&log, 0)->complete && lp_nccl_log_rank(&log, 1)->complete); /* CRLF */
    assert_string_equal(log.version, "2.28.3");
    assert_int_equal(log.nselections, 0);
    lp_nccl_log_release(&log);

    read_text(&log, "NCCL version 2.20.5+cuda12.4\nNCCL version 2.99\n");
    assert_int_equal(log.version_code, 22005); /* as it is printed to stdout, without a prefix */
    lp_nccl_log_release(&log);
    read_text(&log, "");
    assert_int_equal(log.lines, 0);
    lp_nccl_log_release(&log);
}

/* A message behind a million bytes without a newline is read, one before them is lost, and memory stays small. */
static void test_long_line(void **state)
{
    static const char before[] = "box:1:1 [0] NCCL INFO NCCL_ALGO set by environment to Ring";
    static const char after[] = "box:1:1 [0] NCCL INFO NCCL_PROTO set by environment to LL\n";
    static char block[10007];
    struct lp_nccl_log log;

    (void)state;
    memset(block, 'x', sizeof(block));
    lp_nccl_log_init(&log);
    lp_nccl_log_feed(&log, before, strlen(before));
    for (int i = 0; i < 100; i++)
        lp_nccl_log_feed(&log, block, sizeof(block));
    lp_nccl_log_feed(&log, after, strlen(after));
    lp_nccl_log_end(&log);
    assert_int_equal(log.lines, 1);
    assert_int_equal(log.nset, 1);
    assert_string_equal(log.set[0].name, "NCCL_PROTO");
    lp_nccl_log_release(&log);
}

/* A stream of 100 MB: equal lines are counted, warnings beyond the limit, too. */
static void test_long_stream(void **state)
{
    const int rounds = 20000;
    struct lp_nccl_log log;
    char line[512];

    (void)state;
    lp_nccl_log_init(&log);
    lp_nccl_log_feed(&log, "box:1:1 [0] NCCL INFO NCCL version 2.28.3+cuda13.0\n", 51);
    for (int i = 0; i < rounds; i++) {
        int n = snprintf(line, sizeof(line),
                         "box:1:1 [0] NCCL INFO AllReduce: %d Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}\n"
                         "box:1:1 [0] init.cc:1 NCCL WARN something %d went wrong\n"
                         "box:1:1 [0] NCCL INFO Channel 00/0 : %d[0] -> %d[0] via P2P/IPC\n"
                         "box:%d:1 [0] NCCL INFO NCCL_X%d set by environment to %d.\n",
                         i, i, i, i + 1, i, i, i);

        lp_nccl_log_feed(&log, line, (size_t)n);
    }
    lp_nccl_log_end(&log);
    assert_int_equal(log.lines, 1 + 4 * rounds);
    assert_int_equal(log.nwarnings + log.warnings_dropped, rounds);
    assert_true(log.nwarnings < 1000 && log.nselections < 5000 && log.nlinks < 20000 && log.nset < 1000);
    assert_int_equal(log.nwriters, LP_NCCL_WRITERS);
    assert_true(log.dropped > 0);
    lp_nccl_log_release(&log);
}

/* The same in pieces of any length. */
static void test_pieces(void **state)
{
    char text[32768];
    FILE *file = fopen(LP_NCCL_LOGS "h200-default.log", "r");
    size_t n;

    (void)state;
    assert_non_null(file);
    n = fread(text, 1, sizeof(text), file);
    fclose(file);
    for (size_t piece = 1; piece < 3000; piece = piece * 3 + 1) {
        struct lp_nccl_log log;

        lp_nccl_log_init(&log);
        for (size_t at = 0; at < n; at += piece)
            lp_nccl_log_feed(&log, text + at, at + piece < n ? piece : n - at);
        lp_nccl_log_end(&log);
        assert_int_equal(log.nselections, 19);
        assert_int_equal(log.nlinks, 2);
        lp_nccl_log_release(&log);
    }
}

static void test_no_file(void **state)
{
    struct lp_reason why = {""};
    struct lp_nccl_log log;

    (void)state;
    lp_nccl_log_init(&log);
    assert_int_equal(lp_nccl_log_read(&log, "/no/such.log", &why), LP_ERR_IO);
    assert_says(why.text, "/no/such.log");
    assert_int_equal(lp_nccl_log_read(&log, "/tmp", &why), LP_ERR_IO);
    lp_nccl_log_release(&log);
}

static void test_json(void **state)
{
    struct lp_nccl_log log;
    json_t *json, *rank;

    (void)state;
    lp_nccl_log_init(&log);
    json = lp_nccl_log_json(&log);
    assert_true(json_is_null(json_object_get(json, "transport")));
    json_decref(json);
    read_file(&log, "h200-p2p-off");
    json = lp_nccl_log_json(&log);
    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "transport")), "SHM/direct/direct");
    assert_string_equal(json_string_value(json_object_get(json, "nccl")), "2.28.3");
    rank = json_array_get(json_object_get(json, "ranks"), 0);
    assert_int_equal(json_integer_value(json_object_get(rank, "coll_channels")), 4);
    json_decref(json);
    lp_nccl_log_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),       cmocka_unit_test(test_version_that_the_caller_knows),
        cmocka_unit_test(test_two_writers), cmocka_unit_test(test_junk),
        cmocka_unit_test(test_long_line),   cmocka_unit_test(test_long_stream),
        cmocka_unit_test(test_pieces),      cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
