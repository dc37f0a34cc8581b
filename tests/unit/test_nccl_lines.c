/* What the lines of NCCL's logs mean, over recorded logs and ones of other releases. */
#include "proof/nccl_log.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

#include "nccl_logs.h"

static void test_choices(void **state)
{
    static const struct {
        const char *file, *function;
        uint64_t bytes;
        enum lp_nccl_form form;
        const char *algorithm, *protocol;
        int first, channels;
    } cases[] = {
        {"h200-default", "AllReduce", 1024, LP_FORM_TEXT, "Ring", "LL", 0, 1},
        {"h200-default", "AllReduce", 262144, LP_FORM_TEXT, "Ring", "LL", 0, 22},
        {"h200-default", "AllReduce", 268435456, LP_FORM_TEXT, "Ring", "Simple", 0, 24},
        {"h200-tree", "AllReduce", 1024, LP_FORM_TEXT, "Tree", "LL", 0, 1},
        {"h200-p2p-shm-off", "AllReduce", 1048576, LP_FORM_TEXT, "Ring", "Simple", 0, 2},
        {"written-2.20-numbers", "", 1024, LP_FORM_NUMBERS, "Ring", "LL", -1, -1},
        {"written-2.20-numbers", "", 65536, LP_FORM_NUMBERS, "Tree", "LL128", -1, -1},
        {"written-2.20-numbers", "", 8589934592, LP_FORM_NUMBERS, "Ring", "Simple", -1, -1},
        {"written-2.20-numbers", "", 4096, LP_FORM_NUMBERS, "", "Simple", -1, -1}, /* PAT came later */
        {"written-2.20-numbers", "", 2048, LP_FORM_NUMBERS, "", "", -1, -1},
        {"written-2.20-rank1-only", "", 1024, LP_FORM_NUMBERS, "", "", -1, -1}, /* of no known version */
        {"written-2.23-numbers", "AllReduce", 1048576, LP_FORM_NUMBERS, "Ring", "Simple", -1, -1},
        {"written-2.23-numbers", "AllGather", 1048576, LP_FORM_NUMBERS, "PAT", "Simple", -1, -1},
        {"written-2.24-text", "ReduceScatter", 524288, LP_FORM_TEXT, "Ring", "LL", 4, 12},
        {"written-2.27-symmetric", "AllReduce", 2097152, LP_FORM_SYMMETRIC, "Symmetric", "AllReduce_RSxLD_AGxST", -1, 16},
        {"written-2.30-newer", "AllGather", 4096, LP_FORM_SYMMETRIC, "Symmetric", "AllGather_TmaSTMC", -1, 8},
        {"written-2.30-newer", "AllGather", 8388608, LP_FORM_COPY_ENGINE, "CopyEngine", "", -1, -1},
        {"written-2.30-newer", "AlltoAll", 1048576, LP_FORM_COPY_ENGINE, "CopyEngine", "", -1, -1},
        {"written-2.30-newer", "AllGather", 16777216, LP_FORM_COPY_ENGINE, "HierarchicalCE", "", -1, -1},
        {"written-2.30-newer", "AllReduce", 65536, LP_FORM_TEXT, "FUTURE", "LL512", 0, 4},
        {"written-2.30-newer", "AllReduce", 32768, LP_FORM_UNKNOWN, "", "", -1, -1},
        {"written-2.30-newer", "AllReduce", 128, LP_FORM_UNKNOWN, "", "", -1, -1},
        {"written-2.30-newer", "AllReduce", 2048, LP_FORM_TEXT, "", "", 0, 1},
        {"written-nvls", "AllReduce", 67108864, LP_FORM_TEXT, "NVLS", "Simple", 0, 16},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct lp_nccl_selection *found = NULL;
        struct lp_nccl_log log;
        char label[128];

        snprintf(label, sizeof(label), "%s %s %llu", cases[i].file, cases[i].function, (unsigned long long)cases[i].bytes);
        lp_nccl_log_init(&log);
        read_file(&log, cases[i].file);
        for (size_t k = 0; k < log.nselections && !found; k++)
            if (log.selection[k].bytes == cases[i].bytes && strcmp(log.selection[k].function, cases[i].function) == 0)
                found = &log.selection[k];
        assert_case(label, found != NULL);
        assert_case(label, found->form == cases[i].form);
        assert_string_equal(found->algorithm, cases[i].algorithm);
        assert_string_equal(found->protocol, cases[i].protocol);
        assert_case(label, found->first_channel == cases[i].first && found->channels == cases[i].channels);
        lp_nccl_log_release(&log);
    }
}

