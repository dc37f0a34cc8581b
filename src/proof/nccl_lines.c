/* What the lines of NCCL's log mean, one function per kind of line. Links, choices for calls and warnings are in files of their
 * own. */
#include "proof/nccl_lines.h"

#include "proof/nccl_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_SETS ((size_t)512)

static struct lp_nccl_writer *writer_of(struct lp_nccl_log *log, int writer)
{
    return writer < 0 ? NULL : &log->writer[writer];
}

static bool version_line(struct lp_nccl_log *log, int writer, const char *at)
{
    struct lp_nccl_writer *who = writer_of(log, writer);
    char version[32];
    int code;

    if (!lp_take(&at, "NCCL version ") || !lp_nccl_version(at, version, sizeof(version), &code))
        return false;
    if (who)
        memcpy(who->version, version, sizeof(version));
    if (!log->version_said) {
        memcpy(log->version, version, sizeof(version));
        log->version_code = code;
        log->version_said = true;
    }
    return true;
}

static void add_set(struct lp_nccl_log *log, int writer, const char *name, const char *value)
{
    struct lp_nccl_set *grown;
    size_t i = 0;

    while (i < log->nset && (strcmp(log->set[i].name, name) != 0 || strcmp(log->set[i].value, value) != 0))
        i++;
    if (i == log->nset) {
        grown = lp_nccl_room(log, log->set, log->nset, sizeof(*grown), MAX_SETS);
        if (!grown)
            return;
        log->set = grown;
        memset(&log->set[i], 0, sizeof(log->set[i]));
        snprintf(log->set[i].name, sizeof(log->set[i].name), "%s", name);
        snprintf(log->set[i].value, sizeof(log->set[i].value), "%s", value);
        log->nset++;
    }
    if (writer >= 0)
        log->set[i].writers |= UINT64_C(1) << writer;
}

/* "NCCL_X set by environment to V"; "set to" of plug-ins up to 2.22. Numbers are followed by a full stop that is not theirs. */
static bool set_line(struct lp_nccl_log *log, int writer, const char *at)
{
    char name[64], value[LP_NCCL_VALUE];
    size_t n;
    const char *number;
    int64_t ignored;

    if (strncmp(at, "NCCL_", 5) != 0 || !lp_take_word(&at, "_", name, sizeof(name)))
        return false;
    if (!lp_take(&at, " set by environment to ") && !lp_take(&at, " set to "))
        return false;
    n = strlen(at);
    if (n == 0 || n >= sizeof(value))
        return true;
    memcpy(value, at, n + 1);
    number = value;
    if (lp_take_int(&number, &ignored) && strcmp(number, ".") == 0)
        value[n - 1] = '\0';
    add_set(log, writer, name, value);
    return true;
}

/* "24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, 32 p2p channels per peer"; 2.18 has no collnet. */
static bool channels_line(struct lp_nccl_log *log, int writer, const char *at)
{
    struct lp_nccl_writer *who = writer_of(log, writer);
    int coll, collnet = -1, nvls, p2p, peer;

    if (!lp_take_range(&at, 0, 4096, &coll) || !lp_take(&at, " coll channels, ") || !lp_take_range(&at, 0, 4096, &nvls))
        return false;
    if (lp_take(&at, " collnet channels, ")) {
        collnet = nvls;
        if (!lp_take_range(&at, 0, 4096, &nvls))
            return false;
    }
    if (!lp_take(&at, " nvls channels, ") || !lp_take_range(&at, 0, 4096, &p2p) || !lp_take(&at, " p2p channels, ") ||
        !lp_take_range(&at, 0, 4096, &peer) || strcmp(at, " p2p channels per peer") != 0)
        return false;
    if (who) {
        who->coll_channels = coll;
        who->collnet_channels = collnet;
        who->nvls_channels = nvls;
        who->p2p_channels = p2p;
        who->p2p_channels_per_peer = peer;
    }
    return true;
}

/* "Init timings - ncclCommInitRank: rank 0 nranks 2 total 0.43 (kernels 0.34, alloc 0.05, ...)"; 2.22: "Init timings: rank ..." */
static bool timings_line(struct lp_nccl_log *log, int writer, const char *at)
{
    struct lp_nccl_writer who = {0};
    char function[64];
    int ignored;

    if (!lp_take(&at, "Init timings"))
        return false;
    if (lp_take(&at, " - ") && !lp_take_word(&at, "_", function, sizeof(function)))
        return false;
    if (!lp_take(&at, ": rank ") || !lp_take_range(&at, 0, 1 << 20, &ignored) || !lp_take(&at, " nranks ") ||
        !lp_take_range(&at, 1, 1 << 20, &ignored) || !lp_take(&at, " total ") || !lp_take_real(&at, &who.init_s) ||
        !lp_take(&at, " ("))
        return false;
    do {
        if (!lp_take_word(&at, "_", who.part[who.nparts].name, sizeof(who.part[0].name)) || !lp_take(&at, " ") ||
            !lp_take_real(&at, &who.part[who.nparts].seconds))
            return false;
        who.nparts++;
    } while (who.nparts < LP_NCCL_PARTS && lp_take(&at, ", "));
    if (strcmp(at, ")") != 0 || writer < 0)
        return false;
    log->writer[writer].init_s = who.init_s;
    log->writer[writer].nparts = who.nparts;
    memcpy(log->writer[writer].part, who.part, sizeof(who.part));
    return true;
}

