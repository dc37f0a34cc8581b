/*
 * linkperf-worker: the process that touches a GPU. linkperf starts it with a socket on descriptor 3; by hand it reads
 * requests from stdin and answers on stdout: linkperf-worker < tests/data/worker-by-hand.jsonl
 */
#include "control/child.h"
#include "worker/serve.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Value of "--NAME VALUE" among the arguments, or fallback. */
static long argument(int argc, char **argv, const char *name, long fallback)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return strtol(argv[i + 1], NULL, 10);
    return fallback;
}

static bool has_socket(void)
{
    struct stat info;

    return fstat(LP_WORKER_FD, &info) == 0 && S_ISSOCK(info.st_mode);
}

int main(int argc, char **argv)
{
    int crew = (int)argument(argc, argv, "--crew", 0), rank = (int)argument(argc, argv, "--rank", 0);
    bool by_hand = !has_socket();
    int in = by_hand ? STDIN_FILENO : LP_WORKER_FD, out = in;
    struct lp_channel *channel;
    struct lp_reason why = {""};

    signal(SIGPIPE, SIG_IGN);
    if (by_hand) {
        out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3); /* libraries print to stdout: that goes to stderr */
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    setvbuf(stderr, NULL, _IOLBF, 0);
    if (lp_channel_open(in, out, crew, rank, by_hand, &channel, &why) != LP_OK) {
        fprintf(stderr, "linkperf-worker: %s\n", why.text);
        return 3;
    }
    return lp_serve(channel, crew, rank);
}
