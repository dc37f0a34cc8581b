/*
 * The data of a check: what element `offset` of `rank`'s input is in an iteration. Header only, so that the host
 * device and the CUDA kernels compile the same lines.
 */
#ifndef LP_MODEL_PATTERN_H
#define LP_MODEL_PATTERN_H

#include "model/dtype.h"

#include <stdint.h>

#ifdef __CUDACC__
#define LP_EVERYWHERE static __host__ __device__ inline
#else
#define LP_EVERYWHERE static inline
#endif

/* Prime, so coprime to every chunk size: a chunk that lands in another's place does not look right. */
#define LP_PATTERN_PERIOD 65521u

/* A segment's source when it is the reduction over all ranks. */
#define LP_RANK_ALL (-1)

/* What makes the data of one cell; small enough to pass to a kernel by value. */
struct lp_pattern {
    uint32_t range;     /* values are 0 .. range - 1 */
    int32_t nranks;     /* ranks that a reduction runs over */
    int32_t redop;      /* enum lp_redop */
    uint32_t iteration; /* of the check; the next one differs from this one in every element */
};

/*
 * A stretch of an output and where its data comes from: elements out_off .. out_off + count - 1 equal elements
 * src_off .. of src_rank's input, or the reduction of all inputs (LP_RANK_ALL). Offsets and count in elements.
 */
struct lp_segment {
    uint64_t out_off, count, src_off;
    int32_t src_rank;
};

/*
 * Values up to exact_max / nranks, so that every partial sum is exact in the type. The iteration is added modulo the
 * range: with range > nranks the sum over ranks too changes in every element from one iteration to the next
 * (by nranks - k * range, never 0), so stale data cannot pass.
 */
static inline struct lp_pattern lp_pattern_make(enum lp_dtype dtype, enum lp_redop redop, int nranks, uint32_t iteration)
{
    long range = lp_dtype_exact_max(dtype) / (nranks > 0 ? nranks : 1);
    struct lp_pattern pattern;

    if (range > 1L << 20)
        range = 1L << 20;
    if (range < 2)
        range = 2;
    pattern.range = (uint32_t)range;
    pattern.nranks = nranks;
    pattern.redop = (int32_t)redop;
    pattern.iteration = iteration;
    return pattern;
}

LP_EVERYWHERE uint32_t lp_pattern_input(struct lp_pattern pattern, int32_t rank, uint64_t offset)
{
    uint32_t mixed = (uint32_t)((offset + 30011u * (uint64_t)rank) % LP_PATTERN_PERIOD) * 2654435761u;

    /* Mixed before the modulo: a product alone is linear in the offset, and then ranks and shifted chunks look alike. */
    mixed = (mixed ^ mixed >> 15) * 2246822519u;
    return ((mixed ^ mixed >> 13) % pattern.range + pattern.iteration % pattern.range) % pattern.range;
}

/* The value that element `offset` must have when its source is src_rank, or all ranks reduced. */
LP_EVERYWHERE uint32_t lp_pattern_value(struct lp_pattern pattern, int32_t src_rank, uint64_t offset)
{
    uint32_t value;

    if (src_rank != LP_RANK_ALL)
        return lp_pattern_input(pattern, src_rank, offset);
    value = lp_pattern_input(pattern, 0, offset);
    for (int32_t r = 1; r < pattern.nranks; r++) {
        uint32_t next = lp_pattern_input(pattern, r, offset);

        if (pattern.redop == LP_SUM)
            value += next;
        else if (pattern.redop == LP_MIN)
            value = next < value ? next : value;
        else
            value = next > value ? next : value;
    }
    return value;
}

#endif
