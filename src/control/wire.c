/* The frame that every line between controller and worker has. */
#include "control/wire.h"

#include "base/json.h"

json_t *lp_wire_reply(const json_t *request, int rank, enum lp_status st, const char *reason)
{
    return json_pack("{s:I, s:I, s:i, s:s, s:o}", "crew", (json_int_t)lp_json_int(request, "crew", 0), "id",
                     (json_int_t)lp_json_int(request, "id", -1), "rank", rank, "status", lp_status_name(st), "reason",
                     lp_json_text(reason && reason[0] ? reason : NULL));
}

json_t *lp_wire_say(int crew, int rank, const char *what)
{
    return json_pack("{s:i, s:i, s:s}", "crew", crew, "rank", rank, "say", what);
}
