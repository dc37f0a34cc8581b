/* NCCL's log cut into messages with their writers. What a message means is in nccl_lines.c. */
#include "proof/nccl_log.h"

#include "proof/nccl_lines.h"
#include "proof/nccl_scan.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NCCL writes at most 1024 bytes a line. Of a longer one the end is kept: a message may follow what others wrote before. */
#define KEPT ((size_t)4096)

void lp_nccl_log_init(struct lp_nccl_log *log)
{
    memset(log, 0, sizeof(*log));
    log->nvls_available = log->ring_threads = log->ring_column = -1;
}

void lp_nccl_log_release(struct lp_nccl_log *log)
{
    free(log->writer);
    free(log->set);
    free(log->link);
    free(log->selection);
    free(log->ring);
    free(log->tree);
    free(log->warning);
    free(log->shm);
    free(log->line);
    lp_nccl_log_init(log);
}

void *lp_nccl_room(struct lp_nccl_log *log, void *items, size_t n, size_t size, size_t max)
{
    size_t cap = n == 0 ? 8 : n * 2;
    void *grown = items;

    if (n >= max)
        grown = NULL;
    else if (n == 0 || (n >= 8 && (n & (n - 1)) == 0))
        grown = realloc(items, cap * size);
    if (!grown)
        log->dropped++;
    return grown;
}

bool lp_nccl_version(const char *text, char *version, size_t cap, int *code)
{
    const char *at = text;
    int major, minor, patch;

    if (!lp_take_range(&at, 2, 99, &major) || !lp_take(&at, ".") || !lp_take_range(&at, 0, 99, &minor) || !lp_take(&at, ".") ||
        !lp_take_range(&at, 0, 99, &patch) || isdigit((unsigned char)*at))
        return false;
    snprintf(version, cap, "%d.%d.%d", major, minor, patch);
    *code = major * 10000 + minor * 100 + patch;
    return true;
}

void lp_nccl_log_assume(struct lp_nccl_log *log, const char *version)
{
    if (version && !log->version_code)
        lp_nccl_version(version, log->version, sizeof(log->version), &log->version_code);
}

/* The writer of that process in the file being read; -1 when there are too many. */
static int writer_index(struct lp_nccl_log *log, long pid)
{
    struct lp_nccl_writer *grown;

    for (size_t i = log->nwriters; i > 0; i--)
        if (log->writer[i - 1].file == log->files && log->writer[i - 1].pid == pid)
            return (int)i - 1;
    grown = lp_nccl_room(log, log->writer, log->nwriters, sizeof(*grown), LP_NCCL_WRITERS);
    if (!grown)
        return -1;
    log->writer = grown;
    log->writer[log->nwriters] = (struct lp_nccl_writer){.file = log->files,
                                                         .pid = pid,
                                                         .rank = -1,
                                                         .nranks = -1,
                                                         .coll_channels = -1,
                                                         .collnet_channels = -1,
                                                         .nvls_channels = -1,
                                                         .p2p_channels = -1,
                                                         .p2p_channels_per_peer = -1,
                                                         .init_s = NAN};
    return (int)log->nwriters++;
}

/* Steps back over digits that end at `end`; their start, or NULL for none. */
static const char *digits_before(const char *start, const char *end)
{
    const char *p = end;

    while (p > start && isdigit((unsigned char)p[-1]))
        p--;
    return p < end && end - p < 10 ? p : NULL;
}

/* The number of the process in "HOST:PID:TID [DEVICE] " or that and "FILE:LINE " that ends at `end`; -1 when it is damaged. */
static long pid_before(const char *start, const char *end, bool error)
{
    const char *p = end, *digits;

    if (error) /* [DEVICE] comes before FILE:LINE */
        while (p > start && p[-1] != ']')
            p--;
    while (p > start && p[-1] == ' ')
        p--;
    if (p == start || *--p != ']' || !(p = digits_before(start, p)) || p == start || *--p != '[')
        return -1;
    if (p == start || *--p != ' ' || !(p = digits_before(start, p)) || p == start || *--p != ':')
        return -1;
    digits = digits_before(start, p);
    return digits && digits > start && digits[-1] == ':' ? strtol(digits, NULL, 10) : -1;
}

/*
 * The last "NCCL INFO " or "NCCL WARN " of the line starts its message; an earlier one was cut by the writer of the last.
 * Some releases print the version without a prefix.
 */
static void read_line(struct lp_nccl_log *log, const char *line)
{
    const char *message = NULL, *mark = NULL;
    bool error = false;
    long pid;

    for (const char *p = strstr(line, "NCCL "); p; p = strstr(p + 5, "NCCL ")) {
        bool warn = strncmp(p + 5, "WARN ", 5) == 0;

        if (!warn && strncmp(p + 5, "INFO ", 5) != 0)
            continue;
        log->unfinished += message != NULL;
        error = warn;
        mark = p;
        message = p + 10;
    }
    if (!message) {
        if (strncmp(line, "NCCL version ", 13) == 0)
            lp_nccl_line(log, -1, false, line);
        return;
    }
    pid = pid_before(line, mark, error);
    lp_nccl_line(log, pid >= 0 ? writer_index(log, pid) : -1, error, message);
}

static void end_line(struct lp_nccl_log *log)
{
    size_t n = log->used;

    log->used = 0;
    log->lines++;
    while (n > 0 && log->line[n - 1] == '\r')
        n--;
    if (n == 0)
        return;
    for (char *p = memchr(log->line, '\0', n); p; p = memchr(p, '\0', n - (size_t)(p - log->line)))
        *p = '\001';
    log->line[n] = '\0';
    read_line(log, log->line);
}

/* Appends to the line being read, of which only the end is kept when it becomes too long. */
static void add_to_line(struct lp_nccl_log *log, const char *data, size_t n)
{
    while (n > 0) {
        size_t part = 2 * KEPT - log->used < n ? 2 * KEPT - log->used : n;

        memcpy(log->line + log->used, data, part);
        log->used += part;
        data += part;
        n -= part;
        if (log->used == 2 * KEPT) {
            memmove(log->line, log->line + KEPT, KEPT);
            log->used = KEPT;
        }
    }
}

void lp_nccl_log_feed(struct lp_nccl_log *log, const char *data, size_t n)
{
    if (!log->line)
        log->line = malloc(2 * KEPT + 1);
    if (!log->line) {
        log->dropped++;
        return;
    }
    while (n > 0) {
        const char *newline = memchr(data, '\n', n);
        size_t len = newline ? (size_t)(newline - data) : n;

        add_to_line(log, data, len);
        if (!newline)
            break;
        end_line(log);
        data += len + 1;
        n -= len + 1;
    }
}

void lp_nccl_log_end(struct lp_nccl_log *log)
{
    log->unfinished += log->used > 0;
    log->used = 0;
    log->ring_column = -1;
    log->files++;
}

enum lp_status lp_nccl_log_read(struct lp_nccl_log *log, const char *path, struct lp_reason *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
    char block[65536];
    ssize_t n;

    if (fd < 0)
        return lp_because(why, LP_ERR_IO, "cannot open %s: %s", path, strerror(errno));
    do {
        n = read(fd, block, sizeof(block));
        if (n > 0)
            lp_nccl_log_feed(log, block, (size_t)n);
        else if (n < 0)
            error = errno;
    } while (n > 0 || (n < 0 && error == EINTR));
    close(fd);
    lp_nccl_log_end(log);
    return n < 0 ? lp_because(why, LP_ERR_IO, "cannot read %s: %s", path, strerror(error)) : LP_OK;
}
