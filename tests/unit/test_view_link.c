/* The link's report: what stands in which table, under which heading, in which unit and direction; and that subsets do. */
#include "full_link.h"
#include "unit.h"

#include "printed.h"

#define DIRECTIONS "source (down) -> destination (across)"

static char *printed_link(struct lp_result *result)
{
    return printed(lp_view_link, result, 160);
}

/* 390 with the copy engine, 365 with the SMs, 720 both ways: each figure says its direction and unit, and the share of what. */
static void test_two_gpus(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    result_of_gpus(&result, 2, "NV18", 478.125, NULL);
    json_object_set_new(json_object_get(result.head, "topology"), "line",
                        json_of("{'gbps': 478.125, 'words': '18 NVLinks x 26.56 GB/s', 'nominal_words': '900 GB/s'}"));
    add_rate(&result, "ce_write", 0, 1, 390.0);
    add_rate(&result, "ce_write", 1, 0, 390.5);
    add_rate(&result, "sm_write", 0, 1, 366.0);
    add_rate(&result, "sm_write", 1, 0, 365.0);
    add_record(&result, both_of("sm_write", 0, 1, 360.0, 360.0));
    text = printed_link(&result);
    assert_line(text, "\nrates between GPUs 0 and 1 (kind NV18), ", "source -> destination, GB/s (10^9 bytes/s)");
    assert_line(text, "  0 -> 1  1 -> 0  ", "both   percent      one way");
    assert_line(text, "sum of  both ran  theoretical", "slower way");
    assert_line(text, "\ncopy path ", "bytes    GB/s    GB/s    GB/s   of time         GB/s  which is      of that");
    assert_line(text, "\ncopy engine write, P2P on ",
                "one way     512M   390.0   390.5       -         -        478.1  line rate          82");
    assert_line(text, "\nSM write, P2P on ",
                "one way     512M   366.0   365.0       -         -        478.1  line rate          76");
    assert_line(text, "  both ways  ", "both ways   512M   360.0   360.0   720.0        99        478.1  line rate          75");
    assert_line(text, "\nline rate: 478.1 GB/s per direction", "the '900 GB/s' people quote counts both directions");
    assert_no(text, DIRECTIONS);
    free(text);
    lp_result_release(&result);
}

static void test_two_gpus_in_full(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill_full(&result, 2, -1);
    text = printed_link(&result);
    assert_line(text, "\ndriver-staged copy, P2P off ", "63.00  PCIe rate          59");
    assert_line(text, "between processes (CUDA IPC)  ", "1M   301.5   301.5       -         -        478.1  line rate           -");
    assert_line(text, "\nlatencies between GPUs 0 and 1", "source -> destination");
    assert_line(text, "16 bytes, back to back, time of one copy ", "us      2.21    2.21");
    assert_line(text, "\nload latency, P2P on ", "the destination loads from the source's memory");
    assert_line(text, "\nload latency, P2P on ", "ns     829.0   829.0");
    assert_line(text, "\none-way flag latency, P2P on ", "us      1.02    1.02");
    assert_line(text, "no outliers among 2 directed pairs", "fewer than 3 of a kind");
    assert_no(text, "many copies at once");
    assert_no(text, "overlap");
    free(text);
    lp_result_release(&result);
}

/* A single path of three GPUs, as its name and title have it. Edges of references are those of one GPU. */
static void fill_path(struct lp_result *result, const struct lp_path *path, const char *pattern)
{
    result_of_gpus(result, 3, "NV18", 478.125, NULL);
    for (int a = 0; a < 3; a++)
        for (int b = a + 1; b < 3; b++) {
            struct lp_record record = both_of(path->name, a, b, 26.25, 24.75);

            record.latency_us = 1.25;
            if (strcmp(pattern, "one_way") == 0) {
                strcpy(record.cell.pattern, pattern);
                record.cell.nedges = 1;
                record.algbw_gbps = 26.25;
            }
            add_record(result, record);
        }
}

