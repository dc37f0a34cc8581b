/*
 * What the copies of a run must come to when faults strike: the rules of the link part as a play of their own, over the copies of
 * a run in which nothing goes wrong; and a run held against it.
 */
#ifndef LP_TESTS_SCRIPTED_COPIES_H
#define LP_TESTS_SCRIPTED_COPIES_H

#include "scripted_rules.h"

#include <math.h>

#define COPIES_MAX    512
#define P2P_HUNG      "not tried: a copy with P2P hung before"
#define KEEPS_FAILING "not tried: copies of this kind keep failing"

/* A main run with one collective after the copies, and the link alone. NULL-terminated. */
static const char *const main_run[] = {"-b",  "64",     "-e",      "64", "--collectives", "allreduce", "--placement",
                                       "out", "--only", "default", NULL};
static const char *const p2p_run[] = {"p2p", NULL};

/* The copies of a good run, in order, and the crew that each is for. */
struct programme {
    const char *device;
    const char *const *words;
    int n;
    struct {
        struct lp_cell cell;
        char crew[16];
    } copy[COPIES_MAX];
    size_t ncopies;
};

/* Memory for 1 MiB in an arena: short curves, and every limit is the least one. */
static inline struct scripted_run *small_machine(const char *device, int n)
{
    struct scripted_run *run = run_create(device, n);

    run->memory_bytes = (size_t)4 << 20;
    return run;
}

static inline bool needs_peers(const struct lp_cell *cell)
{
    return (lp_path_find(cell->op)->flags & LP_PATH_PEER) != 0;
}

static inline size_t copies_in(const struct scripted_run *run)
{
    size_t n = 0;

    while (n < run->result.n && run->result.record[n]->cell.kind == LP_COPY)
        n++;
    return n;
}

/* Free it. */
static inline struct programme *programme_create(const char *device, int n, const char *const *words)
{
    struct programme *self = calloc(1, sizeof(*self));
    struct scripted_run *run = small_machine(device, n);

    assert(self);
    self->device = device;
    self->words = words;
    self->n = n;
    run_play(run, words);
    assert_true(run->code == 0 && is_complete(run));
    self->ncopies = copies_in(run);
    assert_true(self->ncopies > 0 && self->ncopies <= COPIES_MAX);
    for (size_t i = 0; i < self->ncopies; i++) {
        const struct lp_record *record = run->result.record[i];

        assert_int_equal(record->outcome, LP_DONE);
        self->copy[i].cell = record->cell;
        snprintf(self->copy[i].crew, sizeof(self->copy[i].crew), "%s", run->actor[record->crew][0].name);
    }
    run_free(run);
    return self;
}

/* ---- the rules ---- */

struct fate {
    int outcome;            /* NO_RECORD: none */
    const struct fault *by; /* what struck it; NULL: nothing */
    const char *words;      /* why it was not tried; NULL: it was */
};

struct story {
    const struct programme *programme;
    const struct fault *fault;
    size_t nfaults;
    /* how it stands */
    struct actor crew;               /* a worker of the crew in hand, or of the last one; ordinal: its number */
    bool open, refused, hung, ended; /* there is a crew · it said no · a copy with P2P hung · the run is over */
    int in_a_row[2], in_all[2];      /* losses without P2P and with it */
    /* what must come of it */
    int link_crews, ipc_crews;
    struct fate fate[COPIES_MAX];
};

static inline int workers_of(const struct story *story)
{
    return strcmp(story->programme->device, "cuda") == 0 && strcmp(story->crew.name, "link") == 0 ? 1 : story->programme->n;
}

static inline const struct fault *striking(const struct story *story, enum phase phase)
{
    for (size_t i = 0; i < story->nfaults; i++)
        if (in_place(&story->fault[i], &story->crew, phase))
            return &story->fault[i];
    return NULL;
}

