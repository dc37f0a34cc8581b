/*
 * Kernels that make and compare test data, copy with the processors, and hold a stream. They know sizes and bits; which
 * buffers may be reached, and what an error means, is device_cuda's.
 */
#include "worker/kernels.h"

#include <cuda_fp16.h>

/* How a whole number looks in each type, as bits: comparing bits tells -0 from 0 and never trusts a NaN. */
template <int dtype> struct element;

template <> struct element<LP_FLOAT> {
    typedef uint32_t bits;
    static __device__ bits of(uint32_t value)
    {
        return __float_as_uint((float)value);
    }
};

template <> struct element<LP_DOUBLE> {
    typedef uint64_t bits;
    static __device__ bits of(uint32_t value)
    {
        return (uint64_t)__double_as_longlong((double)value);
    }
};

template <> struct element<LP_INT32> {
    typedef uint32_t bits;
    static __device__ bits of(uint32_t value)
    {
        return value;
    }
};

template <> struct element<LP_HALF> {
    typedef uint16_t bits;
    static __device__ bits of(uint32_t value)
    {
        return __half_as_ushort(__float2half_rn((float)value));
    }
};

/* bfloat16 is the upper half of a float, and the pattern's values need no rounding; so this needs no sm_80. */
template <> struct element<LP_BFLOAT16> {
    typedef uint16_t bits;
    static __device__ bits of(uint32_t value)
    {
        return (uint16_t)(__float_as_uint((float)value) >> 16);
    }
};

static __device__ uint64_t thread_number()
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ uint64_t thread_count()
{
    return (uint64_t)gridDim.x * blockDim.x;
}

template <int dtype> static __global__ void fill(void *ptr, uint64_t count, struct lp_pattern pattern, int32_t rank)
{
    typename element<dtype>::bits *out = (typename element<dtype>::bits *)ptr;

    for (uint64_t i = thread_number(); i < count; i += thread_count())
        out[i] = element<dtype>::of(lp_pattern_input(pattern, rank, i));
}

template <int dtype>
static __global__ void verify(const void *ptr, struct lp_pattern pattern, struct lp_segment segment, struct lp_verdict *verdict)
{
    const typename element<dtype>::bits *in = (const typename element<dtype>::bits *)ptr + segment.out_off;
    unsigned long long wrong = 0, first = ~0ull;

    for (uint64_t i = thread_number(); i < segment.count; i += thread_count())
        if (in[i] != element<dtype>::of(lp_pattern_value(pattern, segment.src_rank, segment.src_off + i))) {
            if (wrong == 0)
                first = segment.out_off + i; /* a thread's offsets only grow */
            wrong++;
        }
    if (wrong > 0) {
        atomicAdd(&verdict->elements, wrong);
        atomicMin(&verdict->first_offset, first);
    }
}

/*
 * One block of 512 threads a processor and 12 loads in flight in each thread, 96 KiB a processor: far more than latency x
 * bandwidth of any link or of the card's own memory. With each step all threads together cover one contiguous stretch,
 * which is what NVLink packets and memory pages like. nvbandwidth's SM copy has this shape too, so the figures compare.
 */
#define COPY_THREADS 512
#define COPY_LOADS   12

/* The part of this thread, in a grid of blocks of COPY_THREADS. */
static __device__ __forceinline__ void copy_part(void *dst, const void *src, uint64_t bytes)
{
    const uint64_t self = thread_number(), step = thread_count(), vectors = bytes / sizeof(uint4);
    const uint64_t whole = vectors / (step * COPY_LOADS) * (step * COPY_LOADS);
    const uint4 *in = (const uint4 *)src;
    uint4 *out = (uint4 *)dst;
    uint64_t i = self;

    for (; i < whole; i += step * COPY_LOADS) {
        uint4 held[COPY_LOADS]; /* all loads stand before all stores, or the compiler would wait in between: they may overlap */

#pragma unroll
        for (int k = 0; k < COPY_LOADS; k++)
            held[k] = in[i + k * step];
#pragma unroll
        for (int k = 0; k < COPY_LOADS; k++)
            out[i + k * step] = held[k];
    }
    for (; i < vectors; i += step * 4) { /* the rest, at most three rounds; all there is below a few MiB */
        uint4 held[4];

#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < vectors)
                held[k] = in[i + k * step];
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (i + k * step < vectors)
                out[i + k * step] = held[k];
    }
    if (self < bytes % sizeof(uint4))
        ((char *)dst)[vectors * sizeof(uint4) + self] = ((const char *)src)[vectors * sizeof(uint4) + self];
}

