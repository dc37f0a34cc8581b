/*
 * A copy path: how bytes get from one GPU (or process) to another. One file per path: prepare, enqueue and release for one
 * transfer. Which transfers run at once is the cell's pattern, not the path's business.
 */
#ifndef LP_P2P_PATH_H
#define LP_P2P_PATH_H

#include "worker/crewmate.h"

#define LP_PATH_PEER   1u /* needs peer access between the two */
#define LP_PATH_STAGED 2u /* must run where peer access was never enabled */

struct lp_transfer {
    struct lp_crewmate *mate;
    struct lp_station *by; /* whose engine or processors move the bytes */
    struct lp_stream *stream;
    struct lp_buffer src, dst;
    struct lp_buffer via; /* the receiver's bounce buffer, for paths that have one */
    size_t bytes;
    void *self; /* the path's own */
};

struct lp_path {
    const char *name, *title, *help; /* "ce_write", "copy engine write", a sentence with direction and engine */
    const char *device;              /* "cuda", "host" */
    unsigned flags;
    enum lp_status (*prepare)(struct lp_transfer *transfer, struct lp_reason *why); /* may be NULL */
    enum lp_status (*enqueue)(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);
    void (*release)(struct lp_transfer *transfer); /* may be NULL */
};

/* The plain transfer: one copy by the device's copy engine (or memcpy). An enqueue for several paths. */
enum lp_status lp_transfer_copy(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);

/* Ends with NULL. */
extern const struct lp_path *const lp_paths[];

const struct lp_path *lp_path_find(const char *name);

#endif
