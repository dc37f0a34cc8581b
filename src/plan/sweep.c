/* Sizes from first, last and step. */
#include "plan/sweep.h"

#include <stdint.h>
#include <stdlib.h>

/* The size after this one; 0 when it would pass max (or overflow). */
static size_t after(size_t size, size_t max, size_t step, size_t factor)
{
    if (step > 0)
        return size > max - step || step > max ? 0 : size + step;
    return size > max / factor ? 0 : size * factor;
}

enum lp_status lp_sweep_make(size_t min, size_t max, size_t step, size_t factor, size_t **sizes, size_t *n, struct lp_reason *why)
{
    size_t count = 0, *list;

    if (min == 0 || min > max || (step == 0 && factor < 2))
        return lp_because(why, LP_ERR_ARG, "sizes from %zu to %zu: the first must be from 1 to the last", min, max);
    for (size_t size = min; size; size = after(size, max, step, factor))
        if (++count > LP_MAX_SIZES)
            return lp_because(why, LP_ERR_ARG, "more than %d sizes: use a larger step", LP_MAX_SIZES);
    list = malloc(count * sizeof(*list));
    if (!list)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    *n = 0;
    for (size_t size = min; size; size = after(size, max, step, factor))
        list[(*n)++] = size;
    *sizes = list;
    return LP_OK;
}
