/*
 * Test data on the cuda device, and copies by its processors: queues our kernels and reads what they found. What the values
 * mean is model/pattern's; what is checked and when is check's.
 */
#include "worker/device_cuda.h"

#include <stdint.h>

enum lp_status lp_cuda_data_open(struct lp_device *device, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_check(cudaMalloc((void **)&device->verdict, sizeof(*device->verdict)), why,
                                      "cudaMalloc(%zu) on GPU %d", sizeof(*device->verdict), device->index);

    if (st == LP_OK)
        st = lp_cuda_check(cudaMallocHost((void **)&device->found, sizeof(*device->found)), why, "cudaMallocHost(%zu)",
                           sizeof(*device->found));
    return st;
}

/* Safe after an open that failed half way. */
void lp_cuda_data_close(struct lp_device *device)
{
    if (lp_cuda_select(device, NULL) != LP_OK)
        return;
    if (device->found)
        lp_cuda_forget(cudaFreeHost(device->found));
    if (device->verdict)
        lp_cuda_forget(cudaFree(device->verdict));
}

enum lp_status lp_cuda_fill(struct lp_device *device, struct lp_stream *stream, void *ptr, enum lp_dtype dtype, size_t count,
                            struct lp_pattern pattern, int rank, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = lp_cuda_check(lp_kernel_fill(ptr, dtype, count, pattern, rank, device->sms, stream->stream), why,
                           "fill kernel (%zu elements of %s) on GPU %d", count, lp_dtype_name(dtype), device->index);
    return st;
}

/* All bits set: a NaN, or for int32 a number below all that the pattern makes. */
enum lp_status lp_cuda_poison(struct lp_device *device, struct lp_stream *stream, void *ptr, size_t bytes, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = lp_cuda_check(cudaMemsetAsync(ptr, 0xff, bytes, stream->stream), why, "cudaMemsetAsync(%zu bytes) on GPU %d", bytes,
                           device->index);
    return st;
}

/* No element wrong yet, and the first wrong one beyond all. */
static enum lp_status clear_verdict(struct lp_device *device, struct lp_stream *stream, struct lp_reason *why)
{
    struct lp_verdict *verdict = device->verdict;
    cudaError_t err = cudaMemsetAsync(&verdict->elements, 0, sizeof(verdict->elements), stream->stream);

    if (err == cudaSuccess)
        err = cudaMemsetAsync(&verdict->first_offset, 0xff, sizeof(verdict->first_offset), stream->stream);
    return lp_cuda_check(err, why, "cudaMemsetAsync(verdict) on GPU %d", device->index);
}

/* Waits. Whatever ran on the stream before and failed shows up here. */
static enum lp_status read_verdict(struct lp_device *device, struct lp_stream *stream, struct lp_reason *why)
{
    cudaError_t err =
        cudaMemcpyAsync(device->found, device->verdict, sizeof(*device->found), cudaMemcpyDeviceToHost, stream->stream);

    if (err == cudaSuccess)
        err = cudaStreamSynchronize(stream->stream);
    return lp_cuda_check(err, why, "reading the verdict of a check on GPU %d", device->index);
}

static void add_mismatch(struct lp_mismatch *found, const struct lp_verdict *verdict)
{
    if (verdict->elements == 0)
        return;
    if (found->elements == 0 || verdict->first_offset < found->first_offset)
        found->first_offset = verdict->first_offset;
    found->elements += verdict->elements;
}

enum lp_status lp_cuda_verify(struct lp_device *device, struct lp_stream *stream, const void *ptr, enum lp_dtype dtype,
                              struct lp_pattern pattern, const struct lp_segment *segments, size_t nsegments,
                              struct lp_mismatch *found, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = clear_verdict(device, stream, why);
    for (size_t i = 0; i < nsegments && st == LP_OK; i++)
        st = lp_cuda_check(lp_kernel_verify(ptr, dtype, pattern, segments[i], device->verdict, device->sms, stream->stream), why,
                           "verify kernel (%llu elements of %s) on GPU %d", (unsigned long long)segments[i].count,
                           lp_dtype_name(dtype), device->index);
    if (st == LP_OK)
        st = read_verdict(device, stream, why);
    if (st == LP_OK)
        add_mismatch(found, device->found);
    return st;
}

enum lp_status lp_cuda_kernel_copy(struct lp_device *device, struct lp_stream *stream, void *dst, const void *src, size_t bytes,
                                   struct lp_reason *why)
{
    enum lp_status st;

    if ((uintptr_t)dst % 16 != 0 || (uintptr_t)src % 16 != 0)
        return lp_because(why, LP_ERR_ARG, "kernel copy needs addresses at multiples of 16: %p from %p", dst, src);
    st = lp_cuda_select(device, why);
    if (st == LP_OK)
        st = lp_cuda_check(lp_kernel_copy(dst, src, bytes, device->sms, stream->stream), why, "copy kernel (%zu bytes) on GPU %d",
                           bytes, device->index);
    return st;
}

enum lp_status lp_cuda_clear(struct lp_device *device, struct lp_stream *stream, void *ptr, size_t bytes, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = lp_cuda_check(cudaMemsetAsync(ptr, 0, bytes, stream->stream), why, "cudaMemsetAsync(%zu bytes) on GPU %d", bytes,
                           device->index);
    return st;
}

enum lp_status lp_cuda_peek(struct lp_device *device, struct lp_stream *stream, const void *ptr, size_t bytes, void *out,
                            struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = lp_cuda_check(cudaMemcpyAsync(out, ptr, bytes, cudaMemcpyDeviceToHost, stream->stream), why,
                           "reading %zu bytes of GPU %d", bytes, device->index);
    return st == LP_OK ? lp_cuda_check(cudaStreamSynchronize(stream->stream), why, "reading GPU %d", device->index) : st;
}
