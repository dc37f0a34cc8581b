/* Whole runs in which the copies of the link go wrong: the product of kind, phase and crew, what is given up, and the baseline. */
#include "scripted_copies.h"

/*
 * Where faults strike. A fault of the one worker of all GPUs strikes its first copies, which do without P2P; so there are those
 * that wait for peer access, and those that end with it.
 */
static const struct place {
    const char *crew, *device;
    bool one_worker;
    enum phase first, last;
} places[] = {
    {"link", "cuda", true, AT_START, AT_BYE},
    {LINK_WITH_P2P, "cuda", true, AT_PEERS, AT_AFTER},
    {LINK_WITHOUT_P2P, "cuda", true, AT_CELL, AT_AFTER},
    {"link-ipc", "cuda", false, AT_START, AT_BYE},
    {"link", "host", false, AT_START, AT_BYE},
};

/* What scripted_rules says of variants, but for the one worker of all GPUs, which cannot differ from others, and has AT_PEERS. */
static bool can_be(const struct place *place, enum kind kind, enum phase phase, int rank)
{
    bool alone = place->one_worker || rank < 0;

    if ((alone && (kind == OTHER_ENV || kind == OTHER_NCCL)) || (rank < 0 && kind == AGENT_LOST))
        return false;
    if (phase < place->first || phase > place->last)
        return false;
    return phase == AT_PEERS ? place->one_worker && makes_sense(kind, AT_OPEN) : makes_sense(kind, phase);
}

static void play_place(const struct place *place, const struct programme *programme, enum kind kind, enum phase phase, int rank,
                       int times)
{
    struct fault fault = {kind, phase, rank, place->crew, 0, times};
    char name[160];

    snprintf(name, sizeof(name), "%s at %s in %s on %s, rank %d of %d%s", kind_names[kind], phase_names[phase], place->crew,
             place->device, rank, programme->n, times ? "" : ", always");
    if (can_be(place, kind, phase, rank))
        run_free(play_copies(name, programme, &fault, 1));
}

/* Among two everything; always, and once as well. */
static void play_two(const struct place *place, int rank, bool once)
{
    struct programme *programme = programme_create(place->device, 2, main_run);

    for (int kind = 0; kind < NKINDS; kind++)
        for (int phase = 0; phase < NPHASES; phase++)
            for (int times = 0; times < (once ? 2 : 1); times++)
                play_place(place, programme, (enum kind)kind, (enum phase)phase, rank, times);
    free(programme);
}

/* More have many copies: one kind of each sort, once, in some phases. */
static void play_more(const struct place *place, int n, int rank)
{
    static const enum kind sorts[] = {STOPS,   WEDGED,     SEGV,      FAILS,      UNSUPPORTED, MEMORY,
                                      GARBLED, WRONG_ONCE, OTHER_ENV, AGENT_LOST, SIGNALLED};
    static const enum phase phases[] = {AT_WARM_UP, AT_OFFER, AT_PEERS, AT_TIME, AT_LAST, AT_START, AT_BYE};
    size_t some = n < 5 ? COUNT_OF(phases) : n < 8 ? 3 : 1;
    struct programme *programme = programme_create(place->device, n, main_run);

    for (size_t k = 0; k < COUNT_OF(sorts); k++)
        for (size_t p = 0; p < some; p++)
            play_place(place, programme, sorts[k], phases[p], rank, 1);
    free(programme);
}

static void test_one_worker(void **state)
{
    (void)state;
    play_two(&places[0], 0, true);
    play_more(&places[0], 3, 0);
}

static void test_with_p2p(void **state)
{
    (void)state;
    play_two(&places[1], 0, true);
    play_more(&places[1], 3, 0);
    play_more(&places[1], 5, 0);
}

static void test_without_p2p(void **state)
{
    (void)state;
    play_two(&places[2], 0, false);
}

static void test_between_processes(void **state)
{
    (void)state;
    play_two(&places[3], 1, true);
    play_more(&places[3], 3, -1);
    play_more(&places[3], 5, 4);
    play_more(&places[3], 8, 0);
}

static void test_host(void **state)
{
    (void)state;
    play_two(&places[4], 1, true);
    play_more(&places[4], 3, -1);
    play_more(&places[4], 8, 7);
}

/* The first copy of a pattern in a crew gets answers that do not fit, from one worker. */
struct lapse {
    const char *crew, *pattern;
    int rank;
    enum phase phase;
    bool done;
};

