/* Whole runs of `linkperf p2p`: all of the link and nothing else, latencies with their tails, and copies that are lost. */
#include "scripted_copies.h"

static struct scripted_run *play(const char *device, int n, const char *const *words)
{
    struct scripted_run *run = run_create(device, n);

    run_play(run, words);
    assert_true(run->code == 0 && is_complete(run));
    assert_int_equal(copies_in(run), run->result.n);
    return run;
}

/* ---- all of it ---- */

static bool has_copy(const struct scripted_run *run, const char *path, const char *pattern)
{
    for (size_t i = 0; i < run->result.n; i++)
        if ((!path || strcmp(run->result.record[i]->cell.op, path) == 0) &&
            (!pattern || strcmp(run->result.record[i]->cell.pattern, pattern) == 0))
            return true;
    return false;
}

/* Every path that the device has but those for collectives, and every pattern that so many can make; no copy twice. */
static void check_extent(const struct scripted_run *run)
{
    static const char *const patterns[] = {"one_way", "both_ways", "ring", "one_to_all", "all_to_one", "all_pairs"};
    bool cuda = strcmp(run->device, "cuda") == 0;

    for (size_t i = 0; lp_paths[i]; i++)
        assert_case(lp_paths[i]->name, has_copy(run, lp_paths[i]->name, NULL) ==
                                           (strcmp(lp_paths[i]->device, run->device) == 0 && !(lp_paths[i]->flags & LP_PATH_RING)));
    for (size_t i = 0; i < COUNT_OF(patterns); i++)
        assert_case(patterns[i], has_copy(run, NULL, patterns[i]) == (i < 3 || (cuda && run->link.nranks > 2)));
    for (size_t i = 0; i < run->result.n; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(same_copy(&run->result.record[i]->cell, &run->result.record[k]->cell));
}

static void test_all_of_the_link(void **state)
{
    static const char *const crews[] = {"survey", "link", "link-ipc"};

    (void)state;
    for (int n = 2; n <= 8; n += n > 3 ? 4 : 1)
        for (int d = 0; d < 2; d++) {
            struct scripted_run *run = play(d ? "host" : "cuda", n, p2p_run);

            assert_int_equal(run->ncrews, d ? 2 : 3);
            for (int c = 0; c < run->ncrews; c++)
                assert_string_equal(run->actor[c + 1][0].name, crews[c]);
            for (size_t i = 0; i < run->result.n; i++) {
                const struct lp_record *record = run->result.record[i];

                assert_case(record->cell.op, record->outcome == LP_DONE && record->checked.iterations == 3);
                check_rates(record->cell.op, record);
            }
            check_extent(run);
            check_baseline(run, run->device);
            assert_int_equal(json_array_size(json_object_get(run->result.head, "variants")), 0);
            assert_string_equal(json_string_value(json_array_get(json_object_get(run->result.head, "command"), 1)), "p2p");
            run_free(run);
        }
}

/* ---- latencies ---- */

static json_t *written(struct scripted_run *run)
{
    json_t *document = json_load_file(scratch_path(&run->scratch, "run.json"), 0, NULL);

    assert_non_null(document);
    assert_int_equal(json_array_size(json_object_get(document, "collectives")), 0);
    assert_int_equal(json_array_size(json_object_get(document, "p2p")), run->result.n);
    return document;
}

static size_t counted(const struct lp_histogram *histogram)
{
    size_t n = 0;

    for (int i = 0; i < histogram->n; i++)
        n += histogram->count[i];
    return n;
}

/* An isolated copy has as many samples as 30 ms hold, from 6 to 20000; all are counted, and the first 512 are kept. */
static void check_latency(const struct scripted_run *run, const struct lp_record *record, const json_t *json)
{
    double n = (double)record->time_us.n, fits = fmin(20000.0, fmax(6.0, 30e3 / (run->op_us + 0.03)));
    size_t kept = record->time_us.n < 512 ? record->time_us.n : 512;

    assert_true(n >= 0.99 * fits - 1.0 && n <= 1.01 * fits + 6.0 && n <= 20000.0);
    assert_int_equal(counted(&record->histogram), record->time_us.n);
    assert_int_equal(json_array_size(json_object_get(json, "samples_us")), kept);
    assert_int_equal(lp_json_int(json, "samples", 0), record->time_us.n);
    assert_int_equal(lp_json_int(json_object_get(json, "time_us"), "n", 0), record->time_us.n);
    assert_int_equal(record->ops_per_sample, 1);
    assert_true(record->latency_us >= run->op_us && record->latency_us <= run->op_us + 0.07);
    for (size_t i = 0; i < kept; i++)
        assert_true(fabs(record->samples_us[i] - (run->op_us + 0.01 * (double)(i % 7))) < 1e-6);
}

static void test_latencies(void **state)
{
    static const double op_us[] = {0.9, 1.4, 1.6, 10.0, 58.0, 100.0, 4000.0, 40e3};

    (void)state;
    for (size_t o = 0; o < COUNT_OF(op_us); o++)
        for (int d = 0; d < 2; d++) {
            struct scripted_run *run = small_machine(d ? "host" : "cuda", 2);
            size_t isolated = 0;
            json_t *document;

            run->op_us = op_us[o];
            run_play(run, p2p_run);
            assert_int_equal(run->code, 0);
            document = written(run);
            for (size_t i = 0; i < run->result.n; i++) {
                const struct lp_record *record = run->result.record[i];

                if (record->cell.timing == LP_ISOLATED)
                    check_latency(run, record, json_array_get(json_object_get(document, "p2p"), i));
                else
                    assert_true(record->time_us.n <= LP_MAX_SAMPLES && record->histogram.n == 0);
                isolated += record->cell.timing == LP_ISOLATED;
            }
            assert_int_equal(isolated, 2 * 7); /* two paths, 4 bytes to 1 MiB */
            json_decref(document);
            run_free(run);
        }
}

/* From the third request of an isolated copy's samples on, copies take a hundred times as long. */
struct tail {
    int asked;
    double usual_us;
};

static void slow_down(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    struct tail *tail = run->user;
    const struct actor *actor = &run->actor[crew][rank];

    if (strcmp(lp_json_str(request, "do", ""), "cell") == 0) {
        tail->asked = 0;
        run->op_us = tail->usual_us;
    }
    if (actor->cell.timing == LP_ISOLATED && strcmp(lp_json_str(request, "purpose", ""), "time") == 0 && ++tail->asked == 3)
        run->op_us = 100.0 * tail->usual_us;
}

/* What comes after the 512 that are kept is in the summary and the histogram all the same. */
static void test_tail_is_counted(void **state)
{
    struct scripted_run *run = small_machine("cuda", 2);
    struct tail tail = {.usual_us = 4.0};

    (void)state;
    run->op_us = tail.usual_us;
    run->on_request = slow_down;
    run->user = &tail;
    run_play(run, p2p_run);
    assert_int_equal(run->code, 0);
    for (size_t i = 0; i < run->result.n; i++) {
        const struct lp_record *record = run->result.record[i];

        if (record->cell.timing != LP_ISOLATED)
            continue;
        assert_int_equal(record->time_us.n, 3 * 512);
        assert_true(record->time_us.max >= 400.0 && record->time_us.median < 5.0);
        assert_true(record->samples_us[0] < 5.0 && record->samples_us[511] < 5.0);
        assert_int_equal(counted(&record->histogram), 3 * 512);
        assert_int_equal(record->histogram.count[record->histogram.n - 1], 512);
    }
    run_free(run);
}

/* ---- losses ---- */

/* At the second request of the first isolated copy's samples something happens. */
struct loss {
    enum kind kind;
    int asked;
};

static void strike_second(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    struct loss *loss = run->user;
    const struct actor *actor = &run->actor[crew][rank];

    if (actor->cell.timing == LP_ISOLATED && strcmp(lp_json_str(request, "purpose", ""), "time") == 0 && ++loss->asked == 2)
        run_fault(run, (struct fault){loss->kind, AT_TIME, 0, "link", actor->cell.requested_bytes, 1});
}

/* A copy that is lost between two requests for samples has none. */
static void test_lost_between_samples(void **state)
{
    static const enum kind kinds[] = {STALLS, STOPS, SEGV, LEAVES, FAILS, MEMORY, GARBLED};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        struct scripted_run *run = small_machine("cuda", 2);
        const char *name = kind_names[kinds[k]];
        struct loss loss = {.kind = kinds[k]};
        size_t lost = 0;
        json_t *document;

        run->op_us = 10.0;
        run->on_request = strike_second;
        run->user = &loss;
        run_play(run, p2p_run);
        document = written(run);
        for (size_t i = 0; i < run->result.n; i++) {
            const struct lp_record *record = run->result.record[i];

            if (record->outcome == LP_DONE)
                continue;
            lost++;
            assert_case(name, record->cell.timing == LP_ISOLATED && record->outcome == outcome_of_kind(kinds[k]));
            assert_case(name, record->time_us.n == 0 && record->histogram.n == 0 && isnan(record->latency_us));
            assert_case(name,
                        json_array_size(json_object_get(json_array_get(json_object_get(document, "p2p"), i), "samples_us")) == 0);
        }
        assert_case(name, lost == 1 && crews_of(run, "link") == 2 && is_complete(run));
        json_decref(document);
        run_free(run);
    }
}

