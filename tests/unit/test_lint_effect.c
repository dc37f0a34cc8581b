/* Lint of what is read right: clamps, no effect on what is measured, other names, other releases. */
#include "plan/lint.h"

#include "fixture.h"

#include "lint_text.h"

static const char *const both[] = {"allreduce", "allgather", NULL};
static const char *const sends[] = {"alltoall", "sendrecv", NULL};
static const char *const one[] = {"allreduce", NULL};

struct said {
    const char *text;
    enum lp_lint_level level;
    const char *says, *fix; /* says NULL: nothing at all is said */
};

static void check_said(const struct said *cases, size_t n, const struct lp_lint_context *context)
{
    for (size_t i = 0; i < n; i++) {
        struct lp_findings out = {0};
        const struct lp_finding *found;

        lint_text(cases[i].text, context, &out);
        found = cases[i].says ? find_finding(&out, cases[i].level, cases[i].says) : NULL;
        if (cases[i].says ? !found : out.n > 0)
            fail_msg("case \"%s\": %s", cases[i].text, out.n ? out.item[0].text : "nothing is said");
        if (found && strcmp(found->fix, cases[i].fix ? cases[i].fix : "") != 0)
            fail_msg("case \"%s\": advice is \"%s\"", cases[i].text, found->fix);
        assert_case(cases[i].text, lp_findings_count(&out, LP_LINT_ERROR, NULL) == 0);
        lp_findings_release(&out);
    }
}