/* Does the crew get through these phases? Slow answers and wrong data do not stop it. */
static inline bool passes(struct story *story, int first, int last, struct fate *fate)
{
    for (int phase = first; phase <= last; phase++) {
        const struct fault *fault = striking(story, (enum phase)phase);

        if (!fault || fault->kind == SLOW)
            continue;
        fate->by = fault;
        fate->outcome = (int)outcome_of_kind(fault->kind);
        if (is_wrong_data(fault->kind))
            continue;
        if (ends_the_run(fault->kind)) {
            story->ended = true;
            fate->outcome = fault->kind == WEDGED ? LP_HANG : NO_RECORD;
        }
        return false;
    }
    return true;
}

/* On to the crews of that name, NULL: to none. Those before say bye; if they never leave, the next has been started by then. */
static inline void turn_to(struct story *story, const char *name)
{
    const struct fault *fault = story->open ? striking(story, AT_BYE) : NULL;
    bool ends = fault && ends_the_run(fault->kind);

    story->ended = story->ended || ends;
    story->open = story->refused = false;
    memset(story->in_a_row, 0, sizeof(story->in_a_row));
    memset(story->in_all, 0, sizeof(story->in_all));
    memset(&story->crew, 0, sizeof(story->crew));
    snprintf(story->crew.name, sizeof(story->crew.name), "%s", name ? name : "");
    story->crew.ordinal = ends ? 0 : -1;
}

/* A crew that can do the copy; false: there is none. One that says no is not asked again. */
static inline bool gets_crew(struct story *story, bool p2p, struct fate *fate)
{
    bool good = true;

    if (!story->open) {
        story->open = true;
        story->crew.ordinal++;
        story->crew.p2p = strcmp(story->crew.name, "link-ipc") == 0;
        good = passes(story, AT_START, AT_OPEN, fate);
    }
    if (good && p2p && !story->crew.p2p) {
        story->crew.p2p = true;
        good = passes(story, AT_PEERS, AT_PEERS, fate);
    }
    story->refused = !good && is_refusal(fate->by->kind);
    return good;
}

static inline bool all_unable(const struct story *story, const struct fate *fate)
{
    return fate->by->kind == UNSUPPORTED && in_a_cell(fate->by->phase) && (fate->by->rank < 0 || workers_of(story) == 1);
}

static inline struct fate tell_copy(struct story *story, const struct lp_cell *cell)
{
    bool p2p = needs_peers(cell), good;
    struct fate fate = {.outcome = LP_SKIPPED};

    story->crew.cell.requested_bytes = cell->requested_bytes;
    if (story->ended)
        return (struct fate){.outcome = NO_RECORD};
    if (p2p && story->hung)
        fate.words = P2P_HUNG;
    else if (story->refused || story->in_a_row[p2p] == 2 || story->in_all[p2p] == 3)
        fate.words = KEEPS_FAILING;
    if (fate.words)
        return fate;
    fate.outcome = LP_DONE;
    good = gets_crew(story, p2p, &fate) && (passes(story, AT_CELL, AT_AFTER, &fate) || all_unable(story, &fate));
    story->hung = story->hung || (p2p && fate.outcome == LP_HANG);
    story->in_a_row[p2p] = good ? 0 : story->in_a_row[p2p] + 1;
    story->in_all[p2p] += !good;
    story->open = good;
    return fate;
}

static inline void tell(const struct programme *programme, const struct fault *fault, size_t nfaults, struct story *out)
{
    memset(out, 0, sizeof(*out));
    out->programme = programme;
    out->fault = fault;
    out->nfaults = nfaults;
    for (size_t i = 0; i < programme->ncopies; i++) {
        if (strcmp(out->crew.name, programme->copy[i].crew) != 0)
            turn_to(out, programme->copy[i].crew);
        out->fate[i] = tell_copy(out, &programme->copy[i].cell);
        *(strcmp(out->crew.name, "link") == 0 ? &out->link_crews : &out->ipc_crews) = out->crew.ordinal + 1;
    }
    turn_to(out, NULL);
}

static inline int code_of(const struct story *story)
{
    bool seen[LP_NOUTCOMES] = {false};

    for (size_t i = 0; i < story->programme->ncopies; i++)
        if (story->fate[i].outcome != NO_RECORD)
            seen[story->fate[i].outcome] = true;
    for (size_t i = 0; i < story->nfaults && story->ended; i++)
        if (story->fault[i].kind == SIGNALLED)
            return 128 + SIGTERM;
    if (seen[LP_WRONG])
        return 6;
    return seen[LP_HANG] || seen[LP_CRASH] || story->ended ? 4 : seen[LP_FAILED] ? 3 : 0;
}

