/* Keeping track of a crew's workers by the link's events. What they are asked is measure's and run's. */
#include "control/crew.h"

#include "base/json.h"
#include "control/crew_parts.h"
#include "control/wire.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRACE_NS (5 * LP_SECOND)  /* for the others' answers once one has said no */
#define REAP_NS  (10 * LP_SECOND) /* for a killed process to go */
#define WHERE_NS (1 * LP_SECOND)

enum lp_status lp_crews_create(struct lp_link *link, struct lp_crews **out)
{
    struct lp_crews *crews = calloc(1, sizeof(*crews));

    if (!crews)
        return LP_ERR_MEMORY;
    crews->link = link;
    *out = crews;
    return LP_OK;
}

int lp_crews_signal(const struct lp_crews *crews)
{
    return crews->signal;
}

/* ---- events ---- */

static struct mate *find_mate(struct lp_crews *crews, int id, int rank, struct lp_crew **owner)
{
    for (struct lp_crew *crew = crews->first; crew; crew = crew->next)
        for (int i = 0; crew->id == id && i < crew->n; i++)
            if (crew->mate[i].rank == rank) {
                *owner = crew;
                return &crew->mate[i];
            }
    return NULL;
}

static void take_line(struct lp_crew *crew, struct mate *mate, json_t *line)
{
    const char *say = lp_json_str(line, "say", "");

    if (strcmp(say, "hello") == 0) {
        mate->hello = true;
        mate->pid = (long)lp_json_int(line, "pid", 0);
    } else if (strcmp(say, "at") == 0) {
        lp_json_copy(line, "phase", mate->phase, sizeof(mate->phase));
    } else if (!say[0] && crew->asked_where > 0 && lp_json_int(line, "id", -1) == crew->asked_where && !mate->where) {
        mate->where = json_incref(line);
    } else if (!say[0] && lp_json_int(line, "id", -1) == crew->last_request && !mate->reply) {
        mate->reply = json_incref(line);
    }
}

static void take_exit(struct mate *mate, const struct lp_event *event)
{
    mate->ended = true;
    if (event->pid > 0)
        mate->pid = event->pid;
    mate->exit_code = event->exit_code;
    mate->signal = event->signal;
    snprintf(mate->words, sizeof(mate->words), "%s", event->words);
}

/* Waits for one event, at most until the deadline, and enters it where it belongs, whichever crew that is. False at the deadline.
 */
static bool pump(struct lp_crews *crews, int64_t deadline_ns)
{
    struct lp_crew *crew = NULL;
    struct lp_event event;
    struct mate *mate;

    crews->link->next(crews->link, deadline_ns, &event);
    switch (event.kind) {
    case LP_EVENT_TIMEOUT:
        return false;
    case LP_EVENT_SIGNAL:
        crews->signal = crews->signal ? crews->signal : event.signal; /* what follows is impatience */
        break;
    case LP_EVENT_LOST:
        crews->agent_lost = true;
        memcpy(crews->agent_words, event.words, sizeof(crews->agent_words));
        for (crew = crews->first; crew; crew = crew->next)
            for (int i = 0; i < crew->n; i++)
                if (crew->mate[i].rank == event.rank)
                    crew->mate[i].ended = true; /* the kernel kills a worker with its agent */
        break;
    case LP_EVENT_LINE:
        mate = find_mate(crews, event.crew, event.rank, &crew);
        if (mate)
            take_line(crew, mate, event.line);
        break;
    case LP_EVENT_EXIT:
        mate = find_mate(crews, event.crew, event.rank, &crew);
        if (mate)
            take_exit(mate, &event);
        break;
    }
    lp_event_release(&event);
    return true;
}

const char *lp_crews_lost(struct lp_crews *crews, int64_t wait_ns)
{
    int64_t deadline = lp_clock_now(crews->link->clock) + wait_ns;

    if (!crews->agent_lost)
        return NULL;
    while (!crews->signal && pump(crews, deadline))
        ;
    return crews->agent_words;
}

