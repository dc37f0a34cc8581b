/*
 * Fill, verify and reduce in host memory. What the values of a check are is model/pattern's; when any of this runs is the
 * caller's.
 */
#include "worker/host_data.h"

#include <stdlib.h>
#include <string.h>

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/*
 * A half's exponent and fraction, moved to a float's place, are the value times 2^-112 (the biases differ by 112), for
 * subnormal halves too. Only infinity and NaN come out finite, as 2^16 and above.
 */
static float half_to_float(uint16_t half)
{
    float scaled = float_of((half & 0x7fffu) << 13) * 0x1p112f;
    uint32_t bits = bits_of(scaled);

    if (scaled >= 0x1p16f)
        bits |= 0x7f800000u;
    return float_of(bits | (half & 0x8000u) << 16);
}

/* To nearest, ties to even; a carry out of the fraction moves into the exponent, up to infinity, as it should. */
static uint16_t float_to_half(float value)
{
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu, half;

    if (size > 0x7f800000u) /* NaN */
        half = 0x7e00u;
    else if (size >= 0x47800000u) /* 2^16 and above */
        half = 0x7c00u;
    else if (size < 0x38800000u) /* below 2^-14: the adder rounds to units of 2^-24, the subnormal half's last place */
        half = bits_of(float_of(size) + 0.5f) - bits_of(0.5f);
    else
        half = (size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
    return (uint16_t)(sign | half);
}

static float bfloat16_to_float(uint16_t value)
{
    return float_of((uint32_t)value << 16);
}

static uint16_t float_to_bfloat16(float value)
{
    uint32_t bits = bits_of(value);

    if ((bits & 0x7fffffffu) > 0x7f800000u) /* NaN: rounding might carry it to infinity */
        return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

static int32_t add_int32(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

#define AS_IS(x)   (x)
#define PLUS(x, y) ((x) + (y))

/* The three reductions of a type. Each has its own loop, so that nothing is decided per element. */
#define REDUCER(name, type, wide, load, add, store)                                                                                \
    static void name(type *out, const type *a, const type *b, size_t count, enum lp_redop redop)                                   \
    {                                                                                                                              \
        if (redop == LP_SUM) {                                                                                                     \
            for (size_t i = 0; i < count; i++)                                                                                     \
                out[i] = store(add(load(a[i]), load(b[i])));                                                                       \
        } else if (redop == LP_MIN) {                                                                                              \
            for (size_t i = 0; i < count; i++) {                                                                                   \
                wide x = load(a[i]), y = load(b[i]);                                                                               \
                out[i] = store(y < x ? y : x);                                                                                     \
            }                                                                                                                      \
        } else {                                                                                                                   \
            for (size_t i = 0; i < count; i++) {                                                                                   \
                wide x = load(a[i]), y = load(b[i]);                                                                               \
                out[i] = store(y > x ? y : x);                                                                                     \
            }                                                                                                                      \
        }                                                                                                                          \
    }

REDUCER(reduce_float, float, float, AS_IS, PLUS, AS_IS)
REDUCER(reduce_double, double, double, AS_IS, PLUS, AS_IS)
REDUCER(reduce_int32, int32_t, int32_t, AS_IS, add_int32, AS_IS)
REDUCER(reduce_half, uint16_t, float, half_to_float, PLUS, float_to_half)
REDUCER(reduce_bfloat16, uint16_t, float, bfloat16_to_float, PLUS, float_to_bfloat16)

void lp_host_reduce(void *out, const void *a, const void *b, size_t count, enum lp_dtype dtype, enum lp_redop redop)
{
    switch (dtype) {
    case LP_FLOAT:
        reduce_float(out, a, b, count, redop);
        break;
    case LP_DOUBLE:
        reduce_double(out, a, b, count, redop);
        break;
    case LP_INT32:
        reduce_int32(out, a, b, count, redop);
        break;
    case LP_HALF:
        reduce_half(out, a, b, count, redop);
        break;
    default:
        reduce_bfloat16(out, a, b, count, redop);
        break;
    }
}

static void encode(enum lp_dtype dtype, void *elements, size_t i, uint32_t value)
{
    switch (dtype) {
    case LP_FLOAT:
        ((float *)elements)[i] = (float)value;
        break;
    case LP_DOUBLE:
        ((double *)elements)[i] = (double)value;
        break;
    case LP_INT32:
        ((int32_t *)elements)[i] = (int32_t)value;
        break;
    case LP_HALF:
        ((uint16_t *)elements)[i] = float_to_half((float)value);
        break;
    default:
        ((uint16_t *)elements)[i] = float_to_bfloat16((float)value);
        break;
    }
}

/* What a stretch of the pattern looks like in memory. It repeats after a period, so that is all that is ever worked out. */
struct block {
    char *elements;
    size_t count; /* of the stretch, or a period if that is less */
};

static enum lp_status make_block(enum lp_dtype dtype, struct lp_pattern pattern, int rank, uint64_t from, size_t count,
                                 struct block *out, struct lp_reason *why)
{
    struct block block = {.count = count < LP_PATTERN_PERIOD ? count : LP_PATTERN_PERIOD};

    block.elements = malloc(block.count * lp_dtype_size(dtype) + 1);
    if (!block.elements)
        return lp_because(why, LP_ERR_MEMORY, "out of memory for test data");
    for (size_t i = 0; i < block.count; i++)
        encode(dtype, block.elements, i, lp_pattern_value(pattern, rank, from + i));
    *out = block;
    return LP_OK;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

enum lp_status lp_host_fill(void *ptr, enum lp_dtype dtype, size_t count, struct lp_pattern pattern, int rank,
                            struct lp_reason *why)
{
    size_t size = lp_dtype_size(dtype);
    struct block block;
    enum lp_status st;

    st = make_block(dtype, pattern, rank, 0, count, &block, why);
    if (st != LP_OK)
        return st;
    for (size_t done = 0; done < count; done += block.count)
        memcpy((char *)ptr + done * size, block.elements, smaller(block.count, count - done) * size);
    free(block.elements);
    return LP_OK;
}

/* Counts the elements that differ; offset is that of the first in the whole output. */
static void compare(const char *got, const char *want, size_t count, size_t size, uint64_t offset, struct lp_mismatch *found)
{
    if (memcmp(got, want, count * size) == 0) /* as good as always, and quick */
        return;
    for (size_t i = 0; i < count; i++) {
        if (memcmp(got + i * size, want + i * size, size) == 0)
            continue;
        if (found->elements == 0 || offset + i < found->first_offset)
            found->first_offset = offset + i;
        found->elements++;
    }
}

static enum lp_status verify_segment(const char *ptr, enum lp_dtype dtype, struct lp_pattern pattern,
                                     const struct lp_segment *segment, struct lp_mismatch *found, struct lp_reason *why)
{
    size_t size = lp_dtype_size(dtype);
    struct block block;
    enum lp_status st;

    st = make_block(dtype, pattern, segment->src_rank, segment->src_off, segment->count, &block, why);
    if (st != LP_OK)
        return st;
    for (uint64_t done = 0; done < segment->count; done += block.count)
        compare(ptr + (segment->out_off + done) * size, block.elements, smaller(block.count, segment->count - done), size,
                segment->out_off + done, found);
    free(block.elements);
    return LP_OK;
}

enum lp_status lp_host_verify(const void *ptr, enum lp_dtype dtype, struct lp_pattern pattern, const struct lp_segment *segments,
                              size_t nsegments, struct lp_mismatch *found, struct lp_reason *why)
{
    for (size_t i = 0; i < nsegments; i++) {
        enum lp_status st = verify_segment(ptr, dtype, pattern, &segments[i], found, why);

        if (st != LP_OK)
            return st;
    }
    return LP_OK;
}
