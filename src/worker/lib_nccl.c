/*
 * NCCL as a library of linkperf: opened at run time into a table of functions, so that any release can be measured. The only
 * file that knows nccl.h; which environment NCCL reads is settled before the worker starts.
 */
#include "worker/library.h"

#include "worker/cuda_stream.h"

#include <nccl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The NCCL of this process; there can be only one, as its settings are read once per process. Empty before load. */
static struct {
    void *handle;
    char path[1024];
    __typeof__(&ncclGetVersion) get_version;
    __typeof__(&ncclGetErrorString) get_error_string;
    __typeof__(&ncclGetUniqueId) get_unique_id;
    __typeof__(&ncclCommInitRank) comm_init_rank;
    __typeof__(&ncclCommDestroy) comm_destroy;
    __typeof__(&ncclAllReduce) all_reduce;
    __typeof__(&ncclAllGather) all_gather;
    __typeof__(&ncclGetLastError) get_last_error; /* since 2.13; NULL in older ones */
    __typeof__(&ncclCommGetAsyncError) get_async_error;
} nccl;

static const struct {
    const char *name;
    void **slot;
    bool required;
} symbols[] = {
    {"ncclGetVersion", (void **)&nccl.get_version, true},
    {"ncclGetErrorString", (void **)&nccl.get_error_string, true},
    {"ncclGetUniqueId", (void **)&nccl.get_unique_id, true},
    {"ncclCommInitRank", (void **)&nccl.comm_init_rank, true},
    {"ncclCommDestroy", (void **)&nccl.comm_destroy, true},
    {"ncclAllReduce", (void **)&nccl.all_reduce, true},
    {"ncclAllGather", (void **)&nccl.all_gather, true},
    {"ncclGetLastError", (void **)&nccl.get_last_error, false},
    {"ncclCommGetAsyncError", (void **)&nccl.get_async_error, false},
};

static const ncclDataType_t types[LP_NDTYPES] = {
    [LP_FLOAT] = ncclFloat32, [LP_DOUBLE] = ncclFloat64,    [LP_INT32] = ncclInt32,
    [LP_HALF] = ncclFloat16,  [LP_BFLOAT16] = ncclBfloat16,
};

static const ncclRedOp_t redops[LP_NREDOPS] = {[LP_SUM] = ncclSum, [LP_MIN] = ncclMin, [LP_MAX] = ncclMax};

struct lp_comm {
    ncclComm_t comm;
    int rank, nranks;
};

/* The file a symbol came from, links followed: libnccl.so.2 says nothing, libnccl.so.2.28.3 does. */
static void note_path(void)
{
    Dl_info info;
    char *real;

    if (!dladdr(*symbols[0].slot, &info) || !info.dli_fname)
        return;
    real = realpath(info.dli_fname, NULL);
    snprintf(nccl.path, sizeof(nccl.path), "%s", real ? real : info.dli_fname);
    free(real);
}

static enum lp_status load(const char *path, struct lp_reason *why)
{
    const char *name = path ? path : "libnccl.so.2";
    void *handle;

    if (nccl.handle)
        return LP_OK;
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return lp_because(why, LP_ERR_ENV, "cannot open NCCL: %s", dlerror()); /* names the file */
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        *symbols[i].slot = dlsym(handle, symbols[i].name);
        if (!*symbols[i].slot && symbols[i].required) {
            dlclose(handle);
            return lp_because(why, LP_ERR_ENV, "%s has no %s: not NCCL, or too old", name, symbols[i].name);
        }
    }
    nccl.handle = handle;
    note_path();
    return LP_OK;
}

static void describe(char *version, size_t version_cap, char *path, size_t path_cap)
{
    int code = 0;

    snprintf(path, path_cap, "%s", nccl.path);
    if (!nccl.handle || nccl.get_version(&code) != ncclSuccess)
        snprintf(version, version_cap, "unknown");
    else if (code >= 10000) /* since 2.9: 2.28.3 is 22803 */
        snprintf(version, version_cap, "%d.%d.%d", code / 10000, code % 10000 / 100, code % 100);
    else /* before: 2.8.4 is 2804 */
        snprintf(version, version_cap, "%d.%d.%d", code / 1000, code % 1000 / 100, code % 100);
}

static void compiled(char *version, size_t cap)
{
    snprintf(version, cap, "%d.%d.%d", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH);
}

/* NCCL's last warning in one line; "" where it has none to give. It is the process's, and old ones are never cleared. */
static void last_warning(ncclComm_t comm, char *line, size_t cap)
{
    const char *text = nccl.get_last_error ? nccl.get_last_error(comm) : NULL;
    size_t n = 0;

    for (; text && *text && n + 1 < cap; text++) {
        char c = *text == '\n' || *text == '\r' || *text == '\t' ? ' ' : *text;

        if (c != ' ' || (n > 0 && line[n - 1] != ' '))
            line[n++] = c;
    }
    while (n > 0 && line[n - 1] == ' ')
        n--;
    line[n] = '\0';
}

/*
 * Does the warning say that NCCL_ALGO and NCCL_PROTO leave no way to do this collective? 2.24 to 2.30: "no algorithm/protocol
 * available for function ..."; 2.31 words it differently, so anything that names a variable and a lack of support counts.
 */
static bool says_no_algorithm(const char *warning)
{
    const char *no = strcasestr(warning, "no ");

    if (strcasestr(warning, "no algorithm"))
        return true;
    if (!strcasestr(warning, "NCCL_ALGO") && !strcasestr(warning, "NCCL_PROTO"))
        return false;
    return strcasestr(warning, "not supported") || strcasestr(warning, "unsupported") || strcasestr(warning, "not available") ||
           (no && strcasestr(no, " available"));
}