void lp_crews_rest(struct lp_crews *crews, int64_t until_ns)
{
    while (!crews->signal && pump(crews, until_ns))
        ;
}

/* ---- start ---- */

static void name_logs(struct lp_crew *crew, struct mate *mate, const struct lp_crew_spec *spec)
{
    snprintf(mate->log, sizeof(mate->log), "%.700s/crew%03d-%.64s-rank%d.log", spec->log_dir, crew->id, spec->name, mate->rank);
    if (spec->nccl_log)
        snprintf(mate->nccl_log, sizeof(mate->nccl_log), "%.700s/crew%03d-%.64s-rank%d.nccl.log", spec->log_dir, crew->id,
                 spec->name, mate->rank);
}

/* The variant's changes and what linkperf sets itself. */
static json_t *environment(const struct mate *mate, const struct lp_crew_spec *spec)
{
    json_t *env = spec->env ? json_deep_copy(spec->env) : json_object();

    if (!spec->nccl_log)
        return env;
    json_object_set_new(env, "NCCL_COMM_BLOCKING", json_null());
    json_object_set_new(env, "NCCL_DEBUG", json_string("INFO"));
    json_object_set_new(env, "NCCL_DEBUG_SUBSYS", json_string(spec->nccl_subsys));
    json_object_set_new(env, "NCCL_DEBUG_FILE", lp_json_text(mate->nccl_log));
    return env;
}

static void start_mate(struct lp_crew *crew, int i, const struct lp_crew_spec *spec)
{
    struct mate *mate = &crew->mate[i];
    char id[16], rank[16];
    const char *argv[] = {spec->worker, "--crew", id, "--rank", rank, NULL};
    struct lp_spawn spawn = {.argv = argv, .log = mate->log, .cpus = spec->cpus[i][0] ? spec->cpus[i] : NULL};
    json_t *env;

    name_logs(crew, mate, spec);
    snprintf(id, sizeof(id), "%d", crew->id);
    snprintf(rank, sizeof(rank), "%d", i);
    env = environment(mate, spec);
    spawn.env = env;
    if (crew->all->link->spawn(crew->all->link, mate->rank, crew->id, &spawn) != LP_OK) {
        mate->ended = true;
        if (!crew->all->agent_lost) /* its event is on the way, and would say more */
            snprintf(crew->all->agent_words, sizeof(crew->all->agent_words), "the agent of rank %d is gone", mate->rank);
        crew->all->agent_lost = true;
    }
    json_decref(env);
}

struct lp_crew *lp_crew_start(struct lp_crews *crews, const struct lp_crew_spec *spec)
{
    struct lp_crew *crew = calloc(1, sizeof(*crew));

    if (!crew)
        return NULL;
    crew->all = crews;
    crew->id = ++crews->last_id;
    crew->n = spec->n;
    crew->usable = true;
    crew->next = crews->first;
    crews->first = crew;
    for (int i = 0; i < crew->n; i++) {
        crew->mate[i].rank = spec->rank[i];
        snprintf(crew->mate[i].phase, sizeof(crew->mate[i].phase), "start");
        start_mate(crew, i, spec);
    }
    return crew;
}

int lp_crew_id(const struct lp_crew *crew)
{
    return crew->id;
}

int lp_crew_size(const struct lp_crew *crew)
{
    return crew->n;
}

const char *lp_crew_log(const struct lp_crew *crew, int worker)
{
    return crew->mate[worker].log;
}

const char *lp_crew_nccl_log(const struct lp_crew *crew, int worker)
{
    return crew->mate[worker].nccl_log;
}

void lp_crew_give_up(struct lp_crew *crew)
{
    crew->usable = false;
}

bool lp_crew_usable(const struct lp_crew *crew)
{
    return crew->usable;
}

static bool said_hello(const struct mate *mate)
{
    return mate->hello;
}

