/* Whole runs in which nothing goes wrong: which crews there are, with which environment, CPUs and logs, and what they are asked. */
#include "scripted_run.h"

#include <math.h>

#define CELLS "-b", "64", "-e", "256", "--collectives", "allreduce", "--placement", "out"

static bool is_link(const char *crew)
{
    return strncmp(crew, "link", 4) == 0;
}

/* The crew in which one worker opens all GPUs. */
static bool is_one_worker(const struct scripted_run *run, const char *crew)
{
    return strcmp(run->device, "cuda") == 0 && strcmp(crew, "link") == 0;
}

/*
 * Copies of a main run among n alike. On cuda three paths and the truth between processes for every pair; for one pair two more
 * large ones both ways and one small one without P2P and with it, the pinned path, four curves of seven sizes; and the ring. On
 * host two paths for every pair, three figures both ways, and the ring. Then an exchange for each of the three sizes of CELLS.
 */
static size_t copies_of(const char *device, int n)
{
    size_t pairs = (size_t)(n * (n - 1));

    return strcmp(device, "cuda") == 0 ? 4 * pairs + 7 + 4 * 7 + 1 + 3 : 2 * pairs + 3 + 1 + 3;
}

static const struct actor *first_of(const struct scripted_run *run, const char *crew, int rank)
{
    for (int c = 1; c <= run->ncrews; c++)
        if (strcmp(run->actor[c][rank].name, crew) == 0)
            return &run->actor[c][rank];
    fail_msg("there is no crew of %s", crew);
    return NULL;
}

/* Of the crew that its processes name, usable, with a rate for each edge where there is more than one. */
static void check_copy(const struct scripted_run *run, const struct lp_record *record)
{
    bool one = is_one_worker(run, run->actor[record->crew][0].name), latency = strcmp(record->cell.op, "cpu_flag") == 0;
    bool rates = record->cell.nedges > 1 && record->cell.timing == LP_QUEUED;
    int nedges = record->cell.nedges;

    assert_true(record->cell.kind == LP_COPY && record->outcome == LP_DONE && lp_record_usable(record));
    assert_true(is_link(run->actor[record->crew][0].name));
    assert_string_equal(record->cell.processes, one ? "one" : "ipc");
    assert_true(record->checked.iterations == 3 && record->checked.wrong_iterations == 0); /* before, the timed, after */
    assert_true(isfinite(record->algbw_gbps) != latency && isfinite(record->latency_us) == (nedges == 1 || latency));
    assert_true(isfinite(record->sum_gbps) == (rates && !latency) && isfinite(record->overlap) == rates);
    for (int e = 0; e < nedges; e++)
        assert_true(isfinite(record->edge_gbps[e]) == (rates && !latency));
}

/* Default goes first and last; every cell has one record in each, in the plan's order. */
static void test_order(void **state)
{
    static const char *const cuda[] = {"survey", "link", "link-ipc", "default", "ring", "p2p-off", "default-again"};
    static const char *const host[] = {"survey", "link", "default", "ring", "tree", "p2p-off", "default-again"};

    (void)state;
    for (int n = 2; n <= 8; n++)
        for (int d = 0; d < 2; d++) {
            struct scripted_run *run = run_create(d ? "host" : "cuda", n);
            const char *const *order = d ? host : cuda;
            size_t crews = d ? COUNT_OF(host) : COUNT_OF(cuda), first;

            run_play(run, (const char *[]){CELLS, d ? NULL : "--only", "ring,p2p-off", NULL});
            assert_true(run->code == 0 && is_complete(run));
            assert_int_equal(run->ncrews, crews);
            for (size_t c = 0; c < crews; c++)
                assert_string_equal(run->actor[c + 1][0].name, order[c]);
            first = copies_of(run->device, n);
            assert_int_equal(run->result.n, first + 3 * (d ? 5 : 4));
            for (size_t i = 0; i < first; i++)
                check_copy(run, run->result.record[i]);
            for (size_t i = first; i < run->result.n; i++) {
                const struct lp_record *record = run->result.record[i];
                bool last = i + 3 >= run->result.n;

                assert_int_equal(record->cell.requested_bytes, (size_t)64 << (i - first) % 3);
                assert_int_equal(record->repeat, last);
                assert_true((strcmp(record->variant, "default") == 0) == (last || i < first + 3));
                assert_true(record->outcome == LP_DONE && record->checked.iterations == 7 && lp_record_usable(record));
                assert_true(record->crew > 0 && run->actor[record->crew][0].spawned);
            }
            run_free(run);
        }
}

