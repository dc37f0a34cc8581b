/*
 * What the files of the cuda device share: the device itself, and how a CUDA error becomes a reason. For device_cuda*.c
 * only; everybody else goes through lp_device_cuda.
 */
#ifndef LP_WORKER_DEVICE_CUDA_H
#define LP_WORKER_DEVICE_CUDA_H

#include "worker/cuda_stream.h"
#include "worker/device.h"
#include "worker/kernels.h"

#define LP_CUDA_WAIT_NS UINT64_C(5000000000) /* a kernel's wait for another GPU, which takes milliseconds at most */

struct lp_device {
    int index;                  /* of CUDA, in this process */
    int sms;                    /* processors */
    struct lp_verdict *verdict; /* in device memory; one, because verify waits */
    struct lp_verdict *found;   /* its copy in pinned host memory */
};

/*
 * LP_OK for cudaSuccess. Otherwise clears CUDA's last error, so that no later call finds it, and writes "<call>: <CUDA's
 * words> (<name>)"; LP_ERR_MEMORY when memory ran out, LP_ERR_ENV when there is no code for this GPU, else LP_ERR_FAILED.
 */
enum lp_status lp_cuda_check(cudaError_t err, struct lp_reason *why, const char *call, ...) __attribute__((format(printf, 3, 4)));

/* For clean-up, where a failure has no one to go to: only clears the last error. */
void lp_cuda_forget(cudaError_t err);

/* Makes the device current for the calling thread; kernels and allocations go to the current one. */
enum lp_status lp_cuda_select(struct lp_device *device, struct lp_reason *why);

/* device_cuda_memory.c: allocations, sharing between processes, peer access, copies */
enum lp_status lp_cuda_alloc(struct lp_device *device, size_t bytes, struct lp_buffer *out, struct lp_reason *why);
void lp_cuda_free(struct lp_device *device, struct lp_buffer *buffer);
enum lp_status lp_cuda_export(struct lp_device *device, const struct lp_buffer *buffer, char *handle, struct lp_reason *why);
enum lp_status lp_cuda_import(struct lp_device *device, const char *handle, size_t bytes, struct lp_buffer *out,
                              struct lp_reason *why);
void lp_cuda_drop_import(struct lp_device *device, struct lp_buffer *buffer);
enum lp_status lp_cuda_can_access(int index, int peer, bool *yes, struct lp_reason *why);
enum lp_status lp_cuda_enable_access(struct lp_device *device, int peer, struct lp_reason *why);
enum lp_status lp_cuda_copy(struct lp_device *device, struct lp_stream *stream, struct lp_buffer dst, size_t dst_off,
                            struct lp_buffer src, size_t src_off, size_t bytes, struct lp_reason *why);
enum lp_status lp_cuda_copy_plain(struct lp_device *device, struct lp_buffer dst, size_t dst_off, struct lp_buffer src,
                                  size_t src_off, size_t bytes, struct lp_reason *why);
enum lp_status lp_cuda_host_alloc(struct lp_device *device, size_t bytes, bool pinned, struct lp_buffer *out,
                                  struct lp_reason *why);
void lp_cuda_host_free(struct lp_device *device, struct lp_buffer *buffer);
enum lp_status lp_cuda_memory(struct lp_device *device, size_t *free_bytes, size_t *total_bytes, struct lp_reason *why);

/* device_cuda_data.c: everything our own kernels do to data */
enum lp_status lp_cuda_data_open(struct lp_device *device, struct lp_reason *why);
void lp_cuda_data_close(struct lp_device *device);
enum lp_status lp_cuda_fill(struct lp_device *device, struct lp_stream *stream, void *ptr, enum lp_dtype dtype, size_t count,
                            struct lp_pattern pattern, int rank, struct lp_reason *why);
enum lp_status lp_cuda_poison(struct lp_device *device, struct lp_stream *stream, void *ptr, size_t bytes, struct lp_reason *why);
enum lp_status lp_cuda_verify(struct lp_device *device, struct lp_stream *stream, const void *ptr, enum lp_dtype dtype,
                              struct lp_pattern pattern, const struct lp_segment *segments, size_t nsegments,
                              struct lp_mismatch *found, struct lp_reason *why);
enum lp_status lp_cuda_kernel_copy(struct lp_device *device, struct lp_stream *stream, void *dst, const void *src, size_t bytes,
                                   struct lp_reason *why);

enum lp_status lp_cuda_clear(struct lp_device *device, struct lp_stream *stream, void *ptr, size_t bytes, struct lp_reason *why);
enum lp_status lp_cuda_peek(struct lp_device *device, struct lp_stream *stream, const void *ptr, size_t bytes, void *out,
                            struct lp_reason *why);

/* device_cuda_latency.c */
enum lp_status lp_cuda_chase_make(struct lp_device *device, struct lp_stream *stream, void *list, size_t bytes,
                                  struct lp_reason *why);
enum lp_status lp_cuda_chase(struct lp_device *device, struct lp_stream *stream, const void *list, unsigned steps, unsigned which,
                             void *end, struct lp_reason *why);
const void *lp_cuda_chase_end(const void *list, size_t bytes, unsigned steps);
enum lp_status lp_cuda_exchange(struct lp_device *device, struct lp_stream *stream, void *mine, void *theirs, uint32_t value,
                                unsigned rounds, bool first, struct lp_reason *why);

/* device_cuda_exchange.c */
enum lp_status lp_cuda_pass_on(struct lp_device *device, struct lp_stream *stream, void *dst, const void *src, size_t bytes,
                               struct lp_flags *mine, struct lp_flags *next, struct lp_reason *why);

/* device_cuda_gate.c */
enum lp_status lp_cuda_gate_create(struct lp_device *device, struct lp_gate **out, struct lp_reason *why);
void lp_cuda_gate_free(struct lp_gate *gate);
enum lp_status lp_cuda_gate_close(struct lp_gate *gate, struct lp_reason *why);
enum lp_status lp_cuda_gate_hold(struct lp_gate *gate, struct lp_device *device, struct lp_stream *stream, struct lp_reason *why);
enum lp_status lp_cuda_gate_open(struct lp_gate *gate, struct lp_reason *why);
enum lp_status lp_cuda_gate_was_late(struct lp_gate *gate, bool *late, struct lp_reason *why);

#endif
