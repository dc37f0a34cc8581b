/* Latency on the cuda device: pointer chase and exchange of flags. What is chased and who answers is p2p's. */
#include "worker/device_cuda.h"

enum lp_status lp_cuda_chase_make(struct lp_device *device, struct lp_stream *stream, void *list, size_t bytes,
                                  struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = lp_cuda_check(lp_kernel_chase_make(list, bytes, stream->stream), why, "list kernel on GPU %d", device->index);
    return st;
}

/* A step of 37 through the processors: the few operations of a cell are spread over the chip. */
enum lp_status lp_cuda_chase(struct lp_device *device, struct lp_stream *stream, const void *list, unsigned steps, unsigned which,
                             void *end, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = lp_cuda_check(lp_kernel_chase(list, steps, which * 37, (void **)end, device->sms, stream->stream), why,
                           "chase kernel on GPU %d", device->index);
    return st;
}

const void *lp_cuda_chase_end(const void *list, size_t bytes, unsigned steps)
{
    return (const char *)list + steps % (bytes / LP_CHASE_LINE) * LP_CHASE_LINE;
}

enum lp_status lp_cuda_exchange(struct lp_device *device, struct lp_stream *stream, void *mine, void *theirs, uint32_t value,
                                unsigned rounds, bool first, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = lp_cuda_check(lp_kernel_exchange(mine, theirs, value, rounds, first, LP_CUDA_WAIT_NS, stream->stream), why,
                           "exchange kernel on GPU %d", device->index);
    return st;
}