/* Every crew is as wide as the run, but for the one in which one worker opens all GPUs. */
static void test_width_and_cpus(void **state)
{
    struct scripted_run *run = run_create("cuda", 5);

    (void)state;
    run_play(run, (const char *[]){CELLS, "--only", "ring", NULL});
    for (int c = 1; c <= run->ncrews; c++) {
        bool one = is_one_worker(run, run->actor[c][0].name), survey = strcmp(run->actor[c][0].name, "survey") == 0;

        for (int r = 0; r < 5; r++) {
            char cpus[16];

            snprintf(cpus, sizeof(cpus), "%d-%d", 4 * r, 4 * r + 3); /* as the survey has them for the rank's GPU */
            assert_true(run->actor[c][r].spawned == (r == 0 || !one));
            if (run->actor[c][r].spawned)
                assert_string_equal(run->actor[c][r].cpus, one || survey ? "" : cpus);
        }
    }
    run_free(run);
}

/* On host memory the ranks share out the machine's 64 CPUs. */
static void test_host_cpus(void **state)
{
    (void)state;
    for (int n = 2; n <= 8; n *= 2) {
        struct scripted_run *run = run_create("host", n);

        run_play(run, (const char *[]){CELLS, "--only", "ring", NULL});
        for (int c = 2; c <= run->ncrews; c++)
            for (int r = 0; r < n; r++) {
                char cpus[16];

                snprintf(cpus, sizeof(cpus), "%d-%d", 64 / n * r, 64 / n * (r + 1) - 1);
                assert_string_equal(run->actor[c][r].cpus, cpus);
            }
        run_free(run);
    }
}

/* ---- environment ---- */

