/* Lint of values: what NCCL would misread, and what is to be written instead. */
#include "plan/lint.h"

#include "fixture.h"

#include "lint_text.h"

static const char *const both[] = {"allreduce", "allgather", NULL};

/* Of values that NCCL 2.28.3 would misread: part of what is said, and what is to be written (NULL: no advice). */
static void test_errors(void **state)
{
    static const struct {
        const char *text, *says, *fix;
    } cases[] = {
        /* C08 and numbers in general */
        {"NCCL_BUFFSIZE=16M", "reads 16, not 16 MiB", "NCCL_BUFFSIZE=16777216"},
        {"NCCL_BUFFSIZE=4MB", "reads 4, not 4 MiB", "NCCL_BUFFSIZE=4194304"},
        {"NCCL_BUFFSIZE=4MiB", "reads 4, not 4 MiB", "NCCL_BUFFSIZE=4194304"},
        {"NCCL_BUFFSIZE=512k", "reads 512, not 512 KiB", "NCCL_BUFFSIZE=524288"},
        {"NCCL_BUFFSIZE=1.5G", "drops '.5G'", "NCCL_BUFFSIZE=1610612736"},
        {"NCCL_BUFFSIZE=1e6", "drops 'e6'", "NCCL_BUFFSIZE=1000000"},
        {"NCCL_BUFFSIZE=1_048_576", "reads 1", "NCCL_BUFFSIZE=1048576"},
        {"NCCL_BUFFSIZE=16x", "drops 'x'", NULL},
        {"NCCL_BUFFSIZE=abc", "reads 0", NULL},
        {"NCCL_BUFFSIZE=-1", "negative", NULL},
        {"NCCL_BUFFSIZE=99999999999", "32 bits", NULL},
        {"NCCL_BUFFSIZE=99999999999999999999", "64 bits", NULL},
        {"NCCL_BUFFSIZE=010", "reads 8", "NCCL_BUFFSIZE=10"},
        {"NCCL_NTHREADS=0256", "octal", "NCCL_NTHREADS=256"},
        {"NCCL_NTHREADS=089", "octal", "NCCL_NTHREADS=89"},
        {"NCCL_MAX_NCHANNELS=two", "from 1 to 64", NULL},
        {"NCCL_MAX_NCHANNELS=0x10M", "reads 16", NULL},
        {"NCCL_NVLS_ENABLE=3", "from 0 to 2", NULL},
        {"NCCL_IB_TIMEOUT=32", "from 0 to 31", NULL},
        /* below one chunk */
        {"NCCL_BUFFSIZE=16", "divides by zero", NULL},
        {"NCCL_BUFFSIZE=4095", "the least is 4096", NULL},
        {"NCCL_BUFFSIZE=0", "divides by zero", NULL},
        {"NCCL_LL_BUFFSIZE=255", "the least is 256", NULL},
        {"NCCL_LL128_BUFFSIZE=16383", "the least is 16384", NULL},
        /* C04 */
        {"NCCL_P2P_LEVEL=phb", "without a word", "NCCL_P2P_LEVEL=PHB"},
        {"NCCL_P2P_LEVEL=Nvl", "upper case", "NCCL_P2P_LEVEL=NVL"},
        {"NCCL_P2P_LEVEL=NVLINK", "exactly one of", "NCCL_P2P_LEVEL=NVL"},
        {"NCCL_P2P_LEVEL=NV18", "exactly one of", "NCCL_P2P_LEVEL=NVL"},
        {"NCCL_P2P_LEVEL=NODE", "exactly one of", "NCCL_P2P_LEVEL=PHB"},
        {"NCCL_P2P_LEVEL=SYSS", "exactly one of", "NCCL_P2P_LEVEL=SYS"},
        {"NCCL_P2P_LEVEL=FOO", "LOC NVL NVB C2C PIX PXB P2C PXN PHB SYS", NULL},
        {"NCCL_P2P_LEVEL=-1", "exactly one of", NULL},
        {"NCCL_P2P_LEVEL=3x", "old number 3", NULL},
        {"NCCL_NET_GDR_LEVEL=sys", "upper case", "NCCL_NET_GDR_LEVEL=SYS"},
        /* switches */
        {"NCCL_P2P_DISABLE=2", "nothing but 1", "NCCL_P2P_DISABLE=1"},
        {"NCCL_P2P_DISABLE=true", "reads 0", "NCCL_P2P_DISABLE=1"},
        {"NCCL_P2P_DISABLE=off", "reads 0", "NCCL_P2P_DISABLE=0"},
        {"NCCL_P2P_DISABLE=1x", "reads 1", "NCCL_P2P_DISABLE=1"},
        {"NCCL_SHM_DISABLE=yes", "reads 0", "NCCL_SHM_DISABLE=1"},
        {"NCCL_IB_DISABLE=2", "anything but 0", "NCCL_IB_DISABLE=1"},
        {"NCCL_CUMEM_ENABLE=maybe", "0 or 1", NULL},
        /* C06, lists */
        {"NCCL_ALGO=Ringg", "'Ringg' is no algorithm", "NCCL_ALGO=Ring"},
        {"NCCL_ALGO=foo", "'foo' is no algorithm", NULL},
        {"NCCL_ALGO=ring,treee", "'treee' is no algorithm", "NCCL_ALGO=Ring,Tree"},
        {"NCCL_ALGO=collnet", "is no algorithm", NULL},
        {"NCCL_ALGO=ring,,tree", "passes over it", "NCCL_ALGO=Ring,Tree"},
        {"NCCL_ALGO=ring,", "empty name", "NCCL_ALGO=Ring"},
        {"NCCL_ALGO=;ring", "empty entry", "NCCL_ALGO=Ring"},
        {"NCCL_ALGO=ring;", "empty entry", "NCCL_ALGO=Ring"},
        {"NCCL_ALGO=ring;tree", "only the first entry", "NCCL_ALGO=Ring,Tree"},
        {"NCCL_ALGO=allreduce:tree;ring", "only the first entry", "NCCL_ALGO=Ring;allreduce:Tree"},
        {"NCCL_ALGO=allreduce:tree;ring;tree", "only the first entry", NULL},
        {"NCCL_ALGO=all_reduce:tree", "is no function", "NCCL_ALGO=allreduce:Tree"},
        {"NCCL_ALGO=foo:tree", "is no function", NULL},
        {"NCCL_ALGO=alltoall:ring", "sends and receives", NULL},
        {"NCCL_ALGO=ring,^tree", "'^' stands once", "NCCL_ALGO=Ring"},
        {"NCCL_ALGO=^ring,^tree", "'^' stands once", "NCCL_ALGO=^Ring,Tree"},
        {"NCCL_ALGO=^allreduce:tree", "behind the colon", "NCCL_ALGO=allreduce:^Tree"},
        {"NCCL_ALGO=^", "takes all of them", NULL},
        {"NCCL_ALGO=allreduce:", "without a name", NULL},
        {"NCCL_ALGO=allreduce:tree:ring", "two colons", NULL},
        {"NCCL_PROTO=LL-128", "is no protocol", "NCCL_PROTO=LL128"},
        {"NCCL_PROTO=simpel", "refuses to start", "NCCL_PROTO=Simple"},
        /* other words */
        {"NCCL_LAUNCH_MODE=foo", "it takes PARALLEL GROUP", NULL},
        {"NCCL_SOCKET_FAMILY=af_inet", "spelt so", NULL},
        {"NCCL_CTA_POLICY=EFFICIENCY", "since 2.29", "NCCL_CTA_POLICY=1"},
        {"NCCL_SYM_KERNEL=AllGather_ST,AllReduce_AGxLL_R", "no list", NULL},
    };
    const struct lp_lint_context context = {.version = 22803, .collectives = both, .nranks = 4, .nhosts = 1};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_findings out = {0};
        const struct lp_finding *found;

        lint_text(cases[i].text, &context, &out);
        found = find_finding(&out, LP_LINT_ERROR, cases[i].says);
        assert_case(cases[i].text, found != NULL && lp_findings_count(&out, LP_LINT_ERROR, NULL) == 1);
        if (strcmp(found->fix, cases[i].fix ? cases[i].fix : "") != 0)
            fail_msg("case \"%s\": advice is \"%s\"", cases[i].text, found->fix);
        if (cases[i].fix) { /* what is advised is no error itself */
            struct lp_findings again = {0};

            lint_text(cases[i].fix, &context, &again);
            if (strcmp(cases[i].fix, "NCCL_BUFFSIZE=10") != 0)
                assert_case(cases[i].fix, lp_findings_count(&again, LP_LINT_ERROR, NULL) == 0);
            lp_findings_release(&again);
        }
        lp_findings_release(&out);
    }
}