/* The reason for a call that failed; what is the call in words. */
static enum lp_status failed(ncclResult_t result, ncclComm_t comm, const char *what, struct lp_reason *why)
{
    enum lp_status st = LP_ERR_FAILED;
    char warning[320];

    last_warning(comm, warning, sizeof(warning));
    if ((result == ncclInvalidUsage || result == ncclInvalidArgument) && says_no_algorithm(warning))
        st = LP_ERR_UNSUPPORTED;
    else if (result == ncclUnhandledCudaError && strcasestr(warning, "out of memory"))
        st = LP_ERR_MEMORY; /* NCCL says no more than "unhandled cuda error" in its result */
    return lp_because(why, st, "%s: %s%s%s", what, nccl.get_error_string(result), warning[0] ? ": " : "", warning);
}

static enum lp_status make_id(char *id, struct lp_reason *why)
{
    ncclUniqueId unique;
    ncclResult_t result = nccl.get_unique_id(&unique);

    _Static_assert(2 * sizeof(unique) < LP_COMM_ID_MAX, "an id fits");
    if (result != ncclSuccess)
        return failed(result, NULL, "ncclGetUniqueId", why);
    for (size_t i = 0; i < sizeof(unique); i++)
        snprintf(id + 2 * i, 3, "%02x", (unsigned char)unique.internal[i]);
    return LP_OK;
}

static bool parse_id(const char *id, ncclUniqueId *unique)
{
    if (strlen(id) != 2 * sizeof(*unique) || strspn(id, "0123456789abcdef") != 2 * sizeof(*unique))
        return false;
    for (size_t i = 0; i < sizeof(*unique); i++) {
        unsigned byte = 0;

        sscanf(id + 2 * i, "%2x", &byte);
        unique->internal[i] = (char)byte;
    }
    return true;
}

/* Blocking: a non-blocking communicator starts a thread for every call in 2.28, which the timing would show. */
static enum lp_status comm_create(const struct lp_comm_config *config, struct lp_comm **out, struct lp_reason *why)
{
    struct lp_comm *comm;
    ncclUniqueId unique;
    ncclResult_t result;
    char what[96];

    *out = NULL;
    if (!parse_id(config->id, &unique))
        return lp_because(why, LP_ERR_PARSE, "not a NCCL id: '%.40s'", config->id);
    comm = calloc(1, sizeof(*comm));
    if (!comm)
        return lp_because(why, LP_ERR_MEMORY, "no host memory for a communicator");
    comm->rank = config->rank;
    comm->nranks = config->nranks;
    result = nccl.comm_init_rank(&comm->comm, config->nranks, unique, config->rank);
    if (result != ncclSuccess) {
        free(comm);
        snprintf(what, sizeof(what), "ncclCommInitRank as rank %d of %d", config->rank, config->nranks);
        return failed(result, NULL, what, why);
    }
    *out = comm;
    return LP_OK;
}

static void comm_destroy(struct lp_comm *comm)
{
    if (!comm)
        return;
    nccl.comm_destroy(comm->comm); /* nothing to do about a failure: the worker ends soon */
    free(comm);
}

static void async_error(struct lp_comm *comm, char *text, size_t cap)
{
    ncclResult_t result = ncclSuccess;

    text[0] = '\0';
    if (!nccl.get_async_error || nccl.get_async_error(comm->comm, &result) != ncclSuccess || result == ncclSuccess)
        return;
    snprintf(text, cap, "%s", result == ncclInProgress ? "in progress" : nccl.get_error_string(result));
}

/* The reason of a collective that failed. */
static enum lp_status call_failed(ncclResult_t result, struct lp_comm *comm, const char *call, size_t count, enum lp_dtype dtype,
                                  struct lp_reason *why)
{
    char what[128];

    snprintf(what, sizeof(what), "%s of %zu %s on rank %d of %d", call, count, lp_dtype_name(dtype), comm->rank, comm->nranks);
    return failed(result, comm->comm, what, why);
}

static enum lp_status all_reduce(struct lp_comm *comm, const void *send, void *recv, size_t count, enum lp_dtype dtype,
                                 enum lp_redop redop, struct lp_stream *stream, struct lp_reason *why)
{
    ncclResult_t result = nccl.all_reduce(send, recv, count, types[dtype], redops[redop], comm->comm, stream->stream);

    return result == ncclSuccess ? LP_OK : call_failed(result, comm, "ncclAllReduce", count, dtype, why);
}

static enum lp_status all_gather(struct lp_comm *comm, const void *send, void *recv, size_t count, enum lp_dtype dtype,
                                 struct lp_stream *stream, struct lp_reason *why)
{
    ncclResult_t result = nccl.all_gather(send, recv, count, types[dtype], comm->comm, stream->stream);

    return result == ncclSuccess ? LP_OK : call_failed(result, comm, "ncclAllGather", count, dtype, why);
}

extern const struct lp_library_ops lp_library_nccl;
const struct lp_library_ops lp_library_nccl = {
    .name = "nccl",
    .load = load,
    .describe = describe,
    .compiled = compiled,
    .make_id = make_id,
    .comm_create = comm_create,
    .comm_destroy = comm_destroy,
    .async_error = async_error,
    .all_reduce = all_reduce,
    .all_gather = all_gather,
};
