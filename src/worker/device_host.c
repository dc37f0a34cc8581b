/*
 * The host device: memory of this machine as if it were a GPU's. Streams are host_stream's, elements host_data's, and sharing
 * between processes is page's.
 */
#include "worker/device.h"

#include "worker/host_data.h"
#include "worker/host_stream.h"
#include "worker/page.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lp_device {
    int index;
};

static enum lp_status out_of_memory(struct lp_reason *why)
{
    return lp_because(why, LP_ERR_MEMORY, "out of memory");
}

/* One, and open takes any index: what stands for several GPUs is several processes. */
static enum lp_status host_count(int *n, struct lp_reason *why)
{
    (void)why;
    *n = 1;
    return LP_OK;
}

static enum lp_status host_open(int index, struct lp_device **out, struct lp_reason *why)
{
    struct lp_device *device = malloc(sizeof(*device));

    if (!device)
        return out_of_memory(why);
    device->index = index;
    *out = device;
    return LP_OK;
}

static void host_close(struct lp_device *device)
{
    free(device);
}

static enum lp_status host_select(struct lp_device *device, struct lp_reason *why)
{
    (void)device;
    (void)why;
    return LP_OK;
}

/* A buffer's owner field is its descriptor and one more, so that NULL, as in an import, is none. */
static int descriptor(const struct lp_buffer *buffer)
{
    return (int)(intptr_t)buffer->owner - 1;
}

static enum lp_status host_alloc(struct lp_device *device, size_t bytes, struct lp_buffer *out, struct lp_reason *why)
{
    enum lp_status st;
    void *ptr;
    int fd;

    st = lp_shared_create(bytes, &ptr, &fd, why);
    if (st == LP_OK)
        *out = (struct lp_buffer){.ptr = ptr, .bytes = bytes, .device = device->index, .owner = (void *)((intptr_t)fd + 1)};
    return st;
}

/* Also drops imports: only the descriptor differs. */
static void host_free(struct lp_device *device, struct lp_buffer *buffer)
{
    (void)device;
    lp_shared_close(buffer->ptr, buffer->bytes, descriptor(buffer));
    *buffer = (struct lp_buffer){0};
}

static enum lp_status host_export(struct lp_device *device, const struct lp_buffer *buffer, char *handle, struct lp_reason *why)
{
    (void)device;
    if (!buffer->owner)
        return lp_because(why, LP_ERR_ARG, "only memory of this process can be exported");
    lp_shared_handle(descriptor(buffer), handle, LP_HANDLE_MAX);
    return LP_OK;
}

static enum lp_status host_import(struct lp_device *device, const char *handle, size_t bytes, struct lp_buffer *out,
                                  struct lp_reason *why)
{
    enum lp_status st;
    void *ptr;

    (void)device;
    st = lp_shared_open(handle, bytes, &ptr, why);
    if (st == LP_OK)
        *out = (struct lp_buffer){.ptr = ptr, .bytes = bytes, .device = -1};
    return st;
}

static enum lp_status host_can_access(int index, int peer, bool *yes, struct lp_reason *why)
{
    (void)index;
    (void)peer;
    (void)why;
    *yes = true;
    return LP_OK;
}

static enum lp_status host_enable_access(struct lp_device *device, int peer, struct lp_reason *why)
{
    (void)device;
    (void)peer;
    (void)why;
    return LP_OK;
}

struct fill_args {
    void *ptr;
    size_t count;
    struct lp_pattern pattern;
    enum lp_dtype dtype;
    int rank;
};

static enum lp_status run_fill(const void *args, struct lp_reason *why)
{
    const struct fill_args *fill = args;

    return lp_host_fill(fill->ptr, fill->dtype, fill->count, fill->pattern, fill->rank, why);
}

static enum lp_status host_fill(struct lp_device *device, struct lp_stream *stream, void *ptr, enum lp_dtype dtype, size_t count,
                                struct lp_pattern pattern, int rank, struct lp_reason *why)
{
    struct fill_args fill = {.ptr = ptr, .count = count, .pattern = pattern, .dtype = dtype, .rank = rank};

    (void)device;
    return lp_host_stream_submit(stream, run_fill, &fill, sizeof(fill), why);
}

struct bytes_args {
    void *dst;
    const void *src;
    size_t bytes;
};

