/* Where the time of a run went, in a line. */
#include "report/views.h"

#include "base/json.h"

#include <math.h>

void lp_view_time(const struct lp_result *result, FILE *out)
{
    static const char *const phases[] = {"survey", "link", "start", "init", "measure", "check", "evidence", "wait", "other"};
    const json_t *seconds = json_object_get(result->head, "seconds");
    double total = lp_json_num(seconds, "total", (double)NAN);

    if (!isfinite(total))
        return;
    fprintf(out, "\ntime: %.1f s: ", total);
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
        fprintf(out, "%s%s %.1f", i ? ", " : "", phases[i], lp_json_num(seconds, phases[i], 0.0));
    fprintf(out, "\n");
}
