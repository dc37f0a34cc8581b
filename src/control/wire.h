/*
 * What controller and worker say to each other: one JSON document a line. DESIGN section 1. A request is
 *   {"crew": 3, "id": 17, "do": "cell", ...}
 * and gets one reply from each worker of the crew,
 *   {"crew": 3, "id": 17, "rank": 1, "status": "ok", "reason": null, ...}
 * A worker speaks unasked twice: {"crew": 3, "rank": 1, "say": "hello", "pid": 4711} once, and
 * {"say": "at", "phase": "init communicator"} before each step that can block.
 *
 *   do       asks                                              reply carries
 *   survey   device ("auto", "cuda", "host"), library, nccl    machine: what this worker sees
 *   offer    device, library, nccl, nranks, workers,         blob: page and comm_id from rank 0; library, free_bytes
 *            stations (per worker: a list of device and
 *            rank), gate, page
 *   arena    arena_bytes, bounce_bytes, export                 blob: send, recv, bounce, flags
 *   open     blobs of all workers, communicator, ranks         free_bytes; for copies errors, as peers has them
 *   peers    (enables peer access between its GPUs)            errors: [[from, to, words], ...]
 *   cell     cell, communicator, ranks                         slots
 *   blocks   k, n, spans                                       samples_us, aligned; lanes: when each was busy
 *   check    iterations, first, or prepare, or last            wrong: per iteration, first_offset_bytes
 *   where    (answered at once, by the control thread)         phase, step, block, blocks, async_error
 *   bye                                                        (and ends)
 */
#ifndef LP_CONTROL_WIRE_H
#define LP_CONTROL_WIRE_H

#include "base/status.h"

#include <jansson.h>

/* A reply to request. reason may be NULL. New reference. */
json_t *lp_wire_reply(const json_t *request, int rank, enum lp_status st, const char *reason);

/* {"crew", "rank", "say": what}. New reference. */
json_t *lp_wire_say(int crew, int rank, const char *what);

#endif