static __global__ void __launch_bounds__(COPY_THREADS) copy(void *dst, const void *src, uint64_t bytes)
{
    copy_part(dst, src, bytes);
}

static __device__ uint64_t now_ns()
{
    uint64_t ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

static __global__ void hold(struct lp_gate_page *page, uint32_t ticket, uint64_t limit_ns)
{
    const uint64_t start_ns = now_ns();

    while ((int32_t)(*(volatile uint32_t *)&page->opened - ticket) < 0)
        if (now_ns() - start_ns > limit_ns) {
            *(volatile uint32_t *)&page->late = ticket;
            __threadfence_system();
            return;
        }
}

static __global__ void chase_make(char *list, uint64_t bytes)
{
    const uint64_t lines = bytes / LP_CHASE_LINE;

    for (uint64_t i = thread_number(); i < lines; i += thread_count())
        *(void **)(list + i * LP_CHASE_LINE) = list + (i + 1) % lines * LP_CHASE_LINE;
}

/* Unrolled a little: the loop's own instructions are hidden behind the loads anyway. */
static __global__ void chase(const void *list, uint32_t steps, uint32_t which, void **end)
{
    const void *at = list;

    if (blockIdx.x != which)
        return;
#pragma unroll 4
    for (uint32_t i = 0; i < steps; i++)
        at = *(void *const *)at;
    *end = (void *)at;
}

/* Only words are exchanged, so nothing has to be ordered around them. */
static __global__ void exchange(volatile uint32_t *mine, volatile uint32_t *theirs, uint32_t value, uint32_t rounds, int32_t first,
                                uint64_t limit_ns)
{
    const uint64_t start_ns = now_ns();

    for (uint32_t i = 1; i <= rounds; i++) {
        if (first)
            *theirs = value + i;
        for (uint32_t polls = 0; *mine != value + i; polls++)
            if (polls % 4096 == 4095 && now_ns() - start_ns > limit_ns)
                __trap();
        if (!first)
            *theirs = value + i;
    }
}

/*
 * Blocks count themselves out when their stores are done; the last one has seen all others do so, and its own fence stands
 * between that and the flag: whoever sees the flag sees every byte of the grid. Only that block waits, for another GPU and never
 * for a block of its own grid. The rank before writes larger numbers only, so a round that it is ahead is not lost.
 */
static __global__ void __launch_bounds__(COPY_THREADS)
    pass_on(void *dst, const void *src, uint64_t bytes, struct lp_flags *mine, struct lp_flags *next, uint64_t limit_ns)
{
    uint64_t start_ns;
    uint32_t round;

    copy_part(dst, src, bytes);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    __threadfence_system();
    if (atomicAdd(&mine->blocks, 1) != gridDim.x - 1)
        return;
    round = mine->passed + 1;
    mine->passed = round;
    mine->blocks = 0;
    __threadfence_system();
    *(volatile uint32_t *)&next->arrived = round;
    start_ns = now_ns();
    for (uint32_t polls = 0; (int32_t)(*(volatile uint32_t *)&mine->arrived - round) < 0; polls++)
        if (polls % 4096 == 4095 && now_ns() - start_ns > limit_ns)
            __trap();
    __threadfence_system();
}

/* By enum lp_dtype. The element type is not in the signature, so that one table serves. */
static void (*const fill_kernels[LP_NDTYPES])(void *, uint64_t, struct lp_pattern, int32_t) = {
    fill<LP_FLOAT>, fill<LP_DOUBLE>, fill<LP_INT32>, fill<LP_HALF>, fill<LP_BFLOAT16>,
};
static void (*const verify_kernels[LP_NDTYPES])(const void *, struct lp_pattern, struct lp_segment, struct lp_verdict *) = {
    verify<LP_FLOAT>, verify<LP_DOUBLE>, verify<LP_INT32>, verify<LP_HALF>, verify<LP_BFLOAT16>,
};

/* Enough blocks for all items and never more than most; at least one. */
static unsigned blocks_for(uint64_t items, unsigned threads, unsigned most)
{
    uint64_t blocks = (items + threads - 1) / threads;

    return blocks == 0 ? 1 : blocks < most ? (unsigned)blocks : most;
}

template <typename T> struct exactly {
    typedef T type;
};

/* Not <<<>>>: after that only cudaGetLastError tells, and may tell of another library's call before ours. */
template <typename... Params>
static cudaError_t launch(void (*kernel)(Params...), unsigned blocks, unsigned threads, cudaStream_t stream,
                          typename exactly<Params>::type... args)
{
    void *slots[] = {(void *)&args...};

    return cudaLaunchKernel((const void *)kernel, dim3(blocks), dim3(threads), slots, 0, stream);
}

cudaError_t lp_kernel_fill(void *ptr, enum lp_dtype dtype, size_t count, struct lp_pattern pattern, int rank, int sms,
                           cudaStream_t stream)
{
    return launch(fill_kernels[dtype], blocks_for(count, 256, 8u * (unsigned)sms), 256, stream, ptr, count, pattern, rank);
}

cudaError_t lp_kernel_verify(const void *ptr, enum lp_dtype dtype, struct lp_pattern pattern, struct lp_segment segment,
                             struct lp_verdict *verdict, int sms, cudaStream_t stream)
{
    return launch(verify_kernels[dtype], blocks_for(segment.count, 256, 8u * (unsigned)sms), 256, stream, ptr, pattern, segment,
                  verdict);
}

cudaError_t lp_kernel_copy(void *dst, const void *src, size_t bytes, int sms, cudaStream_t stream)
{
    return launch(copy, blocks_for(bytes / sizeof(uint4), COPY_THREADS, (unsigned)sms), COPY_THREADS, stream, dst, src, bytes);
}

cudaError_t lp_kernel_chase_make(void *list, size_t bytes, cudaStream_t stream)
{
    return launch(chase_make, blocks_for(bytes / LP_CHASE_LINE, 256, 64), 256, stream, (char *)list, bytes);
}

cudaError_t lp_kernel_chase(const void *list, unsigned steps, unsigned which, void **end, int sms, cudaStream_t stream)
{
    return launch(chase, (unsigned)sms, 1, stream, list, steps, which % (unsigned)sms, end);
}

cudaError_t lp_kernel_exchange(uint32_t *mine, uint32_t *theirs, uint32_t value, unsigned rounds, int first, uint64_t limit_ns,
                               cudaStream_t stream)
{
    return launch(exchange, 1, 1, stream, mine, theirs, value, rounds, first, limit_ns);
}

cudaError_t lp_kernel_pass_on(void *dst, const void *src, size_t bytes, struct lp_flags *mine, struct lp_flags *next, int sms,
                              uint64_t limit_ns, cudaStream_t stream)
{
    return launch(pass_on, blocks_for(bytes / sizeof(uint4), COPY_THREADS, (unsigned)sms), COPY_THREADS, stream, dst, src, bytes,
                  mine, next, limit_ns);
}

cudaError_t lp_kernel_hold(struct lp_gate_page *page, uint32_t ticket, uint64_t limit_ns, cudaStream_t stream)
{
    return launch(hold, 1, 1, stream, page, ticket, limit_ns);
}

cudaError_t lp_kernels_load(void)
{
    const void *const others[] = {(const void *)copy, (const void *)hold, (const void *)chase_make, (const void *)chase,
                                  (const void *)exchange, (const void *)pass_on};
    struct cudaFuncAttributes attributes;
    cudaError_t err = cudaSuccess;

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && err == cudaSuccess; i++)
        err = cudaFuncGetAttributes(&attributes, others[i]);
    for (int i = 0; i < LP_NDTYPES && err == cudaSuccess; i++) {
        err = cudaFuncGetAttributes(&attributes, (const void *)fill_kernels[i]);
        if (err == cudaSuccess)
            err = cudaFuncGetAttributes(&attributes, (const void *)verify_kernels[i]);
    }
    return err;
}
