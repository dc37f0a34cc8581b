/*
 * A link without processes: next() plays events at their times and moves the clock; what is sent, killed and spawned is
 * recorded. Rules answer requests, so that a test says only what is unusual about a worker.
 */
#ifndef LP_TESTS_SCRIPTED_LINK_H
#define LP_TESTS_SCRIPTED_LINK_H

#include "base/json.h"
#include "control/link.h"

#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "scripted_clock.h"

#define SECONDS(s) ((int64_t)((s)*1e9))

struct scripted_item {
    int64_t at_ns;
    struct lp_event event;
};

/* Something that was done to a worker. */
struct scripted_deed {
    int64_t at_ns;
    int rank, crew, signal;
    json_t *json;    /* the request, or the environment of a spawn; owned */
    char text[1024]; /* of a spawn: log, then argv */
};

struct scripted_link {
    struct lp_link link; /* first: callbacks get its address */
    struct scripted_clock time;
    struct lp_clock clock;
    struct scripted_item item[512];
    struct scripted_deed sent[256], killed[64], spawned[64];
    size_t nitems, nsent, nkilled, nspawned;
    bool immortal;     /* killed workers stay */
    int no_agent_rank; /* spawning there fails; -1: nowhere */
    /* called for every request, to script what comes of it; may be NULL */
    void (*answer)(struct scripted_link *self, int rank, int crew, const json_t *request);
    void *user;
};

/* ---- scripting ---- */

static inline void script_event(struct scripted_link *self, int64_t at_ns, struct lp_event event)
{
    assert(self->nitems < sizeof(self->item) / sizeof(self->item[0]));
    self->item[self->nitems++] = (struct scripted_item){at_ns, event};
}

/* Takes the reference. */
static inline void script_json(struct scripted_link *self, int64_t at_ns, int rank, int crew, json_t *line)
{
    script_event(self, at_ns, (struct lp_event){.kind = LP_EVENT_LINE, .rank = rank, .crew = crew, .line = line});
}

static inline void script_line(struct scripted_link *self, int64_t at_ns, int rank, int crew, const char *text)
{
    script_json(self, at_ns, rank, crew, json_of(text));
}

static inline void script_hello(struct scripted_link *self, int64_t at_ns, int rank, int crew)
{
    script_json(self, at_ns, rank, crew, json_pack("{s:s, s:i}", "say", "hello", "pid", 1000 + 100 * crew + rank));
}

static inline void script_phase(struct scripted_link *self, int64_t at_ns, int rank, int crew, const char *phase)
{
    script_json(self, at_ns, rank, crew, json_pack("{s:s, s:s}", "say", "at", "phase", phase));
}

/* signal 0: it left with that code. */
static inline void script_exit(struct scripted_link *self, int64_t at_ns, int rank, int crew, int exit_code, int signal)
{
    script_event(self, at_ns,
                 (struct lp_event){.kind = LP_EVENT_EXIT,
                                   .rank = rank,
                                   .crew = crew,
                                   .pid = 1000 + 100 * crew + rank,
                                   .exit_code = signal ? -1 : exit_code,
                                   .signal = signal});
}

/* An answer to the request; members of extra (taken, may be NULL) are added. */
static inline void script_reply(struct scripted_link *self, int64_t delay_ns, int rank, int crew, const json_t *request,
                                const char *status, json_t *extra)
{
    json_t *reply = json_pack("{s:O, s:s}", "id", json_object_get(request, "id"), "status", status);

    if (extra) {
        json_object_update(reply, extra);
        json_decref(extra);
    }
    script_json(self, self->time.now_ns + delay_ns, rank, crew, reply);
}

/* ---- the link ---- */

static inline struct scripted_deed *scripted_note(struct scripted_deed *list, size_t *n, size_t cap, int64_t at_ns, int rank,
                                                  int crew)
{
    assert(*n < cap);
    list[*n] = (struct scripted_deed){.at_ns = at_ns, .rank = rank, .crew = crew};
    return &list[(*n)++];
}

static inline enum lp_status scripted_spawn(struct lp_link *link, int rank, int crew, const struct lp_spawn *spawn)
{
    struct scripted_link *self = (struct scripted_link *)link;
    struct scripted_deed *deed = scripted_note(self->spawned, &self->nspawned, 64, self->time.now_ns, rank, crew);

    deed->json = json_deep_copy(spawn->env);
    snprintf(deed->text, sizeof(deed->text), "%s", spawn->log);
    for (const char *const *word = spawn->argv; *word; word++)
        snprintf(deed->text + strlen(deed->text), sizeof(deed->text) - strlen(deed->text), " %s", *word);
    return rank == self->no_agent_rank ? LP_ERR_LOST : LP_OK;
}

static inline enum lp_status scripted_send(struct lp_link *link, int rank, int crew, const json_t *line)
{
    struct scripted_link *self = (struct scripted_link *)link;

    scripted_note(self->sent, &self->nsent, 256, self->time.now_ns, rank, crew)->json = json_deep_copy(line);
    if (self->answer)
        self->answer(self, rank, crew, line);
    return LP_OK;
}

static inline void scripted_kill(struct lp_link *link, int rank, int crew, int sig)
{
    struct scripted_link *self = (struct scripted_link *)link;

    scripted_note(self->killed, &self->nkilled, 64, self->time.now_ns, rank, crew)->signal = sig;
    if (!self->immortal)
        script_exit(self, self->time.now_ns + LP_MILLISECOND, rank, crew, -1, sig);
}

/* The earliest that is due, in the order of scripting; time jumps to it, or to the deadline. */
static inline void scripted_next(struct lp_link *link, int64_t deadline_ns, struct lp_event *out)
{
    struct scripted_link *self = (struct scripted_link *)link;
    int64_t until = deadline_ns > self->time.now_ns ? deadline_ns : self->time.now_ns;
    size_t first = self->nitems;

    for (size_t i = 0; i < self->nitems; i++)
        if (self->item[i].at_ns <= until && (first == self->nitems || self->item[i].at_ns < self->item[first].at_ns))
            first = i;
    if (first == self->nitems) {
        self->time.now_ns = until;
        *out = (struct lp_event){.kind = LP_EVENT_TIMEOUT};
        return;
    }
    if (self->item[first].at_ns > self->time.now_ns)
        self->time.now_ns = self->item[first].at_ns;
    *out = self->item[first].event;
    self->nitems--;
    memmove(&self->item[first], &self->item[first + 1], (self->nitems - first) * sizeof(self->item[0]));
}

static inline struct scripted_link *scripted_link_create(int nranks)
{
    struct scripted_link *self = calloc(1, sizeof(*self));

    assert(self);
    self->clock = scripted_clock(&self->time);
    self->no_agent_rank = -1;
    self->link = (struct lp_link){.clock = &self->clock,
                                  .launch = "script",
                                  .nranks = nranks,
                                  .spawn = scripted_spawn,
                                  .send = scripted_send,
                                  .kill = scripted_kill,
                                  .next = scripted_next};
    return self;
}

static inline void scripted_link_free(struct scripted_link *self)
{
    for (size_t i = 0; i < self->nitems; i++)
        lp_event_release(&self->item[i].event);
    for (size_t i = 0; i < self->nsent; i++)
        json_decref(self->sent[i].json);
    for (size_t i = 0; i < self->nspawned; i++)
        json_decref(self->spawned[i].json);
    free(self);
}

#endif
