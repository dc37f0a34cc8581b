/*
 * The link over MPI: wires up the ranks, then leaves MPI, and reaches the other ranks' agents over AF_UNIX sockets. The
 * only file that includes mpi.h. What goes over the sockets is remote.c's.
 */
#include "control/link.h"

#include "base/lines.h"

#include "control/agent.h"
#include "control/launcher.h"
#include "control/remote.h"

#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define TOKEN_BYTES 16

struct remote {
    int fd; /* -1: gone */
    struct lp_lines in;
};

struct mpi_link {
    struct lp_link link;
    struct lp_agent *agent;             /* rank 0's own */
    struct remote remote[LP_MAX_RANKS]; /* [0] is unused */
};

static char mpi_version[128];

const char *lp_link_mpi_version(void)
{
    return mpi_version;
}

static struct mpi_link *self_of(struct lp_link *link)
{
    return (struct mpi_link *)link;
}

static enum lp_status mpi_spawn(struct lp_link *link, int rank, int crew, const struct lp_spawn *spec)
{
    struct mpi_link *self = self_of(link);

    if (rank > 0)
        return self->remote[rank].fd < 0 ? LP_ERR_LOST : lp_remote_spawn(self->remote[rank].fd, crew, spec);
    lp_agent_spawn(self->agent, rank, crew, spec);
    return LP_OK;
}

static enum lp_status mpi_send(struct lp_link *link, int rank, int crew, const json_t *line)
{
    struct mpi_link *self = self_of(link);
    enum lp_status st;
    char *text;

    if (rank > 0)
        return self->remote[rank].fd < 0 ? LP_ERR_LOST : lp_remote_send(self->remote[rank].fd, line);
    text = json_dumps(line, JSON_COMPACT);
    st = text ? lp_agent_send(self->agent, rank, crew, text) : LP_ERR_MEMORY;
    free(text);
    return st;
}

static void mpi_kill(struct lp_link *link, int rank, int crew, int sig)
{
    struct mpi_link *self = self_of(link);
    json_t *order;

    if (rank == 0) {
        lp_agent_kill(self->agent, rank, crew, sig);
    } else if (self->remote[rank].fd >= 0) {
        order = json_pack("{s:s, s:i, s:i}", "agent", "kill", "crew", crew, "signal", sig);
        lp_remote_send(self->remote[rank].fd, order);
        json_decref(order);
    }
}

/* An event that has arrived already, of any rank. */
static bool take(struct mpi_link *self, struct lp_event *out)
{
    char *text;

    if (lp_agent_take(self->agent, out))
        return true;
    for (int r = 1; r < self->link.nranks; r++)
        while ((text = lp_lines_next(&self->remote[r].in)) != NULL)
            if (lp_remote_event(r, text, out))
                return true;
    return false;
}

/* Reads the sockets that poll named; the first agent found gone becomes an event. */
static bool read_remotes(struct mpi_link *self, const struct pollfd *fds, int n, struct lp_event *out)
{
    for (int i = 0; i < n; i++)
        for (int r = 1; r < self->link.nranks; r++)
            if (fds[i].revents && self->remote[r].fd == fds[i].fd && lp_lines_read(&self->remote[r].in, fds[i].fd) != LP_OK) {
                close(self->remote[r].fd);
                self->remote[r].fd = -1;
                *out = (struct lp_event){.kind = LP_EVENT_LOST, .rank = r};
                snprintf(out->words, sizeof(out->words), "rank %d's process on %.200s is gone", r, self->link.place[r].host);
                return true;
            }
    return false;
}

static void mpi_next(struct lp_link *link, int64_t deadline_ns, struct lp_event *out)
{
    struct mpi_link *self = self_of(link);
    struct pollfd fds[1 + 3 * LP_MAX_RANKS];

    while (!take(self, out)) {
        int wait_ms = lp_clock_poll_ms(link->clock, deadline_ns), n = 0, own;

        for (int r = 1; r < link->nranks; r++)
            if (self->remote[r].fd >= 0)
                fds[n++] = (struct pollfd){.fd = self->remote[r].fd, .events = POLLIN};
        own = lp_agent_descriptors(self->agent, fds + n, (int)(sizeof(fds) / sizeof(fds[0])) - n);
        poll(fds, (nfds_t)(n + own), wait_ms);
        lp_agent_collect(self->agent);
        if (read_remotes(self, fds, n, out) || take(self, out))
            return;
        if (wait_ms == 0) {
            *out = (struct lp_event){.kind = LP_EVENT_TIMEOUT};
            return;
        }
    }
}

