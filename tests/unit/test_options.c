/* The command line: every option, what each refuses and with which words, and options that contradict each other. */
#include "plan/options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define MOST_ARGS 24

/* Parses the words of a line, separated by '|', as argp does those of the shell. Strings of out point into buf. */
static enum lp_status parse_into(const char *line, char *buf, size_t cap, struct lp_options *out, struct lp_reason *why)
{
    char *argv[MOST_ARGS + 2] = {"linkperf"}, *save = NULL;
    int argc = 1;

    assert_true(strlen(line) < cap);
    strcpy(buf, line);
    for (char *word = strtok_r(buf, "|", &save); word; word = strtok_r(NULL, "|", &save))
        argv[argc++] = word;
    why->text[0] = '\0';
    return lp_options_parse(argc, argv, out, why);
}

static int without_slowness(void **state)
{
    (void)state;
    unsetenv("LINKPERF_SLOWNESS");
    return 0;
}

static void test_defaults(void **state)
{
    struct lp_options out;
    struct lp_reason why;
    char buf[16];

    (void)state;
    assert_int_equal(parse_into("", buf, sizeof(buf), &out, &why), LP_OK);
    assert_true(out.min_bytes == 0 && out.max_bytes == 0 && out.step_bytes == 0 && out.factor == 2);
    assert_string_equal(out.collectives, "");
    assert_true(out.dtype == LP_FLOAT && out.redop == LP_SUM);
    assert_int_equal(out.timings, 1u << LP_GRAPH);
    assert_int_equal(out.placements, 1u << LP_OUT_OF_PLACE | 1u << LP_IN_PLACE);
    assert_true(out.iters == 0 && out.warmup == 5 && out.checks == 3 && out.ranks == 0);
    assert_true(!out.matrix && out.nvariants == 0 && out.only[0] == '\0' && !out.no_link && !out.no_collectives);
    assert_string_equal(out.device, "auto");
    assert_true(!out.nccl && !out.worker && !out.keep_binding && !out.strict && !out.result && !out.log_dir);
    assert_true(out.init_timeout == 60.0 && out.cell_timeout == 10.0 && out.slowness == 1.0);
    assert_true(!out.longer && !out.dry_run && out.rounds == 1 && !out.careful);
    lp_options_release(&out);
}

static void test_sizes_and_counts(void **state)
{
    static const struct {
        const char *line;
        size_t min, max, step;
        long factor, iters, warmup, checks, ranks;
    } cases[] = {
        {"-b|8", 8, 0, 0, 2, 0, 5, 3, 0},
        {"-b8|-e|128M", 8, 128u << 20, 0, 2, 0, 5, 3, 0},
        {"--minbytes=1K|--maxbytes|1GiB", 1024, 1u << 30, 0, 2, 0, 5, 3, 0},
        {"-b|64|-e|64", 64, 64, 0, 2, 0, 5, 3, 0},
        {"-f|4", 0, 0, 0, 4, 0, 5, 3, 0},
        {"--stepfactor|1024", 0, 0, 0, 1024, 0, 5, 3, 0},
        {"-i|2M", 0, 0, 2u << 20, 2, 0, 5, 3, 0},
        {"--stepbytes=1k", 0, 0, 1024, 2, 0, 5, 3, 0},
        {"-n|20|-w|0|-c|0", 0, 0, 0, 2, 20, 0, 0, 0},
        {"--iters=1000000|--warmup_iters=1000000|--check=1000", 0, 0, 0, 2, 1000000, 1000000, 1000, 0},
        {"--ranks|64", 0, 0, 0, 2, 0, 5, 3, 64},
        {"-b|8|-b|16", 16, 0, 0, 2, 0, 5, 3, 0}, /* the last counts */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_options out;
        struct lp_reason why;
        char buf[128];

        assert_case(cases[i].line, parse_into(cases[i].line, buf, sizeof(buf), &out, &why) == LP_OK);
        assert_case(cases[i].line, out.min_bytes == cases[i].min && out.max_bytes == cases[i].max);
        assert_case(cases[i].line, out.step_bytes == cases[i].step && out.factor == cases[i].factor);
        assert_case(cases[i].line, out.iters == cases[i].iters && out.warmup == cases[i].warmup);
        assert_case(cases[i].line, out.checks == cases[i].checks && out.ranks == cases[i].ranks);
        lp_options_release(&out);
    }
}

