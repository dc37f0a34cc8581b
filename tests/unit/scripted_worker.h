/*
 * The workers of a scripted run: when they answer, and what a fault makes of it. They are strict: a request that a real one would
 * not understand where it comes is noted as foul, and fails the test in the end.
 */
#ifndef LP_TESTS_SCRIPTED_WORKER_H
#define LP_TESTS_SCRIPTED_WORKER_H

#include "control/wire.h"

#include <signal.h>

#include "scripted_answer.h"

static inline const struct fault *fault_of(const struct scripted_run *self, int crew, int rank, enum phase phase)
{
    for (size_t i = 0; i < self->nfaults; i++)
        if ((self->fault[i].rank < 0 || self->fault[i].rank == rank) && in_place(&self->fault[i], &self->actor[crew][rank], phase))
            return &self->fault[i];
    return NULL;
}

/* What happens to another rank where nobody gets on without all others. */
static inline const struct fault *fault_of_others(const struct scripted_run *self, int crew, int rank, enum phase phase)
{
    bool joint = phase == AT_OPEN || (phase >= AT_WARM_UP && phase <= AT_AFTER && phase != AT_PREPARE);

    for (size_t i = 0; i < self->nfaults && joint; i++) {
        const struct fault *fault = &self->fault[i];

        if (fault->kind <= MEMORY && fault->rank >= 0 && fault->rank != rank && self->actor[crew][fault->rank].spawned &&
            in_place(fault, &self->actor[crew][rank], phase))
            return fault;
    }
    return NULL;
}

/* ---- events ---- */

static inline void foul(struct scripted_run *self, const char *what, const char *more)
{
    if (!self->foul[0])
        snprintf(self->foul, sizeof(self->foul), "%s %s", what, more);
}

static inline void queue_event(struct scripted_run *self, double delay_s, struct lp_event event)
{
    assert(self->nqueue < COUNT_OF(self->queue));
    self->queue[self->nqueue].at_ns = self->time.now_ns + SECONDS(delay_s);
    self->queue[self->nqueue++].event = event;
}

static inline void queue_line(struct scripted_run *self, double delay_s, int rank, int crew, json_t *line)
{
    queue_event(self, delay_s, (struct lp_event){.kind = LP_EVENT_LINE, .rank = rank, .crew = crew, .line = line});
}

static inline void drop_event(struct scripted_run *self, size_t i)
{
    self->nqueue--;
    memmove(&self->queue[i], &self->queue[i + 1], (self->nqueue - i) * sizeof(self->queue[0]));
}

/* What the worker would still have said goes with it. crew 0: all workers of the rank. */
static inline void drop_events(struct scripted_run *self, int rank, int crew)
{
    for (size_t i = self->nqueue; i-- > 0;)
        if (self->queue[i].event.rank == rank && (!crew || self->queue[i].event.crew == crew)) {
            lp_event_release(&self->queue[i].event);
            drop_event(self, i);
        }
}

static inline long script_pid(int rank, int crew)
{
    return 1000 + 10 * crew + rank;
}

static inline void queue_exit(struct scripted_run *self, double delay_s, int rank, int crew, int exit_code, int sig)
{
    struct lp_event event = {.kind = LP_EVENT_EXIT,
                             .rank = rank,
                             .crew = crew,
                             .pid = script_pid(rank, crew),
                             .exit_code = sig ? -1 : exit_code,
                             .signal = sig};

    if (exit_code == 127) {
        event.pid = 0;
        snprintf(event.words, sizeof(event.words), "could not be started: No such file or directory");
    }
    self->actor[crew][rank].stuck = true;
    queue_event(self, delay_s, event);
}

static inline void lose_agent(struct scripted_run *self, int rank)
{
    struct lp_event event = {.kind = LP_EVENT_LOST, .rank = rank};

    if (self->agent_gone[rank])
        return;
    self->agent_gone[rank] = true;
    drop_events(self, rank, 0);
    for (int crew = 0; crew <= self->ncrews; crew++)
        self->actor[crew][rank].alive = false;
    snprintf(event.words, sizeof(event.words), "the agent of rank %d is gone", rank);
    queue_event(self, 0.001, event);
}

/* ---- workers ---- */

/* Which phase a request begins, and whether a worker would understand it there. */
static inline enum phase phase_of(struct scripted_run *self, struct actor *actor, const json_t *request)
{
    static const char *const words[] = {[AT_SURVEY] = "survey", [AT_OFFER] = "offer", [AT_ARENA] = "arena", [AT_OPEN] = "open",
                                        [AT_PEERS] = "peers",   [AT_CELL] = "cell",   [AT_BYE] = "bye"};
    const char *what = lp_json_str(request, "do", "");
    bool again = actor->checks > 0;

    if (lp_json_int(request, "id", 0) <= actor->last_id || actor->stuck)
        foul(self, "asked again after it was lost, or with an old id:", what);
    actor->last_id = lp_json_int(request, "id", 0);
    for (int i = AT_SURVEY; i <= AT_BYE; i++)
        if (i < (int)COUNT_OF(words) && words[i] && strcmp(words[i], what) == 0)
            return (enum phase)i;
    if (!actor->cell.requested_bytes)
        foul(self, "without a cell:", what);
    if (strcmp(what, "blocks") == 0)
        return strcmp(lp_json_str(request, "purpose", ""), "time") == 0 ? AT_TIME : AT_WARM_UP;
    if (strcmp(what, "check") != 0)
        foul(self, "unknown request:", what);
    if (lp_json_bool(request, "prepare", false) || lp_json_bool(request, "last", false))
        return lp_json_bool(request, "prepare", false) ? AT_PREPARE : AT_LAST;
    actor->checks++;
    return again ? AT_AFTER : AT_CHECK;
}