/* ---- a run held against them ---- */

static inline bool same_copy(const struct lp_cell *a, const struct lp_cell *b)
{
    return strcmp(a->op, b->op) == 0 && strcmp(a->pattern, b->pattern) == 0 && strcmp(a->processes, b->processes) == 0 &&
           a->requested_bytes == b->requested_bytes && a->timing == b->timing && a->nedges == b->nedges &&
           memcmp(a->edges, b->edges, sizeof(a->edges[0]) * (size_t)a->nedges) == 0;
}

/* One copy checked before and one after the timed ones, and the last of those; the fault is in one of the three. */
static inline void check_wrong_copy(const char *name, const struct lp_record *record, const struct fault *fault, int workers)
{
    const struct lp_checked *checked = &record->checked;
    uint64_t offset, each = wrong_elements(fault->kind, record->cell.size_bytes, 0, 1, &offset);

    assert_case(name, checked->iterations == 3 && checked->wrong_iterations == 1);
    assert_case(name, checked->wrong_elements == (uint64_t)(fault->rank < 0 ? workers : 1) * each);
    assert_case(name, checked->first_offset_bytes == offset && checked->first_rank == (fault->rank < 0 ? 0 : fault->rank));
}

/* Rates are there with times, and only then. */
static inline void check_rates(const char *name, const struct lp_record *record)
{
    bool latency = (lp_path_find(record->cell.op)->flags & LP_PATH_LATENCY) != 0, timed = record->time_us.n > 0;
    bool several =
        record->cell.nedges > 1 && record->cell.timing == LP_QUEUED; /* in other modes the slowest counts, as for collectives */

    assert_case(name, timed || (record->outcome != LP_DONE && record->outcome != LP_WRONG));
    assert_case(name, isfinite(record->algbw_gbps) == (timed && !latency));
    assert_case(name, isfinite(record->sum_gbps) == (timed && several && !latency));
    assert_case(name, isfinite(record->overlap) == (timed && several));
    for (int e = 0; e < record->cell.nedges; e++)
        assert_case(name, isfinite(record->edge_gbps[e]) == (timed && several && !latency));
}

static inline void check_copy(const struct scripted_run *run, const char *name, const struct story *story, size_t i)
{
    const struct lp_record *record = run->result.record[i];
    const struct fate *fate = &story->fate[i];
    const char *crew = story->programme->copy[i].crew;
    char words[160];

    assert_case(name, same_copy(&record->cell, &story->programme->copy[i].cell));
    if ((int)record->outcome != fate->outcome)
        fail_msg("case \"%s\": copy %zu, %s of %s, is %s (%s), not %s", name, i, record->cell.op, crew,
                 lp_outcome_name(record->outcome), record->reason,
                 fate->outcome == NO_RECORD ? "absent" : lp_outcome_name((enum lp_outcome)fate->outcome));
    assert_case(name, record->crew > 0 || fate->words);
    assert_case(name, record->crew == 0 || strcmp(run->actor[record->crew][0].name, crew) == 0);
    check_rates(name, record);
    if (record->outcome == LP_WRONG)
        check_wrong_copy(name, record, fate->by, record->cell.processes[0] == 'o' ? 1 : story->programme->n);
    if (fate->words ? strcmp(record->reason, fate->words) != 0
        : fate->by  ? !strstr(record->reason, expected_words(fate->by, words, sizeof(words))) &&
                         strlen(record->reason) < sizeof(record->reason) - 1
                   : record->reason[0] != '\0')
        fail_msg("case \"%s\": copy %zu: \"%s\" does not say \"%s\"", name, i, record->reason,
                 fate->words ? fate->words
                 : fate->by  ? words
                             : "");
}

