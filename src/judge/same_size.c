/* Finding the exchange that stands beside a collective. */
#include "judge/same_size.h"

#include "base/units.h"
#include "collectives/coll.h"
#include "p2p/path.h"

#include <math.h>

static bool is_exchange(const struct lp_record *record, enum lp_timing timing, size_t bytes)
{
    const struct lp_path *path;

    if (record->cell.kind != LP_COPY || record->cell.timing != timing || record->cell.size_bytes != bytes)
        return false;
    path = lp_path_find(record->cell.op);
    return path && path->flags & LP_PATH_RING && lp_record_usable(record);
}

double lp_same_size_gbps(const struct lp_result *result, const struct lp_cell *collective, int nranks)
{
    const struct lp_coll *coll = lp_coll_find(collective->op);
    size_t bytes = coll && nranks > 1 ? lp_coll_exchange_bytes(coll, collective->size_bytes, nranks) : 0;

    for (size_t i = 0; i < result->n && bytes; i++)
        if (is_exchange(result->record[i], collective->timing, bytes))
            return lp_gbps(lp_coll_wire_bytes(coll, collective->size_bytes, nranks), result->record[i]->time_us.median);
    return (double)NAN;
}
