/*
 * A copy path: how bytes get from one GPU (or process) to another. One file per path: prepare, enqueue and release for one
 * transfer. Which transfers run at once is the cell's pattern, not the path's business.
 */
#ifndef LP_P2P_PATH_H
#define LP_P2P_PATH_H

#include "worker/crewmate.h"

#define LP_PATH_PEER       1u    /* needs peer access between the two */
#define LP_PATH_STAGED     2u    /* must run where peer access was never enabled */
#define LP_PATH_READ       4u    /* the receiver fetches; else the sender brings */
#define LP_PATH_UNGATED    8u    /* cannot be queued behind a gate: the host has a part in it */
#define LP_PATH_LOCAL      16u   /* within one GPU's own memory: source and destination are the same */
#define LP_PATH_PINNED     64u   /* goes through, or ends in, pinned host memory */
#define LP_PATH_PAGEABLE   128u  /* ... in ordinary host memory */
#define LP_PATH_LATENCY    32u   /* moves no bytes to speak of: its figure is the time of a step */
#define LP_PATH_ONE_THREAD 256u  /* UNGATED, and copies that run at once are issued one after the other */
#define LP_PATH_MANY_CALLS 512u  /* in pieces: a large copy is more than a gate can hold */
#define LP_PATH_RING       1024u /* a round of a ring, each rank waiting for the one before: what collectives are held against */

/* What the rate of a path is held against. */
enum lp_rate {
    LP_RATE_LINK,   /* line rate between the two GPUs, per direction */
    LP_RATE_PCIE,   /* PCI Express of the GPU, per direction: the way through the host */
    LP_RATE_MEMORY, /* half of the GPU's memory rate: every byte is read and written, and counted once */
    LP_RATE_NONE,
};

struct lp_transfer {
    struct lp_crewmate *mate;
    struct lp_edge edge;
    struct lp_station *by;        /* whose engine or processors move the bytes */
    struct lp_station *from, *to; /* in this worker; NULL in another, or for host memory */
    struct lp_stream *stream;
    struct lp_buffer src, dst; /* GPU memory as `by` reaches it; ptr NULL where that end is host memory */
    struct lp_buffer via;      /* the receiver's bounce buffer, for paths that have one */
    struct lp_buffer flags;    /* the receiver's, for paths that tell it something */
    struct lp_buffer host;     /* for paths that have host memory, of `bytes`; it is src or dst where the edge ends there */
    size_t src_base, dst_base; /* bytes: where this transfer's data begins in src and dst */
    size_t bytes;
    int lane;   /* its number in the operation */
    bool first; /* of the two transfers of an exchange, the one that begins */
    void *self; /* the path's own */
};

struct lp_path {
    const char *name, *title, *help; /* "ce_write", "copy engine write", a sentence with direction and engine */
    const char *device;              /* "cuda", "host" */
    unsigned flags;
    enum lp_rate rate;
    unsigned steps; /* LP_PATH_LATENCY: memory accesses, one after the other, in an operation */
    enum lp_status (*prepare)(struct lp_transfer *transfer, struct lp_reason *why); /* may be NULL */
    /* offset: of the slot, from src_base and dst_base */
    enum lp_status (*enqueue)(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);
    /* An untimed step of every rank that brings them together on the device, before a block; may be NULL. */
    enum lp_status (*align)(struct lp_transfer *transfer, struct lp_reason *why);
    void (*release)(struct lp_transfer *transfer); /* may be NULL */
    /*
     * Around a checked operation, where GPU memory is not what it reads or writes (all may be NULL). load: src was filled and
     * dst poisoned on the GPU; bring that to where the operation works. unload: bring what it wrote back to dst. judge: compare
     * instead of the usual comparison with src; *wrong is the number of wrong elements. They wait until it is done.
     */
    enum lp_status (*load)(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);
    enum lp_status (*unload)(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);
    enum lp_status (*judge)(struct lp_transfer *transfer, uint64_t *wrong, struct lp_reason *why);
};

/* Enqueues of several paths: one copy by the device's copy engine (or memcpy), and one by a kernel of 16-byte accesses. */
enum lp_status lp_transfer_copy(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);
enum lp_status lp_transfer_kernel_copy(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);

/*
 * For edges that end in host memory, of which there is one slot: load brings the filled source or the poisoned target there,
 * unload brings the target back to the GPU for comparing.
 */
enum lp_status lp_transfer_load(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);
enum lp_status lp_transfer_unload(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);

/* An exchange of flags, for the paths that have one (p2p/exchange.c). Each of the two transfers is one side. */
#define LP_EXCHANGE_ROUNDS 256u
enum lp_status lp_exchange_prepare(struct lp_transfer *transfer, struct lp_reason *why);
enum lp_status lp_exchange_load(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);
enum lp_status lp_exchange_enqueue(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);
enum lp_status lp_exchange_judge(struct lp_transfer *transfer, uint64_t *wrong, struct lp_reason *why);
void lp_exchange_release(struct lp_transfer *transfer);

/* A round of a ring, for the paths that are one (p2p/ring_exchange.c). */
enum lp_status lp_ring_prepare(struct lp_transfer *transfer, struct lp_reason *why);
enum lp_status lp_ring_enqueue(struct lp_transfer *transfer, size_t offset, struct lp_reason *why);
enum lp_status lp_ring_align(struct lp_transfer *transfer, struct lp_reason *why);

/* Ends with NULL. */
extern const struct lp_path *const lp_paths[];

const struct lp_path *lp_path_find(const char *name);

#endif