/* There is one as soon as there is a record of the ring; figures only where it is good, or wrong. */
static inline void check_baseline(const struct scripted_run *run, const char *name)
{
    const json_t *baseline = json_object_get(run->result.head, "baseline"), *slowest = json_object_get(baseline, "slowest_edge");
    const struct lp_record *ring = NULL;

    for (size_t i = 0; i < copies_in(run); i++)
        if (strcmp(run->result.record[i]->cell.pattern, "ring") == 0 && run->result.record[i]->cell.timing == LP_QUEUED)
            ring = run->result.record[i];
    assert_case(name, (baseline != NULL) == (ring != NULL));
    if (!ring)
        return;
    assert_case(name, json_is_number(json_object_get(baseline, "gbps")) == (ring->outcome == LP_DONE));
    assert_case(name, ring->outcome != LP_DONE || fabs(lp_json_num(baseline, "gbps", 0.0) - ring->algbw_gbps) < 1e-9);
    assert_case(name, strcmp(lp_json_str(baseline, "reason", ""), ring->outcome == LP_DONE ? "" : ring->reason) == 0);
    assert_case(name, strcmp(lp_json_str(baseline, "path", ""), ring->cell.op) == 0);
    assert_case(name, json_is_array(slowest) ? ring->time_us.n > 0 : json_is_null(slowest) && ring->time_us.n == 0);
    if (json_is_array(slowest)) { /* the last edge: from the last rank to the first */
        assert_case(name, json_integer_value(json_array_get(slowest, 0)) == run->link.nranks - 1);
        assert_case(name, json_integer_value(json_array_get(slowest, 1)) == 0);
    }
}

/* Of the one size and mode that a main run has here. */
static inline bool has_exchange(const struct scripted_run *run)
{
    for (size_t i = 0; i < copies_in(run); i++)
        if (lp_path_find(run->result.record[i]->cell.op)->flags & LP_PATH_RING)
            return lp_record_usable(run->result.record[i]);
    return false;
}

/* Whatever became of the copies, the collective of a main run is measured twice, beside the baseline that there is. */
static inline void check_collectives(const struct scripted_run *run, const char *name, const struct story *story)
{
    const json_t *baseline = json_object_get(run->result.head, "baseline");
    size_t first = copies_in(run), n = run->result.n - first;

    assert_case(name, n == (story->ended || story->programme->words == p2p_run ? 0u : 2u));
    for (size_t i = 0; i < n; i++) {
        const struct lp_record *record = run->result.record[first + i];

        assert_case(name, record->outcome == LP_DONE && record->repeat == (int)i);
        assert_case(name, isfinite(record->link_gbps) == json_is_number(json_object_get(baseline, "gbps")));
        assert_case(name, isfinite(record->link_same_gbps) == has_exchange(run));
    }
}

/* Plays the faults, and holds all that came of it against the rules. Returns the run, for more; free it. */
static inline struct scripted_run *play_copies(const char *name, const struct programme *programme, const struct fault *fault,
                                               size_t nfaults)
{
    struct scripted_run *run = small_machine(programme->device, programme->n);
    static struct story story; /* large */
    size_t want = 0;

    tell(programme, fault, nfaults, &story);
    for (size_t i = 0; i < nfaults; i++)
        run_fault(run, fault[i]);
    run_play(run, programme->words);
    assert_case(name, run->written && is_complete(run) == !story.ended);
    while (want < programme->ncopies && story.fate[want].outcome != NO_RECORD)
        want++;
    if (copies_in(run) != want)
        fail_msg("case \"%s\": %zu copies, not %zu", name, copies_in(run), want);
    for (size_t i = 0; i < want; i++)
        check_copy(run, name, &story, i);
    if (crews_of(run, "link") != story.link_crews || crews_of(run, "link-ipc") != story.ipc_crews)
        fail_msg("case \"%s\": %d crews of link and %d of link-ipc, not %d and %d", name, crews_of(run, "link"),
                 crews_of(run, "link-ipc"), story.link_crews, story.ipc_crews);
    check_baseline(run, name);
    check_collectives(run, name, &story);
    if (run->code != code_of(&story))
        fail_msg("case \"%s\": exit code %d, not %d", name, run->code, code_of(&story));
    return run;
}

#endif