static void garble_pattern(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    struct lapse *lapse = run->user;
    const struct actor *actor = &run->actor[crew][rank];

    if (lapse->done || strcmp(actor->name, lapse->crew) != 0 || strcmp(lp_json_str(request, "do", ""), "cell") != 0 ||
        strcmp(actor->cell.pattern, lapse->pattern) != 0)
        return;
    lapse->done = true;
    run_fault(run, (struct fault){GARBLED, lapse->phase, lapse->rank, lapse->crew, actor->cell.requested_bytes, 1});
}

/* A lane that is missing, or a block of it, on any worker: that copy has failed, the others are measured in a crew of their own. */
static void test_lanes_that_do_not_fit(void **state)
{
    static const struct {
        const char *device, *crew, *pattern;
        bool one_worker;
    } cases[] = {{"cuda", "link", "both_ways", true},
                 {"cuda", "link-ipc", "ring", false},
                 {"host", "link", "both_ways", false},
                 {"host", "link", "ring", false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int n = 2; n <= 5; n++)
            for (int k = 0; k < (cases[i].one_worker ? 2 : 2 * n); k++) {
                struct lapse lapse = {cases[i].crew, cases[i].pattern, k / 2, k % 2 ? AT_TIME : AT_WARM_UP, false};
                struct scripted_run *run = small_machine(cases[i].device, n);
                size_t failed = 0;

                run->on_request = garble_pattern;
                run->user = &lapse;
                run_play(run, main_run);
                for (size_t r = 0; r < run->result.n; r++) {
                    const struct lp_record *record = run->result.record[r];

                    if (record->outcome == LP_DONE)
                        continue;
                    failed++;
                    assert_int_equal(record->outcome, LP_FAILED);
                    assert_string_equal(record->cell.pattern, cases[i].pattern);
                    assert_string_equal(record->reason, "workers answered with other samples than asked for");
                    check_rates(cases[i].pattern, record);
                }
                check_baseline(run, cases[i].pattern);
                assert_true(failed == 1 && run->code == 3 && is_complete(run) && crews_of(run, cases[i].crew) == 2);
                run_free(run);
            }
}

/* ---- what is given up ---- */

/* Several sizes go wrong, each in its way: what counts for copies with P2P does not for those without, nor the reverse. */
static void test_losses_are_counted_apart(void **state)
{
    static const size_t sizes[] = {16, (size_t)64 << 10, (size_t)256 << 10};
    static const struct fault fates[] = {
        {NKINDS, AT_BYE, 0, NULL, 0, 0},    {SEGV, AT_WARM_UP, 0, "link", 0, 0},     {STALLS, AT_TIME, 0, "link", 0, 0},
        {FAILS, AT_CHECK, 0, "link", 0, 0}, {UNSUPPORTED, AT_CELL, 0, "link", 0, 0}, {WRONG_LAST, AT_AFTER, 0, "link", 0, 0},
    };
    struct programme *programme = programme_create("cuda", 2, main_run);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(fates) * COUNT_OF(fates) * COUNT_OF(fates); i++) {
        size_t rest = i, n = 0;
        struct fault fault[COUNT_OF(sizes)];
        char name[160] = "";

        for (size_t s = 0; s < COUNT_OF(sizes); s++, rest /= COUNT_OF(fates)) {
            fault[n] = fates[rest % COUNT_OF(fates)];
            fault[n].bytes = sizes[s];
            if (fault[n].kind == NKINDS)
                continue;
            snprintf(name + strlen(name), sizeof(name) - strlen(name), "%zu %s, ", sizes[s], kind_names[fault[n].kind]);
            n++;
        }
        run_free(play_copies(name, programme, fault, n));
    }
    free(programme);
}

