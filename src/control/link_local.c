/* The link whose workers are all children of this process: ./linkperf without mpirun. No MPI. */
#include "control/link.h"

#include "control/agent.h"

#include <stdlib.h>
#include <unistd.h>

struct local {
    struct lp_link link;
    struct lp_agent *agent;
};

static struct local *self_of(struct lp_link *link)
{
    return (struct local *)link;
}

static enum lp_status local_spawn(struct lp_link *link, int rank, int crew, const struct lp_spawn *spec)
{
    lp_agent_spawn(self_of(link)->agent, rank, crew, spec);
    return LP_OK;
}

static enum lp_status local_send(struct lp_link *link, int rank, int crew, const json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    enum lp_status st = text ? lp_agent_send(self_of(link)->agent, rank, crew, text) : LP_ERR_MEMORY;

    free(text);
    return st;
}

static void local_kill(struct lp_link *link, int rank, int crew, int sig)
{
    lp_agent_kill(self_of(link)->agent, rank, crew, sig);
}

static void local_next(struct lp_link *link, int64_t deadline_ns, struct lp_event *out)
{
    struct lp_agent *agent = self_of(link)->agent;
    struct pollfd fds[1 + 2 * LP_MAX_RANKS];

    while (!lp_agent_take(agent, out)) {
        int n = lp_agent_descriptors(agent, fds, (int)(sizeof(fds) / sizeof(fds[0])));
        int wait_ms = lp_clock_poll_ms(link->clock, deadline_ns);

        poll(fds, (nfds_t)n, wait_ms);
        lp_agent_collect(agent);
        if (lp_agent_take(agent, out))
            return;
        if (wait_ms == 0) {
            *out = (struct lp_event){.kind = LP_EVENT_TIMEOUT};
            return;
        }
    }
}

static void local_close(struct lp_link *link)
{
    lp_agent_free(self_of(link)->agent);
    free(link->place);
    free(link);
}

enum lp_status lp_link_local_create(int nranks, struct lp_link **out, struct lp_reason *why)
{
    struct local *self = calloc(1, sizeof(*self));
    struct lp_place *place = calloc((size_t)nranks, sizeof(*place));
    enum lp_status st = self && place ? lp_agent_create(&self->agent, why) : LP_ERR_MEMORY;

    if (st != LP_OK) {
        free(self);
        free(place);
        return st;
    }
    for (int r = 0; r < nranks; r++) {
        gethostname(place[r].host, sizeof(place[r].host) - 1);
        place[r].local_rank = r;
        place[r].pid = getpid();
    }
    self->link = (struct lp_link){
        .clock = &lp_clock_real,
        .launch = "local",
        .nranks = nranks,
        .place = place,
        .spawn = local_spawn,
        .send = local_send,
        .kill = local_kill,
        .next = local_next,
        .close = local_close,
    };
    *out = &self->link;
    return LP_OK;
}

void lp_event_release(struct lp_event *event)
{
    json_decref(event->line);
    event->line = NULL;
}
