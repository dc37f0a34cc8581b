/*
 * The host library: collectives on shared memory between the workers of a host. Algorithms are host_algorithm's, which of them
 * are allowed host_choice's, arithmetic host_data's; when a call runs is the stream's.
 */
#include "worker/library.h"

#include "worker/host_algorithm.h"
#include "worker/host_choice.h"
#include "worker/host_data.h"
#include "worker/host_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lp_comm {
    const struct lp_comm_config *config;
    struct lp_host_choice choice;
    char algo[128];      /* NCCL_ALGO as it was, for reasons */
    size_t bounce_bytes; /* of the smallest bounce buffer; 0: not all have one */
};

/* Where a pointer of this rank lies, so that the same place is found in every rank's memory; everyone NULL: nowhere shared. */
struct place {
    const struct lp_buffer *everyone;
    size_t offset;
};

struct call {
    const struct lp_comm *comm;
    const struct lp_host_algorithm *algorithm;
    const char *send;
    char *recv;
    size_t count, size; /* as in the collective's call; bytes of an element */
    enum lp_dtype dtype;
    enum lp_redop redop;
    bool bounced; /* through bounce buffers; otherwise peers read each other's memory */
    struct place send_at, recv_at;
};

/* ---- the primitive that runs all algorithms ---- */

/* Elements of the take from `done` on, at most `piece`. */
static size_t length_of(const struct lp_host_take *take, size_t done, size_t piece)
{
    size_t left = done < take->count ? take->count - done : 0;

    return left < piece ? left : piece;
}

/* Puts what another rank takes from this one where it can read it. */
static void give(const struct call *call, const struct lp_host_take *take, size_t done, size_t piece)
{
    const char *from = take->from_send ? call->send : call->recv;
    size_t length = length_of(take, done, piece);

    if (length > 0)
        memcpy(call->comm->config->bounce.ptr, from + (take->first + done) * call->size, length * call->size);
}

static const char *source_of(const struct call *call, const struct lp_host_take *take, size_t done)
{
    const struct place *place = take->from_send ? &call->send_at : &call->recv_at;

    if (call->bounced)
        return call->comm->config->peer_bounce[take->source].ptr;
    return (const char *)place->everyone[take->source].ptr + place->offset + (take->first + done) * call->size;
}

static void consume(const struct call *call, const struct lp_host_take *take, size_t done, size_t piece)
{
    size_t length = length_of(take, done, piece), offset = (take->first + done) * call->size;
    const char *source;

    if (length == 0)
        return;
    source = source_of(call, take, done);
    if (take->reduce)
        lp_host_reduce(call->recv + offset, (take->with_send ? call->send : call->recv) + offset, source, length, call->dtype,
                       call->redop);
    else
        memcpy(call->recv + offset, source, length * call->size);
}

/* Every rank goes through the same number of barriers, whatever its own part: as many as the longest take needs. */
static void run_step(const struct call *call, int step)
{
    const struct lp_comm_config *config = call->comm->config;
    struct lp_host_take mine = {0}, given = {0};
    size_t longest = 0, piece;

    for (int r = 0; r < config->nranks; r++) {
        struct lp_host_take take = call->algorithm->take(call->count, config->nranks, r, step);

        if (r == config->rank)
            mine = take;
        if (take.count > 0 && take.source == config->rank)
            given = take;
        if (take.count > longest)
            longest = take.count;
    }
    piece = call->bounced ? call->comm->bounce_bytes / call->size : longest;
    for (size_t done = 0; done < longest; done += piece) {
        if (call->bounced) {
            give(call, &given, done, piece);
            lp_page_barrier(config->page);
        }
        consume(call, &mine, done, piece);
        lp_page_barrier(config->page);
    }
}

/*
 * The first barrier: all inputs are there. The last step's: nobody still reads this rank's memory, so that the next
 * operation, or whoever fills the buffers again, may write.
 */
