/*
 * What a worker has open: its devices, arenas, communicator and the page it shares with the others. Filled by the requests
 * `offer` and `open`; read by those who make operations from cells.
 */
#ifndef LP_WORKER_CREWMATE_H
#define LP_WORKER_CREWMATE_H

#include "worker/op.h"

struct lp_station { /* one opened device with its memory */
    struct lp_device *device;
    int index; /* of the device in this process */
    int rank;  /* whose input it holds: rank of the crew, or in a crew of one the GPU's number */
    struct lp_stream *stream;
    struct lp_event_mark *start, *stop;
    struct lp_buffer send, recv, bounce;
    struct lp_buffer flags; /* a struct lp_flags, apart from the data */
};

#define LP_MAX_HOST_BUFFERS 4

/* Host memory for copies to and from GPUs, kept from cell to cell: getting and pinning it takes longer than copying it. */
struct lp_host_memory {
    struct lp_buffer buffer;
    struct lp_station *near; /* whose device allocated it, on a CPU near it */
};

struct lp_crewmate {
    int rank, nranks; /* of the communicator; nranks is 1 in a crew of one worker that holds all GPUs */
    const struct lp_device_ops *ops;
    const struct lp_library_ops *library; /* NULL: a crew for copies only */
    struct lp_comm *comm;                 /* NULL likewise */
    struct lp_comm_config config;         /* the library borrows it while comm lives */
    struct lp_page *page;
    int nstations;
    struct lp_station station[LP_MAX_RANKS];
    size_t arena_bytes, bounce_bytes;
    /* other workers' memory, by rank; own entries are own buffers; ptr NULL where it was not mapped */
    struct lp_buffer peer_send[LP_MAX_RANKS], peer_recv[LP_MAX_RANKS], peer_bounce[LP_MAX_RANKS], peer_flags[LP_MAX_RANKS];
    bool peer_access;                                   /* was enabled between the stations, as far as the driver let it */
    char access_error[LP_MAX_RANKS][LP_MAX_RANKS][160]; /* by rank: why `from` cannot reach `to`; "" when it can */
    struct lp_gate *gate;                               /* NULL on devices that have none */
    struct lp_buffer meeting;                           /* a few elements for the untimed operation before a block */
    struct lp_host_memory host[2][LP_MAX_HOST_BUFFERS]; /* pageable, pinned */
};

/* The station that holds rank's data in this worker, or NULL. */
struct lp_station *lp_crewmate_station(struct lp_crewmate *mate, int rank);

/* Opens device `index` as the station of `rank`: stream and marks, no memory yet. What was opened stays for lp_crewmate_release. */
enum lp_status lp_crewmate_add_station(struct lp_crewmate *mate, int index, int rank, struct lp_reason *why);

/*
 * Gives every station its arenas: send and recv of arena_bytes each, flags, and a bounce buffer where bounce_bytes is not 0.
 * 0 bytes: none. LP_ERR_MEMORY when one does not fit; then the stations have none.
 */
enum lp_status lp_crewmate_add_arenas(struct lp_crewmate *mate, size_t arena_bytes, size_t bounce_bytes, struct lp_reason *why);

/* Least free memory of the stations' devices in bytes; 0 when unknown. */
size_t lp_crewmate_free_bytes(struct lp_crewmate *mate);

/* Enables peer access between all stations; a pair that cannot has its reason in access_error. */
void lp_crewmate_enable_peers(struct lp_crewmate *mate);

/*
 * Host memory number `which` of that sort, of at least so many bytes, allocated near the station's GPU. It stays the crewmate's,
 * and the same one is given again. NULL with a reason: there is none to be had, or the device has no such memory.
 */
struct lp_buffer *lp_crewmate_host_buffer(struct lp_crewmate *mate, struct lp_station *station, bool pinned, int which,
                                          size_t bytes, struct lp_reason *why);

/* Makes the gate, on devices that have one. */
enum lp_status lp_crewmate_add_gate(struct lp_crewmate *mate, struct lp_reason *why);

/* Makes the communicator on the first station. id is the library's, from one rank. Blocks until all ranks call it. */
enum lp_status lp_crewmate_add_communicator(struct lp_crewmate *mate, const char *id, struct lp_reason *why);

/* Closes everything, in the order that libraries need: communicator, imports, memory, devices. Safe twice. */
void lp_crewmate_release(struct lp_crewmate *mate);

#endif