/* Blanks, which --variant cannot hold. */
static void test_blanks(void **state)
{
    static const struct {
        const char *name, *value, *fix;
    } cases[] = {
        {"NCCL_P2P_LEVEL", "PHB ", "NCCL_P2P_LEVEL=PHB"},
        {"NCCL_P2P_LEVEL", " PHB", "NCCL_P2P_LEVEL=PHB"},
        {"NCCL_P2P_LEVEL", "PHB\r", "NCCL_P2P_LEVEL=PHB"},
        {"NCCL_ALGO", "ring, tree", "NCCL_ALGO=Ring,Tree"},
        {"NCCL_ALGO", "Ring ", "NCCL_ALGO=Ring"},
        {"NCCL_PROTO", "allreduce: LL", "NCCL_PROTO=allreduce:LL"},
        {"NCCL_BUFFSIZE", "16 M", "NCCL_BUFFSIZE=16777216"},
        {"NCCL_BUFFSIZE", "16,777,216", "NCCL_BUFFSIZE=16777216"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_env env = {.name = (char *)cases[i].name, .value = (char *)cases[i].value};
        const struct lp_variant variant = {.name = "v", .env = &env, .nenv = 1};
        const struct lp_lint_context context = {0};
        struct lp_findings out = {0};

        assert_int_equal(lp_lint_variant(&variant, &context, &out), LP_OK);
        assert_case(cases[i].value, lp_findings_count(&out, LP_LINT_ERROR, "v") == 1);
        assert_case(cases[i].value, strcmp(out.item[0].fix, cases[i].fix) == 0 && !strchr(out.item[0].value, '\r'));
        lp_findings_release(&out);
    }
}

static void test_words_and_json(void **state)
{
    const struct lp_lint_context context = {0};
    struct lp_findings out = {0};
    char words[1280], small[8];
    json_t *json;

    (void)state;
    lint_text("NCCL_BUFFSIZE=16M NCCL_P2P_LEVEL NCCL_FOO=1", &context, &out);
    assert_int_equal(out.n, 2);
    assert_string_equal(lp_finding_words(&out.item[0], words, sizeof(words)),
                        "error: NCCL_BUFFSIZE=16M: NCCL reads 16, not 16 MiB: it knows no suffixes; write NCCL_BUFFSIZE=16777216");
    assert_string_equal(lp_finding_words(&out.item[0], small, sizeof(small)), "error: ");
    json = lp_findings_json(&out, "a");
    assert_int_equal(json_array_size(json), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(json, 0), "fix")), "NCCL_BUFFSIZE=16777216");
    assert_true(json_is_null(json_object_get(json_array_get(json, 1), "fix")));
    json_decref(json);
    json = lp_findings_json(&out, "b");
    assert_int_equal(json_array_size(json), 0);
    json_decref(json);
    lp_findings_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_blanks),
        cmocka_unit_test(test_words_and_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