/* The rules are those of a main run. */
static void test_losses(void **state)
{
    static const struct {
        const char *device, *crew;
        int rank;
    } places[] = {{"cuda", LINK_WITH_P2P, 0}, {"cuda", LINK_WITHOUT_P2P, 0}, {"cuda", "link-ipc", 1}, {"host", "link", 0}};
    static const enum kind kinds[] = {STOPS, SEGV, FAILS, UNSUPPORTED, MEMORY, GARBLED, STALE, WEDGED, SIGNALLED};
    static const enum phase phases[] = {AT_START, AT_PEERS, AT_CELL, AT_WARM_UP, AT_CHECK, AT_TIME, AT_AFTER, AT_BYE};
    struct programme *programme = NULL;

    (void)state;
    for (size_t p = 0; p < COUNT_OF(places); p++) {
        if (!programme || programme->device != places[p].device) {
            free(programme);
            programme = programme_create(places[p].device, 2, p2p_run);
        }
        for (size_t k = 0; k < COUNT_OF(kinds); k++)
            for (size_t i = 0; i < COUNT_OF(phases); i++) {
                struct fault fault = {kinds[k], phases[i], places[p].rank, places[p].crew, 0, (int)(k + i) % 2};
                char name[160];

                snprintf(name, sizeof(name), "%s at %s in %s on %s%s", kind_names[fault.kind], phase_names[fault.phase], fault.crew,
                         programme->device, fault.times ? "" : ", always");
                if (makes_sense(fault.kind, fault.phase == AT_PEERS ? AT_OPEN : fault.phase))
                    run_free(play_copies(name, programme, &fault, 1));
            }
    }
    free(programme);
}

