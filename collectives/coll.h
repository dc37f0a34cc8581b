/*
 * What a collective means: shapes, bus factor, where in-place is defined, and what every rank must hold afterwards.
 * One file per collective, one line each in list.c.
 */
#ifndef LP_COLLECTIVES_COLL_H
#define LP_COLLECTIVES_COLL_H

#include "model/dtype.h"
#include "model/pattern.h"

#include <stdbool.h>
#include <stddef.h>

#define LP_COLL_IN_PLACE 1u /* in-place is defined */
#define LP_COLL_REDUCES  2u /* has a reduction operator */
#define LP_COLL_ROOT     4u /* has a root */

/* Sizes of one call, from the size asked for. */
struct lp_shape {
    size_t count;                  /* elements, as the library's call takes them */
    size_t size_bytes;             /* what "size" reports: a whole number of elements on every rank, at most what was asked */
    size_t send_count, recv_count; /* elements on every rank */
    size_t in_place_send_off;      /* where the send part lies in the receive buffer, in elements, per unit of rank */
};

struct lp_coll_call; /* collectives/launch.h: how a call reaches a library; only launch sees it */

struct lp_coll {
    const char *name, *title, *help; /* "allreduce", "AllReduce", a sentence */
    unsigned flags;
    /* Shape for `bytes` over nranks; count 0 when bytes is less than one element a rank. */
    void (*shape)(size_t bytes, enum lp_dtype dtype, int nranks, struct lp_shape *out);
    double (*bus_factor)(int nranks); /* busbw = algbw * bus_factor */
    enum lp_status (*launch)(const struct lp_coll_call *call, struct lp_reason *why);
    /* Segments that rank's output must consist of; at most nranks. Returns their number. */
    size_t (*expect)(const struct lp_shape *shape, int rank, int nranks, struct lp_segment *out);
};

/* Ends with NULL. */
extern const struct lp_coll *const lp_colls[];

const struct lp_coll *lp_coll_find(const char *name);

/*
 * Bus factors, after nccl-tests' PERFORMANCE.md: busbw is what each link of a bandwidth-optimal algorithm carries, so
 * that it can be compared with the link. 0 for one rank: nothing crosses a link.
 */
double lp_bus_two_pass(int nranks); /* 2(n-1)/n: reduce, then spread */
double lp_bus_one_pass(int nranks); /* (n-1)/n */

/* Bytes that each link carries in one call: what busbw is made of. */
double lp_coll_wire_bytes(const struct lp_coll *coll, size_t size_bytes, int nranks);

/* Those of the exchange that stands beside it, which moves vectors of 16 bytes: rounded to them, at least one. */
size_t lp_coll_exchange_bytes(const struct lp_coll *coll, size_t size_bytes, int nranks);

#endif
