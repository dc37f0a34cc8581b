/*
 * A device: memory, streams, events, graphs, copies and checks of one GPU, or of host memory. One table of functions per
 * kind; a slot left NULL is "unsupported" with its name. Every call says which device it means by the struct it takes.
 */
#ifndef LP_WORKER_DEVICE_H
#define LP_WORKER_DEVICE_H

#include "base/status.h"
#include "model/dtype.h"
#include "model/pattern.h"
#include "worker/flags.h"

#include <stdbool.h>
#include <stddef.h>

#define LP_HANDLE_MAX 256

struct lp_device;
struct lp_stream;
struct lp_event_mark;
struct lp_graph;
struct lp_gate;

/* Memory that a device can read and write: its own, or a peer's that was imported or is reachable by peer access. */
struct lp_buffer {
    void *ptr;
    size_t bytes;
    int device;  /* index of the device that holds it; -1 in another process */
    void *owner; /* the device's own bookkeeping */
};

/* What a verify found. */
struct lp_mismatch {
    uint64_t elements;     /* that differ */
    uint64_t first_offset; /* element index of the first one; only with elements > 0 */
};

/* What a device is, without making a context on it. */
struct lp_device_info {
    char name[128], uuid[64], pci[32]; /* "" where there is none */
    size_t memory_bytes;
    int cc_major, cc_minor; /* compute capability */
    double memory_gbps;     /* what its memory can do in theory, reads and writes together; NaN: unknown */
    bool exclusive;         /* takes one process at a time */
};

struct lp_device_ops {
    const char *name; /* "cuda", "host" */

    /* Versions as text, "" where there is none. */
    void (*versions)(char *driver, size_t driver_cap, char *runtime, size_t runtime_cap);
    enum lp_status (*describe)(int index, struct lp_device_info *out, struct lp_reason *why);

    /* Number of devices this process sees. LP_ERR_ENV with words for the user when the driver is there and not usable. */
    enum lp_status (*count)(int *n, struct lp_reason *why);
    /* Makes the device's context; loads the kernels. */
    enum lp_status (*open)(int index, struct lp_device **out, struct lp_reason *why);
    void (*close)(struct lp_device *device);
    /* Makes the device current for the calling thread; libraries need it before they are called. */
    enum lp_status (*select)(struct lp_device *device, struct lp_reason *why);

    enum lp_status (*alloc)(struct lp_device *device, size_t bytes, struct lp_buffer *out, struct lp_reason *why);
    void (*free)(struct lp_device *device, struct lp_buffer *buffer);
    /* A handle (text, at most LP_HANDLE_MAX with its NUL) by which another process of this host maps the buffer. */
    enum lp_status (*export_buffer)(struct lp_device *device, const struct lp_buffer *buffer, char *handle, struct lp_reason *why);
    enum lp_status (*import_buffer)(struct lp_device *device, const char *handle, size_t bytes, struct lp_buffer *out,
                                    struct lp_reason *why);
    void (*drop_import)(struct lp_device *device, struct lp_buffer *buffer);

    /* Host memory for copies to and from the device: pinned, which its copy engines reach, or plain (pageable), already touched. */
    enum lp_status (*host_alloc)(struct lp_device *device, size_t bytes, bool pinned, struct lp_buffer *out, struct lp_reason *why);
    void (*host_free)(struct lp_device *device, struct lp_buffer *buffer);

    /* May kernels and copies of device `index` reach the memory of `peer` directly? The driver's word, nothing tried. */
    enum lp_status (*can_access)(int index, int peer, bool *yes, struct lp_reason *why);
    enum lp_status (*enable_access)(struct lp_device *device, int peer, struct lp_reason *why);

    /* Element i of ptr becomes rank's input i (model/pattern). */
    enum lp_status (*fill)(struct lp_device *device, struct lp_stream *stream, void *ptr, enum lp_dtype dtype, size_t count,
                           struct lp_pattern pattern, int rank, struct lp_reason *why);
    /* Bytes that no right result holds. */
    enum lp_status (*poison)(struct lp_device *device, struct lp_stream *stream, void *ptr, size_t bytes, struct lp_reason *why);
    /* Zeros; and a few bytes of the device's memory, which it waits for. */
    enum lp_status (*clear)(struct lp_device *device, struct lp_stream *stream, void *ptr, size_t bytes, struct lp_reason *why);
    enum lp_status (*peek)(struct lp_device *device, struct lp_stream *stream, const void *ptr, size_t bytes, void *out,
                           struct lp_reason *why);
    /* Compares every element of the segments; adds to *found (and keeps its first offset if that is smaller). Waits. */
    enum lp_status (*verify)(struct lp_device *device, struct lp_stream *stream, const void *ptr, enum lp_dtype dtype,
                             struct lp_pattern pattern, const struct lp_segment *segments, size_t nsegments,
                             struct lp_mismatch *found, struct lp_reason *why);