/* What the phase takes where nothing is wrong, and its limit. */
static inline double usual_s(const struct scripted_run *self, const struct actor *actor, enum phase phase, const json_t *request)
{
    double ops = phase == AT_WARM_UP || phase == AT_TIME
                     ? (double)lp_json_int(request, "k", 1) * (double)lp_json_int(request, "n", 1)
                     : (double)lp_json_int(request, "iterations", 0) + 1;

    if (phase == AT_START || phase == AT_OPEN)
        return phase == AT_START ? self->start_s : self->open_s;
    return phase < AT_WARM_UP || phase == AT_BYE ? 0.01 : 1e-4 + ops * op_us(self, actor->cell.requested_bytes) / 1e6;
}

static inline double limit_s(const struct scripted_run *self, enum phase phase)
{
    return self->slowness * (phase < AT_CELL ? 60.0 : phase == AT_BYE ? 20.0 : 10.0);
}

/* Words for a copy between GPUs that have no access to each other; NULL: they have. Only the worker that enabled it knows. */
static inline const char *no_access(const struct scripted_run *self, const struct actor *actor, char *buf, size_t cap)
{
    const struct lp_path *path = lp_path_find(actor->cell.op);
    json_t *errors = json_of(actor->peers && path && path->flags & LP_PATH_PEER && self->peer_errors ? self->peer_errors : "[]");
    bool found = false;

    for (size_t i = 0; i < json_array_size(errors); i++)
        for (int e = 0; e < actor->cell.nedges && !found; e++) {
            const struct lp_edge *edge = &actor->cell.edges[e];
            int by = path->flags & LP_PATH_READ ? edge->dst : edge->src, of = by == edge->src ? edge->dst : edge->src;
            const json_t *error = json_array_get(errors, i);

            found = json_integer_value(json_array_get(error, 0)) == by && json_integer_value(json_array_get(error, 1)) == of;
            if (found)
                snprintf(buf, cap, "no peer access from %d to %d: %s", edge->src, edge->dst,
                         json_string_value(json_array_get(error, 2)));
        }
    json_decref(errors);
    return found ? buf : NULL;
}

/* The worker has done what was asked of it, in `delay_s`. */
static inline void comply(struct scripted_run *self, double delay_s, int rank, int crew, enum phase phase, const json_t *request,
                          const struct fault *fault)
{
    static const char *const refusals[] = {
        [FAILS] = "failed", [ENVIRONMENT] = "environment", [UNSUPPORTED] = "unsupported", [MEMORY] = "memory"};
    const char *status = fault && fault->kind >= FAILS && fault->kind <= MEMORY ? refusals[fault->kind] : "ok";
    const struct actor *actor = &self->actor[crew][rank];
    const char *reason = "this is why";
    json_t *payload, *reply;
    char words[256];

    if (phase == AT_START) {
        reply = lp_wire_say(crew, rank, "hello");
        json_object_set_new(reply, "pid", json_integer(script_pid(rank, crew)));
        queue_line(self, delay_s, rank, crew, reply);
        return;
    }
    if (phase == AT_ARENA && 2 * actor->arena_bytes > free_of(self, actor, rank))
        status = "memory";
    if (phase == AT_CELL && strcmp(status, "ok") == 0 && no_access(self, actor, words, sizeof(words))) {
        status = "unsupported";
        reason = words;
    }
    reply = lp_wire_reply(request, rank, lp_status_from_name(status), strcmp(status, "ok") == 0 ? NULL : reason);
    payload = payload_of(self, rank, crew, phase, request, fault);
    json_object_update(reply, payload);
    json_decref(payload);
    queue_line(self, delay_s, rank, crew, reply);
    if (phase == AT_BYE)
        queue_exit(self, delay_s, rank, crew, 0, 0);
}

/* What comes of a phase: an answer, or the fault's doing. */
static inline void act(struct scripted_run *self, int rank, int crew, enum phase phase, const json_t *request)
{
    const struct fault *own = fault_of(self, crew, rank, phase), *other = fault_of_others(self, crew, rank, phase);
    struct actor *actor = &self->actor[crew][rank];
    enum kind kind = own ? own->kind : other ? other->kind : NKINDS;
    double usual = usual_s(self, actor, phase, request);

    actor->phase = phase;
    if (kind == SLOW || kind == LATE) {
        usual = limit_s(self, phase) * (kind == SLOW ? 2.0 / 3.0 : 1.0) + (kind == LATE ? 0.5 : 0.0);
        kind = NKINDS;
    }
    if (!own && kind != NKINDS) { /* it waits for the one that will not come */
        actor->stuck = true;
        return;
    }
    switch (kind) {
    case STALLS:
    case STOPS:
    case WEDGED:
        actor->stuck = true;
        actor->mute = kind != STALLS;
        actor->immortal = kind == WEDGED;
        return;
    case SEGV:
    case FPE:
        queue_exit(self, 0.001, rank, crew, 0, kind == SEGV ? SIGSEGV : SIGFPE);
        return;
    case LEAVES:
    case NOT_STARTED:
        queue_exit(self, 0.001, rank, crew, kind == LEAVES ? 0 : 127, 0);
        return;
    case AGENT_LOST:
        lose_agent(self, rank);
        return;
    case SIGNALLED:
        queue_event(self, 0.00001, (struct lp_event){.kind = LP_EVENT_SIGNAL, .rank = -1, .signal = SIGTERM});
        break;
    default:
        break;
    }
    comply(self, usual, rank, crew, phase, request, own);
}

#endif
