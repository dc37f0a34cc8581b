/*
 * The worker's end of the wire. A thread of its own reads the socket, so that a worker that is blocked in a library still
 * notices that the controller is gone, and ends.
 */
#ifndef LP_WORKER_CHANNEL_H
#define LP_WORKER_CHANNEL_H

#include "base/status.h"

#include <jansson.h>
#include <stdbool.h>

struct lp_channel;

/*
 * in and out may be one descriptor. by_hand: the requests come from a file; its end is the end of the work and not a
 * reason to leave at once.
 */
enum lp_status lp_channel_open(int in, int out, int crew, int rank, bool by_hand, struct lp_channel **out_channel,
                               struct lp_reason *why);

/*
 * Who answers {"do": "where"}: called in the reading thread while the main one works, fills the reply. Set it before the
 * first request arrives.
 */
typedef void lp_channel_where(void *arg, json_t *reply);
void lp_channel_set_where(struct lp_channel *channel, lp_channel_where *where, void *arg);

/* The next request, waited for; NULL at the end of a file. New reference. */
json_t *lp_channel_next(struct lp_channel *channel);

/* Sends a document. Takes the reference. */
void lp_channel_send(struct lp_channel *channel, json_t *document);

/* Says where this worker is, to the controller and its own log: before each step that can block. The last is kept for `where`. */
void lp_channel_at(struct lp_channel *channel, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
