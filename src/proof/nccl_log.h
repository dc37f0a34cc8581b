/*
 * What NCCL wrote about itself: one crew's logs, read into one struct. Only what a line says in a shape that is known
 * (NCCL 2.18 to 2.30) is read; everything else is absent, and absent means unknown.
 */
#ifndef LP_PROOF_NCCL_LOG_H
#define LP_PROOF_NCCL_LOG_H

#include "base/status.h"
#include "model/cell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LP_NCCL_WRITERS 64  /* processes */
#define LP_NCCL_VALUE   512 /* longest value of a variable, with its NUL; a longer one is not read */
#define LP_NCCL_WAYS    32  /* different transports in one log */
#define LP_NCCL_PARTS   12  /* of the time of init */

/* A process that wrote. It is known by its number within a file, so logs of several hosts and containers do not mix. */
struct lp_nccl_writer {
    int file; /* in the order of reading */
    long pid;
    int rank, nranks;       /* -1: not said */
    bool complete;          /* its communicator came up */
    char version[32];       /* "2.28.3"; "" not said */
    char network[32];       /* "Socket", "IB" */
    bool cumem_host_failed; /* it said that cuMem host memory does not work and went back to /dev/shm */
    bool cumem_host_used;   /* it imported a cuMem host buffer */
    int coll_channels, collnet_channels, nvls_channels, p2p_channels, p2p_channels_per_peer; /* -1: not said */
    double init_s;                                                                           /* NaN: not said */
    struct {
        char name[24];
        double seconds;
    } part[LP_NCCL_PARTS]; /* "kernels", "bootstrap", ...: of init_s */
    int nparts;
};

/* A variable that NCCL says it took from the environment. A name is here once for each value. */
struct lp_nccl_set {
    char name[64], value[LP_NCCL_VALUE]; /* without the full stop that follows numbers */
    uint64_t writers;                    /* bit per index of writer; 0: a line whose writer could not be read */
};

/* Channels between two ranks that go one way. */
struct lp_nccl_link {
    int from, to;
    int conn;           /* 0: for collectives; 1: for send and receive; -1: not said (shared memory) */
    int way;            /* index into ways */
    uint64_t channels;  /* bit per channel */
    bool send, receive; /* which ends said so, where the line names its end */
};

enum lp_nccl_form {
    LP_FORM_UNKNOWN,     /* bytes and function only */
    LP_FORM_TEXT,        /* since 2.24.3 */
    LP_FORM_NUMBERS,     /* 2.20 to 2.23: no channels; up to 2.22 no function */
    LP_FORM_SYMMETRIC,   /* since 2.27 */
    LP_FORM_COPY_ENGINE, /* since 2.29 */
};

/* What NCCL chose for one call; equal lines are counted. Only rank 0 writes these. */
struct lp_nccl_selection {
    enum lp_nccl_form form;
    char function[32];           /* "AllReduce"; "" where the release does not say */
    uint64_t bytes;              /* for AllGather and ReduceScatter of one rank's part, but of all in the numeric form */
    char algorithm[32];          /* "Ring", "NVLSTree", "Symmetric", "CopyEngine"; "" unknown */
    char protocol[64];           /* "LL", "Simple"; of a symmetric kernel its name; "" unknown */
    int first_channel, channels; /* -1: not said */
    size_t count;
};

struct lp_nccl_warning {
    bool error;       /* NCCL WARN; otherwise a line of INFO that says so in words */
    bool setting;     /* a value was refused, clamped or ignored */
    char text[256];   /* bytes that do not print are '?' */
    uint64_t writers; /* as in lp_nccl_set */
    size_t count;
};

struct lp_nccl_ring {
    int channel, n;
    short rank[LP_MAX_RANKS];
};

struct lp_nccl_tree {
    short channel, rank, up, down[3]; /* -1: none */
};