/* Every path's table says path with engine, direction, unit and size (a latency's size means nothing). */
static void test_headings(void **state)
{
    static const char *const patterns[] = {"one_way", "both_ways"};

    (void)state;
    for (size_t p = 0; lp_paths[p]; p++)
        for (size_t k = 0; k < COUNT_OF(patterns); k++) {
            bool timed = lp_paths[p]->flags & LP_PATH_LATENCY;
            struct lp_result result;
            char *text, start[128];

            fill_path(&result, lp_paths[p], patterns[k]);
            text = printed_link(&result);
            snprintf(start, sizeof(start), "\n%s, ", lp_paths[p]->title);
            assert_line(text, start, DIRECTIONS);
            assert_line(text, start, timed ? (lp_paths[p]->flags & LP_PATH_READ ? ", ns" : ", us") : ", GB/s (10^9 bytes/s)");
            assert_line(text, start, timed ? "" : "512M bytes");
            assert_line(text, start, k == 0 || timed ? "" : "each way while the other runs");
            assert_line(text, "\nGPU 0  ", timed ? (lp_paths[p]->flags & LP_PATH_READ ? "1250.0" : "1.25") : "26.25");
            free(text);
            lp_result_release(&result);
        }
}

static void test_small_copies_are_times(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    result_of_gpus(&result, 3, "NV18", 478.125, NULL);
    add_latency(&result, "ce_write", 0, 1, 2.25);
    add_latency(&result, "ce_write", 1, 0, 2.5);
    text = printed_link(&result);
    assert_line(text, "\ncopy engine write, P2P on, 16 bytes, back to back, time of one copy, " DIRECTIONS ", us", "us");
    assert_line(text, "\nGPU 0 ", "    .  2.25  -");
    assert_line(text, "\nlatencies by kind of pair", "source -> destination");
    assert_line(text, "\nNV18  copy engine write, P2P on", "us           2.38          2.50      1 -> 0");
    free(text);
    lp_result_release(&result);
}

/* 26.3 everywhere, but 13.1 between 2 and 3 and 6.5 one way from 0 to 1. */
static void test_outliers(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    result_of_gpus(&result, 4, "PIX", 31.5, NULL);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            if (a != b)
                add_rate(&result, "sm_write", a, b, a + b == 5 ? 13.1 : a == 0 && b == 1 ? 6.5 : 26.3);
    text = printed_link(&result);
    assert_line(text, "\nSM write, P2P on, 512M bytes, " DIRECTIONS, "GB/s (10^9 bytes/s)");
    assert_line(text, "\nGPU 0 ", "    .   6.50  26.30  26.30");
    assert_line(
        text, "\noutlier: SM write, P2P on: GPU 2 -> GPU 3: ", "13.10 GB/s, 0.50 of the median 26.30 of its kind (PIX, 12 pairs)");
    assert_line(text, "\noutlier: SM write, P2P on: GPU 3 -> GPU 2: ", "13.10 GB/s");
    assert_line(text, "\noutlier: SM write, P2P on: GPU 0 -> GPU 1: ", "6.50 GB/s, 0.25 of the median");
    assert_line(text, "\nasymmetric: SM write, P2P on: GPU 0 -> GPU 1: ", "6.50 GB/s, back 26.30 GB/s");
    assert_line(text, "\nkind PIX: 12 directed pairs, line rate 31.50 GB/s per direction", "(as the driver says)");
    assert_line(text, "\nSM write, P2P on  ", "26.30     6.50      0 -> 1        31.50  line rate          21");
    assert_line(text, "\nslowest pair alone: GPU 0 -> GPU 1", "6.50 GB/s src -> dst, 25 % of the median pair of its kind (PIX)");
    assert_no(text, "no outliers");
    free(text);
    lp_result_release(&result);
}

/* More than fit are counted, the worst are named. */
static void test_many_outliers(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    result_of_gpus(&result, 16, "PIX", 31.5, NULL);
    for (int a = 0; a < 16; a++)
        for (int b = 0; b < 16; b++)
            if (a != b)
                add_rate(&result, "sm_write", a, b, a < 3 ? 10.0 + a : 26.0);
    text = printed_link(&result);
    assert_int_equal(count_lines(text, "outlier: ") + count_lines(text, "asymmetric: "), 24);
    assert_line(text, "\nand ", " more that stand out, less than these");
    free(text);
    lp_result_release(&result);
}

