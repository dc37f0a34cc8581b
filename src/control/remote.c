/*
 * Agents of other ranks over a socket: the lines that a controller and a distant agent exchange. How the socket came to
 * be is link_mpi's; what the workers' own lines mean is not looked at here.
 */
#include "control/remote.h"

#include "base/json.h"
#include "base/lines.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The peer reads all the time, so a full socket is waited for. */
enum lp_status lp_remote_send_text(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return LP_ERR_LOST;
        text += sent;
        len -= (size_t)sent;
    }
    return LP_OK;
}

enum lp_status lp_remote_send(int fd, const json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    enum lp_status st;
    size_t len;

    if (!text)
        return LP_ERR_MEMORY;
    len = strlen(text);
    text[len] = '\n'; /* in place of the NUL */
    st = lp_remote_send_text(fd, text, len + 1);
    free(text);
    return st;
}

static void obey_spawn(struct lp_agent *agent, int rank, const json_t *order)
{
    const json_t *list = json_object_get(order, "argv");
    const char *argv[32];
    size_t n = json_array_size(list);
    struct lp_spawn spec = {
        .argv = argv,
        .env = json_object_get(order, "env"),
        .log = lp_json_str(order, "log", NULL),
        .cpus = lp_json_str(order, "cpus", NULL),
    };

    if (n >= sizeof(argv) / sizeof(argv[0]))
        n = sizeof(argv) / sizeof(argv[0]) - 1;
    for (size_t i = 0; i < n; i++)
        argv[i] = json_string_value(json_array_get(list, i));
    argv[n] = NULL;
    lp_agent_spawn(agent, rank, (int)lp_json_int(order, "crew", 0), &spec);
}

static void obey(struct lp_agent *agent, int rank, const char *text)
{
    json_t *order = json_loads(text, 0, NULL);
    int crew = (int)lp_json_int(order, "crew", 0);
    const char *what = lp_json_str(order, "agent", "");

    if (strcmp(what, "spawn") == 0)
        obey_spawn(agent, rank, order);
    else if (strcmp(what, "kill") == 0)
        lp_agent_kill(agent, rank, crew, (int)lp_json_int(order, "signal", SIGKILL));
    else
        lp_agent_send(agent, rank, crew, text);
    json_decref(order);
}

/* Passes an event on; false when there is nobody to pass it to any more. */
static bool report(int fd, const struct lp_event *event)
{
    json_t *line;
    enum lp_status st;

    if (event->kind == LP_EVENT_LINE)
        return lp_remote_send(fd, event->line) == LP_OK;
    if (event->kind == LP_EVENT_SIGNAL)
        line = json_pack("{s:s, s:i}", "agent", "signal", "signal", event->signal);
    else
        line = json_pack("{s:s, s:i, s:I, s:i, s:i, s:o}", "agent", "exit", "crew", event->crew, "pid", (json_int_t)event->pid,
                         "code", event->exit_code, "signal", event->signal, "words", lp_json_text(event->words));
    st = lp_remote_send(fd, line);
    json_decref(line);
    return st == LP_OK;
}

/*
 * A signal is passed on and ends nothing here: the controller ends the run, and this process with it. Were it to leave by
 * itself, mpirun would at once kill the controller, which has a result to write.
 */
void lp_remote_serve(struct lp_agent *agent, int rank, int fd)
{
    struct pollfd fds[2 + 2 * LP_MAX_RANKS];
    struct lp_lines in = {0};
    struct lp_event event;
    bool going = true;
    char *text;

    while (going) {
        int n = lp_agent_descriptors(agent, fds + 1, (int)(sizeof(fds) / sizeof(fds[0])) - 1);

        fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
        poll(fds, (nfds_t)n + 1, -1);
        if (fds[0].revents)
            going = lp_lines_read(&in, fd) == LP_OK;
        while ((text = lp_lines_next(&in)) != NULL)
            obey(agent, rank, text);
        lp_agent_collect(agent);
        while (lp_agent_take(agent, &event)) {
            going = report(fd, &event) && going;
            lp_event_release(&event);
        }
    }
    lp_lines_release(&in);
    lp_agent_free(agent);
    close(fd);
}

enum lp_status lp_remote_spawn(int fd, int crew, const struct lp_spawn *spec)
{
    json_t *argv = json_array(), *order;
    enum lp_status st;

    for (size_t i = 0; spec->argv[i]; i++)
        json_array_append_new(argv, lp_json_text(spec->argv[i]));
    order = json_pack("{s:s, s:i, s:o, s:O*, s:o, s:o}", "agent", "spawn", "crew", crew, "argv", argv, "env", spec->env, "log",
                      lp_json_text(spec->log), "cpus", lp_json_text(spec->cpus));
    st = lp_remote_send(fd, order);
    json_decref(order);
    return st;
}

/* One line of an agent as an event; false when it is not JSON. */
bool lp_remote_event(int rank, const char *text, struct lp_event *out)
{
    json_t *line = json_loads(text, 0, NULL);

    *out = (struct lp_event){.kind = LP_EVENT_LINE, .rank = rank, .crew = (int)lp_json_int(line, "crew", 0), .line = line};
    if (!line)
        return false;
    if (json_object_get(line, "agent")) {
        out->kind = strcmp(lp_json_str(line, "agent", ""), "signal") == 0 ? LP_EVENT_SIGNAL : LP_EVENT_EXIT;
        out->pid = (long)lp_json_int(line, "pid", 0);
        out->exit_code = (int)lp_json_int(line, "code", -1);
        out->signal = (int)lp_json_int(line, "signal", 0);
        lp_json_copy(line, "words", out->words, sizeof(out->words));
        lp_event_release(out);
    }
    return true;
}
