/* Element types and reductions, by the names nccl-tests prints. */
#ifndef LP_MODEL_DTYPE_H
#define LP_MODEL_DTYPE_H

#include "base/status.h"

#include <stddef.h>

enum lp_dtype { LP_FLOAT, LP_DOUBLE, LP_INT32, LP_HALF, LP_BFLOAT16, LP_NDTYPES };
enum lp_redop { LP_SUM, LP_MIN, LP_MAX, LP_NREDOPS };

const char *lp_dtype_name(enum lp_dtype dtype); /* "float", ... */
size_t lp_dtype_size(enum lp_dtype dtype);      /* bytes of one element */

/* Largest value up to which the type holds every whole number; bounds the test data so that sums are exact. */
long lp_dtype_exact_max(enum lp_dtype dtype);

const char *lp_redop_name(enum lp_redop redop); /* "sum", "min", "max" */

/* LP_ERR_ARG names the value and the accepted names. */
enum lp_status lp_dtype_parse(const char *text, enum lp_dtype *out, struct lp_reason *why);
enum lp_status lp_redop_parse(const char *text, enum lp_redop *out, struct lp_reason *why);

#endif
