/* What a variant asked for against what recorded and written logs show: paths, variables, standings. */
#include "proof/proof.h"

#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

#include "nccl_logs.h"

/* Names joined by '+' are the ranks' files of one crew; "" is a crew without a log. */
static void read_crew(struct lp_nccl_log *log, const char *names)
{
    char copy[256], *rest = copy;

    lp_nccl_log_init(log);
    snprintf(copy, sizeof(copy), "%s", names);
    for (char *name = strsep(&rest, "+"); name && *name; name = strsep(&rest, "+"))
        read_file(log, name);
}

static struct lp_cell a_cell(const char *op, size_t bytes)
{
    struct lp_cell cell = {.kind = LP_COLLECTIVE, .root = -1, .requested_bytes = bytes, .size_bytes = bytes, .timing = LP_GRAPH};

    snprintf(cell.op, sizeof(cell.op), "%s", op);
    snprintf(cell.library, sizeof(cell.library), "nccl");
    return cell;
}

static void test_cells(void **state)
{
    static const struct {
        const char *file, *op;
        size_t bytes;
        bool alone;
        const char *tag, *transport;
        bool known;
    } cases[] = {
        {"h200-default", "allreduce", 1024, false, "Ring/LL x1", "P2P/CUMEM", true},
        {"h200-default", "allreduce", 4 << 20, false, "Ring/Simple x24", "P2P/CUMEM", true},
        {"h200-default", "allreduce", 12345, false, "unknown", "", false},
        {"h200-default", "allgather", 1024, false, "unknown", "", false},
        {"h200-default", "allgather", 2048, true, "unknown", "", false}, /* a function is named, and it is another */
        {"h200-tree", "allreduce", 256 << 20, false, "Tree/Simple x24", "P2P/CUMEM", true},
        {"h200-p2p-off", "allreduce", 64 << 10, false, "Ring/LL x4", "SHM/direct/direct", true},
        {"h200-p2p-shm-off", "allreduce", 1 << 20, false, "Ring/Simple x2", "NET/Socket/0", true},
        {"written-2.18-no-choices", "allreduce", 1024, true, "unknown", "", false},
        {"written-2.20-numbers", "allreduce", 1024, true, "Ring/LL", "P2P/IPC/read", false}, /* no channels */
        {"written-2.20-numbers", "allreduce", 1024, false, "unknown", "", false},
        {"written-2.20-numbers", "allreduce", 8589934592, true, "Ring/Simple", "P2P/IPC/read", false},
        {"written-2.20-numbers", "allreduce", 2048, true, "unknown", "", false},
        {"written-2.23-numbers", "allgather", 1 << 20, false, "PAT/Simple", "SHM/direct/direct", false}, /* bytes of all */
        {"written-2.24-text", "allgather", 1 << 20, false, "Ring/LL128 x16", "P2P/IPC", true},           /* of a rank */
        {"written-2.24-text", "reducescatter", 1 << 20, false, "Ring/LL x12", "P2P/IPC", true},
        {"written-2.24-text", "allreduce", 4096, false, "varies: Ring/LL x1, Ring/LL x2", "P2P/IPC", true},
        {"written-2.27-symmetric", "allreduce", 8192, false, "Symmetric/AllReduce_AGxLL_R x1", "symmetric memory", true},
        {"written-2.30-newer", "allgather", 16 << 20, false, "CopyEngine", "copy engine", true},
        {"written-2.30-newer", "alltoall", 2 << 20, false, "CopyEngine", "copy engine", true},
        {"written-2.30-newer", "alltoall", 4 << 20, false, "send/recv", "mixed: SHM/direct, P2P/CUMEM", true},
        {"written-2.30-newer", "allreduce", 65536, false, "FUTURE/LL512 x4", "", false},
        {"written-2.30-newer", "allreduce", 32768, false, "unknown", "", false},
        {"written-2.30-newer", "allreduce", 2048, false, "unknown", "", false},
        {"written-nvls", "allreduce", 64 << 20, false, "NVLS/Simple x16", "NVLS", true},
        {"written-nvls", "allreduce", 1024, false, "Ring/LL x1", "P2P/CUMEM", true},
        {"", "allreduce", 1024, true, "unknown", "", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_cell cell = a_cell(cases[i].op, cases[i].bytes);
        struct lp_proof_cell proof;
        struct lp_nccl_log log;

        read_crew(&log, cases[i].file);
        lp_proof_cell(&log, &cell, 2, cases[i].alone, &proof);
        if (strcmp(proof.tag, cases[i].tag) != 0 || strcmp(proof.transport, cases[i].transport) != 0)
            fail_msg("%s %s %zu: %s by %s", cases[i].file, cases[i].op, cases[i].bytes, proof.tag, proof.transport);
        assert_case(proof.name, lp_proof_cell_known(&proof) == cases[i].known);
        lp_nccl_log_release(&log);
    }
}

static void test_cell_json(void **state)
{
    struct lp_cell cell = a_cell("allreduce", 4096);
    struct lp_proof_cell proof;
    struct lp_nccl_log log;
    json_t *json;

    (void)state;
    read_crew(&log, "written-2.24-text");
    lp_proof_cell(&log, &cell, 2, false, &proof);
    json = lp_proof_cell_json(&proof);
    assert_string_equal(json_string_value(json_object_get(json, "algorithm")), "Ring");
    assert_string_equal(json_string_value(json_object_get(json, "channels")), "varies");
    json_decref(json);
    lp_proof_cell(NULL, &cell, 2, false, &proof);
    json = lp_proof_cell_json(&proof);
    assert_true(json_is_null(json_object_get(json, "algorithm")) && json_is_null(json_object_get(json, "channels")));
    assert_string_equal(json_string_value(json_object_get(json, "tag")), "unknown");
    json_decref(json);
    lp_nccl_log_release(&log);
}

/* One variable of a variant; value NULL unsets. */
static void prove_variable(const struct lp_nccl_log *log, const char *name, const char *value, struct lp_proof_variable *out)
{
    struct lp_proof_variables proofs;
    struct lp_variants variants = {0};
    struct lp_variant *variant = lp_variants_add(&variants, "x");

    assert_non_null(variant);
    assert_int_equal(lp_variant_set(variant, name, value, NULL), LP_OK);
    assert_int_equal(lp_proof_variables(log, variant, &proofs), LP_OK);
    assert_int_equal(proofs.n, 1);
    *out = proofs.item[0];
    lp_proof_variables_release(&proofs);
    lp_variants_release(&variants);
}

static void test_variables(void **state)
{
    static const struct {
        const char *file, *name, *asked;
        enum lp_took state;
        const char *took, *words;
    } cases[] = {
        {"h200-tree", "NCCL_ALGO", "Tree", LP_TOOK_ASKED, "Tree", "NCCL took NCCL_ALGO=Tree"},
        {"h200-buffsize-16m", "NCCL_BUFFSIZE", "16M", LP_TOOK_OTHER, "16", "asked NCCL_BUFFSIZE=16M, NCCL took 16"},
        {"h200-level-foo", "NCCL_P2P_LEVEL", "FOO", LP_TOOK_NOTHING, "", "asked NCCL_P2P_LEVEL=FOO, NCCL did not acknowledge it"},
        {"h200-level-loc", "NCCL_P2P_LEVEL", "LOC", LP_TOOK_ASKED, "LOC", ""},
        {"h200-p2p-off", "NCCL_P2P_DISABLE", "1", LP_TOOK_ASKED, "1", ""},
        {"h200-p2p-off", "NCCL_P2P_DISABLE", NULL, LP_TOOK_OTHER, "1", "asked NCCL_P2P_DISABLE to be unset, NCCL took 1"},
        {"h200-default", "NCCL_P2P_DISABLE", NULL, LP_TOOK_ASKED, "", "is unset"},
        {"h200-default", "NCCL_P2P_DISABLE", "true", LP_TOOK_NOTHING, "", "did not acknowledge"},
        {"h200-algo-ringg", "NCCL_ALGO", "Ringg", LP_TOOK_OTHER, "Ringg", "Unrecognized element token"},
        {"h200-algo-ringg", "NCCL_BUFFSIZE", "16", LP_TOOK_UNKNOWN, "", "no rank came up"},
        {"h200-algo-ringg", "NCCL_BUFFSIZE", NULL, LP_TOOK_UNKNOWN, "", "no rank came up"},
        {"h200-default", "UCX_TLS", "tcp", LP_TOOK_NOT_OURS, "", "not NCCL's"},
        {"h200-default", "NCCL_DEBUG", "INFO", LP_TOOK_SILENTLY, "", "never acknowledges"},
        {"written-2.20-numbers", "NCCL_P2P_DISABLE", "1", LP_TOOK_SILENTLY, "", "never acknowledges"}, /* said since 2.23 */
        {"written-2.20-numbers", "NCCL_P2P_DISABLE", "2", LP_TOOK_NOTHING, "", "did not acknowledge"},
        {"written-2.23-numbers", "NCCL_P2P_DISABLE", "1", LP_TOOK_ASKED, "1", ""},
        {"written-level-as-number", "NCCL_P2P_LEVEL", "PHB", LP_TOOK_OTHER, "0", "asked NCCL_P2P_LEVEL=PHB, NCCL took 0"},
        {"written-level-4", "NCCL_P2P_LEVEL", "4", LP_TOOK_ASKED, "SYS", "asked NCCL_P2P_LEVEL=4, NCCL took SYS"},
        {"written-level-4", "NCCL_P2P_LEVEL", "2", LP_TOOK_OTHER, "SYS", "asked NCCL_P2P_LEVEL=2, NCCL took SYS"},
        {"written-values", "NCCL_BUFFSIZE", "4M", LP_TOOK_OTHER, "4", "asked NCCL_BUFFSIZE=4M, NCCL took 4"},
        {"written-values", "NCCL_BUFFSIZE", "4MB", LP_TOOK_OTHER, "4", ""},
        {"written-values", "NCCL_BUFFSIZE", "4", LP_TOOK_ASKED, "4", ""},
        {"written-values", "NCCL_MAX_NCHANNELS", "two", LP_TOOK_OTHER, "0", "asked NCCL_MAX_NCHANNELS=two, NCCL took 0"},
        {"written-values", "NCCL_LL_BUFFSIZE", "0x400000", LP_TOOK_ASKED, "4194304", "NCCL took 4194304"},
        {"written-values", "NCCL_LL_BUFFSIZE", "4194304", LP_TOOK_ASKED, "4194304", ""},
        {"written-values", "NCCL_NTHREADS", "0256", LP_TOOK_OTHER, "174", "asked NCCL_NTHREADS=0256, NCCL took 174"},
        {"written-values", "NCCL_COLLNET_ENABLE", "0", LP_TOOK_ASKED, "0", ""},
        {"written-values", "NCCL_SOCKET_IFNAME", "eth1", LP_TOOK_OTHER, "eth0", ""},
        {"written-threads-100", "NCCL_NTHREADS", "100", LP_TOOK_OTHER, "512",
         "asked NCCL_NTHREADS=100, NCCL took 100 and said \"Invalid NCCL_NTHREADS 100 (must be a multiple of 32)\", used 512"},
        {"written-threads-100", "NCCL_MIN_NCHANNELS", "128", LP_TOOK_OTHER, "128", "limiting to 64"},
        {"written-threads-100", "NCCL_MAX_CTAS", "0", LP_TOOK_OTHER, "0", "too low"},
        {"written-threads-100-2.20", "NCCL_NTHREADS", "100", LP_TOOK_OTHER, "100", "multiple of 32"},
        {"written-ranks-differ-0+written-ranks-differ-1", "NCCL_ALGO", "Ring", LP_TOOK_DIFFERENT, "Ring",
         "rank 0 took Ring, rank 1 did not acknowledge it"},
        {"written-ranks-differ-0+written-other-version-1", "NCCL_ALGO", "Ring", LP_TOOK_DIFFERENT, "Ring",
         "rank 0 took Ring, rank 1 took Tree"},
        {"", "NCCL_ALGO", "Ring", LP_TOOK_UNKNOWN, "", "no log"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_proof_variable proof;
        struct lp_nccl_log log;

        read_crew(&log, cases[i].file);
        prove_variable(&log, cases[i].name, cases[i].asked, &proof);
        if (proof.state != cases[i].state || strcmp(proof.took, cases[i].took) != 0 || !strstr(proof.words, cases[i].words))
            fail_msg("%s %s=%s: %s, took %s: %s", cases[i].file, cases[i].name, cases[i].asked ? cases[i].asked : "(unset)",
                     lp_took_name(proof.state), proof.took, proof.words);
        lp_nccl_log_release(&log);
    }
}

static void test_variables_json(void **state)
{
    struct lp_proof_variables proofs = {0};
    struct lp_variants variants = {0};
    struct lp_variant *variant = lp_variants_add(&variants, "16m");
    struct lp_nccl_log log;
    json_t *json, *item;

    (void)state;
    read_crew(&log, "h200-buffsize-16m");
    assert_int_equal(lp_proof_variables(&log, variant, &proofs), LP_OK);
    assert_int_equal(proofs.n, 0);
    lp_variant_set(variant, "NCCL_BUFFSIZE", "16M", NULL);
    lp_variant_set(variant, "NCCL_NVLS_ENABLE", NULL, NULL);
    assert_int_equal(lp_proof_variables(&log, variant, &proofs), LP_OK);
    json = lp_proof_variables_json(&proofs);
    item = json_object_get(json, "NCCL_BUFFSIZE");
    assert_string_equal(json_string_value(json_object_get(item, "asked")), "16M");
    assert_string_equal(json_string_value(json_object_get(item, "took")), "16");
    assert_string_equal(json_string_value(json_object_get(item, "state")), "other");
    assert_true(json_is_null(json_object_get(json_object_get(json, "NCCL_NVLS_ENABLE"), "asked")));
    json_decref(json);
    lp_proof_variables_release(&proofs);
    lp_variants_release(&variants);
    lp_nccl_log_release(&log);
}

#define NCELLS 3

/* A crew with everything it points to. */
struct crew {
    struct lp_nccl_log log;
    struct lp_variants variants;
    struct lp_proof_variables variables;
    struct lp_proof_cell cell[NCELLS];
    struct lp_proof_crew crew;
};

static void make_crew(struct crew *out, const char *file, const char *name, const char *value, const size_t *sizes)
{
    struct lp_variant *variant;

    memset(out, 0, sizeof(*out));
    read_crew(&out->log, file);
    variant = lp_variants_add(&out->variants, name ? name : "default");
    if (name)
        lp_variant_set(variant, name, value, NULL);
    assert_int_equal(lp_proof_variables(&out->log, variant, &out->variables), LP_OK);
    for (int i = 0; i < NCELLS; i++) {
        struct lp_cell cell = a_cell("allreduce", sizes[i]);

        lp_proof_cell(&out->log, &cell, 2, true, &out->cell[i]);
        out->cell[i].missing = !lp_proof_cell_known(&out->cell[i]) && sizes[i] == 0;
    }
    out->crew = (struct lp_proof_crew){variant, &out->log, &out->variables, out->cell, NCELLS};
}

static void release_crew(struct crew *crew)
{
    lp_nccl_log_release(&crew->log);
    lp_proof_variables_release(&crew->variables);
    lp_variants_release(&crew->variants);
}

/* A size of 0 stands for a cell without a result. */
static const size_t three[NCELLS] = {1024, 64 << 10, 4 << 20}, one[NCELLS] = {1 << 20, 0, 0}, none[NCELLS] = {0, 0, 0};

static void test_standings(void **state)
{
    static const struct {
        const char *base, *file, *name, *value;
        const size_t *sizes;
        enum lp_same same;
        enum lp_standing standing;
        const char *words;
    } cases[] = {
        {"h200-default", "h200-default", NULL, NULL, three, LP_SAME_YES, LP_SAME_PATH, "every cell has default's"},
        {"h200-default", "h200-tree", "NCCL_ALGO", "Tree", three, LP_SAME_NO, LP_EFFECTIVE,
         "uses Tree/LL x1, under default Ring/LL x1"},
        {"h200-default", "h200-p2p-off", "NCCL_P2P_DISABLE", "1", three, LP_SAME_NO, LP_EFFECTIVE,
         "goes by SHM/direct/direct, under default by P2P/CUMEM"},
        {"h200-p2p-off", "h200-level-loc", "NCCL_P2P_LEVEL", "LOC", three, LP_SAME_YES, LP_SAME_PATH, ""},
        {"h200-default", "h200-p2p-shm-off", "NCCL_SHM_DISABLE", "1", one, LP_SAME_NO, LP_EFFECTIVE, "NET/Socket/0"},
        {"h200-default", "h200-level-foo", "NCCL_P2P_LEVEL", "FOO", one, LP_SAME_YES, LP_INEFFECTIVE,
         "path and times are default's; asked NCCL_P2P_LEVEL=FOO, NCCL did not acknowledge it"},
        {"h200-default", "h200-level-foo", "NCCL_P2P_LEVEL", "FOO", one, LP_SAME_UNKNOWN, LP_SAME_PATH, "did not acknowledge"},
        {"h200-default", "h200-level-foo", "NCCL_P2P_LEVEL", "FOO", one, LP_SAME_NO, LP_SAME_PATH, "the times are not"},
        {"h200-default", "h200-buffsize-16m", "NCCL_BUFFSIZE", "16M", one, LP_SAME_YES, LP_SAME_PATH,
         "asked NCCL_BUFFSIZE=16M, NCCL took 16"},
        {"h200-default", "h200-algo-ringg", "NCCL_ALGO", "Ringg", none, LP_SAME_UNKNOWN, LP_UNPROVEN, "Unrecognized element"},
        {"h200-default", "h200-algo-ringg", "NCCL_ALGO", "Ringg", three, LP_SAME_UNKNOWN, LP_UNPROVEN, "whole path"},
        {"h200-default", "", "NCCL_ALGO", "Tree", three, LP_SAME_YES, LP_UNPROVEN, "NCCL wrote no log"},
        {"h200-default", "written-no-algorithm", "NCCL_ALGO", "Tree", one, LP_SAME_NO, LP_EFFECTIVE,
         "NCCL has no algorithm for AllGather with it"},
        {"written-2.20-numbers", "written-2.20-numbers", "NCCL_P2P_LEVEL", "SYS", three, LP_SAME_YES, LP_UNPROVEN, "whole path"},
        {"written-2.23-numbers", "h200-default", NULL, NULL, one, LP_SAME_YES, LP_EFFECTIVE, "P2P/CUMEM"},
        {"h200-default", "written-ranks-differ-0+written-ranks-differ-1", "NCCL_ALGO", "Ring", three, LP_SAME_YES, LP_RANKS_DIFFER,
         "asked NCCL_ALGO=Ring: rank 0 took Ring, rank 1 did not"},
        {"h200-default", "written-ranks-differ-0+written-ranks-differ-1", NULL, NULL, three, LP_SAME_YES, LP_RANKS_DIFFER,
         "network: IB on rank 0, Socket on rank 1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        enum lp_same same[NCELLS] = {cases[i].same, cases[i].same, cases[i].same};
        struct lp_proof_standing out;
        struct crew base, crew;

        make_crew(&base, cases[i].base, NULL, NULL, cases[i].sizes);
        make_crew(&crew, cases[i].file, cases[i].name, cases[i].value, cases[i].sizes);
        lp_proof_standing(&base.crew, &crew.crew, cases[i].same == LP_SAME_UNKNOWN ? NULL : same, &out);
        if (out.standing != cases[i].standing || !strstr(out.words, cases[i].words))
            fail_msg("case %zu, %s: %s: %s", i, cases[i].file, lp_standing_name(out.standing), out.words);
        release_crew(&base);
        release_crew(&crew);
    }
}

static void test_differences(void **state)
{
    static const struct {
        const char *file, *words;
    } cases[] = {
        {"h200-default", ""},
        {"h200-p2p-shm-off", ""},
        {"written-ranks-differ-0+written-ranks-differ-1", "network: IB on rank 0, Socket on rank 1"},
        {"written-ranks-differ-0+written-ranks-differ-1",
         "cuMem host memory: does not work there on rank 0, no complaint on rank 1"},
        {"written-ranks-differ-0+written-other-version-1", "NCCL version: 2.28.3 on rank 0, 2.27.3 on rank 1"},
        {"written-ranks-differ-0+written-other-version-1", "NCCL_ALGO: Ring on one rank, Tree on another"},
        {"written-2.18-no-choices", ""}, /* only rank 0 says its version */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_nccl_log log;
        char words[1024];

        read_crew(&log, cases[i].file);
        lp_proof_differences(&log, words, sizeof(words));
        if (!strstr(words, cases[i].words) || (!cases[i].words[0] && words[0]))
            fail_msg("%s: %s", cases[i].file, words);
        lp_nccl_log_release(&log);
    }
}

static void test_groups(void **state)
{
    static const char *const files[] = {"h200-default", "h200-tree", "h200-p2p-off", "h200-default", "h200-level-loc", ""};
    static const int expected[] = {0, 1, 2, 0, 2, -1};
    struct lp_proof_crew crews[COUNT_OF(files)];
    struct crew *made = calloc(COUNT_OF(files), sizeof(*made));
    int group[COUNT_OF(files)];

    (void)state;
    assert_non_null(made);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        make_crew(&made[i], files[i], NULL, NULL, three);
        crews[i] = made[i].crew;
    }
    lp_proof_groups(crews, COUNT_OF(files), group);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        assert_case(files[i], group[i] == expected[i]);
        release_crew(&made[i]);
    }
    free(made);
}

static void test_only_path(void **state)
{
    struct lp_variants variants = {0};
    struct lp_variant *variant = lp_variants_add(&variants, "x");

    (void)state;
    assert_true(lp_proof_only_path(variant));
    lp_variant_set(variant, "NCCL_P2P_LEVEL", "SYS", NULL);
    lp_variant_set(variant, "NCCL_ALGO", NULL, NULL);
    assert_true(lp_proof_only_path(variant));
    lp_variant_set(variant, "NCCL_BUFFSIZE", "16", NULL);
    assert_false(lp_proof_only_path(variant));
    lp_variants_release(&variants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),          cmocka_unit_test(test_cell_json), cmocka_unit_test(test_variables),
        cmocka_unit_test(test_variables_json), cmocka_unit_test(test_standings), cmocka_unit_test(test_differences),
        cmocka_unit_test(test_groups),         cmocka_unit_test(test_only_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