static void test_choices(void **state)
{
    static const struct {
        const char *line;
        enum lp_dtype dtype;
        enum lp_redop redop;
        unsigned timings, placements;
        const char *collectives, *device;
        bool inherit;
    } cases[] = {
        {"-d|bfloat16", LP_BFLOAT16, LP_SUM, 1, 3, "", "auto", false},
        {"--datatype=int32|-o|max", LP_INT32, LP_MAX, 1, 3, "", "auto", false},
        {"--op|min", LP_FLOAT, LP_MIN, 1, 3, "", "auto", false},
        {"--timing|pipelined", LP_FLOAT, LP_SUM, 1u << LP_PIPELINED, 3, "", "auto", false},
        {"--timing=isolated,graph,graph", LP_FLOAT, LP_SUM, 1u << LP_ISOLATED | 1u << LP_GRAPH, 3, "", "auto", false},
        {"--placement|in", LP_FLOAT, LP_SUM, 1, 1u << LP_IN_PLACE, "", "auto", false},
        {"--placement|out", LP_FLOAT, LP_SUM, 1, 1u << LP_OUT_OF_PLACE, "", "auto", false},
        {"--placement|out,in", LP_FLOAT, LP_SUM, 1, 3, "", "auto", false},
        {"--collectives|allgather,allreduce", LP_FLOAT, LP_SUM, 1, 3, "allgather,allreduce", "auto", false},
        {"--device|host", LP_FLOAT, LP_SUM, 1, 3, "", "host", false},
        {"--device|cuda", LP_FLOAT, LP_SUM, 1, 3, "", "cuda", false},
        {"--bind|inherit", LP_FLOAT, LP_SUM, 1, 3, "", "auto", true},
        {"--bind|auto", LP_FLOAT, LP_SUM, 1, 3, "", "auto", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_options out;
        struct lp_reason why;
        char buf[128];

        assert_case(cases[i].line, parse_into(cases[i].line, buf, sizeof(buf), &out, &why) == LP_OK);
        assert_case(cases[i].line, out.dtype == cases[i].dtype && out.redop == cases[i].redop);
        assert_case(cases[i].line, out.timings == cases[i].timings && out.placements == cases[i].placements);
        assert_case(cases[i].line, strcmp(out.collectives, cases[i].collectives) == 0 && strcmp(out.device, cases[i].device) == 0);
        assert_case(cases[i].line, out.keep_binding == cases[i].inherit);
        lp_options_release(&out);
    }
}

static void test_texts_and_switches(void **state)
{
    struct lp_options out;
    struct lp_reason why;
    char buf[512];

    (void)state;
    assert_int_equal(parse_into("--matrix|m.yaml|--only|ring,p2p-off|--nccl|/opt/libnccl.so|--worker|./w|-J|out.json", buf,
                                sizeof(buf), &out, &why),
                     LP_OK);
    assert_string_equal(out.matrix, "m.yaml");
    assert_string_equal(out.only, "ring,p2p-off");
    assert_string_equal(out.nccl, "/opt/libnccl.so");
    assert_string_equal(out.worker, "./w");
    assert_string_equal(out.result, "out.json");
    lp_options_release(&out);
    assert_int_equal(parse_into("--log-dir|logs|--long|--dry-run|--no-link|--strict", buf, sizeof(buf), &out, &why), LP_OK);
    assert_string_equal(out.log_dir, "logs");
    assert_true(out.longer && out.dry_run && out.strict && out.no_link && !out.no_collectives);
    lp_options_release(&out);
    assert_int_equal(parse_into("--no-collectives|--json|x", buf, sizeof(buf), &out, &why), LP_OK);
    assert_true(out.no_collectives && !out.no_link);
    assert_string_equal(out.result, "x");
    lp_options_release(&out);
}

/* `linkperf p2p` has the link's options only, and other defaults. */
static void test_p2p(void **state)
{
    struct lp_options out;
    struct lp_reason why;
    char buf[256];

    (void)state;
    assert_int_equal(parse_into("p2p", buf, sizeof(buf), &out, &why), LP_OK);
    assert_true(out.p2p && out.no_collectives && !out.no_link && !out.all_pairs && !out.factor_given);
    assert_true(out.warmup == 0 && out.checks == 1 && out.iters == 0);
    lp_options_release(&out);
    assert_int_equal(
        parse_into("p2p|--all-pairs|-b|1M|-e|8M|-f|2|-n|5|-w|9|-c|0|--ranks|4|-J|x|--strict", buf, sizeof(buf), &out, &why), LP_OK);
    assert_true(out.p2p && out.strict && out.all_pairs && out.min_bytes == 1u << 20 && out.max_bytes == 8u << 20 &&
                out.factor_given);
    assert_true(out.factor == 2 && out.iters == 5 && out.warmup == 9 && out.checks == 0 && out.ranks == 4);
    assert_string_equal(out.result, "x");
    lp_options_release(&out);
    assert_int_equal(parse_into("--all-pairs", buf, sizeof(buf), &out, &why), LP_OK);
    assert_true(!out.p2p && out.all_pairs && !out.no_collectives);
    lp_options_release(&out);
    assert_int_equal(parse_into("p2p|ring", buf, sizeof(buf), &out, &why), LP_ERR_ARG);
    assert_says(why.text, "linkperf p2p --help");
    assert_int_equal(parse_into("-b|8|p2p", buf, sizeof(buf), &out, &why), LP_ERR_ARG); /* a sub-command comes first */
    assert_says(why.text, "p2p");
}

static void test_rounds(void **state)
{
    static const struct {
        const char *line;
        long rounds;
        bool careful;
    } cases[] = {{"--rounds|3", 3, false}, {"--careful", 5, true}, {"--careful|--rounds|9", 9, true}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_options out;
        struct lp_reason why;
        char buf[64];

        assert_int_equal(parse_into(cases[i].line, buf, sizeof(buf), &out, &why), LP_OK);
        assert_case(cases[i].line, out.rounds == cases[i].rounds && out.careful == cases[i].careful);
        lp_options_release(&out);
    }
}

static void test_variants_in_order(void **state)
{
    struct lp_options out;
    struct lp_reason why;
    char buf[256];

    (void)state;
    assert_int_equal(parse_into("--variant|a: K=1|--long|--variant=b: L=x y|--variant|c:", buf, sizeof(buf), &out, &why), LP_OK);
    assert_int_equal(out.nvariants, 3);
    assert_string_equal(out.variants[0], "a: K=1");
    assert_string_equal(out.variants[1], "b: L=x y");
    assert_string_equal(out.variants[2], "c:");
    lp_options_release(&out);
    assert_int_equal(out.nvariants, 0);
    lp_options_release(&out);
}

static void test_limits(void **state)
{
    static const struct {
        const char *line;
        double init, cell, slowness;
    } cases[] = {
        {"--init-timeout|120", 120, 10, 1},
        {"--timeout|0.5", 60, 0.5, 1},
        {"--slowness|3", 60, 10, 3},
        {"--timeout=1e3", 60, 1e3, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_options out;
        struct lp_reason why;
        char buf[64];

        assert_case(cases[i].line, parse_into(cases[i].line, buf, sizeof(buf), &out, &why) == LP_OK);
        assert_case(cases[i].line, out.init_timeout == cases[i].init && out.cell_timeout == cases[i].cell);
        assert_case(cases[i].line, out.slowness == cases[i].slowness);
    }
}

static void test_slowness_from_the_environment(void **state)
{
    static const char *const bad[] = {"", "slow", "0", "-1", "nan"};
    struct lp_options out;
    struct lp_reason why;
    char buf[64];

    (void)state;
    setenv("LINKPERF_SLOWNESS", "2.5", 1);
    assert_int_equal(parse_into("", buf, sizeof(buf), &out, &why), LP_OK);
    assert_true(out.slowness == 2.5);
    assert_int_equal(parse_into("--slowness|4", buf, sizeof(buf), &out, &why), LP_OK);
    assert_true(out.slowness == 4.0);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        setenv("LINKPERF_SLOWNESS", bad[i], 1);
        assert_case(bad[i], parse_into("", buf, sizeof(buf), &out, &why) == LP_ERR_ARG);
        assert_says(why.text, bad[i]);
    }
    unsetenv("LINKPERF_SLOWNESS");
}

/* What is not understood is refused, with the value and what is taken instead. */
static void test_refused_values(void **state)
{
    static const struct {
        const char *line, *value, *accepted;
    } cases[] = {
        {"-b|128MB", "128MB", "K, M or G"},
        {"-b|-1", "-1", "K, M or G"},
        {"-b|0", "0", "at least 1"},
        {"-e|1.5G", "1.5G", "MiB"},
        {"-e|99999999999G", "99999999999G", "2^63"},
        {"-e|", "''", "K, M or G"},
        {"-i|2MB", "2MB", "K, M or G"},
        {"-i|0", "0", "at least 1"},
        {"-f|1", "1", "2 to 1024"},
        {"-f|2.5", "2.5", "2 to 1024"},
        {"-n|0", "0", "1 to 1000000"},
        {"-n|many", "many", "1 to 1000000"},
        {"-w|-1", "-1", "0 to 1000000"},
        {"-c|1001", "1001", "0 to 1000"},
        {"--ranks|0", "0", "1 to 64"},
        {"--ranks|65", "65", "1 to 64"},
        {"-d|fp16", "fp16", "float, double, int32, half or bfloat16"},
        {"-o|avg", "avg", "sum, min or max"},
        {"--timing|fast", "fast", "graph, pipelined, isolated"},
        {"--timing|graph,fast", "fast", "graph, pipelined, isolated"},
        {"--timing|graph;isolated", "graph;isolated", "graph, pipelined, isolated"},
        {"--timing|,", "timing", "empty"},
        {"--placement|beside", "beside", "out, in"},
        {"--collectives|allreduce,alltoall", "alltoall", "allreduce, allgather"},
        {"--collectives|AllReduce", "AllReduce", "allreduce, allgather"},
        {"--device|gpu", "gpu", "auto, cuda, host"},
        {"--device|cuda,host", "cuda,host", "device"},
        {"--bind|core", "core", "auto, inherit"},
        {"--bind|auto,inherit", "auto,inherit", "bind"},
        {"--init-timeout|0", "0", "above 0"},
        {"--init-timeout|60s", "60s", "above 0"},
        {"--timeout|-1", "-1", "above 0"},
        {"--timeout|inf", "inf", "above 0"},
        {"--slowness|nan", "nan", "above 0"},
        {"--slowness|1x", "1x", "above 0"},
        {"ring", "ring", "--help"},
        {"NCCL_ALGO=Ring", "NCCL_ALGO=Ring", "--variant"},
        {"-b|8|NCCL_ALGO=Ring|-e|16", "NCCL_ALGO=Ring", "export"},
        {"--|-b", "-b", "--help"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_options out;
        struct lp_reason why;
        char buf[128];

        if (strcmp(cases[i].line, "-e|") == 0) { /* strtok makes no empty words */
            char *argv[] = {"linkperf", "-e", "", NULL};

            assert_int_equal(lp_options_parse(3, argv, &out, &why), LP_ERR_ARG);
        } else {
            assert_case(cases[i].line, parse_into(cases[i].line, buf, sizeof(buf), &out, &why) == LP_ERR_ARG);
        }
        assert_says(why.text, cases[i].value);
        assert_says(why.text, cases[i].accepted);
        assert_null(strchr(why.text, '\n'));
        lp_options_release(&out);
    }
}

/* Of several mistakes the first is said. */
static void test_first_mistake(void **state)
{
    struct lp_options out;
    struct lp_reason why;
    char buf[64];

    (void)state;
    assert_int_equal(parse_into("-d|first|-o|second", buf, sizeof(buf), &out, &why), LP_ERR_ARG);
    assert_says(why.text, "first");
    assert_null(strstr(why.text, "second"));
}

static void test_contradictions(void **state)
{
    static const struct {
        const char *line, *says[2];
    } cases[] = {
        {"-f|4|-i|1K", {"-f", "-i"}},
        {"-i|1K|-f|2", {"-f", "-i"}},
        {"-b|1M|-e|1K", {"-b 1M", "-e 1K"}},
        {"--no-link|--no-collectives", {"--no-link", "--no-collectives"}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct lp_options out;
        struct lp_reason why;
        char buf[64];

        assert_case(cases[i].line, parse_into(cases[i].line, buf, sizeof(buf), &out, &why) == LP_ERR_ARG);
        assert_says(why.text, cases[i].says[0]);
        assert_says(why.text, cases[i].says[1]);
    }
}

/* What argp answers by itself: exit codes of a child that parses the line. */
static int exit_code_of(const char *line)
{
    int status = 0, null = open("/dev/null", O_WRONLY);
    pid_t pid = fork();

    if (pid == 0) {
        struct lp_options out;
        struct lp_reason why;
        char buf[64];

        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        parse_into(line, buf, sizeof(buf), &out, &why);
        _exit(77);
    }
    close(null);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_exit_codes(void **state)
{
    static const struct {
        const char *line;
        int code;
    } cases[] = {{"--help", 0},
                 {"--usage", 0},
                 {"--no-such-option", 2},
                 {"-Z", 2},
                 {"-b", 2},
                 {"--long=yes", 2},
                 {"p2p|--help", 0},
                 {"p2p|--timing|graph", 2},
                 {"p2p|--matrix|x", 2},
                 {"p2p|-o|sum", 2}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_case(cases[i].line, exit_code_of(cases[i].line) == cases[i].code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_sizes_and_counts),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_texts_and_switches),
        cmocka_unit_test(test_p2p),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_variants_in_order),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_slowness_from_the_environment),
        cmocka_unit_test(test_refused_values),
        cmocka_unit_test(test_first_mistake),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_exit_codes),
    };

    return cmocka_run_group_tests(tests, without_slowness, NULL);
}
