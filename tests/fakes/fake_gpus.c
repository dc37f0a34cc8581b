/*
 * Fake GPUs: several devices in one process, peer access with its faults, pinned memory, pointer chase and flags. Bytes move
 * by memcpy in the call that queues them; figures mean nothing.
 */
#include "tests/fakes/fake_gpus.h"

#include "tests/fakes/fault.h"
#include "worker/host_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST        16
#define MEMORY      ((size_t)48 << 20) /* of each, as the survey has it: arenas of 16 MiB */
#define LINE        64
#define ALLOCATIONS 256

extern const struct lp_device_ops lp_device_host;

static struct lp_device *opened[MOST];
static bool enabled[MOST][MOST]; /* from, to */

/* What memory is whose: a kernel gets pointers only. -1: mapped from another process. */
static struct {
    const char *ptr;
    size_t bytes;
    int device;
} memory[ALLOCATIONS];

static void note_memory(const void *ptr, size_t bytes, int device)
{
    for (int i = 0; i < ALLOCATIONS; i++)
        if (!memory[i].ptr) {
            memory[i].ptr = ptr;
            memory[i].bytes = bytes;
            memory[i].device = device;
            return;
        }
    abort();
}

static void forget_memory(const void *ptr)
{
    for (int i = 0; i < ALLOCATIONS; i++)
        if (memory[i].ptr == ptr)
            memory[i].ptr = NULL;
}

/* false: it is no GPU's. */
static bool find_memory(const void *ptr, int *device)
{
    for (int i = 0; i < ALLOCATIONS; i++)
        if (memory[i].ptr && (const char *)ptr >= memory[i].ptr && (const char *)ptr < memory[i].ptr + memory[i].bytes) {
            *device = memory[i].device;
            return true;
        }
    return false;
}

static int index_of(const struct lp_device *device)
{
    for (int i = 0; i < MOST; i++)
        if (opened[i] == device)
            return i;
    return -1;
}

/* ---- devices ---- */

static bool is_hidden(void)
{
    return getenv("LINKPERF_FAKE_HIDDEN") != NULL;
}

static enum lp_status count(int *n, struct lp_reason *why)
{
    const char *text = getenv("LINKPERF_FAKE_GPUS");

    (void)why;
    *n = text ? is_hidden() ? 1 : atoi(text) : 0;
    return LP_OK;
}

static enum lp_status describe(int index, struct lp_device_info *out, struct lp_reason *why)
{
    (void)why;
    *out = (struct lp_device_info){.name = "fake GPU", .memory_bytes = MEMORY, .memory_gbps = 20.0, .cc_major = 9};
    if (is_hidden())
        index = fault_rank();
    snprintf(out->pci, sizeof(out->pci), "0000:%02x:00.0", (unsigned)(index + 1) & 0xff);
    snprintf(out->uuid, sizeof(out->uuid), "GPU-fake-%d", index);
    return LP_OK;
}

static enum lp_status open_gpu(int index, struct lp_device **out, struct lp_reason *why)
{
    enum lp_status st = lp_device_host.open(index, out, why);

    opened[index] = st == LP_OK ? *out : NULL;
    return st;
}

static enum lp_status can_access(int index, int peer, bool *yes, struct lp_reason *why)
{
    (void)why;
    *yes = !fault_hits_pair(FAULT_NO_PEER, index, peer);
    return LP_OK;
}

static enum lp_status enable_access(struct lp_device *device, int peer, struct lp_reason *why)
{
    int from = index_of(device);

    if (fault_hits_pair(FAULT_FAKE_PEER, from, peer))
        return lp_because(why, LP_ERR_UNSUPPORTED,
                          "cudaDeviceEnablePeerAccess from GPU %d to %d: mapping failed (cudaErrorMapBufferObjectFailed)", from,
                          peer);
    enabled[from][peer] = true;
    return LP_OK;
}

/* ---- memory ---- */

static enum lp_status alloc(struct lp_device *device, size_t bytes, struct lp_buffer *out, struct lp_reason *why)
{
    enum lp_status st = lp_device_host.alloc(device, bytes, out, why);

    if (st == LP_OK)
        note_memory(out->ptr, bytes, index_of(device));
    return st;
}

static void free_buffer(struct lp_device *device, struct lp_buffer *buffer)
{
    forget_memory(buffer->ptr);
    lp_device_host.free(device, buffer);
}

static enum lp_status import_buffer(struct lp_device *device, const char *handle, size_t bytes, struct lp_buffer *out,
                                    struct lp_reason *why)
{
    enum lp_status st = lp_device_host.import_buffer(device, handle, bytes, out, why);

    if (st == LP_OK && fault_is(FAULT_NO_IPC)) {
        lp_device_host.drop_import(device, out);
        return lp_because(why, LP_ERR_FAILED,
                          "cudaIpcOpenMemHandle: peer access is not supported (cudaErrorPeerAccessUnsupported)");
    }
    if (st == LP_OK)
        note_memory(out->ptr, bytes, -1);
    return st;
}

static void drop_import(struct lp_device *device, struct lp_buffer *buffer)
{
    forget_memory(buffer->ptr);
    lp_device_host.drop_import(device, buffer);
}

static enum lp_status host_alloc(struct lp_device *device, size_t bytes, bool pinned, struct lp_buffer *out, struct lp_reason *why)
{
    (void)device;
    (void)pinned;
    *out = (struct lp_buffer){.ptr = calloc(1, bytes), .bytes = bytes, .device = -1};
    return out->ptr ? LP_OK : lp_because(why, LP_ERR_MEMORY, "out of memory");
}

