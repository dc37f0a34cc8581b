/* What the tests of cells have in common: a crew of two whose workers answer as real ones do, unless the plot says otherwise. */
#ifndef LP_TESTS_SCRIPTED_MEASURE_H
#define LP_TESTS_SCRIPTED_MEASURE_H

#include "control/measure.h"

#include <signal.h>

#include "scripted_crew.h"

/* The requests of an out-of-place cell with checks, in order. */
enum { STEP_CELL = 1, STEP_WARM_UP, STEP_CHECK, STEP_PREPARE, STEP_TIME, STEP_LAST, STEP_AFTER };

/* What workers do when asked; a step is a request of the cell, counted from 1 for each worker. */
enum doing { ANSWER, SILENT, DIE, REFUSE, UNABLE, WRONG, TOO_FEW, NULL_SAMPLE, NO_VERDICT };

struct plot {
    struct stage stage;
    double op_us[2]; /* by worker: of the first sample of an answer */
    double slope;    /* how much longer each further sample of an answer takes */
    double growth;   /* factor from one request of blocks to the next, for worker 0 */
    struct {
        int step, rank; /* rank -1: all */
        enum doing doing;
    } twist[4];
    int ntwists, step[2];
    struct lp_cell cell;
    struct lp_limits limits;
    uint32_t iteration;
    struct lp_seconds seconds;
    struct lp_record record;
};

static inline enum doing doing_of(const struct plot *plot, int step, int rank)
{
    for (int i = 0; i < plot->ntwists; i++)
        if (plot->twist[i].step == step && (plot->twist[i].rank == rank || plot->twist[i].rank < 0))
            return plot->twist[i].doing;
    return ANSWER;
}

static inline json_t *samples_for(const struct plot *plot, int rank, const json_t *request, enum doing doing)
{
    json_t *list = json_array();
    int n = (int)lp_json_int(request, "n", 0) - (doing == TOO_FEW);

    for (int i = 0; i < n; i++)
        json_array_append_new(list, doing == NULL_SAMPLE && i == 0 ? json_null() : json_real(plot->op_us[rank] + plot->slope * i));
    return json_pack("{s:o, s:b}", "samples_us", list, "aligned", 1);
}

/* As many entries as iterations, none for "prepare", one for "last"; WRONG: 10 + rank elements in the first. */
static inline json_t *verdicts_for(int rank, const json_t *request, enum doing doing)
{
    int n = lp_json_bool(request, "prepare", false) ? 0
            : lp_json_bool(request, "last", false)  ? 1
                                                    : (int)lp_json_int(request, "iterations", 0);
    json_t *list = json_array(), *reply = json_pack("{s:O}", "wrong", list);

    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_integer(doing == WRONG && i == 0 ? 10 + rank : 0));
    json_decref(list);
    if (doing == WRONG)
        json_object_set_new(reply, "first_offset_bytes", json_integer(4096 * (rank + 1)));
    return reply;
}

static inline json_t *payload_for(const struct plot *plot, int rank, const json_t *request, enum doing doing)
{
    const char *what = lp_json_str(request, "do", "");

    if (strcmp(what, "blocks") == 0)
        return samples_for(plot, rank, request, doing);
    if (strcmp(what, "check") == 0 && doing != NO_VERDICT)
        return verdicts_for(rank, request, doing);
    return json_pack("{s:i}", "slots", 4);
}

/* The workers: an answer after 10 ms, or what the plot says of this step. */
static inline void act(struct scripted_link *self, int rank, int crew, const json_t *request)
{
    struct plot *plot = self->user;
    enum doing doing;

    if (strcmp(lp_json_str(request, "do", ""), "where") == 0)
        return; /* who is silent is stopped, its control thread too */
    doing = doing_of(plot, ++plot->step[rank], rank);
    if (rank == 0 && strcmp(lp_json_str(request, "do", ""), "blocks") == 0)
        plot->op_us[0] *= plot->growth;
    if (strcmp(lp_json_str(request, "do", ""), "bye") == 0)
        script_exit(self, self->time.now_ns, rank, crew, 0, 0);
    else if (doing == DIE)
        script_exit(self, self->time.now_ns + LP_MILLISECOND, rank, crew, -1, SIGSEGV);
    else if (doing == REFUSE)
        script_reply(self, LP_MILLISECOND, rank, crew, request, "failed", json_of("{'reason': 'out of luck'}"));
    else if (doing == UNABLE)
        script_reply(self, LP_MILLISECOND, rank, crew, request, "unsupported", json_of("{'reason': 'no such algorithm'}"));
    else if (doing != SILENT)
        script_reply(self, 10 * LP_MILLISECOND, rank, crew, request, "ok", payload_for(plot, rank, request, doing));
}

static inline int plot_set_up(void **state)
{
    struct plot *plot = calloc(1, sizeof(*plot));

    plot->stage.script = scripted_link_create(2);
    plot->stage.script->time.now_ns = at(0.0);
    plot->stage.script->answer = act;
    plot->stage.script->user = plot;
    plot->op_us[0] = 90.0;
    plot->op_us[1] = 100.0;
    plot->slope = 0.01; /* within the 1 % at which a cell is settled */
    plot->growth = 1.0;
    plot->iteration = 7;
    plot->limits = (struct lp_limits){SECONDS(60), SECONDS(10), SECONDS(5), 1.0, 30e3, 12e3, 30e3};
    plot->cell = (struct lp_cell){.kind = LP_COLLECTIVE,
                                  .op = "allreduce",
                                  .library = "nccl",
                                  .buffers = "plain",
                                  .root = -1,
                                  .requested_bytes = 1 << 20,
                                  .size_bytes = 1 << 20,
                                  .count = 1 << 18,
                                  .timing = LP_GRAPH,
                                  .warmup = 5,
                                  .checks = 3};
    *state = plot;
    return lp_crews_create(&plot->stage.script->link, &plot->stage.crews) == LP_OK ? 0 : -1;
}

static inline int plot_tear_down(void **state)
{
    struct plot *plot = *state;

    lp_crews_free(plot->stage.crews);
    scripted_link_free(plot->stage.script);
    free(plot);
    return 0;
}

static inline void twist(struct plot *plot, int step, int rank, enum doing doing)
{
    plot->twist[plot->ntwists].step = step;
    plot->twist[plot->ntwists].rank = rank;
    plot->twist[plot->ntwists++].doing = doing;
}

static inline bool measure(struct plot *plot, struct lp_crew *crew)
{
    memset(&plot->record, 0x5a, sizeof(plot->record));
    return lp_measure_cell(crew, &plot->stage.script->clock, &plot->cell, &plot->limits, &plot->iteration, &plot->seconds,
                           &plot->record);
}

/* The request of that step, as worker 0 got it. */
static inline const json_t *asked(const struct plot *plot, int step)
{
    int n = 0;

    for (size_t i = 0; i < plot->stage.script->nsent; i++)
        if (plot->stage.script->sent[i].rank == 0 && ++n == step)
            return plot->stage.script->sent[i].json;
    return NULL;
}

#endif