    enum lp_status (*stream_create)(struct lp_device *device, struct lp_stream **out, struct lp_reason *why);
    void (*stream_free)(struct lp_stream *stream);
    enum lp_status (*stream_sync)(struct lp_stream *stream, struct lp_reason *why);
    enum lp_status (*mark_create)(struct lp_device *device, struct lp_event_mark **out, struct lp_reason *why);
    /* For stream_wait only, and quicker in it: no time can be read from it. */
    enum lp_status (*order_mark_create)(struct lp_device *device, struct lp_event_mark **out, struct lp_reason *why);
    void (*mark_free)(struct lp_event_mark *mark);
    enum lp_status (*mark_record)(struct lp_event_mark *mark, struct lp_stream *stream, struct lp_reason *why);
    /* What is queued on the stream from now on waits for the mark as it was last recorded, on whichever device that was. */
    enum lp_status (*stream_wait)(struct lp_stream *stream, struct lp_event_mark *mark, struct lp_reason *why);
    /* Both marks must have been reached. */
    enum lp_status (*mark_elapsed)(struct lp_event_mark *start, struct lp_event_mark *stop, double *us, struct lp_reason *why);

    /* Between begin and end, calls on the stream are recorded and not run. end writes NULL on failure; always call it. */
    enum lp_status (*capture_begin)(struct lp_stream *stream, struct lp_reason *why);
    enum lp_status (*capture_end)(struct lp_stream *stream, struct lp_graph **out, struct lp_reason *why);
    enum lp_status (*graph_launch)(struct lp_graph *graph, struct lp_stream *stream, struct lp_reason *why);
    void (*graph_free)(struct lp_graph *graph);

    /* dst = src by the device's copy engine (or memcpy); each may lie on this device, on a peer, or be an import. */
    enum lp_status (*copy)(struct lp_device *device, struct lp_stream *stream, struct lp_buffer dst, size_t dst_off,
                           struct lp_buffer src, size_t src_off, size_t bytes, struct lp_reason *why);
    /* dst = src by a kernel of this device that stores 16 bytes a thread. Needs 16-byte alignment. */
    enum lp_status (*kernel_copy)(struct lp_device *device, struct lp_stream *stream, void *dst, const void *src, size_t bytes,
                                  struct lp_reason *why);

    /* dst = src by the call that programs use who know nothing of streams; it has arrived when this returns. */
    enum lp_status (*copy_plain)(struct lp_device *device, struct lp_buffer dst, size_t dst_off, struct lp_buffer src,
                                 size_t src_off, size_t bytes, struct lp_reason *why);

    /*
     * A list of pointers through `bytes` of memory at `list`, which this device reaches, a cache line apart and round in a
     * ring; and one thread that follows `steps` of them from the start. Where it came to is written to *end, on this device.
     * which: number of the operation; other ones run on other processors. The list is only good for the device that made it.
     */
    enum lp_status (*chase_make)(struct lp_device *device, struct lp_stream *stream, void *list, size_t bytes,
                                 struct lp_reason *why);
    enum lp_status (*chase)(struct lp_device *device, struct lp_stream *stream, const void *list, unsigned steps, unsigned which,
                            void *end, struct lp_reason *why);
    /* The pointer that a chase of so many steps ends at. */
    const void *(*chase_end)(const void *list, size_t bytes, unsigned steps);

    /*
     * One side of an exchange of flags: `rounds` times it writes the next number after `value` to *theirs and waits for it in
     * *mine; the side that is not first waits before it writes. Two words of 32 bits, in the memory of the two sides. A
     * side that waits in vain for seconds fails.
     */
    enum lp_status (*exchange)(struct lp_device *device, struct lp_stream *stream, void *mine, void *theirs, uint32_t value,
                               unsigned rounds, bool first, struct lp_reason *why);

    /*
     * One rank's part in a round of a ring: dst, in the next rank's memory, = src as kernel_copy does it; then `next` is told, and
     * the round is over here when `mine` was told by the rank before that its data has come. Rounds are counted in the flags, by
     * the operation itself, so that a graph of it can be replayed: all ranks do as many. Any number of bytes, 0 too. A
     * rank that waits in vain for seconds fails.
     */
    enum lp_status (*pass_on)(struct lp_device *device, struct lp_stream *stream, void *dst, const void *src, size_t bytes,
                              struct lp_flags *mine, struct lp_flags *next, struct lp_reason *why);

    /*
     * A gate holds any number of streams (of several devices of this process) until it is opened, so that what is queued
     * behind it starts without the time of queueing. It opens itself after 100 ms; open then says so: *late = true voids
     * the sample.
     */
    enum lp_status (*gate_create)(struct lp_device *device, struct lp_gate **out, struct lp_reason *why);
    void (*gate_free)(struct lp_gate *gate);
    enum lp_status (*gate_close)(struct lp_gate *gate, struct lp_reason *why);
    enum lp_status (*gate_hold)(struct lp_gate *gate, struct lp_device *device, struct lp_stream *stream, struct lp_reason *why);
    enum lp_status (*gate_open)(struct lp_gate *gate, struct lp_reason *why);
    /* After the streams are synchronised. */
    enum lp_status (*gate_was_late)(struct lp_gate *gate, bool *late, struct lp_reason *why);

    /* Bytes free and in all on the device now. */
    enum lp_status (*memory)(struct lp_device *device, size_t *free_bytes, size_t *total_bytes, struct lp_reason *why);
};

/* The device kinds that this worker was built with, first the one to prefer; the list ends with NULL. */
extern const struct lp_device_ops *const lp_devices[];

/* The kind of that name, or NULL. */
const struct lp_device_ops *lp_device_find(const char *name);

#endif
