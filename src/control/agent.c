/* Children of one process as a stream of events. The wire to a distant controller is link_mpi's. */
#include "control/agent.h"

#include "control/child.h"
#include "control/segments.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct member {
    int rank, crew;
    struct lp_child child;
    bool ended;                  /* reaped; its last lines may still be in the socket */
    int status;                  /* as waitpid gave it */
    struct lp_segments segments; /* that were mapped when it was killed */
};

struct queued {
    struct lp_event event;
    struct queued *next;
};

struct lp_agent {
    int signals; /* signalfd */
    struct member *member;
    int n, cap;
    struct queued *first, **last;
};

static const int ending[] = {SIGTERM, SIGINT, SIGHUP};

enum lp_status lp_agent_create(struct lp_agent **out, struct lp_reason *why)
{
    struct lp_agent *agent = calloc(1, sizeof(*agent));
    sigset_t mask;

    if (!agent)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    agent->last = &agent->first;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        sigaddset(&mask, ending[i]);
    signal(SIGCHLD, SIG_DFL); /* one that ignores it bequeaths that, and then the kernel reaps our workers before us */
    sigprocmask(SIG_BLOCK, &mask, NULL);
    signal(SIGPIPE, SIG_IGN);
    agent->signals = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
    if (agent->signals < 0) {
        free(agent);
        return lp_because(why, LP_ERR_IO, "signalfd: %s", strerror(errno));
    }
    *out = agent;
    return LP_OK;
}

static void push(struct lp_agent *agent, const struct lp_event *event)
{
    struct queued *entry = malloc(sizeof(*entry));

    if (!entry)
        abort(); /* an event that is lost would be a hang that nobody can explain */
    entry->event = *event;
    entry->next = NULL;
    *agent->last = entry;
    agent->last = &entry->next;
}

void lp_agent_free(struct lp_agent *agent)
{
    struct lp_event event;

    if (!agent)
        return;
    for (int i = 0; i < agent->n; i++) {
        if (!agent->member[i].ended) {
            lp_segments_note(&agent->member[i].segments, agent->member[i].child.pid);
            kill(-agent->member[i].child.pid, SIGKILL);
            kill(agent->member[i].child.pid, SIGKILL);
            waitpid(agent->member[i].child.pid, NULL, 0);
        }
        lp_segments_remove(&agent->member[i].segments);
        lp_child_release(&agent->member[i].child);
    }
    while (lp_agent_take(agent, &event))
        lp_event_release(&event);
    close(agent->signals);
    free(agent->member);
    free(agent);
}

static struct member *find(struct lp_agent *agent, int rank, int crew)
{
    for (int i = 0; i < agent->n; i++)
        if (agent->member[i].rank == rank && agent->member[i].crew == crew)
            return &agent->member[i];
    return NULL;
}

void lp_agent_spawn(struct lp_agent *agent, int rank, int crew, const struct lp_spawn *spec)
{
    struct lp_event failed = {.kind = LP_EVENT_EXIT, .rank = rank, .crew = crew, .exit_code = -1};
    struct lp_reason why = {""};
    struct member *grown;

    if (agent->n == agent->cap) {
        grown = realloc(agent->member, (size_t)(agent->cap + 8) * sizeof(*grown));
        if (!grown) {
            snprintf(failed.words, sizeof(failed.words), "could not be started: out of memory");
            push(agent, &failed);
            return;
        }
        agent->member = grown;
        agent->cap += 8;
    }
    agent->member[agent->n] = (struct member){.rank = rank, .crew = crew};
    if (lp_child_start(spec, &agent->member[agent->n].child, &why) == LP_OK) {
        agent->n++;
        return;
    }
    snprintf(failed.words, sizeof(failed.words), "could not be started: %.200s", why.text);
    push(agent, &failed);
}

enum lp_status lp_agent_send(struct lp_agent *agent, int rank, int crew, const char *line)
{
    struct member *member = find(agent, rank, crew);

    return member ? lp_child_send(&member->child, line) : LP_ERR_LOST;
}