/* P2P that hangs somewhere is tried once, whatever else there is to copy, and in whichever crew; the rest is measured. */
static void test_p2p_is_tried_once(void **state)
{
    (void)state;
    for (int phase = AT_OPEN; phase < AT_BYE; phase++)
        for (int n = 2; n <= 8; n += 3) {
            struct scripted_run *run = run_create("cuda", n);
            const char *name = phase_names[phase];
            size_t hangs = 0, skipped = 0, p2p = 0;

            run_fault(run, (struct fault){STOPS, (enum phase)phase, -1, P2P_CREWS, 0, 0});
            run_play(run, (const char *[]){"--no-collectives", NULL});
            assert_case(name, run->code == 4 && is_complete(run));
            assert_case(name, crews_of(run, "link") == 1 && crews_of(run, "link-ipc") == (phase == AT_OPEN));
            for (size_t i = 0; i < run->result.n; i++) {
                const struct lp_record *record = run->result.record[i];

                p2p += needs_peers(&record->cell) && (phase != AT_OPEN || strcmp(record->cell.processes, "ipc") == 0);
                hangs += record->outcome == LP_HANG;
                skipped += record->outcome == LP_SKIPPED;
                if (record->outcome == LP_SKIPPED)
                    assert_string_equal(record->reason, P2P_HUNG);
                else
                    assert_case(name, record->outcome == (p2p == 0 ? LP_DONE : LP_HANG));
            }
            assert_case(name, hangs == 1 && skipped + 1 == p2p);
            run_free(run);
        }
}

/* ---- peer access that cannot be had ---- */

/* From the request after `peers` on, a run that is killed would leave the errors in its journal. */
static void look_for_errors(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    struct lp_result part;
    const json_t *pairs;
    int found = 0, *left = run->user;

    (void)rank;
    if (!run->actor[crew][0].peers || strcmp(lp_json_str(request, "do", ""), "peers") == 0 || *left == 0)
        return;
    if (lp_result_load(scratch_path(&run->scratch, "run.json.part"), &part, NULL) != LP_OK)
        foul(run, "asked while there was no journal:", run->actor[crew][0].name);
    pairs = json_object_get(json_object_get(part.head, "topology"), "pairs");
    for (size_t i = 0; i < json_array_size(pairs); i++)
        found += json_object_get(json_array_get(pairs, i), "enable_error") != NULL;
    if (found != *left)
        foul(run, "asked before the journal had the errors of", run->actor[crew][0].name);
    *left = 0;
    lp_result_release(&part);
}

/* Who reaches into whose memory. */
static bool reaches(const struct lp_cell *cell, int by, int of)
{
    bool read = (lp_path_find(cell->op)->flags & LP_PATH_READ) != 0, found = false;

    for (int e = 0; e < cell->nedges; e++)
        found = found ||
                (by == (read ? cell->edges[e].dst : cell->edges[e].src) && of == (read ? cell->edges[e].src : cell->edges[e].dst));
    return found;
}

static void play_errors(const char *const *words, int n, const char *errors)
{
    struct scripted_run *run = small_machine("cuda", n);
    json_t *list = json_of(errors);
    const json_t *pairs;
    int left = (int)json_array_size(list);
    size_t with_error = 0;

    run->peer_errors = errors;
    run->on_request = look_for_errors;
    run->user = &left;
    run_play(run, words);
    assert_case(errors, run->code == 0 && is_complete(run) && left == 0);
    assert_case(errors, crews_of(run, "link") == 1 && crews_of(run, "link-ipc") == 1);
    pairs = json_object_get(json_object_get(run->result.head, "topology"), "pairs");
    assert_int_equal(json_array_size(pairs), n * (n - 1));
    for (size_t i = 0; i < json_array_size(pairs); i++)
        with_error += json_object_get(json_array_get(pairs, i), "enable_error") != NULL;
    assert_case(errors, with_error == json_array_size(list));
    for (size_t i = 0; i < json_array_size(pairs); i++)
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *pair = json_array_get(pairs, i), *error = json_array_get(list, k);

            if (json_equal(json_object_get(pair, "src"), json_array_get(error, 0)) &&
                json_equal(json_object_get(pair, "dst"), json_array_get(error, 1)))
                assert_true(json_equal(json_object_get(pair, "enable_error"), json_array_get(error, 2)));
        }
    for (size_t r = 0; r < run->result.n; r++) {
        const struct lp_record *record = run->result.record[r];
        bool without = false;

        for (size_t k = 0; k < json_array_size(list) && record->cell.kind == LP_COPY; k++)
            without = without || reaches(&record->cell, (int)json_integer_value(json_array_get(json_array_get(list, k), 0)),
                                         (int)json_integer_value(json_array_get(json_array_get(list, k), 1)));
        without = without && needs_peers(&record->cell) && strcmp(record->cell.processes, "one") == 0;
        assert_case(errors, record->outcome == (without ? LP_UNSUPPORTED : LP_DONE));
        if (without)
            assert_says(record->reason, "no peer access from ");
    }
    json_decref(list);
    run_free(run);
}

