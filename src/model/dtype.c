/* The tables of element types and reductions. */
#include "model/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
    long exact_max; /* 2^(mantissa bits); for int32 a bound that leaves room for sums */
} dtypes[LP_NDTYPES] = {
    [LP_FLOAT] = {"float", 4, 1L << 24}, [LP_DOUBLE] = {"double", 8, 1L << 30},    [LP_INT32] = {"int32", 4, 1L << 30},
    [LP_HALF] = {"half", 2, 1L << 11},   [LP_BFLOAT16] = {"bfloat16", 2, 1L << 8},
};

static const char *const redops[LP_NREDOPS] = {[LP_SUM] = "sum", [LP_MIN] = "min", [LP_MAX] = "max"};

const char *lp_dtype_name(enum lp_dtype dtype)
{
    return dtypes[dtype].name;
}

size_t lp_dtype_size(enum lp_dtype dtype)
{
    return dtypes[dtype].size;
}

long lp_dtype_exact_max(enum lp_dtype dtype)
{
    return dtypes[dtype].exact_max;
}

const char *lp_redop_name(enum lp_redop redop)
{
    return redops[redop];
}

enum lp_status lp_dtype_parse(const char *text, enum lp_dtype *out, struct lp_reason *why)
{
    for (int i = 0; i < LP_NDTYPES; i++)
        if (strcmp(text, dtypes[i].name) == 0) {
            *out = (enum lp_dtype)i;
            return LP_OK;
        }
    return lp_because(why, LP_ERR_ARG, "unknown data type '%s': use float, double, int32, half or bfloat16", text);
}

enum lp_status lp_redop_parse(const char *text, enum lp_redop *out, struct lp_reason *why)
{
    for (int i = 0; i < LP_NREDOPS; i++)
        if (strcmp(text, redops[i]) == 0) {
            *out = (enum lp_redop)i;
            return LP_OK;
        }
    return lp_because(why, LP_ERR_ARG, "unknown reduction '%s': use sum, min or max", text);
}