static bool has_reply(const struct mate *mate)
{
    return mate->reply != NULL;
}

/* Asks every worker that is late where it is, and gives the control threads a moment to say. */
static void ask_where(struct lp_crew *crew, bool (*done)(const struct mate *))
{
    struct lp_link *link = crew->all->link;
    int64_t deadline = lp_clock_now(link->clock) + WHERE_NS;
    json_t *ask;
    bool all = false;

    crew->asked_where = ++crew->last_id;
    ask = json_pack("{s:s, s:i, s:i}", "do", "where", "crew", crew->id, "id", crew->asked_where);
    for (int i = 0; i < crew->n; i++)
        if (!done(&crew->mate[i]) && !crew->mate[i].ended)
            link->send(link, crew->mate[i].rank, crew->id, ask);
    json_decref(ask);
    while (!all && pump(crew->all, deadline)) {
        all = true;
        for (int i = 0; i < crew->n; i++)
            all = all && (done(&crew->mate[i]) || crew->mate[i].ended || crew->mate[i].where);
    }
}

/* Pumps until every worker is done, or one cannot be any more. Shortens the wait once a worker has answered no. */
static bool wait_for(struct lp_crew *crew, bool (*done)(const struct mate *), int64_t limit_ns, struct lp_loss *why)
{
    const struct lp_clock *clock = crew->all->link->clock;
    int64_t deadline = lp_clock_now(clock) + limit_ns;
    bool refused = false;

    for (;;) {
        bool all = true, late;

        for (int i = 0; i < crew->n; i++) {
            const struct mate *mate = &crew->mate[i];

            all = all && done(mate);
            if (mate->reply && !refused && lp_status_from_name(lp_json_str(mate->reply, "status", "")) != LP_OK) {
                refused = true;
                if (deadline > lp_clock_now(clock) + GRACE_NS)
                    deadline = lp_clock_now(clock) + GRACE_NS;
            }
        }
        if (crew->all->signal || crew->all->agent_lost) {
            *why = (struct lp_loss){.kind = crew->all->signal ? LP_LOSS_SIGNAL : LP_LOSS_AGENT, .rank = -1};
            snprintf(why->reason, sizeof(why->reason), "%s", crew->all->signal ? "the run was ended" : crew->all->agent_words);
            return false;
        }
        if (all)
            return true;
        for (int i = 0; i < crew->n; i++)
            if (crew->mate[i].ended && !done(&crew->mate[i])) {
                if (refused)
                    return true; /* it said why before others fell over it */
                lp_crew_say_crash(crew, i, why);
                return false;
            }
        late = !pump(crew->all, deadline);
        if (late && refused)
            return true; /* the refusal is the news, not those who wait for it */
        if (late) {
            ask_where(crew, done);
            lp_crew_say_hang(crew, done, (double)limit_ns / 1e9, why);
            return false;
        }
    }
}

bool lp_crew_ready(struct lp_crew *crew, int64_t limit_ns, struct lp_loss *why)
{
    if (!wait_for(crew, said_hello, limit_ns, why))
        crew->usable = false;
    return crew->usable;
}

/* ---- requests ---- */

static void forget_replies(struct lp_crew *crew)
{
    for (int i = 0; i < crew->n; i++) {
        json_decref(crew->mate[i].reply);
        json_decref(crew->mate[i].where);
        crew->mate[i].reply = crew->mate[i].where = NULL;
    }
}

/* The first refusal among the answers; false when all said ok. The crew stays usable only if all were equally unable. */
static bool find_refusal(struct lp_crew *crew, struct lp_loss *why)
{
    bool found = false, alike = true;

    for (int i = 0; i < crew->n; i++) {
        const json_t *reply = crew->mate[i].reply;
        enum lp_status st = lp_status_from_name(lp_json_str(reply, "status", ""));

        alike = alike && reply && st == LP_ERR_UNSUPPORTED;
        if (!reply || st == LP_OK || found)
            continue;
        found = true;
        *why = (struct lp_loss){.kind = LP_LOSS_REPLY, .status = st, .rank = i};
        snprintf(why->reason, sizeof(why->reason), "%s", lp_json_str(reply, "reason", "no reason given"));
    }
    if (found && !alike)
        crew->usable = false;
    return found;
}

