/*
 * What a run must come to when one fault strikes one variant of three: the rules of DESIGN section 6 in short, and a run held
 * against them. Cells are AllReduce of 64, 128 and 256 bytes under default, ring and default again; the fault is ring's.
 */
#ifndef LP_TESTS_SCRIPTED_RULES_H
#define LP_TESTS_SCRIPTED_RULES_H

#include "scripted_run.h"

#define THREE_CELLS                                                                                                                \
    "-b", "64", "-e", "256", "--collectives", "allreduce", "--placement", "out", "--no-link", "--only", "ring", "-w", "1"
#define NO_RECORD (-1)

static const size_t three_sizes[] = {64, 128, 256};

/* Ranks and device: memory comes before the communicator on host, after it on cuda. */
static const struct scene {
    const char *device;
    int n;
} scenes[] = {{"cuda", 2}, {"host", 3}, {"cuda", 5}, {"host", 8}};

static inline bool is_hang(enum kind kind)
{
    return kind <= WEDGED;
}

static inline bool is_crash(enum kind kind)
{
    return kind >= SEGV && kind <= NOT_STARTED;
}

/* Says no with a reason, which will be the same for every crew. */
static inline bool is_refusal(enum kind kind)
{
    return (kind >= FAILS && kind <= MEMORY) || kind == OTHER_ENV || kind == OTHER_NCCL;
}

static inline bool is_wrong_data(enum kind kind)
{
    return kind >= WRONG_FIRST && kind <= WRONG_ONCE;
}

static inline bool ends_the_run(enum kind kind)
{
    return kind == WEDGED || kind == AGENT_LOST || kind == SIGNALLED;
}

static inline bool in_a_cell(enum phase phase)
{
    return phase >= AT_CELL && phase < AT_BYE;
}

/* Can that happen there at all? A variant's workers are asked neither what they see nor for peer access. */
static inline bool makes_sense(enum kind kind, enum phase phase)
{
    bool blocks = phase == AT_WARM_UP || phase == AT_TIME, verdict = phase == AT_CHECK || phase == AT_LAST || phase == AT_AFTER;

    if (phase == AT_SURVEY || phase == AT_PEERS)
        return false;
    if (kind == NOT_STARTED || kind == OTHER_ENV || kind == OTHER_NCCL)
        return phase == (kind == NOT_STARTED ? AT_START : AT_OFFER);
    if (is_refusal(kind))
        return phase != AT_START && phase != AT_BYE;
    return kind == GARBLED ? blocks || verdict : !is_wrong_data(kind) || verdict;
}

static inline enum lp_outcome outcome_of_kind(enum kind kind)
{
    if (is_hang(kind))
        return LP_HANG;
    if (is_crash(kind))
        return LP_CRASH;
    if (is_wrong_data(kind))
        return LP_WRONG;
    if (kind == UNSUPPORTED || kind == MEMORY)
        return kind == MEMORY ? LP_SKIPPED : LP_UNSUPPORTED;
    return kind == SLOW ? LP_DONE : LP_FAILED;
}

/* Does it cost the crew? What every rank cannot do, slowness and wrong data do not. */
static inline bool costs_crew(const struct fault *fault)
{
    if (fault->kind == SLOW || is_wrong_data(fault->kind) || fault->phase == AT_BYE)
        return false;
    return !(in_a_cell(fault->phase) && fault->kind == UNSUPPORTED && fault->rank < 0);
}

/* Outcome of ring's cell i, or NO_RECORD. A fault that is not for ever strikes the first crew, or the second cell. */
static inline int expected_of_ring(const struct fault *fault, int i)
{
    int hit = in_a_cell(fault->phase) ? 1 : 0;
    bool for_ever = !fault->times;

    if (fault->phase == AT_BYE)
        return LP_DONE;
    if (ends_the_run(fault->kind))
        return i < hit ? LP_DONE : i == hit && fault->kind == WEDGED ? LP_HANG : NO_RECORD;
    if (!in_a_cell(fault->phase) && is_refusal(fault->kind))
        return (int)outcome_of_kind(fault->kind);
    if (for_ever)
        return costs_crew(fault) && i >= 2 ? LP_SKIPPED : (int)outcome_of_kind(fault->kind);
    return i == hit ? (int)outcome_of_kind(fault->kind) : LP_DONE;
}