/* As a floating point number NaN, as a whole one -1: no sum of small whole numbers. */
static enum lp_status run_poison(const void *args, struct lp_reason *why)
{
    const struct bytes_args *poison = args;

    (void)why;
    memset(poison->dst, 0xff, poison->bytes);
    return LP_OK;
}

static enum lp_status host_poison(struct lp_device *device, struct lp_stream *stream, void *ptr, size_t bytes,
                                  struct lp_reason *why)
{
    struct bytes_args poison = {.dst = ptr, .bytes = bytes};

    (void)device;
    return lp_host_stream_submit(stream, run_poison, &poison, sizeof(poison), why);
}

static enum lp_status run_clear(const void *args, struct lp_reason *why)
{
    const struct bytes_args *clear = args;

    (void)why;
    memset(clear->dst, 0, clear->bytes);
    return LP_OK;
}

static enum lp_status host_clear(struct lp_device *device, struct lp_stream *stream, void *ptr, size_t bytes, struct lp_reason *why)
{
    struct bytes_args clear = {.dst = ptr, .bytes = bytes};

    (void)device;
    return lp_host_stream_submit(stream, run_clear, &clear, sizeof(clear), why);
}

static enum lp_status host_peek(struct lp_device *device, struct lp_stream *stream, const void *ptr, size_t bytes, void *out,
                                struct lp_reason *why)
{
    (void)device;
    (void)stream;
    (void)why;
    memcpy(out, ptr, bytes);
    return LP_OK;
}

struct exchange_args {
    uint32_t *mine, *theirs, value;
    unsigned rounds;
    bool first;
};

/* Yields while it waits: the other side may need this CPU. How long that may take is the controller's to say. */
static enum lp_status run_exchange(const void *args, struct lp_reason *why)
{
    const struct exchange_args *side = args;

    (void)why;
    for (uint32_t i = 1; i <= side->rounds; i++) {
        if (side->first)
            __atomic_store_n(side->theirs, side->value + i, __ATOMIC_RELEASE);
        while (__atomic_load_n(side->mine, __ATOMIC_ACQUIRE) != side->value + i)
            sched_yield();
        if (!side->first)
            __atomic_store_n(side->theirs, side->value + i, __ATOMIC_RELEASE);
    }
    return LP_OK;
}

static enum lp_status host_exchange(struct lp_device *device, struct lp_stream *stream, void *mine, void *theirs, uint32_t value,
                                    unsigned rounds, bool first, struct lp_reason *why)
{
    struct exchange_args side = {.mine = mine, .theirs = theirs, .value = value, .rounds = rounds, .first = first};

    (void)device;
    return lp_host_stream_submit(stream, run_exchange, &side, sizeof(side), why);
}

struct pass_args {
    void *dst;
    const void *src;
    size_t bytes;
    struct lp_flags *mine, *next;
};

/* The rank before may be some rounds ahead where there are more than two: it never writes a smaller number. Yields likewise. */
static enum lp_status run_pass(const void *args, struct lp_reason *why)
{
    const struct pass_args *pass = args;
    uint32_t round = ++pass->mine->passed;

    (void)why;
    memcpy(pass->dst, pass->src, pass->bytes);
    __atomic_store_n(&pass->next->arrived, round, __ATOMIC_RELEASE);
    while ((int32_t)(__atomic_load_n(&pass->mine->arrived, __ATOMIC_ACQUIRE) - round) < 0)
        sched_yield();
    return LP_OK;
}

static enum lp_status host_pass_on(struct lp_device *device, struct lp_stream *stream, void *dst, const void *src, size_t bytes,
                                   struct lp_flags *mine, struct lp_flags *next, struct lp_reason *why)
{
    struct pass_args pass = {.dst = dst, .src = src, .bytes = bytes, .mine = mine, .next = next};

    (void)device;
    return lp_host_stream_submit(stream, run_pass, &pass, sizeof(pass), why);
}

static enum lp_status host_verify(struct lp_device *device, struct lp_stream *stream, const void *ptr, enum lp_dtype dtype,
                                  struct lp_pattern pattern, const struct lp_segment *segments, size_t nsegments,
                                  struct lp_mismatch *found, struct lp_reason *why)
{
    enum lp_status st = lp_host_refuse_in_capture(stream, "verify", why);

