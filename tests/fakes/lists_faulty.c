/*
 * The device kinds and libraries of the faulty worker: host memory and its library, each with what fault.h lists around
 * them. Faults run where the operation does, on the stream, so that a captured one strikes when its graph is launched.
 */
#include "worker/library.h"

#include "tests/fakes/fake_gpus.h"
#include "tests/fakes/fault.h"
#include "worker/host_stream.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct lp_device_ops lp_device_host;
extern const struct lp_library_ops lp_library_host;

static struct lp_device_ops device;
static struct lp_library_ops library;

/* An operation's output; bytes is the size of the operation as linkperf counts it. */
struct struck {
    void *output;
    size_t bytes, element;
};

/* ---- collectives ---- */

/* Where the real thing loops for ever, divides by zero, or follows a wild pointer. */
static enum lp_status before(const void *args, struct lp_reason *why)
{
    const struct struck *call = args;

    (void)why;
    if (fault_hits(FAULT_SLOW_COLL, call->bytes))
        sleep((unsigned)fault_get()->seconds);
    if (fault_hits(FAULT_STALL_COLL, call->bytes))
        fault_stall();
    if (fault_hits(FAULT_SEGV, call->bytes))
        raise(SIGSEGV);
    if (fault_hits(FAULT_FPE, call->bytes))
        raise(SIGFPE);
    if (fault_hits(FAULT_EXIT0, call->bytes))
        _exit(0);
    return LP_OK;
}

/* The output of this operation is kept for the next one, which shows it instead of its own. */
static void make_stale(const struct struck *call)
{
    static char *kept;
    static size_t kept_bytes;
    char *own = malloc(call->bytes);

    if (!own)
        abort();
    memcpy(own, call->output, call->bytes);
    if (kept_bytes == call->bytes)
        memcpy(call->output, kept, call->bytes);
    free(kept);
    kept = own;
    kept_bytes = call->bytes;
}

static enum lp_status after(const void *args, struct lp_reason *why)
{
    const struct struck *call = args;

    (void)why;
    if (fault_hits(FAULT_CORRUPT, call->bytes))
        fault_spoil(call->output, call->bytes, call->element);
    if (fault_hits(FAULT_STALE, call->bytes))
        make_stale(call);
    return LP_OK;
}

/* The one-element meeting before a block is nobody's operation. */
static enum lp_status all_reduce(struct lp_comm *comm, const void *send, void *recv, size_t count, enum lp_dtype dtype,
                                 enum lp_redop redop, struct lp_stream *stream, struct lp_reason *why)
{
    struct struck call = {recv, count * lp_dtype_size(dtype), lp_dtype_size(dtype)};
    enum lp_status st = LP_OK;

    if (count == 1)
        return lp_library_host.all_reduce(comm, send, recv, count, dtype, redop, stream, why);
    st = lp_host_stream_submit(stream, before, &call, sizeof(call), why);
    if (st == LP_OK)
        st = lp_library_host.all_reduce(comm, send, recv, count, dtype, redop, stream, why);
    return st == LP_OK ? lp_host_stream_submit(stream, after, &call, sizeof(call), why) : st;
}

static int nranks; /* of the communicator */

static enum lp_status all_gather(struct lp_comm *comm, const void *send, void *recv, size_t count, enum lp_dtype dtype,
                                 struct lp_stream *stream, struct lp_reason *why)
{
    struct struck call = {recv, count * (size_t)nranks * lp_dtype_size(dtype), lp_dtype_size(dtype)};
    enum lp_status st = lp_host_stream_submit(stream, before, &call, sizeof(call), why);

    if (st == LP_OK)
        st = lp_library_host.all_gather(comm, send, recv, count, dtype, stream, why);
    return st == LP_OK ? lp_host_stream_submit(stream, after, &call, sizeof(call), why) : st;
}

/* ---- communicators ---- */

static enum lp_status load(const char *path, struct lp_reason *why)
{
    if (fault_is(FAULT_NO_LIBRARY))
        return lp_because(why, LP_ERR_ENV, "libfaulty.so.2 cannot be opened");
    if (fault_is(FAULT_IGNORE_TERM))
        signal(SIGTERM, SIG_IGN);
    return lp_library_host.load(path, why);
}

static enum lp_status comm_create(const struct lp_comm_config *config, struct lp_comm **out, struct lp_reason *why)
{
    nranks = config->nranks;
    if (fault_is(FAULT_STALL_INIT))
        fault_stall();
    if (fault_is(FAULT_FAIL_INIT))
        return lp_because(why, LP_ERR_FAILED, "the faulty library refuses rank %d", config->rank);
    if (fault_is(FAULT_SLOW_INIT))
        sleep((unsigned)fault_get()->seconds);
    return lp_library_host.comm_create(config, out, why);
}

static void comm_destroy(struct lp_comm *comm)
{
    if (fault_is(FAULT_STALL_END) || fault_is(FAULT_IGNORE_TERM))
        fault_stall();
    lp_library_host.comm_destroy(comm);
}

/* ---- the device ---- */

static enum lp_status count_devices(int *n, struct lp_reason *why)
{
    if (fault_is(FAULT_NO_DEVICE))
        return lp_because(why, LP_ERR_ENV, "the faulty driver is too old");
    return lp_device_host.count(n, why);
}

static enum lp_status strike_copy(const void *args, struct lp_reason *why)
{
    const struct struck *call = args;

    (void)why;
    if (fault_hits(FAULT_STALL_COPY, call->bytes))
        fault_stall();
    if (fault_hits(FAULT_CORRUPT_COPY, call->bytes))
        fault_spoil(call->output, call->bytes, call->element);
    return LP_OK;
}

static enum lp_status copy(struct lp_device *on, struct lp_stream *stream, struct lp_buffer dst, size_t dst_off,
                           struct lp_buffer src, size_t src_off, size_t bytes, struct lp_reason *why)
{
    struct struck call = {(char *)dst.ptr + dst_off, bytes, sizeof(float)};
    enum lp_status st = lp_device_host.copy(on, stream, dst, dst_off, src, src_off, bytes, why);

    return st == LP_OK ? lp_host_stream_submit(stream, strike_copy, &call, sizeof(call), why) : st;
}

/* ---- the lists, which are filled before main ---- */

static void __attribute__((constructor)) wrap(void)
{
    device = lp_device_host;
    device.count = count_devices;
    device.copy = copy;
    library = lp_library_host;
    library.load = load;
    library.comm_create = comm_create;
    library.comm_destroy = comm_destroy;
    library.all_reduce = all_reduce;
    library.all_gather = all_gather;
}

const struct lp_device_ops *const lp_devices[] = {&fake_gpus, &device, NULL};
const struct lp_library_ops *const lp_libraries[] = {&library, NULL};