static enum lp_status run_call(const void *args, struct lp_reason *why)
{
    const struct call *call = args;
    const struct lp_comm_config *config = call->comm->config;
    int steps = call->algorithm->steps(config->nranks);
    char *own = call->recv;

    (void)why;
    if (call->algorithm->gathers)
        own += (size_t)config->rank * call->count * call->size;
    if ((call->algorithm->gathers || steps == 0) && own != call->send)
        memcpy(own, call->send, call->count * call->size);
    if (steps > 0)
        lp_page_barrier(config->page);
    for (int step = 0; step < steps; step++)
        run_step(call, step);
    return LP_OK;
}

/* ---- calls ---- */

static bool in_all(const struct lp_buffer *everyone, int nranks, size_t offset, size_t bytes)
{
    for (int r = 0; r < nranks; r++)
        if (offset > everyone[r].bytes || bytes > everyone[r].bytes - offset)
            return false;
    return true;
}

static struct place locate(const struct lp_comm_config *config, const void *ptr, size_t bytes)
{
    const struct {
        struct lp_buffer own;
        const struct lp_buffer *everyone;
    } arenas[] = {{config->send, config->peer_send}, {config->recv, config->peer_recv}};

    for (size_t i = 0; i < sizeof(arenas) / sizeof(arenas[0]); i++) {
        size_t offset = (uintptr_t)ptr - (uintptr_t)arenas[i].own.ptr; /* huge when ptr lies before it */

        if (arenas[i].everyone && in_all(arenas[i].everyone, config->nranks, offset, bytes))
            return (struct place){arenas[i].everyone, offset};
    }
    return (struct place){0};
}

/*
 * The way is settled here, before anything is queued, so that all ranks, which call alike, agree. all_gather's parts are
 * passed on in the receive buffers, so where its input lies, which in place is another offset on each rank, does not matter.
 */
static enum lp_status choose_way(struct call *call, struct lp_reason *why)
{
    const struct lp_comm *comm = call->comm;
    bool gathers = call->algorithm->gathers;
    size_t bytes;

    if (__builtin_mul_overflow(call->count, call->size * (gathers ? (size_t)comm->config->nranks : 1), &bytes))
        return lp_because(why, LP_ERR_ARG, "%zu elements are more than memory can hold", call->count);
    if (comm->config->nranks == 1)
        return LP_OK;
    call->recv_at = locate(comm->config, call->recv, bytes);
    call->send_at = gathers ? call->recv_at : locate(comm->config, call->send, bytes);
    call->bounced = comm->choice.p2p_off || !call->recv_at.everyone || !call->send_at.everyone;
    if (call->bounced && comm->bounce_bytes < call->size)
        return lp_because(why, LP_ERR_ARG, "%zu bytes that do not lie in the arenas, and no bounce buffers", bytes);
    return LP_OK;
}

static enum lp_status submit(struct call *call, struct lp_stream *stream, struct lp_reason *why)
{
    enum lp_status st;

    if (call->count == 0)
        return LP_OK;
    st = choose_way(call, why);
    if (st != LP_OK)
        return st;
    return lp_host_stream_submit(stream, run_call, call, sizeof(*call), why);
}

/* NCCL's words. With one rank NCCL copies and asks for no algorithm, and so does this. */
static enum lp_status no_algorithm(const struct lp_comm *comm, const char *function, struct lp_reason *why)
{
    return lp_because(why, LP_ERR_UNSUPPORTED, "no algorithm/protocol available for function %s. NCCL_ALGO was set to %s.",
                      function, comm->algo);
}

static enum lp_status host_all_reduce(struct lp_comm *comm, const void *send, void *recv, size_t count, enum lp_dtype dtype,
                                      enum lp_redop redop, struct lp_stream *stream, struct lp_reason *why)
{
    struct call call = {.comm = comm, .send = send, .recv = recv, .count = count, .dtype = dtype, .redop = redop};

