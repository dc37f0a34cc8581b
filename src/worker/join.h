/* Becoming part of a crew: devices, memory and communicator, as the requests offer, arena and open ask for it. */
#ifndef LP_WORKER_JOIN_H
#define LP_WORKER_JOIN_H

#include "worker/channel.h"
#include "worker/crewmate.h"

/* Opens devices and library; blob gets page and communicator id from rank 0. What was open before is closed. */
enum lp_status lp_join_offer(struct lp_crewmate *mate, struct lp_channel *channel, int rank, const json_t *request, json_t *reply,
                             struct lp_reason *why);

/* Allocates the arenas; with export the blob gets their handles. */
enum lp_status lp_join_arena(struct lp_crewmate *mate, struct lp_channel *channel, const json_t *request, json_t *reply,
                             struct lp_reason *why);

/* Enables peer access between the worker's GPUs; reply gets errors: [[from, to, words], ...] of the pairs that cannot. */
enum lp_status lp_join_peers(struct lp_crewmate *mate, struct lp_channel *channel, json_t *reply, struct lp_reason *why);

/* Opens page and peers' memory as far as the blobs name them, and makes the communicator where there is a library. */
enum lp_status lp_join_open(struct lp_crewmate *mate, struct lp_channel *channel, int rank, const json_t *request, json_t *reply,
                            struct lp_reason *why);

#endif
