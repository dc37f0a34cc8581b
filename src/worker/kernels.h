/*
 * The CUDA kernels behind plain C calls: test data, copies by the processors, and the gate's hold. Each launcher only queues
 * on the stream, on the current device, and returns that launch's own error; words for it and waiting are device_cuda's.
 */
#ifndef LP_WORKER_KERNELS_H
#define LP_WORKER_KERNELS_H

#include "model/dtype.h"
#include "model/pattern.h"
#include "worker/flags.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In device memory. Set elements to 0 and first_offset to all ones before the first lp_kernel_verify. */
struct lp_verdict {
    unsigned long long elements;     /* that differ */
    unsigned long long first_offset; /* of the whole buffer, not of the segment */
};

/* In host memory that devices can read and write. Tickets count up, so a hold of an earlier gate can never close again. */
struct lp_gate_page {
    uint32_t opened; /* every hold with a ticket up to this one may go */
    uint32_t late;   /* the last ticket of which a hold released itself */
};

/*
 * Loads all kernels on the current device. CUDA loads a kernel at its first launch otherwise, which would fall into the first
 * timing, and may wait for the device while a hold keeps it busy.
 */
cudaError_t lp_kernels_load(void);

/* sms: processors of the device; the grids are sized by them. */
cudaError_t lp_kernel_fill(void *ptr, enum lp_dtype dtype, size_t count, struct lp_pattern pattern, int rank, int sms,
                           cudaStream_t stream);
/* Compares the bits of every element of one segment and adds to *verdict. */
cudaError_t lp_kernel_verify(const void *ptr, enum lp_dtype dtype, struct lp_pattern pattern, struct lp_segment segment,
                             struct lp_verdict *verdict, int sms, cudaStream_t stream);
/* Both pointers at multiples of 16; any number of bytes. */
cudaError_t lp_kernel_copy(void *dst, const void *src, size_t bytes, int sms, cudaStream_t stream);
/* A ring of pointers at every LP_CHASE_LINE-th byte of the list; and one thread that follows `steps` of them from its start, in
 * block `which` of as many as there are processors. */
#define LP_CHASE_LINE 128
cudaError_t lp_kernel_chase_make(void *list, size_t bytes, cudaStream_t stream);
cudaError_t lp_kernel_chase(const void *list, unsigned steps, unsigned which, void **end, int sms, cudaStream_t stream);
/* One side of an exchange (device.h); after limit_ns in vain it traps, which the next call on the device reports. */
cudaError_t lp_kernel_exchange(uint32_t *mine, uint32_t *theirs, uint32_t value, unsigned rounds, int first, uint64_t limit_ns,
                               cudaStream_t stream);
/* One rank's part in a round of a ring (device.h); the pointers as lp_kernel_copy has them, flags in device memory. Traps likewise.
 */
cudaError_t lp_kernel_pass_on(void *dst, const void *src, size_t bytes, struct lp_flags *mine, struct lp_flags *next, int sms,
                              uint64_t limit_ns, cudaStream_t stream);
/* Keeps the stream until page->opened reaches the ticket, at most limit_ns; then it notes itself as late and goes. */
cudaError_t lp_kernel_hold(struct lp_gate_page *page, uint32_t ticket, uint64_t limit_ns, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