/* Taken by NCCL 2.28.3 on one host with four GPUs. */
static void test_warnings(void **state)
{
    static const struct said cases[] = {
        {"NCCL_BUFFSIZE=16777216", 0, NULL, NULL},
        {"NCCL_BUFFSIZE=0x400000", 0, NULL, NULL},
        {"NCCL_BUFFSIZE=1000000", LP_LINT_WARNING, "power of two", NULL},
        {"NCCL_LL128_BUFFSIZE=123000", LP_LINT_WARNING, "power of two", NULL},
        {"NCCL_NTHREADS=256", 0, NULL, NULL},
        {"NCCL_NTHREADS=100", LP_LINT_WARNING, "uses 512", NULL},
        {"NCCL_NTHREADS=480", LP_LINT_WARNING, "power of two", NULL},
        {"NCCL_NTHREADS=2048", LP_LINT_WARNING, "uses 512", NULL},
        {"NCCL_NTHREADS=32", LP_LINT_WARNING, "uses 64", NULL},
        {"NCCL_LL128_NTHREADS=96", LP_LINT_WARNING, "uses 160", NULL},
        {"NCCL_MAX_NCHANNELS=64", 0, NULL, NULL},
        {"NCCL_MAX_NCHANNELS=65", LP_LINT_WARNING, "uses 64", NULL},
        {"NCCL_MAX_CTAS=0", LP_LINT_WARNING, "does not take it", NULL},
        {"NCCL_MIN_NCHANNELS=32 NCCL_MAX_NCHANNELS=16", LP_LINT_WARNING, "this one counts", NULL},
        {"NCCL_WORK_FIFO_BYTES=1000", LP_LINT_WARNING, "default", NULL},
        {"NCCL_P2P_LEVEL=SYS", 0, NULL, NULL},
        {"NCCL_P2P_LEVEL=4", LP_LINT_WARNING, "takes for SYS", "NCCL_P2P_LEVEL=SYS"},
        {"NCCL_P2P_LEVEL=9", LP_LINT_WARNING, "takes for SYS", "NCCL_P2P_LEVEL=SYS"},
        {"NCCL_P2P_LEVEL=0", LP_LINT_WARNING, "takes for LOC", "NCCL_P2P_LEVEL=LOC"},
        {"NCCL_P2P_LEVEL=SYS NCCL_P2P_DISABLE=1", LP_LINT_WARNING, "goes first", NULL},
        {"NCCL_P2P_DISABLE=1 NCCL_P2P_READ_ENABLE=1", LP_LINT_WARNING, "P2P is off", NULL},
        {"NCCL_P2P_DISABLE=1", LP_LINT_NOTE, "NCCL_NVLS_ENABLE=0", NULL},
        {"NCCL_P2P_DISABLE=1 NCCL_NVLS_ENABLE=0", 0, NULL, NULL},
        {"NCCL_SHM_DISABLE=1 NCCL_SHM_LOCALITY=1", LP_LINT_WARNING, "host memory is off", NULL},
        {"NCCL_ALGO=Tree", LP_LINT_WARNING, "for AllGather", "NCCL_ALGO=allreduce:Tree"},
        {"NCCL_ALGO=allreduce:tree", 0, NULL, NULL},
        {"NCCL_ALGO=ring;allreduce:tree", 0, NULL, NULL},
        {"NCCL_ALGO=^Tree", 0, NULL, NULL},
        {"NCCL_ALGO=NVLS", 0, NULL, NULL},
        {"NCCL_ALGO=NVLS NCCL_NVLS_ENABLE=0", LP_LINT_WARNING, "AllReduce, AllGather", NULL},
        {"NCCL_ALGO=NVLSTree", LP_LINT_WARNING, "refuses the call", NULL},
        {"NCCL_ALGO=PAT", LP_LINT_WARNING, "refuses the call", NULL},
        {"NCCL_ALGO=NVLS NCCL_PROTO=LL", LP_LINT_WARNING, "with the algorithms that are left", NULL},
        {"NCCL_PROTO=LL128", LP_LINT_WARNING, "forces LL128", NULL},
        {"NCCL_PROTO=LL,LL128,Simple", LP_LINT_WARNING, "forces LL128", NULL},
        {"NCCL_PROTO=^Simple", LP_LINT_WARNING, "excludes others forces LL128", NULL},
        {"NCCL_PROTO=^LL128", 0, NULL, NULL},
        {"NCCL_PROTO=^LL128;allreduce:LL128", LP_LINT_WARNING, "forces LL128", NULL},
        {"NCCL_PROTO=broadcast:LL128", 0, NULL, NULL},
        {"NCCL_PROTO=Simple", 0, NULL, NULL},
        {"NCCL_NTHREADS=256 NCCL_ALGO=Tree", LP_LINT_WARNING, "Ring only", NULL},
        {"NCCL_NTHREADS=256 NCCL_ALGO=allreduce:tree", LP_LINT_NOTE, "no effect on AllReduce", NULL},
        {"NCCL_BUFFSIZE=8388608 NCCL_PROTO=LL", LP_LINT_WARNING, "Simple only", NULL},
        {"NCCL_NVLS_NCHANNELS=8 NCCL_NVLS_ENABLE=0", LP_LINT_WARNING, "NVLS, NVLSTree only", NULL},
        {"NCCL_P2P_NVL_CHUNKSIZE=1048576", LP_LINT_WARNING, "limited to 524288", NULL},
        {"NCCL_MIN_P2P_NCHANNELS=4", LP_LINT_WARNING, "sends and receives only", NULL},
        {"NCCL_CROSS_NIC=1", LP_LINT_WARNING, "between hosts only", NULL},
        {"NCCL_IB_HCA=mlx5", LP_LINT_WARNING, "between hosts", NULL},
        {"NCCL_IB_DISABLE=1 NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 NCCL_NVLS_ENABLE=0", 0, NULL, NULL},
        {"NCCL_RAS_ENABLE=0", LP_LINT_NOTE, "health", NULL},
        {"NCCL_ENV_PLUGIN=foo", LP_LINT_WARNING, "first that does is 2.28.7", NULL},
        {"NCCL_TREE_THRESHOLD=0", LP_LINT_WARNING, "last that does is 2.4", NULL},
        {"NCCL_SYM_KERNEL=", LP_LINT_WARNING, "no symmetric kernel", NULL},
        {"NCCL_ALGO=", LP_LINT_WARNING, "as if it were not set", NULL},
        {"NCCL_TOPO_FILE=~/x", LP_LINT_WARNING, "does not expand", NULL},
        {"NCCL_DEBUG=INFO", LP_LINT_NOTE, "linkperf sets it", NULL},
        /* names */
        {"NCCL_Algo=Tree", LP_LINT_WARNING, "no such variable", "NCCL_ALGO=Tree"},
        {"NCCL_BUFFERSIZE=4", LP_LINT_WARNING, "no such variable", "NCCL_BUFFSIZE=4"},
        {"NCCL_FOO=1", LP_LINT_WARNING, "as far as linkperf knows", NULL},
        {"UCX_TLS=rc", LP_LINT_NOTE, "read by UCX", NULL},
        {"OMPI_MCA_btl=self", LP_LINT_NOTE, "read by Open MPI", NULL},
        {"CUDA_DEVICE_MAX_CONNECTIONS=1", LP_LINT_NOTE, "queues", NULL},
        {"NCCL_BLOCKING_WAIT=1", LP_LINT_NOTE, "PyTorch", NULL},
        {"FOO=1", LP_LINT_NOTE, "not a variable of NCCL", NULL},
    };
    const struct lp_lint_context context = {.version = 22803, .collectives = both, .nranks = 4, .nhosts = 1};

    (void)state;
    check_said(cases, COUNT_OF(cases), &context);
}