static void host_free(struct lp_device *device, struct lp_buffer *buffer)
{
    (void)device;
    free(buffer->ptr);
    memset(buffer, 0, sizeof(*buffer));
}

/* ---- copies ---- */

/* Goes from GPU to GPU by peer access, or by a mapping of another process's memory? */
static bool is_peer_copy(const void *dst, const void *src, int *from, int *to)
{
    if (!find_memory(src, from) || !find_memory(dst, to) || *from == *to)
        return false;
    return *from < 0 || *to < 0 || enabled[*from][*to] || enabled[*to][*from];
}

static enum lp_status move(void *dst, const void *src, size_t bytes)
{
    int from, to;
    bool peer = is_peer_copy(dst, src, &from, &to);

    if (peer && fault_hits_pair(FAULT_STALL_PEER, from, to))
        fault_stall();
    for (int i = peer && fault_hits_pair(FAULT_SLOW_PEER, from, to) ? 4 : 0; i > 0; i--)
        memcpy(dst, src, bytes);
    memcpy(dst, src, bytes);
    if (peer && fault_hits_pair(FAULT_CORRUPT_PEER, from, to))
        fault_spoil(dst, bytes, sizeof(float));
    return LP_OK;
}

static enum lp_status copy(struct lp_device *device, struct lp_stream *stream, struct lp_buffer dst, size_t dst_off,
                           struct lp_buffer src, size_t src_off, size_t bytes, struct lp_reason *why)
{
    (void)device;
    (void)stream;
    (void)why;
    return move((char *)dst.ptr + dst_off, (const char *)src.ptr + src_off, bytes);
}

static enum lp_status copy_plain(struct lp_device *device, struct lp_buffer dst, size_t dst_off, struct lp_buffer src,
                                 size_t src_off, size_t bytes, struct lp_reason *why)
{
    return copy(device, NULL, dst, dst_off, src, src_off, bytes, why);
}

static enum lp_status kernel_copy(struct lp_device *device, struct lp_stream *stream, void *dst, const void *src, size_t bytes,
                                  struct lp_reason *why)
{
    (void)device;
    (void)stream;
    (void)why;
    return move(dst, src, bytes);
}

/* ---- order and latency ---- */

static enum lp_status stream_wait(struct lp_stream *stream, struct lp_event_mark *mark, struct lp_reason *why)
{
    (void)stream;
    (void)mark;
    (void)why;
    return LP_OK; /* everything has happened when its call returns */
}

static enum lp_status chase_make(struct lp_device *device, struct lp_stream *stream, void *list, size_t bytes,
                                 struct lp_reason *why)
{
    (void)device;
    (void)stream;
    (void)why;
    for (size_t at = 0; at < bytes; at += LINE)
        *(void **)(void *)((char *)list + at) = (char *)list + (at + LINE) % bytes;
    return LP_OK;
}

static enum lp_status chase(struct lp_device *device, struct lp_stream *stream, const void *list, unsigned steps, unsigned which,
                            void *end, struct lp_reason *why)
{
    const void *at = list;
    int from, to;

    (void)stream;
    (void)which;
    (void)why;
    for (unsigned i = 0; i < steps; i++)
        at = *(void *const *)at;
    if (is_peer_copy(end, list, &from, &to) && fault_hits_pair(FAULT_CORRUPT_PEER, from, index_of(device)))
        at = list;
    *(const void **)end = at;
    return LP_OK;
}

static const void *chase_end(const void *list, size_t bytes, unsigned steps)
{
    return (const char *)list + (size_t)steps * LINE % bytes;
}

struct moved {
    void *dst;
    const void *src;
    size_t bytes;
};

static enum lp_status run_move(const void *args, struct lp_reason *why)
{
    const struct moved *moved = args;

    (void)why;
    return move(moved->dst, moved->src, moved->bytes);
}

/* On the stream, unlike other copies: it may be captured. The flags are the host's. */
static enum lp_status pass_on(struct lp_device *device, struct lp_stream *stream, void *dst, const void *src, size_t bytes,
                              struct lp_flags *mine, struct lp_flags *next, struct lp_reason *why)
{
    struct moved moved = {dst, src, bytes};
    enum lp_status st = bytes ? lp_host_stream_submit(stream, run_move, &moved, sizeof(moved), why) : LP_OK;

    return st == LP_OK ? lp_device_host.pass_on(device, stream, dst, src, 0, mine, next, why) : st;
}

struct lp_device_ops fake_gpus;

static void __attribute__((constructor)) make(void)
{
    fake_gpus = lp_device_host;
    fake_gpus.name = "cuda";
    fake_gpus.count = count;
    fake_gpus.describe = describe;
    fake_gpus.open = open_gpu;
    fake_gpus.can_access = can_access;
    fake_gpus.enable_access = enable_access;
    fake_gpus.alloc = alloc;
    fake_gpus.free = free_buffer;
    fake_gpus.import_buffer = import_buffer;
    fake_gpus.drop_import = drop_import;
    fake_gpus.host_alloc = host_alloc;
    fake_gpus.host_free = host_free;
    fake_gpus.copy = copy;
    fake_gpus.copy_plain = copy_plain;
    fake_gpus.kernel_copy = kernel_copy;
    fake_gpus.order_mark_create = lp_device_host.mark_create;
    fake_gpus.stream_wait = stream_wait;
    fake_gpus.pass_on = pass_on;
    fake_gpus.chase_make = chase_make;
    fake_gpus.chase = chase;
    fake_gpus.chase_end = chase_end;
}