static void test_enabling_errors(void **state)
{
    static const struct {
        int n;
        const char *errors;
    } cases[] = {
        {2, "[[0, 1, 'peer access is not supported between these two devices']]"},
        {2, "[[1, 0, 'not supported']]"},
        {2, "[[0, 1, 'this way'], [1, 0, 'and back']]"},
        {3, "[[2, 0, 'a switch']]"},
        {5, "[[0, 1, 'one'], [3, 4, 'two'], [4, 2, 'three']]"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        play_errors(main_run, cases[i].n, cases[i].errors);
        play_errors(p2p_run, cases[i].n, cases[i].errors);
    }
}

/* ---- NCCL's own order ---- */

/* Default's first crew of four writes that its rings go 0 2 1 3. */
static void write_ring(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    const struct actor *actor = &run->actor[crew][rank];
    const char *path = lp_json_str(actor->env, "NCCL_DEBUG_FILE", NULL);
    FILE *file;

    if (rank != 0 || strcmp(actor->name, "default") != 0 || strcmp(lp_json_str(request, "do", ""), "bye") != 0)
        return;
    file = path ? fopen(path, "w") : NULL;
    assert(file);
    for (int channel = 0; channel < 4; channel++)
        fprintf(file, "box:%d:%d [0] NCCL INFO Channel %02d/04 :    0   2   1   3\n", 1000, 1000, channel);
    fclose(file);
}

/* The baseline follows: measured again between default and the next variant, and default's records are held against it. */
static void test_nccl_order(void **state)
{
    static const char *const words[] = {"-b",  "64",     "-e",      "64", "--collectives", "allreduce", "--placement",
                                        "out", "--only", "p2p-off", NULL};
    struct scripted_run *run = small_machine("cuda", 4);
    const json_t *baseline, *order;

    (void)state;
    run->on_request = write_ring;
    run_play(run, words);
    assert_true(run->code == 0 && is_complete(run));
    baseline = json_object_get(run->result.head, "baseline");
    order = json_object_get(baseline, "order");
    assert_int_equal(crews_of(run, "link-ipc"), 2);
    assert_says(lp_json_str(baseline, "name", ""), "in NCCL's ring at once");
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(json_integer_value(json_array_get(order, i)), "0213"[i] - '0');
    for (size_t i = 0; i < run->result.n; i++)
        if (run->result.record[i]->cell.kind == LP_COLLECTIVE)
            assert_true(run->result.record[i]->link_gbps == lp_json_num(baseline, "gbps", NAN));
    run_free(run);
}

/* ---- GPUs that rank 0 does not see ---- */

/* Without peer access they cannot be reached, which is known before; no crew is started for that. With it their ranks reach them.
 */
static void test_hidden_gpus(void **state)
{
    (void)state;
    for (int n = 2; n <= 5; n++)
        for (int seen = 1; seen < n; seen++) {
            struct scripted_run *run = small_machine("cuda", n);
            size_t skipped = 0;

            run->seen_by_rank0 = seen;
            run_play(run, main_run);
            assert_true(run->code == 0 && is_complete(run));
            assert_true(crews_of(run, "link") == (seen > 1) && crews_of(run, "link-ipc") == 1);
            for (size_t i = 0; i < copies_in(run); i++) {
                const struct lp_record *record = run->result.record[i];
                bool visible = true, ring = strcmp(record->cell.pattern, "ring") == 0;

                for (int e = 0; e < record->cell.nedges; e++)
                    visible = visible && record->cell.edges[e].src < seen && record->cell.edges[e].dst < seen;
                if (!visible && !needs_peers(&record->cell)) {
                    assert_int_equal(record->outcome, LP_SKIPPED);
                    assert_says(record->reason, "peer GPU not visible to this process");
                    skipped++;
                    continue;
                }
                assert_int_equal(record->outcome, LP_DONE);
                assert_true(visible || ring || strcmp(record->cell.processes, "ipc") == 0);
            }
            assert_true(skipped >= (size_t)(n * (n - 1) - seen * (seen - 1)));
            run_free(run);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_worker),
        cmocka_unit_test(test_with_p2p),
        cmocka_unit_test(test_without_p2p),
        cmocka_unit_test(test_between_processes),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_lanes_that_do_not_fit),
        cmocka_unit_test(test_losses_are_counted_apart),
        cmocka_unit_test(test_p2p_is_tried_once),
        cmocka_unit_test(test_enabling_errors),
        cmocka_unit_test(test_nccl_order),
        cmocka_unit_test(test_hidden_gpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