/* What NCCL is told to log is ours, and is told to crews that have NCCL; eager modes keep TUNING out of the clock. */
static void test_nccl_debug(void **state)
{
    static const struct {
        const char *device, *timing, *crew;
        bool debug, tuning;
    } cases[] = {
        {"cuda", "graph", "default", true, true},    {"cuda", "graph", "ring", true, true},
        {"cuda", "pipelined", "ring", true, false},  {"cuda", "graph,isolated", "ring", true, false},
        {"cuda", "graph", "survey", false, false},   {"cuda", "graph", "link", false, false},
        {"cuda", "graph", "link-ipc", false, false}, {"host", "graph", "default", false, false},
        {"host", "graph", "link", false, false},     {"host", "pipelined", "ring", false, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scripted_run *run = run_create(cases[i].device, 2);

        run_play(run, (const char *[]){CELLS, "--timing", cases[i].timing, "--only", "ring", NULL});
        for (int r = 0; r < (is_one_worker(run, cases[i].crew) ? 1 : 2); r++) {
            const json_t *env = first_of(run, cases[i].crew, r)->env;
            const char *file = lp_json_str(env, "NCCL_DEBUG_FILE", NULL);
            char rank[32];

            snprintf(rank, sizeof(rank), "-rank%d.nccl.log", r);
            assert_case(cases[i].crew, (file != NULL) == cases[i].debug);
            assert_case(cases[i].crew, !file || strstr(file, rank));
            assert_case(cases[i].crew, (json_object_get(env, "NCCL_DEBUG") != NULL) == cases[i].debug);
            assert_case(cases[i].crew, json_is_null(json_object_get(env, "NCCL_COMM_BLOCKING")) == cases[i].debug);
            assert_case(cases[i].crew, (strstr(lp_json_str(env, "NCCL_DEBUG_SUBSYS", ""), "TUNING") != NULL) == cases[i].tuning);
        }
        run_free(run);
    }
}

/* Values that a shell, JSON or YAML could spoil, as a variant's crews get them: each byte, nothing more, and only there. */
static void test_environment_byte_for_byte(void **state)
{
    static const char *const yaml = "variants:\n"
                                    "  - name: odd one\n"
                                    "    env:\n"
                                    "      LPV_QUOTES: \"it's \\\"quoted\\\"\"\n"
                                    "      LPV_BLANKS: '  two  spaces  '\n"
                                    "      LPV_LINES: \"one\\ntwo\\ttab\"\n"
                                    "      LPV_DOLLAR: '$HOME `id` \\n %s'\n"
                                    "      LPV_UTF8: \"Gr\\u00fc\\u00dfe\"\n"
                                    "      LPV_EMPTY: ''\n"
                                    "      LPV_NUMBER: 010\n"
                                    "      LPV_GONE: ~\n";
    static const struct {
        const char *crew, *name, *value; /* NULL: removed */
    } cases[] = {
        {"odd_one", "LPV_QUOTES", "it's \"quoted\""},
        {"odd_one", "LPV_BLANKS", "  two  spaces  "},
        {"odd_one", "LPV_LINES", "one\ntwo\ttab"},
        {"odd_one", "LPV_DOLLAR", "$HOME `id` \\n %s"},
        {"odd_one", "LPV_UTF8",
         "Gr\xc3\xbc\xc3\x9f"
         "e"},
        {"odd_one", "LPV_EMPTY", ""},
        {"odd_one", "LPV_NUMBER", "010"},
        {"odd_one", "LPV_GONE", NULL},
        {"typed", "LPV_EQUALS", "=a=b,c;d'\\"},
        {"typed", "LPV_EMPTY", ""},
        {"typed", "LPV_GONE", NULL},
    };
    static const struct {
        const char *crew;
        size_t variables;
    } sizes[] = {{"odd_one", 8}, {"typed", 3}, {"default", 0}, {"default-again", 0}, {"survey", 0}, {"link", 0}};
    struct scripted_run *run = run_create("host", 3);
    char file[128];

    (void)state;
    snprintf(file, sizeof(file), "%s", scratch_write(&run->scratch, "matrix.yaml", yaml, strlen(yaml)));
    run_play(run,
             (const char *[]){CELLS, "--matrix", file, "--variant", "typed: LPV_EQUALS==a=b,c;d'\\ LPV_EMPTY= LPV_GONE", NULL});
    assert_int_equal(run->code, 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int r = 0; r < 3; r++) {
            const json_t *value = json_object_get(first_of(run, cases[i].crew, r)->env, cases[i].name);

            assert_case(cases[i].name, cases[i].value ? json_is_string(value) : json_is_null(value));
            if (cases[i].value)
                assert_string_equal(json_string_value(value), cases[i].value);
        }
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        assert_case(sizes[i].crew, json_object_size(first_of(run, sizes[i].crew, 0)->env) == sizes[i].variables);
    run_free(run);
}

/* The site's values reach every worker of every crew; a variant that would change one has no crew, and the others go on. */
static void test_locks(void **state)
{
    struct scripted_run *run = run_create("cuda", 3);
    const json_t *entry;

    (void)state;
    setenv("LINKPERF_LOCK", "NCCL_IB_DISABLE=1 NCCL_PROTO NCCL_NVLS_ENABLE=0", 1);
    run_play(run, (const char *[]){CELLS, "--only", "ring,proto-ll,p2p-off,same,nvls", "--variant", "same: NCCL_IB_DISABLE=1",
                                   "--variant", "nvls: NCCL_ALGO=NVLS", NULL});
    unsetenv("LINKPERF_LOCK");
    assert_int_equal(run->code, 0);
    for (int c = 1; c <= run->ncrews; c++)
        for (int r = 0; r < 3; r++)
            if (run->actor[c][r].spawned) {
                const json_t *env = run->actor[c][r].env;

                assert_case(run->actor[c][r].name, strcmp(lp_json_str(env, "NCCL_IB_DISABLE", ""), "1") == 0);
                assert_case(run->actor[c][r].name, strcmp(lp_json_str(env, "NCCL_NVLS_ENABLE", ""), "0") == 0);
                assert_case(run->actor[c][r].name, !json_object_get(env, "NCCL_PROTO"));
            }
    assert_true(crews_of(run, "ring") == 1 && crews_of(run, "p2p-off") == 1 && crews_of(run, "same") == 1);
    assert_true(crews_of(run, "proto-ll") == 0 && crews_of(run, "nvls") == 0);
    entry = entry_of(run, "proto-ll", 0);
    assert_string_equal(lp_json_str(entry, "outcome", ""), "skipped");
    assert_says(lp_json_str(entry, "reason", ""), "site lock NCCL_PROTO");
    assert_null(record_of(run, "proto-ll", 0, 64));
    run_free(run);
}

/* Without LINKPERF_LOCK: NVLS that was switched off on this machine stays off, whatever the environment has become. */
static void test_inherited_nvls_is_a_lock(void **state)
{
    struct scripted_run *run = run_create("cuda", 2);

    (void)state;
    run->inherited = "{'NCCL_NVLS_ENABLE': '0'}";
    run_play(run, (const char *[]){CELLS, "--no-link", "--only", "ring,on", "--variant", "on: NCCL_NVLS_ENABLE=1", NULL});
    assert_int_equal(run->code, 0);
    assert_string_equal(lp_json_str(first_of(run, "ring", 1)->env, "NCCL_NVLS_ENABLE", ""), "0");
    assert_int_equal(crews_of(run, "on"), 0);
    run_free(run);
}

/* ---- requests ---- */

struct heard {
    int offers, opens, arenas, peers;
    bool after_peers; /* they were asked for just now */
};

/* Inside the run there is nobody to fail; what is wrong is said afterwards. */
static void hear(struct scripted_run *run, const char *name, bool right, const char *what)
{
    if (!right)
        foul(run, what, name);
}

static void listen(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    const char *what = lp_json_str(request, "do", ""), *name = run->actor[crew][rank].name;
    const json_t *stations = json_object_get(request, "stations");
    bool cuda = strcmp(run->device, "cuda") == 0, link = is_link(name), one = is_one_worker(run, name);
    bool mapped = link ? !one : !cuda; /* others map the arenas */
    struct heard *heard = run->user;

    if (strcmp(what, "offer") == 0) {
        heard->offers++;
        hear(run, name, json_array_size(stations) == (size_t)(one ? 1 : run->link.nranks), "given stations of too many workers:");
        hear(run, name, json_array_size(json_array_get(stations, 0)) == (size_t)(one ? run->link.nranks : 1), "given other GPUs:");
        hear(run, name, (lp_json_str(request, "library", NULL) == NULL) == link, "given a library, or none:");
        hear(run, name, lp_json_int(request, "nranks", 0) == (link ? 1 : run->link.nranks), "given other ranks:");
        hear(run, name, lp_json_bool(request, "gate", false) == link, "given a gate, or none:");
        hear(run, name, lp_json_bool(request, "page", false) == !one, "asked for a page, or not to:");
    } else if (strcmp(what, "open") == 0) {
        heard->opens++; /* memory first where others map it; else the communicator shows what is left */
        hear(run, name, (run->actor[crew][rank].arena_bytes > 0) == mapped, "opened out of turn:");
    } else if (strcmp(what, "arena") == 0) {
        heard->arenas++;
        hear(run, name, lp_json_bool(request, "export", false) == mapped, "asked to export, or not to:");
    } else if (strcmp(what, "peers") == 0) {
        heard->peers++;
        hear(run, name, run->actor[crew][rank].arena_bytes > 0, "asked for peer access before there was memory:");
    } else if (heard->after_peers) {
        const struct lp_path *path = lp_path_find(run->actor[crew][rank].cell.op); /* as the request has it */

        hear(run, name, strcmp(what, "cell") == 0 && path && path->flags & LP_PATH_PEER, "given peer access too early:");
    }
    heard->after_peers = strcmp(what, "peers") == 0;
}

static void test_requests(void **state)
{
    (void)state;
    for (int n = 2; n <= 8; n += 2)
        for (int d = 0; d < 2; d++) {
            struct scripted_run *run = run_create(d ? "host" : "cuda", n);
            struct heard heard = {0};
            int workers = d ? 4 * n : 1 + 4 * n; /* link, ring and default twice */

            run->on_request = listen;
            run->user = &heard;
            run_play(run, (const char *[]){CELLS, "--only", "ring", NULL});
            assert_int_equal(run->code, 0);
            assert_true(heard.offers == workers && heard.opens == workers && heard.arenas == workers);
            assert_int_equal(heard.peers, d ? 0 : 1);
            run_free(run);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_width_and_cpus),
        cmocka_unit_test(test_host_cpus),
        cmocka_unit_test(test_nccl_debug),
        cmocka_unit_test(test_environment_byte_for_byte),
        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_inherited_nvls_is_a_lock),
        cmocka_unit_test(test_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