static inline int expected_crews(const struct fault *fault)
{
    if (!costs_crew(fault) || ends_the_run(fault->kind) || (!in_a_cell(fault->phase) && is_refusal(fault->kind)))
        return 1;
    return 2;
}

static inline int expected_code(const struct fault *fault)
{
    enum lp_outcome outcome = outcome_of_kind(fault->kind);

    if (fault->kind == SIGNALLED)
        return 128 + SIGTERM;
    if (ends_the_run(fault->kind))
        return 4;
    if (fault->phase == AT_BYE || outcome == LP_DONE || outcome == LP_UNSUPPORTED || outcome == LP_SKIPPED)
        return 0;
    return outcome == LP_WRONG ? 6 : outcome == LP_FAILED ? 3 : 4;
}

/* How much longer than a good run it may take: the limit, a second to ask where, five for others after a refusal, ten to reap. */
static inline double expected_delay(const struct scripted_run *run, const struct fault *fault)
{
    int losses = expected_crews(fault) == 2 && !fault->times ? 2 : 1;
    double again = run->start_s + run->open_s + 0.1, limit = limit_s(run, fault->phase);

    if (fault->kind == WEDGED)
        return limit + 1.1 + 10.1;
    if (is_hang(fault->kind))
        return losses * (limit + 1.1 + again);
    if (fault->kind == SLOW)
        return (fault->times ? 1 : 3) * limit;
    return losses * (again + (is_refusal(fault->kind) ? 5.1 : 0.1)) + 0.4;
}

/* A part of the reason for the first cell that was struck. */
static inline const char *expected_words(const struct fault *fault, char *buf, size_t cap)
{
    int rank = fault->rank < 0 ? 0 : fault->rank;

    if (is_hang(fault->kind) && fault->kind != LATE)
        snprintf(buf, cap, "rank %d %s", rank, fault->kind == STALLS ? "is waiting for the device in '" : "does not answer at all");
    else if (is_hang(fault->kind))
        snprintf(buf, cap, "no answer within %d s", in_a_cell(fault->phase) ? 10 : 60);
    else if (is_crash(fault->kind))
        snprintf(buf, cap, "rank %d (pid ", rank);
    else if (fault->kind == OTHER_ENV)
        snprintf(buf, cap, "ranks differ in NCCL_BUFFSIZE: rank 0 has %s, rank %d has ", rank ? "none" : "'1048576'",
                 rank ? rank : 1);
    else if (fault->kind == OTHER_NCCL)
        snprintf(buf, cap, "ranks differ in NCCL version: rank 0 has '%s', rank %d has ", rank ? "2.28.3" : "2.27.5",
                 rank ? rank : 1);
    else if (is_wrong_data(fault->kind))
        snprintf(buf, cap, "first on rank %d at byte ", rank);
    else
        snprintf(buf, cap, "%s", fault->kind == GARBLED ? "workers answered" : "this is why");
    return buf;
}

static inline const char *case_name(const struct scene *scene, const struct fault *fault, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s at %s, rank %d of %d on %s%s", kind_names[fault->kind], phase_names[fault->phase], fault->rank, scene->n,
             scene->device, fault->times ? "" : ", always");
    return buf;
}

/* Three iterations before and after the timed ones, and the last output between them; n ranks. */
static inline void check_wrong_data(const char *name, const struct lp_record *record, const struct fault *fault, int n)
{
    const struct lp_checked *checked = &record->checked;
    int whole = fault->phase == AT_LAST ? 1 : 3, wrong = fault->kind == WRONG_ONCE ? 1 : whole;
    uint64_t offset, each = wrong_elements(fault->kind, record->cell.size_bytes, whole - 1, whole, &offset);

    assert_case(name, checked->iterations == 7 && checked->wrong_iterations == wrong);
    assert_case(name, checked->wrong_elements == (uint64_t)(wrong * (fault->rank < 0 ? n : 1)) * each);
    assert_case(name, checked->first_offset_bytes == offset && checked->first_rank == (fault->rank < 0 ? 0 : fault->rank));
    assert_case(name, record->time_us.n > 0 && !lp_record_usable(record)); /* the time is kept, and never ranked */
}