struct lp_nccl_shm {
    bool attaching;     /* otherwise creating */
    char path[128];     /* bytes that do not print are '?' */
    int64_t size_bytes; /* as said: 0 is a sign of ranks that disagree about cuMem */
    char error[64];     /* "No space left on device"; "" not said */
};

struct lp_nccl_log {
    char version[32]; /* the first one said, or assumed; "" unknown */
    int version_code; /* 22803 for 2.28.3; 0 unknown */
    bool version_said;
    struct lp_nccl_writer *writer;
    size_t nwriters;
    struct lp_nccl_set *set;
    size_t nset;
    char ways[LP_NCCL_WAYS][64]; /* "P2P/CUMEM", "NET/Socket/0": the words after "via"; "unknown" for what is no transport */
    int nways;
    struct lp_nccl_link *link;
    size_t nlinks;
    struct lp_nccl_selection *selection;
    size_t nselections;
    struct lp_nccl_ring *ring;
    size_t nrings;
    struct lp_nccl_tree *tree;
    size_t ntrees;
    struct lp_nccl_warning *warning;
    size_t nwarnings, warnings_dropped; /* how many more there were */
    struct lp_nccl_shm *shm;
    size_t nshm;
    char no_algorithm[8][32]; /* functions that NCCL had none for; "" where the release does not say which */
    int nno_algorithm;
    int nvls_available;       /* 1, 0; -1: not said */
    bool nvls_connected;      /* its buffers or trees were set up */
    size_t registered;        /* lines that say a user's buffer was registered */
    int ring_threads;         /* a block's threads for Ring/Simple; -1: not said */
    int ring_column;          /* where the table of the tuning model has Ring; -1: not now */
    size_t lines, unfinished; /* all lines; lines that another writer or the end cut */
    size_t dropped;           /* things not kept, since there were too many or memory was out */
    int files;
    char *line; /* the line being read */
    size_t used;
    size_t last_link, last_selection; /* where the last one was found: the next is mostly the same */
};

void lp_nccl_log_init(struct lp_nccl_log *log);
void lp_nccl_log_release(struct lp_nccl_log *log);

/*
 * The version to go by until the log says its own ("2.20.5"; the library's answer, if the caller has it). Up to 2.21 only
 * rank 0 says it, and without it the numbers of 2.20 to 2.23 mean nothing. "" or NULL: nothing.
 */
void lp_nccl_log_assume(struct lp_nccl_log *log, const char *version);

/*
 * Adds one file: of one worker, or of several in one stream. Files of a crew go into the same struct one after the other,
 * in rank order. Memory does not grow with the file. LP_ERR_IO names file and error; what was read before stays.
 */
enum lp_status lp_nccl_log_read(struct lp_nccl_log *log, const char *path, struct lp_reason *why);

/* The same piece by piece. end() closes the file: a line without its newline was cut and is not believed. */
void lp_nccl_log_feed(struct lp_nccl_log *log, const char *data, size_t n);
void lp_nccl_log_end(struct lp_nccl_log *log);

/* Which links lp_nccl_log_transport looks at. */
enum lp_nccl_links { LP_LINKS_ALL, LP_LINKS_COLLECTIVE, LP_LINKS_SEND };

/* "P2P/CUMEM"; "mixed: P2P/CUMEM, SHM/direct/direct"; "" unknown. from and to -1: between all. Returns buf. */
const char *lp_nccl_log_transport(const struct lp_nccl_log *log, int from, int to, enum lp_nccl_links which, char *buf, size_t cap);

/* The ring of that channel, or NULL. */
const struct lp_nccl_ring *lp_nccl_log_ring(const struct lp_nccl_log *log, int channel);

/* The writer that is that rank, or NULL. */
const struct lp_nccl_writer *lp_nccl_log_rank(const struct lp_nccl_log *log, int rank);

/* Version, channels, transport, rings, seconds of init, warnings: what a variant's result says of its crew. New reference. */
json_t *lp_nccl_log_json(const struct lp_nccl_log *log);

#endif
