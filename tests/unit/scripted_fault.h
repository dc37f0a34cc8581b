/* What can go wrong with the workers of a scripted run, as data: which kind, where in a crew's life, in which crews and cells. */
#ifndef LP_TESTS_SCRIPTED_FAULT_H
#define LP_TESTS_SCRIPTED_FAULT_H

#include "model/cell.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* As the crew of a fault: all that use P2P; the one worker of all GPUs once it does, and until then. */
#define P2P_CREWS        "(p2p)"
#define LINK_WITH_P2P    "(link with p2p)"
#define LINK_WITHOUT_P2P "(link without p2p)"

/*
 * Where in a crew's life something happens: from spawn to hello, then the requests in the order of a cell. AT_PEERS comes in the
 * one worker that opens all GPUs, before its first cell that needs peer access.
 */
enum phase {
    AT_START,
    AT_SURVEY,
    AT_OFFER,
    AT_ARENA,
    AT_OPEN,
    AT_PEERS,
    AT_CELL,
    AT_WARM_UP,
    AT_CHECK,
    AT_PREPARE,
    AT_TIME,
    AT_LAST,
    AT_AFTER,
    AT_BYE,
    NPHASES
};

enum kind {
    STALLS,       /* its control thread still says where it is */
    STOPS,        /* not even that */
    LATE,         /* answers half a second after its limit */
    WEDGED,       /* stops, and SIGKILL does not end it */
    SLOW,         /* answers within its limit, and long after it usually does */
    SEGV,         /* ... */
    FPE,          /* dies of SIGFPE, inside the library */
    LEAVES,       /* exits with 0 */
    NOT_STARTED,  /* the program could not be executed */
    FAILS,        /* the rest answer, with a status other than ok */
    ENVIRONMENT,  /* ... */
    UNSUPPORTED,  /* ... */
    MEMORY,       /* ... */
    GARBLED,      /* a sample or verdict too few; where lanes are asked for, one of them, or a block of one */
    WRONG_FIRST,  /* data, in the first element of every iteration */
    WRONG_MIDDLE, /* ... */
    WRONG_LAST,   /* ... */
    STALE,        /* all elements */
    WRONG_ONCE,   /* in the last iteration only */
    OTHER_ENV,    /* its environment is not that of the other ranks */
    OTHER_NCCL,   /* its library is not */
    AGENT_LOST,   /* the rank's agent goes, and its workers with it */
    SIGNALLED,    /* the controller gets SIGTERM */
    NKINDS
};

static const char *const phase_names[] = {"start",   "survey", "offer",   "arena", "open", "peers", "cell",
                                          "warm up", "check",  "prepare", "time",  "last", "after", "bye"};
static const char *const kind_names[] = {"stalls",     "stops",     "late",        "wedged",       "slow",        "segv",
                                         "fpe",        "leaves",    "not started", "fails",        "environment", "unsupported",
                                         "memory",     "garbled",   "wrong first", "wrong middle", "wrong last",  "stale",
                                         "wrong once", "other env", "other nccl",  "agent lost",   "signalled"};

struct fault {
    enum kind kind;
    enum phase phase;
    int rank;         /* -1: all */
    const char *crew; /* as its logs name it: "tree", "default-again", "link-ipc"; one of the above; NULL: every one */
    size_t bytes;     /* only in the cell of that size; 0: in every one */
    int times;        /* only in so many crews of that name; 0: in all */
};

/* A worker, and after its end what is known of it. */
struct actor {
    char name[96], cpus[128]; /* of its crew; "" for none given */
    bool spawned, alive, stuck, mute, immortal, killed, p2p;
    int ordinal; /* of its crew among those of that name */
    enum phase phase;
    int64_t spawned_ns, ended_ns, last_id;
    /* from what it was asked */
    int workers;      /* of its crew */
    bool page, peers; /* rank 0 was asked for a page; it has enabled peer access */
    size_t arena_bytes;
    struct lp_cell cell; /* in hand; requested_bytes 0: none yet */
    int checks;          /* whole ones of that cell */
    json_t *env;
};

static inline bool is_of(const struct actor *actor, const char *crew)
{
    if (!crew || strcmp(crew, P2P_CREWS) == 0)
        return !crew || actor->p2p;
    if (strcmp(crew, LINK_WITH_P2P) == 0 || strcmp(crew, LINK_WITHOUT_P2P) == 0)
        return strcmp(actor->name, "link") == 0 && actor->p2p == (strcmp(crew, LINK_WITH_P2P) == 0);
    return strcmp(crew, actor->name) == 0;
}

/* Of this crew and phase, in the cell that the worker has in hand; whose rank it is is the caller's question. */
static inline bool in_place(const struct fault *fault, const struct actor *actor, enum phase phase)
{
    bool cell = phase >= AT_CELL && phase < AT_BYE;

    if (fault->phase != phase || (fault->times && actor->ordinal >= fault->times))
        return false;
    if (cell && fault->bytes && fault->bytes != actor->cell.requested_bytes)
        return false;
    return is_of(actor, fault->crew);
}

#endif
