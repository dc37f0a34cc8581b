/* Losses of a crew in words for the user. How they were found out is crew's. */
#include "control/crew_parts.h"

#include "base/json.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLACE_MAX   256
#define GROUP_ABOVE 8   /* ranks: up to so many are told one by one */
#define LOG_TAIL    160 /* bytes of the log in a reason */

/* The end of a log as one line; "" when there is nothing. */
static void log_tail(const char *path, char *buf, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    off_t from = size > (off_t)cap - 1 ? size - ((off_t)cap - 1) : 0;
    ssize_t got = fd >= 0 ? pread(fd, buf, cap - 1, from) : 0;

    if (fd >= 0)
        close(fd);
    buf[got > 0 ? got : 0] = '\0';
    for (char *p = buf; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = p[1] ? '|' : '\0';
}

void lp_crew_say_crash(const struct lp_crew *crew, int worker, struct lp_loss *why)
{
    const struct mate *mate = &crew->mate[worker];
    char tail[LOG_TAIL + 1], end[128];

    log_tail(mate->log, tail, sizeof(tail));
    if (mate->words[0])
        snprintf(end, sizeof(end), "%.120s", mate->words);
    else if (mate->signal)
        snprintf(end, sizeof(end), "killed by signal %d (%s)", mate->signal, strsignal(mate->signal));
    else
        snprintf(end, sizeof(end), "left with exit code %d", mate->exit_code);
    *why = (struct lp_loss){.kind = LP_LOSS_CRASH, .rank = worker};
    snprintf(why->reason, sizeof(why->reason), "rank %d (pid %ld) %s in '%.100s'%s%s", worker, mate->pid, end, mate->phase,
             tail[0] ? "; log ends: " : "", tail);
}

/* One worker's place in words. A worker whose control thread is silent too is stopped, or its machine is stuck. */
static void place_words(const struct mate *mate, bool done, char *buf, size_t cap)
{
    int blocks = (int)lp_json_int(mate->where, "blocks", 0);
    const char *error = lp_json_str(mate->where, "async_error", NULL);
    char block[48] = "";

    if (done)
        snprintf(buf, cap, "is done with '%.60s'", mate->phase);
    else if (!mate->where)
        snprintf(buf, cap, "does not answer at all (stopped?), last seen in '%.60s'", mate->phase);
    if (done || !mate->where)
        return;
    if (blocks > 0)
        snprintf(block, sizeof(block), ", block %d of %d", (int)lp_json_int(mate->where, "block", 0), blocks);
    snprintf(buf, cap, "is %s in '%.60s'%s%s%.60s", lp_json_str(mate->where, "step", "busy"), mate->phase, block,
             error ? "; its communicator says " : "", error ? error : "");
}

/* Whose fault it most likely is: who does not answer; else who is not done and has come least far. */
static int likely_rank(const struct lp_crew *crew, bool (*done)(const struct mate *))
{
    int least = -1, found = -1;

    for (int i = 0; i < crew->n; i++) {
        const struct mate *mate = &crew->mate[i];
        int block = (int)lp_json_int(mate->where, "block", 0);

        if (done(mate))
            continue;
        if (!mate->where)
            return i;
        if (found < 0 || block < least) {
            found = i;
            least = block;
        }
    }
    return found;
}

/* "rank 3", or "ranks 0-2,5: each" for several that are at the same place. */
static size_t name_ranks(const bool *alike, int n, char *buf, size_t cap)
{
    int members = 0, last = -1;
    size_t used;

    for (int i = 0; i < n; i++)
        members += alike[i];
    used = (size_t)snprintf(buf, cap, members > 1 ? "ranks " : "rank ");
    for (int i = 0; i < n && used < cap; i++) {
        bool first = alike[i] && (i == 0 || !alike[i - 1]), ends = alike[i] && (i == n - 1 || !alike[i + 1]);

        if (first)
            used += (size_t)snprintf(buf + used, cap - used, "%s%d", last >= 0 ? "," : "", i);
        if (ends && !first && used < cap)
            used += (size_t)snprintf(buf + used, cap - used, "-%d", i);
        if (alike[i])
            last = i;
    }
    if (used < cap)
        used += (size_t)snprintf(buf + used, cap - used, members > 1 ? ": each " : " ");
    return used;
}

/*
 * Where every rank was when the limit passed: who waits for whom is what the user needs. In a large crew ranks
 * at one place are named together.
 */
void lp_crew_say_hang(const struct lp_crew *crew, bool (*done)(const struct mate *), double seconds, struct lp_loss *why)
{
    char place[LP_MAX_RANKS][PLACE_MAX];
    bool told[LP_MAX_RANKS] = {false};
    size_t used, cap = sizeof(why->reason);

    *why = (struct lp_loss){.kind = LP_LOSS_HANG, .rank = likely_rank(crew, done)};
    used = (size_t)snprintf(why->reason, cap, "no answer within %.3g s", seconds);
    for (int i = 0; i < crew->n; i++)
        place_words(&crew->mate[i], done(&crew->mate[i]), place[i], sizeof(place[i]));
    for (int i = 0; i < crew->n && used < cap; i++) {
        bool alike[LP_MAX_RANKS] = {false};

        if (told[i])
            continue;
        for (int k = i; k < (crew->n > GROUP_ABOVE ? crew->n : i + 1); k++)
            told[k] = (alike[k] = !told[k] && strcmp(place[i], place[k]) == 0) || told[k];
        used += (size_t)snprintf(why->reason + used, cap - used, i ? "; " : ": ");
        if (used < cap)
            used += name_ranks(alike, crew->n, why->reason + used, cap - used);
        if (used < cap)
            used += (size_t)snprintf(why->reason + used, cap - used, "%s", place[i]);
    }
}