void lp_agent_kill(struct lp_agent *agent, int rank, int crew, int sig)
{
    struct member *member = find(agent, rank, crew);

    if (!member || member->ended)
        return;
    if (sig == SIGKILL)
        lp_segments_note(&member->segments, member->child.pid);
    if (kill(-member->child.pid, sig) < 0) /* its group, unless it has not got that far */
        kill(member->child.pid, sig);
}

int lp_agent_descriptors(const struct lp_agent *agent, struct pollfd *fds, int cap)
{
    int n = 0;

    if (cap > 0)
        fds[n++] = (struct pollfd){.fd = agent->signals, .events = POLLIN};
    for (int i = 0; i < agent->n && n < cap; i++) {
        const struct lp_child *child = &agent->member[i].child;

        if (child->fd >= 0)
            fds[n++] =
                (struct pollfd){.fd = child->fd, .events = (short)(POLLIN | (child->out_used > child->out_start ? POLLOUT : 0))};
    }
    return n;
}

/* Whole lines that the worker has sent become events; one that is not JSON is the worker's fault and is dropped with its text. */
static void take_lines(struct lp_agent *agent, struct member *member)
{
    char *text;

    while ((text = lp_lines_next(&member->child.in)) != NULL) {
        struct lp_event event = {.kind = LP_EVENT_LINE, .rank = member->rank, .crew = member->crew};

        event.line = json_loads(text, 0, NULL);
        if (!event.line)
            event.line = json_pack("{s:i, s:s}", "crew", member->crew, "say", "garbage");
        push(agent, &event);
    }
}

static void read_member(struct lp_agent *agent, struct member *member)
{
    enum lp_status st;
    size_t before;

    while (member->child.fd >= 0) {
        before = member->child.in.used - member->child.in.start;
        st = lp_lines_read(&member->child.in, member->child.fd);
        if (st != LP_OK) {
            close(member->child.fd);
            member->child.fd = -1;
        }
        if (st != LP_OK || member->child.in.used - member->child.in.start == before)
            break;
        take_lines(agent, member);
    }
    take_lines(agent, member);
}

static void reap(struct lp_agent *agent)
{
    for (int i = 0; i < agent->n; i++)
        if (!agent->member[i].ended && waitpid(agent->member[i].child.pid, &agent->member[i].status, WNOHANG) > 0)
            agent->member[i].ended = true;
}

static void read_signals(struct lp_agent *agent)
{
    struct signalfd_siginfo info;

    while (read(agent->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        if (info.ssi_signo != SIGCHLD) {
            struct lp_event event = {.kind = LP_EVENT_SIGNAL, .signal = (int)info.ssi_signo};

            push(agent, &event);
        }
}

/* The exit comes after the last line, and the member is forgotten. */
static void report_ended(struct lp_agent *agent)
{
    for (int i = agent->n - 1; i >= 0; i--) {
        struct member *member = &agent->member[i];
        struct lp_event event = {.kind = LP_EVENT_EXIT, .rank = member->rank, .crew = member->crew, .pid = member->child.pid};

        if (!member->ended)
            continue;
        event.signal = WIFSIGNALED(member->status) ? WTERMSIG(member->status) : 0;
        event.exit_code = WIFEXITED(member->status) ? WEXITSTATUS(member->status) : -1;
        kill(-member->child.pid, SIGKILL); /* helpers it may have left in its group */
        lp_segments_remove(&member->segments);
        lp_child_release(&member->child);
        agent->member[i] = agent->member[--agent->n];
        push(agent, &event);
    }
}

void lp_agent_collect(struct lp_agent *agent)
{
    read_signals(agent);
    reap(agent); /* before reading: what an ended worker has sent is all in its socket now */
    for (int i = 0; i < agent->n; i++) {
        if (agent->member[i].child.fd >= 0)
            lp_child_flush(&agent->member[i].child);
        read_member(agent, &agent->member[i]);
    }
    report_ended(agent);
}

bool lp_agent_take(struct lp_agent *agent, struct lp_event *out)
{
    struct queued *entry = agent->first;

    if (!entry)
        return false;
    *out = entry->event;
    agent->first = entry->next;
    if (!agent->first)
        agent->last = &agent->first;
    free(entry);
    return true;
}
