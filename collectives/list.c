/* The collectives linkperf knows. A new one is a file and a line here. */
#include "collectives/coll.h"

#include <string.h>

#define EXCHANGE_VECTOR 16

extern const struct lp_coll lp_coll_allreduce, lp_coll_allgather;

const struct lp_coll *const lp_colls[] = {&lp_coll_allreduce, &lp_coll_allgather, NULL};

const struct lp_coll *lp_coll_find(const char *name)
{
    for (size_t i = 0; lp_colls[i]; i++)
        if (strcmp(lp_colls[i]->name, name) == 0)
            return lp_colls[i];
    return NULL;
}

double lp_bus_two_pass(int nranks)
{
    return 2.0 * (nranks - 1) / nranks;
}

double lp_bus_one_pass(int nranks)
{
    return (double)(nranks - 1) / nranks;
}

double lp_coll_wire_bytes(const struct lp_coll *coll, size_t size_bytes, int nranks)
{
    return (double)size_bytes * coll->bus_factor(nranks);
}

size_t lp_coll_exchange_bytes(const struct lp_coll *coll, size_t size_bytes, int nranks)
{
    size_t vectors = (size_t)(lp_coll_wire_bytes(coll, size_bytes, nranks) / EXCHANGE_VECTOR + 0.5);

    return (vectors ? vectors : 1) * EXCHANGE_VECTOR;
}