static inline void check_variant(struct scripted_run *run, const char *name, const struct fault *fault, const char *variant,
                                 int repeat)
{
    bool ring = strcmp(variant, "ring") == 0;
    char words[160];
    bool said = false;

    for (int i = 0; i < 3; i++) {
        const struct lp_record *record = record_of(run, variant, repeat, three_sizes[i]);
        int expected = ring ? expected_of_ring(fault, i) : repeat && ends_the_run(fault->kind) ? NO_RECORD : LP_DONE;

        if ((record ? (int)record->outcome : NO_RECORD) != expected)
            fail_msg("case \"%s\": %s %zu is %s (%s), not %s", name, variant, three_sizes[i],
                     record ? lp_outcome_name(record->outcome) : "absent", record ? record->reason : "",
                     expected == NO_RECORD ? "absent" : lp_outcome_name((enum lp_outcome)expected));
        if (record && record->outcome == LP_WRONG)
            check_wrong_data(name, record, fault, run->link.nranks);
        if (!record || record->outcome == LP_DONE || said)
            continue;
        said = true; /* later ones may say that it was not tried */
        if (strlen(record->reason) < sizeof(record->reason) - 1 &&
            !strstr(record->reason, expected_words(fault, words, sizeof(words))))
            fail_msg("case \"%s\": \"%s\" does not say \"%s\"", name, record->reason, words);
    }
}

/* Plays the fault in ring, and holds all that came of it against the rules. good_s: what a run without it takes. */
static inline void play_case(const struct scene *scene, const struct fault *fault, double good_s)
{
    struct scripted_run *run = run_create(scene->device, scene->n);
    char name[160];
    double spent;

    case_name(scene, fault, name, sizeof(name));
    run_fault(run, *fault);
    run_play(run, (const char *[]){THREE_CELLS, NULL});
    assert_case(name, run->written);
    check_variant(run, name, fault, "default", 0);
    check_variant(run, name, fault, "ring", 0);
    check_variant(run, name, fault, "default", 1);
    if (run->code != expected_code(fault))
        fail_msg("case \"%s\": exit code %d, not %d", name, run->code, expected_code(fault));
    if (crews_of(run, "ring") != expected_crews(fault))
        fail_msg("case \"%s\": %d crews, not %d", name, crews_of(run, "ring"), expected_crews(fault));
    assert_case(name, is_complete(run) == !ends_the_run(fault->kind));
    spent = (double)(run->time.now_ns - SECONDS(1000)) / 1e9;
    if (spent > good_s + expected_delay(run, fault))
        fail_msg("case \"%s\": took %.1f s, more than %.1f + %.1f", name, spent, good_s, expected_delay(run, fault));
    run_free(run);
}

/* Seconds of the script's clock for a run in which nothing happens. */
static inline double good_seconds(const struct scene *scene)
{
    struct scripted_run *run = run_create(scene->device, scene->n);
    double seconds;

    run_play(run, (const char *[]){THREE_CELLS, NULL});
    assert_int_equal(run->code, 0);
    assert_int_equal(run->result.n, 9);
    seconds = (double)(run->time.now_ns - SECONDS(1000)) / 1e9;
    run_free(run);
    return seconds;
}

/* Every kind from first to last, in every phase where it makes sense, on the last and on all ranks, of few ranks also on the first.
 */
static inline void play_product(enum kind first, enum kind last, bool for_ever)
{
    for (size_t s = 0; s < COUNT_OF(scenes); s++) {
        double good_s = good_seconds(&scenes[s]);
        const int who[] = {scenes[s].n - 1, -1, 0};

        for (int kind = (int)first; kind <= (int)last; kind++)
            for (int phase = 0; phase < NPHASES; phase++)
                for (size_t w = 0; w < COUNT_OF(who) - (for_ever || scenes[s].n > 3); w++) {
                    struct fault fault = {(enum kind)kind, (enum phase)phase, who[w], "ring", for_ever ? 0 : three_sizes[1],
                                          for_ever ? 0 : 1};
                    bool all_alike = kind == OTHER_ENV || kind == OTHER_NCCL || kind == AGENT_LOST;

                    if (makes_sense(fault.kind, fault.phase) && !(who[w] < 0 && all_alike))
                        play_case(&scenes[s], &fault, good_s);
                }
    }
}

#endif