/* ---- what is asked ---- */

/* What the cells of a run were asked for, by cell: the most and the least. */
struct asked {
    int warm_ups, least_warm_ups, most_warm_ups; /* requests of the cell in hand; of all cells so far */
    long warm_up_blocks, iterations, checks;     /* of a request; -1: unlike others */
    double drift;                                /* by which every warm-up takes longer than the last */
    double usual_us;
};

static void note(long *value, json_int_t now)
{
    *value = *value == 0 || *value == now ? now : -1;
}

static void note_cell(struct asked *asked)
{
    if (asked->warm_ups && (asked->least_warm_ups == 0 || asked->warm_ups < asked->least_warm_ups))
        asked->least_warm_ups = asked->warm_ups;
    if (asked->warm_ups > asked->most_warm_ups)
        asked->most_warm_ups = asked->warm_ups;
    asked->warm_ups = 0;
}

static void note_request(struct scripted_run *run, int rank, int crew, const json_t *request)
{
    struct asked *asked = run->user;
    const char *what = lp_json_str(request, "do", ""), *purpose = lp_json_str(request, "purpose", "");
    const struct lp_cell *cell = &run->actor[crew][rank].cell;

    if (rank != 0 || cell->kind != LP_COPY)
        return;
    if (strcmp(what, "cell") == 0) {
        note_cell(asked);
        run->op_us = asked->usual_us;
    } else if (strcmp(purpose, "warm up") == 0) {
        asked->warm_ups++;
        note(&asked->warm_up_blocks, lp_json_int(request, "n", 0));
        run->op_us *= 1.0 + asked->drift;
    } else if (strcmp(purpose, "time") == 0 && cell->timing != LP_ISOLATED && strcmp(cell->op, "ce_staged_turns") != 0) {
        note(&asked->iterations, lp_json_int(request, "k", 0));
    } else if (strcmp(what, "check") == 0 && !json_object_get(request, "last") && !json_object_get(request, "prepare")) {
        note(&asked->checks, lp_json_int(request, "iterations", 0));
    }
}

static void test_what_is_asked(void **state)
{
    static const struct {
        const char *words[8];
        double drift;
        int least_warm_ups, most_warm_ups;
        long warm_up_blocks, iterations, checks;
    } cases[] = {
        {{"p2p"}, 0.0, 2, 2, 1, 4, 1},    /* 4 of 4 ms */
        {{"p2p"}, 0.019, 2, 2, 1, -1, 1}, /* agrees */
        {{"p2p"}, 0.03, 10, 10, 1, -1, 1},
        {{"p2p", "-w", "3"}, 0.03, 1, 1, 3, -1, 1},
        {{"p2p", "-w", "1", "-n", "7", "-c", "5"}, 0.0, 1, 1, 1, 7, 5},
        {{"p2p", "-c", "0"}, 0.0, 2, 2, 1, 4, 0},
        /* in a main run these are the collectives' */
        {{"--no-collectives"}, 0.0, 2, 2, 1, 4, 1},
        {{"--no-collectives", "-w", "9", "-n", "3", "-c", "2"}, 0.0, 2, 2, 1, 4, 1},
        {{"--no-collectives", "-c", "0"}, 0.03, 10, 10, 1, -1, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int d = 0; d < 2; d++) {
            struct scripted_run *run = small_machine(d ? "host" : "cuda", 2);
            struct asked asked = {.drift = cases[i].drift, .usual_us = 4000.0};

            run->op_us = asked.usual_us;
            run->on_request = note_request;
            run->user = &asked;
            run_play(run, cases[i].words);
            note_cell(&asked);
            assert_int_equal(run->code, 0);
            assert_int_equal(asked.least_warm_ups, cases[i].least_warm_ups);
            assert_int_equal(asked.most_warm_ups, cases[i].most_warm_ups);
            assert_int_equal(asked.warm_up_blocks, cases[i].warm_up_blocks);
            assert_int_equal(asked.checks, cases[i].checks);
            if (cases[i].iterations >= 0)
                assert_int_equal(asked.iterations, cases[i].iterations);
            run_free(run);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_of_the_link),      cmocka_unit_test(test_latencies), cmocka_unit_test(test_tail_is_counted),
        cmocka_unit_test(test_lost_between_samples), cmocka_unit_test(test_losses),    cmocka_unit_test(test_what_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
