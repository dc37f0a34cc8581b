/* Which ring most channels share. */
#include "control/ring.h"

#include "model/cell.h"

#include <string.h>

/* The ring turned so that rank 0 is first; false when it is no ring of all ranks. */
static bool read_ring(const json_t *ring, int nranks, int *order)
{
    const json_t *ranks = json_object_get(ring, "ranks");
    bool seen[LP_MAX_RANKS] = {false};
    int zero = -1;

    if ((int)json_array_size(ranks) != nranks)
        return false;
    for (int i = 0; i < nranks; i++) {
        int rank = (int)json_integer_value(json_array_get(ranks, (size_t)i));

        if (rank < 0 || rank >= nranks || seen[rank])
            return false;
        seen[rank] = true;
        if (rank == 0)
            zero = i;
    }
    for (int i = 0; i < nranks; i++)
        order[i] = (int)json_integer_value(json_array_get(ranks, (size_t)((zero + i) % nranks)));
    return true;
}

static int count_same(const json_t *rings, int nranks, const int *order)
{
    int other[LP_MAX_RANKS], n = 0;

    for (size_t i = 0; i < json_array_size(rings); i++)
        n += read_ring(json_array_get(rings, i), nranks, other) && memcmp(other, order, (size_t)nranks * sizeof(*order)) == 0;
    return n;
}

static bool is_rank_order(const int *order, int nranks)
{
    bool forth = true, back = true;

    for (int i = 0; i < nranks; i++) {
        forth = forth && order[i] == i;
        back = back && order[i] == (nranks - i) % nranks;
    }
    return forth || back;
}

bool lp_ring_order(const json_t *rings, int nranks, int *order)
{
    int candidate[LP_MAX_RANKS], most = 0;

    for (size_t i = 0; i < json_array_size(rings) && nranks <= LP_MAX_RANKS; i++) {
        int n;

        if (!read_ring(json_array_get(rings, i), nranks, candidate))
            continue;
        n = count_same(rings, nranks, candidate);
        if (n > most) {
            most = n;
            memcpy(order, candidate, (size_t)nranks * sizeof(*order));
        }
    }
    return most > 0 && !is_rank_order(order, nranks);
}