/* "ncclCommInitRank comm 0x.. rank 1 nranks 2 cudaDev ..." ends with "Init START" or "Init COMPLETE". */
static bool init_line(struct lp_nccl_log *log, int writer, const char *at)
{
    struct lp_nccl_writer *who = writer_of(log, writer);
    char word[64];
    size_t len = strlen(at);
    int rank, nranks;

    if (strncmp(at, "ncclCommInit", 12) != 0 || !lp_take_word(&at, "_", word, sizeof(word)) || !lp_take(&at, " comm ") ||
        !lp_take_word(&at, "", word, sizeof(word)) || !lp_take(&at, " rank ") || !lp_take_range(&at, 0, 1 << 20, &rank) ||
        !lp_take(&at, " nranks ") || !lp_take_range(&at, 1, 1 << 20, &nranks) || rank >= nranks || *at != ' ' || len < 64)
        return false;
    if (who && who->rank < 0) {
        who->rank = rank;
        who->nranks = nranks;
    }
    at += strlen(at) - 13;
    if (who && strcmp(at, "Init COMPLETE") == 0)
        who->complete = true;
    return true;
}

static bool network_line(struct lp_nccl_log *log, int writer, const char *at)
{
    struct lp_nccl_writer *who = writer_of(log, writer);
    char name[32];

    if (!lp_take(&at, "Using network ") || !lp_take_word(&at, "_-./", name, sizeof(name)) || *at)
        return false;
    if (who)
        memcpy(who->network, name, sizeof(name));
    return true;
}

static bool cumem_line(struct lp_nccl_log *log, int writer, const char *at)
{
    struct lp_nccl_writer *who = writer_of(log, writer);
    bool used = lp_take(&at, "CUMEM imported shareable host buffer ");

    if (!used && !lp_take(&at, "cuMem host allocations do not appear to be working"))
        return false;
    if (who) {
        who->cumem_host_used |= used;
        who->cumem_host_failed |= !used;
    }
    return used; /* the other one is a warning, too */
}

static bool nvls_line(struct lp_nccl_log *log, int writer, const char *at)
{
    (void)writer;
    if (lp_take(&at, "NVLS multicast support is available on dev "))
        log->nvls_available = 1;
    else if (lp_take(&at, "NVLS multicast support is not available on dev "))
        log->nvls_available = 0;
    else if (lp_take(&at, "NVLS comm 0x") || strcmp(at, "Connected NVLS tree") == 0)
        log->nvls_connected = true;
    else
        return false;
    return true;
}

static bool registered_line(struct lp_nccl_log *log, int writer, const char *at)
{
    static const char *const words[] = {" successfully registered ", " successfully local-registered ", " reuse registered ",
                                        " reuse local-registered ",  " successfully graph-registered ", " - IPC register buffer ",
                                        " - IPC local register ",    " - IPC graph register "};
    int rank;

    (void)writer;
    if (!lp_take(&at, "rank ") || !lp_take_range(&at, 0, 1 << 20, &rank))
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (lp_take(&at, words[i])) {
            log->registered++;
            return true;
        }
    return false;
}

/* The tuning model's table: "Algorithm | Tree | Ring | ...", then "Max NThreads | ..." with three protocols for each. */
static bool table_line(struct lp_nccl_log *log, int writer, const char *at)
{
    int column = 0, threads;

    (void)writer;
    lp_take_blanks(&at);
    if (lp_take(&at, "Algorithm ")) {
        const char *ring = strstr(at, " Ring ");

        for (log->ring_column = -1; ring && at < ring; at++)
            log->ring_column += *at == '|';
        return true;
    }
    if (!lp_take(&at, "Max NThreads "))
        return false;
    for (lp_take_blanks(&at); lp_take(&at, "|"); column++) {
        lp_take_blanks(&at);
        if (!lp_take_range(&at, 0, 4096, &threads))
            break;
        lp_take_blanks(&at);
        if (log->ring_column >= 0 && column == log->ring_column * 3 + 2 && *at == '|')
            log->ring_threads = threads;
    }
    log->ring_column = -1;
    return true;
}

void lp_nccl_line(struct lp_nccl_log *log, int writer, bool error, const char *text)
{
    static bool (*const kinds[])(struct lp_nccl_log *, int, const char *) = {
        lp_nccl_link_line, set_line,     lp_nccl_ring_line, lp_nccl_tree_line, channels_line,   timings_line, init_line,
        version_line,      network_line, cumem_line,        nvls_line,         registered_line, table_line,
    };
    bool clean = true;

    for (const char *p = text; *p && clean; p++)
        clean = *p == '\t' || !iscntrl((unsigned char)*p);
    if (clean && !error && lp_nccl_selection_line(log, text))
        return;
    for (size_t i = 0; clean && !error && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i](log, writer, text))
            return;
    lp_nccl_warning_line(log, writer, error, text);
}