/* GPU 7 is reached over PCI Express: a kind of its own, with what that kind can carry. */
static void test_eight_gpus(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    fill_full(&result, 8, 7);
    text = printed(lp_view_link, &result, 132);
    assert_line(text, "\ncopy engine write, P2P on, 512M bytes, " DIRECTIONS, "GB/s (10^9 bytes/s)");
    assert_line(text, "\n           0      1      2 ", "     7");
    assert_line(text, "\nGPU 7  50.23  50.18 ", "49.93      .");
    assert_line(text, "\nload latency, P2P on, the destination loads from the source's memory", DIRECTIONS ", ns");
    assert_line(text, "\nkind NV18: 42 directed pairs", "line rate 478.1 GB/s per direction");
    assert_line(text, "\nkind SYS: 14 directed pairs", "line rate 63.00 GB/s per direction");
    assert_line(text, "48.65    48.30 ",
                "both ways   512M      97.30   48.65    48.30      7 -> 0        63.00  line rate          77");
    assert_line(text, "\nSYS   load latency, P2P on ", "ns         1410.0        1410.0      0 -> 7");
    assert_line(text, "\ncopy engine write, P2P on                       one to all others at once ",
                "7     8          392.2    56.00");
    assert_line(text, "every rank to every other at once ", "512M       56     1         2895.4    51.43      0 -> 1       97");
    assert_line(text, "\nsmall copies, each issued and waited for alone, GPU 0 -> GPU 7 (kind SYS)", "us from the call to its end");
    assert_says(text, "\nno outliers among 56 directed pairs");
    assert_line(text, "\npeer access: all 56 directed pairs: yes by the driver", "between processes (CUDA IPC)");
    assert_line(text, "\nslowest pair alone: GPU 0 -> GPU 7", "of its kind (SYS)");
    free(text);
    lp_result_release(&result);
}

/* 16 columns of three digits fit 132 characters. */
static void test_sixteen_gpus(void **state)
{
    struct lp_result result;
    char *text, *line;

    (void)state;
    fill_full(&result, 16, -1);
    text = printed(lp_view_link, &result, 132);
    line = line_with(text, "\nGPU 15 ");
    assert_true(strlen(line) <= 132);
    free(line);
    free(text);
    lp_result_release(&result);
}

/* A cell that is not ok says what it is; a matrix without any figure is only its note. */
static void test_bad_cells(void **state)
{
    struct lp_result result;
    struct lp_record wrong = copy_of("ce_write", 1, 2);
    char *text;

    (void)state;
    result_of_gpus(&result, 3, "NV18", 478.125, NULL);
    add_rate(&result, "ce_write", 0, 1, 390.0);
    add_bad(&result, "ce_write", 0, 2, LP_HANG, "no answer within 10 s");
    add_bad(&result, "ce_write", 1, 0, LP_SKIPPED, "not tried: a copy with P2P hung before");
    add_bad(&result, "ce_write", 2, 0, LP_SKIPPED, "not tried: a copy with P2P hung before");
    wrong.outcome = LP_WRONG;
    wrong.algbw_gbps = 400.0;
    wrong.checked = (struct lp_checked){.iterations = 6, .wrong_iterations = 2, .wrong_elements = 77, .first_rank = 2};
    add_record(&result, wrong);
    for (int g = 0; g < 6; g++)
        add_bad(&result, "sm_write", g / 2, (g / 2 + 1 + g % 2) % 3, LP_UNSUPPORTED, "no peer access");
    text = printed_link(&result);
    assert_line(text, "\nGPU 0  ", ".  390.0    hang");
    assert_says(text, "\nGPU 1  skipped      .  wrong!");
    assert_says(text, "\nGPU 2  skipped      -       .");
    assert_line(text,
                "\ncopy engine write, P2P on: skipped, GPU 1 -> GPU 0, GPU 2 -> GPU 0: ", "not tried: a copy with P2P hung before");
    assert_line(text, "\ncopy engine write, P2P on: hang, GPU 0 -> GPU 2: ", "no answer within 10 s");
    assert_line(text, "\ncopy engine write, P2P on: wrong, GPU 1 -> GPU 2: ", "77 wrong elements in 2 of 6 checked iterations");
    assert_says(text, "\nSM write, P2P on: unsupported, all pairs: no peer access");
    assert_no(text, "SM write, P2P on, 512M bytes");
    assert_no(text, "400.0");
    free(text);
    lp_result_release(&result);
}

