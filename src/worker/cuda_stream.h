/*
 * How the cuda device holds a stream: for device_cuda, and for libraries that queue on it (lib_nccl). Streams of the host
 * device look different; a library is only ever given streams of its own device kind.
 */
#ifndef LP_WORKER_CUDA_STREAM_H
#define LP_WORKER_CUDA_STREAM_H

#include <cuda_runtime_api.h>

struct lp_device;

struct lp_stream {
    cudaStream_t stream;
    struct lp_device *device; /* that it belongs to */
};

#endif