static void send_request(struct lp_crew *crew, json_t *request)
{
    struct lp_link *link = crew->all->link;

    json_object_set_new(request, "crew", json_integer(crew->id));
    json_object_set_new(request, "id", json_integer(crew->last_request = ++crew->last_id));
    for (int i = 0; i < crew->n; i++)
        link->send(link, crew->mate[i].rank, crew->id, request); /* a failure arrives as an exit */
}

bool lp_crew_ask(struct lp_crew *crew, json_t *request, int64_t limit_ns, json_t **replies, struct lp_loss *why)
{
    bool good;

    forget_replies(crew);
    send_request(crew, request);
    json_decref(request);
    good = wait_for(crew, has_reply, limit_ns, why);
    if (!good)
        crew->usable = false;
    if (good && find_refusal(crew, why))
        good = false;
    for (int i = 0; i < crew->n && good; i++) {
        replies[i] = crew->mate[i].reply;
        crew->mate[i].reply = NULL;
    }
    forget_replies(crew);
    return good;
}

void lp_replies_release(json_t **replies, int n)
{
    for (int i = 0; i < n; i++)
        json_decref(replies[i]);
}

/* ---- end ---- */

static bool all_ended(const struct lp_crew *crew)
{
    for (int i = 0; i < crew->n; i++)
        if (!crew->mate[i].ended)
            return false;
    return true;
}

/* Waits until all have ended, whatever else is asked of the run meanwhile. */
static bool wait_ended(struct lp_crew *crew, int64_t limit_ns)
{
    int64_t deadline = lp_clock_now(crew->all->link->clock) + limit_ns;

    while (!all_ended(crew))
        if (!pump(crew->all, deadline))
            return all_ended(crew);
    return true;
}

static void kill_all(struct lp_crew *crew)
{
    for (int i = 0; i < crew->n; i++)
        if (!crew->mate[i].ended)
            crew->all->link->kill(crew->all->link, crew->mate[i].rank, crew->id, SIGKILL);
}

static void forget(struct lp_crew *crew)
{
    struct lp_crew **link = &crew->all->first;

    while (*link != crew)
        link = &(*link)->next;
    *link = crew->next;
    forget_replies(crew);
    free(crew);
}

void lp_crew_leave(struct lp_crew *crew)
{
    json_t *bye;

    if (!crew->usable || crew->leaving || crew->all->signal || crew->all->agent_lost)
        return;
    bye = json_pack("{s:s}", "do", "bye");
    send_request(crew, bye);
    json_decref(bye);
    crew->leaving = true;
}

bool lp_crew_end(struct lp_crew *crew, int64_t limit_ns, struct lp_loss *why)
{
    bool gone = false;

    lp_crew_leave(crew);
    if (crew->leaving && !crew->all->signal && !crew->all->agent_lost)
        gone = wait_ended(crew, limit_ns);
    if (!gone) {
        kill_all(crew);
        gone = wait_ended(crew, REAP_NS);
    }
    if (!gone) {
        *why = (struct lp_loss){.kind = LP_LOSS_HANG, .rank = -1};
        for (int i = 0; i < crew->n && why->rank < 0; i++)
            if (!crew->mate[i].ended) {
                why->rank = i;
                snprintf(why->reason, sizeof(why->reason), "wedged pid %ld: rank %d's worker cannot be killed", crew->mate[i].pid,
                         i);
            }
    }
    forget(crew);
    return gone;
}

void lp_crews_free(struct lp_crews *crews)
{
    struct lp_loss ignored;

    while (crews->first) {
        crews->first->usable = false;
        lp_crew_end(crews->first, 0, &ignored);
    }
    free(crews);
}
