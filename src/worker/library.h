/*
 * A library: communicators and collective operations. NCCL, or linkperf's own on host memory. One table each; a slot left
 * NULL is "unsupported" with its name.
 */
#ifndef LP_WORKER_LIBRARY_H
#define LP_WORKER_LIBRARY_H

#include "worker/device.h"
#include "worker/page.h"

#define LP_COMM_ID_MAX 512 /* text of an id, with its NUL */

struct lp_comm;

/* What a communicator needs from its surroundings. Borrowed for the life of the communicator. */
struct lp_comm_config {
    int rank, nranks;
    const char *id;                                /* from make_id of one rank; "" where the library has none */
    struct lp_device *device;                      /* opened; current in the calling thread */
    struct lp_page *page;                          /* shared by the workers of this host */
    struct lp_buffer send, recv;                   /* this rank's arenas */
    const struct lp_buffer *peer_send, *peer_recv; /* per rank, mapped here, for libraries that read them; else NULL */
    struct lp_buffer bounce;                       /* this rank's bounce buffer, and everyone's, likewise */
    const struct lp_buffer *peer_bounce;
};

struct lp_library_ops {
    const char *name;  /* "nccl", "host" */
    bool reads_arenas; /* its communicator needs everyone's arenas mapped before it is made */

    /* Opens the library; path NULL is the usual place. Words for the user on failure. Idempotent. */
    enum lp_status (*load)(const char *path, struct lp_reason *why);
    /* Version as text and the file it came from; valid after load. */
    void (*describe)(char *version, size_t version_cap, char *path, size_t path_cap);

    /* Version of the header this worker was compiled with; NULL where there is none. */
    void (*compiled)(char *version, size_t cap);

    enum lp_status (*make_id)(char *id, struct lp_reason *why);
    enum lp_status (*comm_create)(const struct lp_comm_config *config, struct lp_comm **out, struct lp_reason *why);
    void (*comm_destroy)(struct lp_comm *comm);
    /* What went wrong behind the back of the calls; "" when nothing did. May be called from another thread. NULL: there is no such
     * thing. */
    void (*async_error)(struct lp_comm *comm, char *text, size_t cap);

    /*
     * The collectives. count as in NCCL: elements of the vector for all_reduce, of one rank's part for all_gather.
     * LP_ERR_UNSUPPORTED when the library has no algorithm for it under the settings in force; the communicator stays usable.
     */
    enum lp_status (*all_reduce)(struct lp_comm *comm, const void *send, void *recv, size_t count, enum lp_dtype dtype,
                                 enum lp_redop redop, struct lp_stream *stream, struct lp_reason *why);
    enum lp_status (*all_gather)(struct lp_comm *comm, const void *send, void *recv, size_t count, enum lp_dtype dtype,
                                 struct lp_stream *stream, struct lp_reason *why);
};

/* The libraries that this worker was built with; the list ends with NULL. */
extern const struct lp_library_ops *const lp_libraries[];

const struct lp_library_ops *lp_library_find(const char *name);

#endif
