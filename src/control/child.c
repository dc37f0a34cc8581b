/* Starting a worker so that it cannot outlive us, inherit what is not its own, or fill our terminal. */
#include "control/child.h"

#include "machine/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Variables by which a launcher knows its own processes; a worker that calls into MPI by way of a plug-in must not see them. */
static bool launcher_variable(const char *entry)
{
    static const char *const prefixes[] = {"OMPI_", "PMIX_", "PMI_", "PRTE_"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool changed_by(const json_t *env, const char *entry)
{
    const char *equals = strchr(entry, '=');
    char name[256];
    size_t len = equals ? (size_t)(equals - entry) : strlen(entry);

    if (len >= sizeof(name))
        return false;
    memcpy(name, entry, len);
    name[len] = '\0';
    return json_object_get(env, name) != NULL;
}

static void free_strings(char **list)
{
    for (size_t i = 0; list && list[i]; i++)
        free(list[i]);
    free(list);
}

/* The child's environment, ready before fork: nothing may be allocated after it. */
static char **make_environment(const json_t *changes)
{
    size_t n = 0, used = 0;
    json_t *env = (json_t *)changes;
    const char *name;
    json_t *value;
    char **list;

    while (environ[n])
        n++;
    list = calloc(n + json_object_size(env) + 1, sizeof(*list));
    for (size_t i = 0; list && i < n; i++)
        if (!launcher_variable(environ[i]) && !changed_by(env, environ[i]) && !(list[used++] = strdup(environ[i])))
            goto no_memory;
    if (!list)
        return NULL;
    json_object_foreach(env, name,
                        value) if (json_is_string(value) && asprintf(&list[used++], "%s=%s", name, json_string_value(value)) < 0)
    {
        list[used - 1] = NULL;
        goto no_memory;
    }
    return list;

no_memory:
    free_strings(list);
    return NULL;
}

/* Only async-signal-safe calls; kernels before 5.9 have no close_range. */
static void close_above(int last)
{
    if (close_range((unsigned)last + 1, ~0U, 0) == 0)
        return;
    for (int fd = last + 1; fd < 65536; fd++)
        close(fd);
}

struct before_exec {
    pid_t parent;
    int socket, log, failed; /* failed: pipe that gets errno when exec fails */
    const cpu_set_t *cpus;   /* NULL: leave */
    const char *const *argv;
    char **env;
};

/* Between fork and exec. The order matters: the death signal before the check that the parent still lives. */
static void __attribute__((noreturn)) become_worker(const struct before_exec *plan)
{
    sigset_t none;
    int null, error;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan->parent)
        _exit(127);
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    null = open("/dev/null", O_RDONLY);
    if (plan->cpus)
        sched_setaffinity(0, sizeof(*plan->cpus), plan->cpus);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(plan->log, STDOUT_FILENO) < 0 || dup2(plan->log, STDERR_FILENO) < 0 ||
        dup2(plan->socket, LP_WORKER_FD) < 0 || dup2(plan->failed, LP_WORKER_FD + 1) < 0)
        _exit(127);
    fcntl(LP_WORKER_FD + 1, F_SETFD, FD_CLOEXEC);
    close_above(LP_WORKER_FD + 1);
    execve(plan->argv[0], (char *const *)plan->argv, plan->env);
    error = errno;
    if (write(LP_WORKER_FD + 1, &error, sizeof(error)) < 0)
        _exit(126);
    _exit(127);
}

/* Moves a descriptor out of the way of those that the child gives fixed numbers. */
static int above_fixed(int fd)
{
    int moved = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, LP_WORKER_FD + 2) : -1;

    if (fd >= 0)
        close(fd);
    return moved;
}

enum lp_status lp_child_start(const struct lp_spawn *spec, struct lp_child *out, struct lp_reason *why)
{
    int sockets[2] = {-1, -1}, failed[2] = {-1, -1}, log = -1, error = 0;
    struct before_exec plan = {.parent = getpid(), .argv = spec->argv};
    enum lp_status st = LP_ERR_IO;
    cpu_set_t cpus;
    pid_t pid = -1;

    memset(out, 0, sizeof(*out));
    out->fd = -1;
    if (spec->cpus && lp_cpus_parse(spec->cpus, &cpus) == LP_OK)
        plan.cpus = &cpus;
    plan.env = make_environment(spec->env);
    if (!plan.env)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    log = above_fixed(open(spec->log ? spec->log : "/dev/null", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (log < 0) {
        lp_because(why, LP_ERR_IO, "%s: %s", spec->log, strerror(errno));
        goto done;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0 || pipe2(failed, O_CLOEXEC) < 0) {
        lp_because(why, LP_ERR_IO, "no socket for a worker: %s", strerror(errno));
        goto done;
    }
    plan.log = log;
    plan.socket = sockets[1] = above_fixed(sockets[1]);
    plan.failed = failed[1] = above_fixed(failed[1]);
    pid = fork();
    if (pid == 0)
        become_worker(&plan);
    if (pid < 0) {
        lp_because(why, LP_ERR_IO, "fork: %s", strerror(errno));
        goto done;
    }
    close(failed[1]);
    failed[1] = -1;
    if (read(failed[0], &error, sizeof(error)) == (ssize_t)sizeof(error)) {
        waitpid(pid, NULL, 0);
        lp_because(why, LP_ERR_IO, "%s: %s", spec->argv[0], strerror(error));
        goto done;
    }
    out->pid = pid;
    out->fd = sockets[0];
    sockets[0] = -1;
    fcntl(out->fd, F_SETFL, O_NONBLOCK);
    st = LP_OK;

done:
    free_strings(plan.env);
    for (int i = 0; i < 2; i++) {
        if (sockets[i] >= 0)
            close(sockets[i]);
        if (failed[i] >= 0)
            close(failed[i]);
    }
    if (log >= 0)
        close(log);
    return st;
}

enum lp_status lp_child_flush(struct lp_child *child)
{
    while (child->out_start < child->out_used) {
        ssize_t sent = send(child->fd, child->out + child->out_start, child->out_used - child->out_start, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? LP_OK : LP_ERR_LOST;
        child->out_start += (size_t)sent;
    }
    child->out_start = child->out_used = 0;
    return LP_OK;
}

enum lp_status lp_child_send(struct lp_child *child, const char *line)
{
    size_t len = strlen(line), need = child->out_used + len + 1;

    if (child->fd < 0)
        return LP_ERR_LOST;
    if (need > child->out_cap) {
        char *grown = realloc(child->out, need * 2);

        if (!grown)
            return LP_ERR_MEMORY;
        child->out = grown;
        child->out_cap = need * 2;
    }
    memcpy(child->out + child->out_used, line, len);
    child->out[need - 1] = '\n';
    child->out_used = need;
    return lp_child_flush(child);
}

void lp_child_release(struct lp_child *child)
{
    if (child->fd >= 0)
        close(child->fd);
    lp_lines_release(&child->in);
    free(child->out);
    memset(child, 0, sizeof(*child));
    child->fd = -1;
}
