/* What a collective's launch is given: a communicator, its library, and the buffers of one operation. */
#ifndef LP_COLLECTIVES_LAUNCH_H
#define LP_COLLECTIVES_LAUNCH_H

#include "worker/library.h"

struct lp_coll_call {
    const struct lp_library_ops *library;
    struct lp_comm *comm;
    struct lp_stream *stream;
    const void *send;
    void *recv;
    size_t count;
    enum lp_dtype dtype;
    enum lp_redop redop;
    int root;
};

#endif
