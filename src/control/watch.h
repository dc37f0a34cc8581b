/*
 * Who and what else is at work while a crew measures: other processes, clocks, temperature, what holds clocks down. Reads
 * between requests only, never while workers are timing. What follows from it is the caller's to decide.
 */
#ifndef LP_CONTROL_WATCH_H
#define LP_CONTROL_WATCH_H

#include "control/crew.h"
#include "machine/load.h"
#include "machine/nvml_now.h"
#include "machine/survey.h"

/* Where readings come from; tests have their own. */
struct lp_watch_reader {
    void *(*open)(void); /* for GPUs; NULL: none can be read */
    void (*close)(void *self);
    void (*gpu)(void *self, const char *pci, struct lp_nvml_now *out);
    void (*load)(const char *cpus, const long *pids, int n, struct lp_load *out);
};

/* NVML and /proc. */
extern const struct lp_watch_reader lp_watch_reader;

/* On host memory a crew is contended when others took more than this share of the time of the CPUs that workers may use. */
#define LP_WATCH_LOAD 0.25

/* A process that is not ours. */
struct lp_other {
    long pid;               /* 0: not to be seen from here */
    long long memory_bytes; /* -1: unknown */
};

struct lp_watched_gpu {
    struct lp_nvml_now before, after; /* the crew */
    unsigned throttle;                /* seen at any time from before to after */
    int nothers;                      /* that had a compute context, or much memory, at any time */
    struct lp_other other[LP_NVML_MAX_PROCESSES];
};

struct lp_watched {
    bool contended; /* somebody else was at work */
    bool throttled; /* clocks were held down */
    double load;    /* of others, as a share of the time of the workers' CPUs; NaN: unknown, or on GPUs */
    int ngpus;      /* one for each rank; 0 on host memory */
    struct lp_watched_gpu gpu[LP_MAX_RANKS];
};

struct lp_watch; /* NULL is fine everywhere: then nothing is known */

/* NULL when memory is out. machine and link are borrowed for the life of the watch. */
struct lp_watch *lp_watch_create(const struct lp_machine *machine, const struct lp_link *link);
void lp_watch_free(struct lp_watch *watch);

/*
 * Looks at all GPUs while none of our workers has one: whoever is there now is somebody else. *out is valid until the next
 * call; its before and after are the same reading. NULL where there are no GPUs.
 */
const struct lp_watched *lp_watch_alone(struct lp_watch *watch);

/* Right before the crew's first cell, between two cells (reads every three seconds at most), and right after the last. */
void lp_watch_begin(struct lp_watch *watch, const struct lp_crew *crew);
void lp_watch_look(struct lp_watch *watch, const struct lp_crew *crew);

/* NULL when the crew's begin was not seen. Valid until the next call. */
const struct lp_watched *lp_watch_end(struct lp_watch *watch, const struct lp_crew *crew);

#endif