static void test_two_gpus(void **state)
{
    static const struct said old[] = {
        {"NCCL_ALGO=NVLS", LP_LINT_WARNING, "more than two GPUs", NULL},
        {"NCCL_NVLS_ENABLE=1", LP_LINT_WARNING, "between two GPUs", NULL},
        {"NCCL_P2P_DISABLE=1", 0, NULL, NULL},
    };
    static const struct said new[] = {{"NCCL_ALGO=NVLS", 0, NULL, NULL}, {"NCCL_NVLS_ENABLE=1", 0, NULL, NULL}};
    struct lp_lint_context context = {.version = 22803, .collectives = both, .nranks = 2, .nhosts = 1};

    (void)state;
    check_said(old, COUNT_OF(old), &context);
    context.version = 22807;
    check_said(new, COUNT_OF(new), &context);
}

static void test_sends(void **state)
{
    static const struct said cases[] = {
        {"NCCL_ALGO=Tree", LP_LINT_WARNING, "no effect on alltoall, sendrecv", NULL},
        {"NCCL_PROTO=LL", LP_LINT_WARNING, "no effect on alltoall", NULL},
        {"NCCL_NTHREADS=256", LP_LINT_WARNING, "no effect on alltoall", NULL},
        {"NCCL_MIN_P2P_NCHANNELS=4", 0, NULL, NULL},
        {"NCCL_BUFFSIZE=8388608", 0, NULL, NULL},
    };
    const struct lp_lint_context context = {.version = 22803, .collectives = sends, .nranks = 4, .nhosts = 1};

    (void)state;
    check_said(cases, COUNT_OF(cases), &context);
}

/* Up to 2.23 lists know no functions and nothing is refused; up to 2.24 there are 32 channels. */
static void test_old_release(void **state)
{
    static const struct {
        const char *text;
        enum lp_lint_level level;
        const char *says;
    } cases[] = {
        {"NCCL_ALGO=allreduce:tree", LP_LINT_ERROR, "since 2.24"},
        {"NCCL_ALGO=Ringg", LP_LINT_ERROR, "leaves it out without a word"},
        {"NCCL_ALGO=PAT", LP_LINT_ERROR, "has no PAT"},
        {"NCCL_ALGO=Tree", LP_LINT_WARNING, "uses Ring without a word"},
        {"NCCL_MAX_NCHANNELS=64", LP_LINT_WARNING, "uses 32"},
        {"NCCL_P2P_LEVEL=P2C", LP_LINT_ERROR, "first that does is 2.27"},
        {"NCCL_BUFFSIZE=65536", LP_LINT_WARNING, "past the buffer"},
        {"NCCL_CONF_FILE=x", LP_LINT_WARNING, "first that does is 2.23.4"},
    };
    const struct lp_lint_context context = {.version = 22005, .collectives = both, .nranks = 4, .nhosts = 1};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_findings out = {0};

        lint_text(cases[i].text, &context, &out);
        assert_case(cases[i].text, find_finding(&out, cases[i].level, cases[i].says) != NULL);
        lp_findings_release(&out);
    }
}