/* Variables: the value and how many of the writers said so. */
static void test_sets(void **state)
{
    static const struct {
        const char *file, *name, *value;
        uint64_t writers;
    } cases[] = {
        {"h200-default", "NCCL_NVLS_ENABLE", "0", 3},
        {"h200-tree", "NCCL_ALGO", "Tree", 3},
        {"h200-p2p-off", "NCCL_P2P_DISABLE", "1", 3},
        {"h200-level-loc", "NCCL_P2P_LEVEL", "LOC", 3},
        {"h200-level-foo", "NCCL_P2P_LEVEL", NULL, 0},
        {"h200-algo-ringg", "NCCL_ALGO", "Ringg", 3},
        {"h200-buffsize-16m", "NCCL_BUFFSIZE", "16", 3},
        {"h200-p2p-shm-off", "NCCL_SHM_DISABLE", "1", 3},
        {"written-level-as-number", "NCCL_P2P_LEVEL", "0", 3},
        {"written-values", "NCCL_SOCKET_IFNAME", "eth0", 3},
        {"written-two-writers", "NCCL_ALGO", NULL, 0}, /* cut by the other writer */
        {"written-two-writers", "NCCL_PROTO", "LL", 2},
        {"written-two-writers", "NCCL_NVLS_ENABLE", "0", 2},
        {"written-junk", "NCCL_PROTO", "Simple", 1},
        {"written-junk", "NCCL_ALGO", NULL, 0}, /* a NUL in it */
        {"written-junk", "NCCL_TOPO_FILE", "/home/J\303\274rgen/topo.xml", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct lp_nccl_set *found = NULL;
        struct lp_nccl_log log;

        lp_nccl_log_init(&log);
        read_file(&log, cases[i].file);
        for (size_t k = 0; k < log.nset; k++)
            if (strcmp(log.set[k].name, cases[i].name) == 0) {
                assert_case(cases[i].file, !found);
                found = &log.set[k];
            }
        if ((found != NULL) != (cases[i].value != NULL))
            fail_msg("%s: %s is %s", cases[i].file, cases[i].name, found ? found->value : "not there");
        if (found) {
            assert_string_equal(found->value, cases[i].value);
            assert_case(cases[i].file, found->writers == cases[i].writers);
        }
        lp_nccl_log_release(&log);
    }
}

static void test_init_of_ranks(void **state)
{
    const struct lp_nccl_writer *who;
    struct lp_nccl_log log;

    (void)state;
    lp_nccl_log_init(&log);
    read_file(&log, "h200-default");
    who = lp_nccl_log_rank(&log, 1);
    assert_non_null(who);
    assert_int_equal(who->pid, 2108);
    assert_int_equal(who->nranks, 2);
    assert_true(who->complete);
    assert_string_equal(who->network, "Socket");
    assert_string_equal(who->version, "2.28.3");
    assert_int_equal(who->nvls_channels, 0);
    assert_int_equal(who->p2p_channels_per_peer, 32);
    assert_true(fabs(who->init_s - 0.43) < 1e-9);
    assert_int_equal(who->nparts, 8);
    assert_string_equal(who->part[2].name, "bootstrap");
    assert_true(fabs(who->part[2].seconds - 0.07) < 1e-9);
    assert_int_equal(log.ring_threads, 512);
    assert_null(lp_nccl_log_rank(&log, 2));
    lp_nccl_log_release(&log);

    lp_nccl_log_init(&log);
    read_file(&log, "h200-algo-ringg");
    who = lp_nccl_log_rank(&log, 0);
    assert_false(who->complete);
    assert_true(isnan(who->init_s));
    lp_nccl_log_release(&log);

    lp_nccl_log_init(&log);
    read_file(&log, "h200-p2p-off");
    assert_true(lp_nccl_log_rank(&log, 0)->cumem_host_used);
    assert_false(lp_nccl_log_rank(&log, 0)->cumem_host_failed);
    lp_nccl_log_release(&log);

    lp_nccl_log_init(&log);
    read_file(&log, "written-2.22-timings");
    assert_true(fabs(lp_nccl_log_rank(&log, 0)->init_s - 0.31) < 1e-9);
    assert_int_equal(lp_nccl_log_rank(&log, 0)->nparts, 7);
    lp_nccl_log_release(&log);
}

static void test_links_rings_and_trees(void **state)
{
    const struct lp_nccl_ring *ring;
    struct lp_nccl_log log;
    char text[256];

    (void)state;
    lp_nccl_log_init(&log);
    read_file(&log, "h200-default");
    assert_int_equal(log.nlinks, 2);
    assert_true(log.link[0].channels == 0xffffff && log.link[1].channels == 0xffffff);
    lp_nccl_log_release(&log);

    lp_nccl_log_init(&log);
    read_file(&log, "written-four-ranks");
    assert_string_equal(lp_nccl_log_transport(&log, 1, 2, LP_LINKS_ALL, text, sizeof(text)), "SHM/direct/direct");
    assert_string_equal(lp_nccl_log_transport(&log, 0, 2, LP_LINKS_SEND, text, sizeof(text)), "P2P/indirect/1[1]");
    assert_string_equal(lp_nccl_log_transport(&log, 0, 2, LP_LINKS_COLLECTIVE, text, sizeof(text)), "");
    assert_string_equal(lp_nccl_log_transport(&log, 0, 1, LP_LINKS_COLLECTIVE, text, sizeof(text)), "mixed: P2P/CUMEM, unknown");
    assert_string_equal(lp_nccl_log_transport(&log, 3, 1, LP_LINKS_ALL, text, sizeof(text)), "");
    ring = lp_nccl_log_ring(&log, 1);
    assert_non_null(ring);
    assert_int_equal(ring->n, 4);
    assert_int_equal(ring->rank[2], 3);
    assert_null(lp_nccl_log_ring(&log, 2)); /* three of four ranks */
    assert_null(lp_nccl_log_ring(&log, 3)); /* cut by NCCL */
    assert_int_equal(log.ntrees, 2);
    assert_true(log.tree[1].up == 3 && log.tree[1].down[0] == 1 && log.tree[1].down[1] == -1);
    lp_nccl_log_release(&log);

    lp_nccl_log_init(&log);
    read_file(&log, "written-2.18-no-choices"); /* with the blanks that release has */
    assert_non_null(lp_nccl_log_ring(&log, 1));
    lp_nccl_log_release(&log);
}

static void test_nvls(void **state)
{
    struct lp_nccl_log log;

    (void)state;
    lp_nccl_log_init(&log);
    read_file(&log, "written-nvls");
    assert_int_equal(log.nvls_available, 1);
    assert_true(log.nvls_connected);
    assert_int_equal(log.registered, 1);
    assert_int_equal(lp_nccl_log_rank(&log, 0)->nvls_channels, 16);
    lp_nccl_log_release(&log);

    lp_nccl_log_init(&log);
    read_file(&log, "written-nvls-off");
    assert_int_equal(log.nvls_available, 0);
    assert_false(log.nvls_connected);
    assert_says(log.warning[0].text, "Cuda failure 1 'invalid argument'");
    lp_nccl_log_release(&log);

    lp_nccl_log_init(&log);
    read_file(&log, "h200-default");
    assert_int_equal(log.nvls_available, -1);
    lp_nccl_log_release(&log);
}

static void test_warnings(void **state)
{
    static const struct {
        const char *file, *text;
        bool error, setting;
        uint64_t writers;
    } cases[] = {
        {"h200-algo-ringg", "Unrecognized element token \"Ringg\" when parsing \"Ringg\"", true, false, 3},
        {"written-threads-100", "Invalid NCCL_NTHREADS 100 (must be a multiple of 32)", false, true, 3},
        {"written-threads-100", "User asked for a minimum of 128 channels, limiting to 64", false, true, 3},
        {"written-threads-100", "NCCL_MAX_CTAS 0 is too low, leaving it set at 64", false, true, 3},
        {"written-threads-100-2.20", "Invalid NCCL_NTHREADS 100 (must be a multiple of 32)", true, true, 1},
        {"written-no-algorithm",
         "Error : no algorithm/protocol available for function AllGather with datatype ncclInt8. NCCL_ALGO was set to Tree.", true,
         false, 3},
        {"written-ranks-differ-0", "cuMem host allocations do not appear to be working; falling back to", false, false, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct lp_nccl_warning *found = NULL;
        struct lp_nccl_log log;

        lp_nccl_log_init(&log);
        read_file(&log, cases[i].file);
        for (size_t k = 0; k < log.nwarnings; k++)
            if (strncmp(log.warning[k].text, cases[i].text, strlen(cases[i].text)) == 0)
                found = &log.warning[k];
        assert_case(cases[i].text, found != NULL);
        assert_case(cases[i].text, found->error == cases[i].error && found->setting == cases[i].setting);
        assert_case(cases[i].text, found->writers == cases[i].writers);
        lp_nccl_log_release(&log);
    }
}

static void test_shared_memory(void **state)
{
    static const struct {
        const char *file, *path, *error;
        bool attaching;
        int64_t size;
    } cases[] = {
        {"written-shm-full-2.28", "/dev/shm/nccl-a1B2c3", "No space left on device", false, 9637892},
        {"written-shm-full-2.20", "/dev/shm/nccl-a1B2c3", "", false, 9637892},
        {"written-ranks-differ-1", "/dev/shm/nccl-????Q", "No such file or directory", true, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_nccl_log log;

        lp_nccl_log_init(&log);
        read_file(&log, cases[i].file);
        assert_case(cases[i].file, log.nshm > 0);
        assert_string_equal(log.shm[0].path, cases[i].path);
        assert_string_equal(log.shm[0].error, cases[i].error);
        assert_case(cases[i].file, log.shm[0].attaching == cases[i].attaching && log.shm[0].size_bytes == cases[i].size);
        lp_nccl_log_release(&log);
    }
}

static void test_no_algorithm(void **state)
{
    struct lp_nccl_log log;

    (void)state;
    lp_nccl_log_init(&log);
    read_file(&log, "written-no-algorithm");
    assert_int_equal(log.nno_algorithm, 1);
    assert_string_equal(log.no_algorithm[0], "AllGather");
    lp_nccl_log_release(&log);
    lp_nccl_log_init(&log);
    read_file(&log, "written-no-algorithm-2.23");
    assert_int_equal(log.nno_algorithm, 1);
    assert_string_equal(log.no_algorithm[0], "");
    lp_nccl_log_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choices),       cmocka_unit_test(test_sets),
        cmocka_unit_test(test_init_of_ranks), cmocka_unit_test(test_links_rings_and_trees),
        cmocka_unit_test(test_nvls),          cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_shared_memory), cmocka_unit_test(test_no_algorithm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
