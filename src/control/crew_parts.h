/* The inside of crews, for the crew*.c files. */
#ifndef LP_CONTROL_CREW_PARTS_H
#define LP_CONTROL_CREW_PARTS_H

#include "control/crew.h"

/* A worker of a crew, as far as its events tell. */
struct mate {
    int rank; /* of the link */
    bool hello, ended;
    long pid;
    int exit_code, signal;
    char words[256], phase[256];
    char log[1024], nccl_log[1024];
    json_t *reply; /* to the request in hand */
    json_t *where; /* to "where", once the request in hand was late */
};

struct lp_crew {
    struct lp_crews *all;
    struct lp_crew *next;
    int id, n;
    int last_id, last_request, asked_where; /* ids of requests */
    bool usable, leaving;
    struct mate mate[LP_MAX_RANKS];
};

struct lp_crews {
    struct lp_link *link;
    struct lp_crew *first;
    int last_id, signal;
    bool agent_lost;
    char agent_words[256];
};

/* Worker `worker` has ended too early: what ended it, where it was, and how its log ends. */
void lp_crew_say_crash(const struct lp_crew *crew, int worker, struct lp_loss *why);

/* The limit of `seconds` has passed before all workers were done: where each of them is. */
void lp_crew_say_hang(const struct lp_crew *crew, bool (*done)(const struct mate *), double seconds, struct lp_loss *why);

#endif