    (void)device;
    if (st != LP_OK)
        return st;
    return lp_host_verify(ptr, dtype, pattern, segments, nsegments, found, why);
}

static enum lp_status run_copy(const void *args, struct lp_reason *why)
{
    const struct bytes_args *copy = args;

    (void)why;
    memcpy(copy->dst, copy->src, copy->bytes);
    return LP_OK;
}

static bool holds(struct lp_buffer buffer, size_t offset, size_t bytes)
{
    return offset <= buffer.bytes && bytes <= buffer.bytes - offset;
}

static enum lp_status host_copy(struct lp_device *device, struct lp_stream *stream, struct lp_buffer dst, size_t dst_off,
                                struct lp_buffer src, size_t src_off, size_t bytes, struct lp_reason *why)
{
    struct bytes_args copy = {.bytes = bytes};

    (void)device;
    if (!holds(dst, dst_off, bytes) || !holds(src, src_off, bytes))
        return lp_because(why, LP_ERR_ARG, "a copy of %zu bytes from %zu of %zu to %zu of %zu", bytes, src_off, src.bytes, dst_off,
                          dst.bytes);
    copy.dst = (char *)dst.ptr + dst_off;
    copy.src = (const char *)src.ptr + src_off;
    return lp_host_stream_submit(stream, run_copy, &copy, sizeof(copy), why);
}

/* In bytes, from /proc/meminfo. */
static enum lp_status read_meminfo(size_t *available, size_t *total, struct lp_reason *why)
{
    FILE *file = fopen("/proc/meminfo", "re");
    uint64_t available_kib = 0, total_kib = 0;
    char line[128];

    if (!file)
        return lp_because(why, LP_ERR_IO, "cannot open /proc/meminfo");
    while (fgets(line, sizeof(line), file)) {
        sscanf(line, "MemAvailable: %" SCNu64, &available_kib);
        sscanf(line, "MemTotal: %" SCNu64, &total_kib);
    }
    fclose(file);
    if (total_kib == 0)
        return lp_because(why, LP_ERR_IO, "/proc/meminfo has no MemTotal");
    *available = (size_t)available_kib * 1024;
    *total = (size_t)total_kib * 1024;
    return LP_OK;
}

static enum lp_status host_memory(struct lp_device *device, size_t *free_bytes, size_t *total_bytes, struct lp_reason *why)
{
    (void)device;
    return read_meminfo(free_bytes, total_bytes, why);
}

static void host_versions(char *driver, size_t driver_cap, char *runtime, size_t runtime_cap)
{
    snprintf(driver, driver_cap, "%s", "");
    snprintf(runtime, runtime_cap, "%s", "");
}

static enum lp_status host_describe(int index, struct lp_device_info *out, struct lp_reason *why)
{
    struct lp_device_info info = {.name = "host memory", .memory_gbps = (double)NAN};
    size_t available;
    enum lp_status st;

    (void)index;
    st = read_meminfo(&available, &info.memory_bytes, why);
    if (st == LP_OK)
        *out = info;
    return st;
}

extern const struct lp_device_ops lp_device_host;
const struct lp_device_ops lp_device_host = {
    .name = "host",
    .versions = host_versions,
    .describe = host_describe,
    .count = host_count,
    .open = host_open,
    .close = host_close,
    .select = host_select,
    .alloc = host_alloc,
    .free = host_free,
    .export_buffer = host_export,
    .import_buffer = host_import,
    .drop_import = host_free,
    .can_access = host_can_access,
    .enable_access = host_enable_access,
    .fill = host_fill,
    .poison = host_poison,
    .clear = host_clear,
    .peek = host_peek,
    .verify = host_verify,
    .stream_create = lp_host_stream_create,
    .stream_free = lp_host_stream_free,
    .stream_sync = lp_host_stream_sync,
    .mark_create = lp_host_mark_create,
    .mark_free = lp_host_mark_free,
    .mark_record = lp_host_mark_record,
    .mark_elapsed = lp_host_mark_elapsed,
    .capture_begin = lp_host_capture_begin,
    .capture_end = lp_host_capture_end,
    .graph_launch = lp_host_graph_launch,
    .graph_free = lp_host_graph_free,
    .copy = host_copy,
    .exchange = host_exchange,
    .pass_on = host_pass_on,
    .memory = host_memory,
};
