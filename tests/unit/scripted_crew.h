/* What the tests of crews have in common: a scripted link, crews on it, and a crew that has said hello. */
#ifndef LP_TESTS_SCRIPTED_CREW_H
#define LP_TESTS_SCRIPTED_CREW_H

#include "control/crew.h"

#include "scripted_link.h"
#include "unit.h"

#define LIMIT SECONDS(60)

struct stage {
    struct scripted_link *script;
    struct lp_crews *crews;
};

static inline int stage_set_up(void **state)
{
    struct stage *stage = calloc(1, sizeof(*stage));

    stage->script = scripted_link_create(LP_MAX_RANKS);
    stage->script->time.now_ns = SECONDS(1000);
    *state = stage;
    return lp_crews_create(&stage->script->link, &stage->crews) == LP_OK ? 0 : -1;
}

static inline int stage_tear_down(void **state)
{
    struct stage *stage = *state;

    lp_crews_free(stage->crews);
    scripted_link_free(stage->script);
    free(stage);
    return 0;
}

/* Seconds since the stage was set up, as the script's clock counts. */
static inline int64_t at(double seconds)
{
    return SECONDS(1000) + SECONDS(seconds);
}

static inline struct lp_crew *start_crew(struct stage *stage, int n)
{
    struct lp_crew_spec spec = {.worker = "/bin/worker", .name = "tree", .log_dir = "/nonexistent", .n = n};

    for (int i = 0; i < n; i++)
        spec.rank[i] = i;
    return lp_crew_start(stage->crews, &spec);
}

/* A crew of n that is ready now. */
static inline struct lp_crew *ready_crew(struct stage *stage, int n)
{
    struct lp_crew *crew = start_crew(stage, n);
    struct lp_loss why = {.kind = LP_LOSS_NONE};

    for (int r = 0; r < n; r++)
        script_hello(stage->script, stage->script->time.now_ns, r, lp_crew_id(crew));
    assert_true(lp_crew_ready(crew, LIMIT, &why));
    return crew;
}

static inline bool ask(struct lp_crew *crew, int64_t limit_ns, json_t **replies, struct lp_loss *why)
{
    *why = (struct lp_loss){.kind = LP_LOSS_NONE};
    return lp_crew_ask(crew, json_pack("{s:s}", "do", "offer"), limit_ns, replies, why);
}

#endif
