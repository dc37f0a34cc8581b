/* How the crew of a variant is started and opened, for timing and for the trace that shows what eager modes did. */
#include "control/run_parts.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

/* TUNING has a line for every call: fine at capture, outside the clock, and not between eager calls. REG and NVLS are quiet. */
#define QUIET_SUBSYS "INIT,ENV,GRAPH,P2P,SHM,NET,REG,NVLS"
#define TRACE_SUBSYS QUIET_SUBSYS ",TUNING"

bool lp_job_has_eager(const struct lp_job *job, const struct lp_variant *variant)
{
    unsigned timings = variant->timings ? variant->timings : job->options->timings;

    return (timings & ~(1u << LP_GRAPH)) != 0;
}

struct lp_opening lp_job_variant_opening(const struct lp_job *job, const struct lp_variant *variant)
{
    bool host = strcmp(job->plan.device, "host") == 0; /* the host library reads the others' arenas */
    const char *nccl = variant->nccl ? variant->nccl : job->options->nccl;
    json_t *stations = json_array();

    for (int r = 0; r < job->plan.nranks; r++)
        json_array_append_new(stations, json_pack("[{s:i, s:i}]", "device", job->machine.rank[r].device, "rank", r));
    return (struct lp_opening){
        .offer = json_pack("{s:s, s:s, s:s, s:o, s:i, s:i, s:o, s:b}", "do", "offer", "device", job->plan.device, "library",
                           job->plan.library, "nccl", lp_json_text(nccl), "nranks", job->plan.nranks, "workers", job->plan.nranks,
                           "stations", stations, "page", 1),
        .want_bytes = job->plan.arena_bytes,
        .bounce_bytes = host ? LP_HOST_BOUNCE_BYTES : 0,
        .share = host,
    };
}

struct lp_crew *lp_job_start_variant(struct lp_job *job, const struct lp_variant *variant, bool trace)
{
    json_t *env, *changes = lp_variant_env_json(variant);
    char name[LP_NAME_MAX + 16];
    struct lp_crew_spec spec;
    struct lp_crew *crew;

    snprintf(name, sizeof(name), "%.60s%s%s", variant->name, variant->repeat ? "-again" : "", trace ? "-trace" : "");
    for (char *p = name; *p; p++)
        if (*p == '/' || *p == ' ')
            *p = '_';
    lp_job_crew_spec(job, name, job->plan.nranks, &spec, &env);
    json_object_update(env, changes);
    spec.nccl_log = strcmp(job->plan.library, "nccl") == 0;
    spec.nccl_subsys = trace || !lp_job_has_eager(job, variant) ? TRACE_SUBSYS : QUIET_SUBSYS;
    crew = lp_crew_start(job->crews, &spec);
    json_decref(changes);
    json_decref(env);
    return crew;
}
