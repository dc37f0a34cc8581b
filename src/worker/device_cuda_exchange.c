/* Rounds of a ring on the cuda device. Which rank is next, and where the flags are, is p2p's. */
#include "worker/device_cuda.h"

enum lp_status lp_cuda_pass_on(struct lp_device *device, struct lp_stream *stream, void *dst, const void *src, size_t bytes,
                               struct lp_flags *mine, struct lp_flags *next, struct lp_reason *why)
{
    enum lp_status st;

    if ((uintptr_t)dst % 16 != 0 || (uintptr_t)src % 16 != 0)
        return lp_because(why, LP_ERR_ARG, "an exchange needs addresses at multiples of 16: %p from %p", dst, src);
    st = lp_cuda_select(device, why);
    if (st == LP_OK)
        st = lp_cuda_check(lp_kernel_pass_on(dst, src, bytes, mine, next, device->sms, LP_CUDA_WAIT_NS, stream->stream), why,
                           "exchange kernel (%zu bytes) on GPU %d", bytes, device->index);
    return st;
}