    if (comm->config->nranks == 1 || comm->choice.all_reduce & LP_HOST_RING)
        call.algorithm = &lp_host_ring_all_reduce;
    else if (comm->choice.all_reduce & LP_HOST_TREE)
        call.algorithm = &lp_host_tree_all_reduce;
    else
        return no_algorithm(comm, "AllReduce", why);
    call.size = lp_dtype_size(dtype);
    return submit(&call, stream, why);
}

static enum lp_status host_all_gather(struct lp_comm *comm, const void *send, void *recv, size_t count, enum lp_dtype dtype,
                                      struct lp_stream *stream, struct lp_reason *why)
{
    struct call call = {.comm = comm, .send = send, .recv = recv, .count = count, .dtype = dtype};

    if (comm->config->nranks > 1 && !(comm->choice.all_gather & LP_HOST_RING))
        return no_algorithm(comm, "AllGather", why);
    call.algorithm = &lp_host_ring_all_gather;
    call.size = lp_dtype_size(dtype);
    return submit(&call, stream, why);
}

/* ---- communicators ---- */

/* Bytes of the smallest buffer; 0 when not every rank's is mapped. */
static size_t smallest(const struct lp_buffer *everyone, int nranks)
{
    size_t bytes = SIZE_MAX;

    for (int r = 0; r < nranks; r++) {
        if (!everyone || !everyone[r].ptr)
            return 0;
        bytes = everyone[r].bytes < bytes ? everyone[r].bytes : bytes;
    }
    return bytes;
}

static enum lp_status check_config(const struct lp_comm *comm, struct lp_reason *why)
{
    const struct lp_comm_config *config = comm->config;
    int n = config->nranks;

    if (n < 1 || config->rank < 0 || config->rank >= n)
        return lp_because(why, LP_ERR_ARG, "rank %d of %d", config->rank, n);
    if (n == 1)
        return LP_OK;
    if (!config->page)
        return lp_because(why, LP_ERR_ARG, "the host library needs the page of the workers");
    if (comm->choice.p2p_off && comm->bounce_bytes < sizeof(double))
        return lp_because(why, LP_ERR_ARG, "NCCL_P2P_DISABLE=1 on host memory needs everyone's bounce buffer");
    if (!comm->choice.p2p_off && (!smallest(config->peer_send, n) || !smallest(config->peer_recv, n)))
        return lp_because(why, LP_ERR_ARG, "the host library needs everyone's send and receive buffers");
    return LP_OK;
}

static enum lp_status host_comm_create(const struct lp_comm_config *config, struct lp_comm **out, struct lp_reason *why)
{
    const char *algo = getenv("NCCL_ALGO");
    struct lp_comm *comm = calloc(1, sizeof(*comm));
    enum lp_status st;

    if (!comm)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    comm->config = config;
    comm->bounce_bytes = smallest(config->peer_bounce, config->nranks);
    snprintf(comm->algo, sizeof(comm->algo), "%s", algo ? algo : "nothing");
    st = lp_host_choose(algo, getenv("NCCL_P2P_DISABLE"), &comm->choice, why);
    if (st == LP_OK)
        st = check_config(comm, why);
    if (st == LP_OK)
        *out = comm;
    else
        free(comm);
    return st;
}

static void host_comm_destroy(struct lp_comm *comm)
{
    free(comm);
}

static enum lp_status host_load(const char *path, struct lp_reason *why)
{
    (void)path;
    (void)why;
    return LP_OK;
}

static void host_describe(char *version, size_t version_cap, char *path, size_t path_cap)
{
    snprintf(version, version_cap, "linkperf host");
    snprintf(path, path_cap, "%s", "");
}

static enum lp_status host_make_id(char *id, struct lp_reason *why)
{
    (void)why;
    id[0] = '\0';
    return LP_OK;
}

extern const struct lp_library_ops lp_library_host;
const struct lp_library_ops lp_library_host = {
    .name = "host",
    .reads_arenas = true,
    .load = host_load,
    .describe = host_describe,
    .make_id = host_make_id,
    .comm_create = host_comm_create,
    .comm_destroy = host_comm_destroy,
    .all_reduce = host_all_reduce,
    .all_gather = host_all_gather,
};