/* Nothing known about the run: still the same errors, and no guesses about effects. */
static void test_nothing_known(void **state)
{
    static const struct said cases[] = {
        {"NCCL_ALGO=Tree", 0, NULL, NULL},
        {"NCCL_NVLS_NCHANNELS=8", 0, NULL, NULL},
        {"NCCL_PROTO=LL128", LP_LINT_WARNING, "forces LL128", NULL},
        {"NCCL_CTA_POLICY=EFFICIENCY|ZERO", 0, NULL, NULL},
        {"NCCL_IB_HCA=mlx5", LP_LINT_NOTE, "between hosts", NULL},
    };
    static const struct said on_host[] = {
        {"NCCL_ALGO=Tree", 0, NULL, NULL},
        {"NCCL_BUFFSIZE=8388608", LP_LINT_NOTE, "NCCL_ALGO and NCCL_P2P_DISABLE only", NULL},
        {"NCCL_P2P_DISABLE=1", 0, NULL, NULL},
    };
    struct lp_lint_context context = {0};

    (void)state;
    check_said(cases, COUNT_OF(cases), &context);
    context.device = "host";
    context.collectives = one;
    check_said(on_host, COUNT_OF(on_host), &context);
}

static void test_inherited(void **state)
{
    json_t *inherited = json_of("{'NCCL_ALGO': 'Ring', 'NCCL_NVLS_ENABLE': '0', 'NCCL_ENV_PLUGIN': 'site'}");
    json_t *conf = json_of("[{'path': '/x.conf', 'env': {'NCCL_PROTO': 'LL', 'NCCL_ALGO': 'Tree'}}]");
    const struct lp_lint_context context = {.collectives = both, .inherited = inherited, .conf = conf};
    static const struct said cases[] = {
        {"NCCL_ALGO=Ring", LP_LINT_WARNING, "inherited environment has it already", NULL},
        {"NCCL_ALGO=Ring,Tree", 0, NULL, NULL},
        {"NCCL_NTHREADS", LP_LINT_WARNING, "not set in the first place", NULL},
        {"NCCL_NVLS_ENABLE", 0, NULL, NULL},
        {"NCCL_PROTO", LP_LINT_WARNING, "/x.conf sets it to LL", NULL},
        {"NCCL_ALGO", LP_LINT_WARNING, "/x.conf sets it to Tree", NULL},
        /* what is inherited, or set by the file, counts when effects are looked at */
        {"NCCL_NVLS_NCHANNELS=8", LP_LINT_WARNING, "which is not used there", NULL},
        {"NCCL_BUFFSIZE=8388608", LP_LINT_WARNING, "Simple only", NULL},
    };
    struct lp_variants none = {0};
    struct lp_findings out = {0};

    (void)state;
    check_said(cases, COUNT_OF(cases), &context);
    assert_int_equal(lp_lint_matrix(&none, &context, &out), LP_OK);
    assert_int_equal(out.n, 2); /* the plug-in, and NCCL_PROTO of the file; NCCL_ALGO is inherited and wins */
    assert_string_equal(out.item[0].variant, "");
    assert_string_equal(out.item[0].name, "NCCL_ENV_PLUGIN");
    assert_string_equal(out.item[1].name, "NCCL_PROTO");
    lp_findings_release(&out);
    json_decref(conf);
    json_decref(inherited);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warnings),    cmocka_unit_test(test_two_gpus),      cmocka_unit_test(test_sends),
        cmocka_unit_test(test_old_release), cmocka_unit_test(test_nothing_known), cmocka_unit_test(test_inherited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