/* The two directions of a record in which they did not run at once are no both-ways figure: said once, with the worst pair. */
static void test_overlap(void **state)
{
    struct lp_result result;
    struct lp_record record;
    char *text;

    (void)state;
    result_of_gpus(&result, 3, "NV18", 478.125, NULL);
    for (int i = 0; i < 3; i++) {
        record = both_of("ce_staged", i == 2, i == 0 ? 1 : 2, 26.0, 26.0);
        record.overlap = i == 0 ? 0.95 : i == 1 ? 0.85 : 0.89;
        add_record(&result, record);
    }
    text = printed_link(&result);
    assert_line(text, "\noverlap: driver-staged copy, P2P off, both ways at once, GPU 0 and GPU 2: ",
                "the two directions did not run at once for 15 % of the time (the worst of 2 of 3)");
    assert_int_equal(count_lines(text, "overlap: "), 1);
    free(text);
    lp_result_release(&result);
}

static void test_host_memory(void **state)
{
    static const char *const headings[] = {"\nhost memory: ",
                                           "\nCPU write, direct, 512M bytes, ",
                                           "\nkind host memory: 6 directed pairs",
                                           "\none-way flag latency between processes, half ",
                                           "\nlatencies by kind",
                                           "\nsmall copies, each issued"};
    struct lp_result result;
    char *text;

    (void)state;
    result_of(&result, "{'complete': true, 'device': 'host', 'ranks': [{}, {}, {}]}");
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            if (a != b) {
                add_rate(&result, "cpu_write", a, b, a == 2 ? 4.0 : 9.0);
                add_latency(&result, "cpu_flag", a, b, 0.25);
            }
    add_isolated(&result, "cpu_write", 0, 1, 4, 1.0);
    text = printed_link(&result);
    for (size_t i = 0; i < COUNT_OF(headings); i++)
        assert_line(text, headings[i], "(host memory: copies between processes, not a GPU link)");
    assert_line(text, "\nprocess 0 ", "9.00");
    assert_line(text, "\nasymmetric: CPU write, direct: process 2 -> process 0: ", "4.00 GB/s, back 9.00 GB/s");
    assert_no(text, "GPU 0");
    assert_no(text, "peer access");
    free(text);
    lp_result_release(&result);
}

/* A run of collectives measures some paths only, one way, and a ring, of which an older one has no rate of each edge. */
static void test_subset(void **state)
{
    struct lp_result result;
    struct lp_record ring = full_pattern("ring", "sm_write", 4, 0, (double)NAN);
    char *text;

    (void)state;
    result_of_gpus(&result, 4, "NV18", 478.125, NULL);
    ring.algbw_gbps = 365.0;
    add_record(&result, ring);
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            if (a != b)
                add_rate(&result, "ce_write", a, b, 390.0);
    text = printed_link(&result);
    assert_line(text, "\ncopy engine write, P2P on  ", "one way   512M ");
    assert_no(text, "references");
    assert_no(text, "latencies");
    assert_no(text, "small copies");
    assert_no(text, "many copies at once");
    assert_no(text, "SM write");
    free(text);
    lp_result_release(&result);
}

/* A journal without its head: ranks are those of the records. */
static void test_bare_head(void **state)
{
    struct lp_result result;
    char *text;

    (void)state;
    result_of(&result, "{}");
    text = printed_link(&result);
    assert_string_equal(text, "");
    free(text);
    add_rate(&result, "ce_write", 2, 1, 26.25);
    add_rate(&result, "a_later_path", 0, 1, 26.25);
    text = printed_link(&result);
    assert_line(text, "\nGPU 2  ", "  -  26.25  .");
    assert_line(text, "\na_later_path, 512M bytes, ", DIRECTIONS);
    assert_says(text, "\nkind unknown: 6 directed pairs");
    free(text);
    lp_result_release(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_gpus),    cmocka_unit_test(test_two_gpus_in_full),
        cmocka_unit_test(test_headings),    cmocka_unit_test(test_small_copies_are_times),
        cmocka_unit_test(test_outliers),    cmocka_unit_test(test_many_outliers),
        cmocka_unit_test(test_eight_gpus),  cmocka_unit_test(test_sixteen_gpus),
        cmocka_unit_test(test_bad_cells),   cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_host_memory), cmocka_unit_test(test_subset),
        cmocka_unit_test(test_bare_head),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