static void mpi_close(struct lp_link *link)
{
    struct mpi_link *self = self_of(link);

    for (int r = 1; r < link->nranks; r++) {
        if (self->remote[r].fd >= 0)
            close(self->remote[r].fd); /* the agent kills its workers and leaves */
        lp_lines_release(&self->remote[r].in);
    }
    lp_agent_free(self->agent);
    free(link->place);
    free(self);
}

/* An abstract address: it leaves no file behind. Both ends make it from the token's first half; the second half is the secret. */
static socklen_t address_of(const char *token, struct sockaddr_un *out)
{
    int len;

    memset(out, 0, sizeof(*out));
    out->sun_family = AF_UNIX;
    len = snprintf(out->sun_path + 1, sizeof(out->sun_path) - 1, "linkperf-%.*s", TOKEN_BYTES, token);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
}

static enum lp_status make_token(char token[2 * TOKEN_BYTES + 1])
{
    unsigned char bytes[TOKEN_BYTES];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return LP_ERR_IO;
    for (int i = 0; i < TOKEN_BYTES; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return LP_OK;
}

static int listen_at(const char *token, int backlog)
{
    struct sockaddr_un address;
    socklen_t len = address_of(token, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, backlog) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int connect_to(const char *token, int rank)
{
    struct sockaddr_un address;
    socklen_t len = address_of(token, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char hello[2 * TOKEN_BYTES + 32];

    snprintf(hello, sizeof(hello), "%s %d\n", token, rank);
    if (fd >= 0 && (connect(fd, (struct sockaddr *)&address, len) < 0 || lp_remote_send_text(fd, hello, strlen(hello)) != LP_OK)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Takes one connection; one that does not know the token is closed. */
static void accept_one(struct mpi_link *self, int listener, const char *token)
{
    struct lp_lines in = {0};
    char *text = NULL;
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC), rank = -1;

    while (fd >= 0 && (text = lp_lines_next(&in)) == NULL)
        if (lp_lines_read(&in, fd) != LP_OK)
            break;
    if (text && strncmp(text, token, 2 * TOKEN_BYTES) == 0)
        rank = atoi(text + 2 * TOKEN_BYTES);
    if (rank > 0 && rank < self->link.nranks && self->remote[rank].fd < 0)
        self->remote[rank].fd = fd;
    else if (fd >= 0)
        close(fd);
    lp_lines_release(&in);
}

/* The ranks have all connected before they left MPI, so this does not wait for long. */
static enum lp_status accept_all(struct mpi_link *self, int listener, const char *token, struct lp_reason *why)
{
    int64_t deadline = lp_clock_now(&lp_clock_real) + 30 * LP_SECOND;
    int missing;

    for (;;) {
        struct pollfd wait = {.fd = listener, .events = POLLIN};

        missing = 0;
        for (int r = self->link.nranks - 1; r >= 1; r--)
            if (self->remote[r].fd < 0)
                missing = r;
        if (!missing)
            return LP_OK;
        if (poll(&wait, 1, lp_clock_poll_ms(&lp_clock_real, deadline)) <= 0)
            return lp_because(why, LP_ERR_ENV, "rank %d did not reach rank 0's socket within 30 s", missing);
        accept_one(self, listener, token);
    }
}

static enum lp_status start_controller(struct lp_agent *agent, const struct lp_place *all, int nranks, int listener,
                                       const char *token, struct lp_link **out, struct lp_reason *why)
{
    struct mpi_link *self = calloc(1, sizeof(*self));
    struct lp_place *place = calloc((size_t)nranks, sizeof(*place));
    enum lp_status st;

    if (!self || !place)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    memcpy(place, all, (size_t)nranks * sizeof(*place));
    for (int r = 0; r < nranks; r++)
        self->remote[r].fd = -1;
    self->agent = agent;
    self->link = (struct lp_link){
        .clock = &lp_clock_real,
        .launch = "mpirun",
        .nranks = nranks,
        .place = place,
        .spawn = mpi_spawn,
        .send = mpi_send,
        .kill = mpi_kill,
        .next = mpi_next,
        .close = mpi_close,
    };
    st = accept_all(self, listener, token, why);
    if (st == LP_OK)
        *out = &self->link;
    else
        mpi_close(&self->link);
    return st;
}

static const char *built_with(void)
{
#ifdef OPEN_MPI
    return "Open MPI";
#else
    return "another MPI";
#endif
}

static void read_version(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int len = 0;

    MPI_Get_library_version(text, &len);
    text[strcspn(text, ",\n")] = '\0';
    snprintf(mpi_version, sizeof(mpi_version), "%.120s", text);
}

/* Linked with Open MPI and started by another MPI's mpiexec, each process would believe to be alone: that is known before MPI_Init.
 */
static bool foreign_launcher(void)
{
#ifdef OPEN_MPI
    return getenv("PMI_RANK") && !getenv("OMPI_COMM_WORLD_SIZE") && !getenv("PMIX_RANK");
#else
    return false;
#endif
}

/*
 * MPI carries a few hundred bytes here. Its single-copy way between processes needs a permission that containers lack, and
 * then complains for every message; the names are those of Open MPI 4 and 5.
 */
static void keep_mpi_quiet(void)
{
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    setenv("OMPI_MCA_smsc", "^cma,knem,xpmem", 0);
}

/* Everything that needs MPI, from init to finalize. fd: rank 0's listener, or the others' connection; -1 on failure. */
static int exchange(int *rank, int *nranks, int *nlocal, struct lp_place *all, char token[2 * TOKEN_BYTES + 1])
{
    struct lp_place mine = {.pid = getpid()};
    MPI_Comm host;
    int fd = -1;

    keep_mpi_quiet();
    MPI_Init(NULL, NULL);
    read_version();
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, nranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, *rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &mine.local_rank);
    MPI_Comm_size(host, nlocal);
    MPI_Comm_free(&host);
    gethostname(mine.host, sizeof(mine.host) - 1);
    MPI_Allreduce(MPI_IN_PLACE, nlocal, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (*nlocal == *nranks && *nranks <= LP_MAX_RANKS) {
        MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, 0, MPI_COMM_WORLD);
        if (*rank == 0 && make_token(token) == LP_OK)
            fd = listen_at(token, *nranks);
        MPI_Bcast(token, 2 * TOKEN_BYTES + 1, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (*rank > 0)
            fd = connect_to(token, *rank);
        MPI_Barrier(MPI_COMM_WORLD); /* nobody leaves before all are connected */
    }
    MPI_Finalize();
    return fd;
}

enum lp_status lp_link_mpi_create(bool keep_binding, struct lp_link **out, struct lp_reason *why)
{
    static struct lp_place all[LP_MAX_RANKS]; /* 17 KB: too much for a stack that MPI shares */
    char token[2 * TOKEN_BYTES + 1] = "";
    int rank = 0, nranks = 1, nlocal = 1, fd;
    pid_t launcher = getppid();
    struct lp_agent *agent;
    enum lp_status st = lp_agent_create(&agent, why);

    *out = NULL;
    if (st != LP_OK)
        return st;
    if (foreign_launcher()) {
        lp_agent_free(agent);
        return lp_because(why, LP_ERR_ENV,
                          "started by another MPI's launcher than the one linkperf was built with (%s): use its "
                          "mpirun, or rebuild with MPICC=...",
                          built_with());
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* kill -9 of mpirun sends nothing */
    if (getppid() != launcher)
        raise(SIGTERM);
    if (!keep_binding)
        lp_launcher_undo_binding();
    fd = exchange(&rank, &nranks, &nlocal, all, token);
    if (nranks == 1 && lp_launched_size() > 1) {
        lp_agent_free(agent);
        return lp_because(why, LP_ERR_ENV,
                          "the launcher started %d processes and MPI sees one: mpirun and the MPI library (%s) do not "
                          "belong together",
                          lp_launched_size(), mpi_version);
    }
    if (nranks > LP_MAX_RANKS || nlocal < nranks || fd < 0) {
        lp_agent_free(agent);
        if (rank > 0)
            return LP_ERR_ENV;
        if (nlocal < nranks)
            return lp_because(why, LP_ERR_ENV,
                              "the %d ranks are on several hosts: linkperf measures one host for now; start it with "
                              "all ranks on one",
                              nranks);
        if (nranks > LP_MAX_RANKS)
            return lp_because(why, LP_ERR_ENV, "%d ranks: at most %d", nranks, LP_MAX_RANKS);
        return lp_because(why, LP_ERR_ENV, "no AF_UNIX socket between the ranks: %s", strerror(errno));
    }
    if (rank == 0) {
        st = start_controller(agent, all, nranks, fd, token, out, why);
        close(fd);
        return st;
    }
    lp_remote_serve(agent, rank, fd);
    return LP_OK;
}
