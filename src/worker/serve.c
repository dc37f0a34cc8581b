/* Requests to actions. What a machine looks like is see's, how time is taken bench's, what is right check's. */
#include "worker/serve.h"

#include "base/json.h"
#include "control/wire.h"
#include "model/record.h"
#include "worker/check.h"
#include "worker/crewmate.h"
#include "worker/join.h"
#include "worker/see.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct worker {
    struct lp_channel *channel;
    int rank;
    struct lp_crewmate mate;
    struct lp_bench bench; /* of the cell in hand */
    struct lp_where where;
    bool going;
};

typedef enum lp_status handler(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why);

static enum lp_status do_survey(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    json_t *machine = json_object();

    json_object_set_new(reply, "machine", machine);
    lp_channel_at(worker->channel, "survey");
    return lp_see_machine(lp_json_str(request, "device", "auto"), lp_json_str(request, "nccl", NULL), machine, why);
}

static enum lp_status do_offer(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    lp_bench_release(&worker->bench);
    return lp_join_offer(&worker->mate, worker->channel, worker->rank, request, reply, why);
}

static enum lp_status do_arena(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    return lp_join_arena(&worker->mate, worker->channel, request, reply, why);
}

static enum lp_status do_open(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    return lp_join_open(&worker->mate, worker->channel, worker->rank, request, reply, why);
}

/* ---- cells ---- */

static enum lp_status do_cell(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    struct lp_cell cell;
    struct lp_op op = {0};
    enum lp_status st = lp_cell_from_json(json_object_get(request, "cell"), &cell, why);
    char words[128];

    lp_bench_release(&worker->bench);
    if (st != LP_OK)
        return st;
    lp_channel_at(worker->channel, "cell %s", lp_cell_words(&cell, words, sizeof(words)));
    st = lp_op_make(&worker->mate, &cell, &op, why);
    lp_bench_init(&worker->bench, &op, cell.timing, worker->mate.page, worker->mate.gate);
    worker->bench.where = &worker->where;
    json_object_set_new(reply, "slots", json_integer((json_int_t)op.slots));
    return st;
}

/* [{edge, start_ns: [by block], us: [by block, of the whole block]}, ...] of this worker's lanes. */
static json_t *spans_json(const struct lp_bench *bench, const struct lp_span *spans, int n)
{
    json_t *lanes = json_array();

    for (int lane = 0; lane < bench->op.nlanes; lane++) {
        json_t *starts = json_array(), *times = json_array();

        for (int i = 0; i < n; i++) {
            const struct lp_span *span = &spans[i * bench->op.nlanes + lane];

            json_array_append_new(starts, json_integer(span->start_ns));
            json_array_append_new(times, lp_json_real(span->us));
        }
        json_array_append_new(lanes,
                              json_pack("{s:i, s:o, s:o}", "edge", bench->op.lane[lane].edge, "start_ns", starts, "us", times));
    }
    return lanes;
}

static enum lp_status do_blocks(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    double samples[LP_MAX_SAMPLES];
    int k = (int)lp_json_int(request, "k", 1), n = (int)lp_json_int(request, "n", 1);
    json_t *list = json_array();
    struct lp_span *spans = NULL;
    enum lp_status st;

    json_object_set_new(reply, "samples_us", list);
    if (k < 1 || n < 1 || n > LP_MAX_SAMPLES || (worker->bench.timing == LP_ISOLATED && k != 1))
        return lp_because(why, LP_ERR_ARG, "blocks: k = %d, n = %d", k, n);
    lp_channel_at(worker->channel, "%s %d x %d", lp_json_str(request, "purpose", "time"), n, k);
    if (lp_json_bool(request, "spans", false)) {
        spans = calloc((size_t)n * (size_t)(worker->bench.op.nlanes + 1), sizeof(*spans));
        if (!spans)
            return lp_because(why, LP_ERR_MEMORY, "out of memory");
    }
    st = lp_bench_blocks(&worker->bench, k, n, samples, spans, why);
    for (int i = 0; i < n && st == LP_OK; i++)
        json_array_append_new(list, lp_json_real(samples[i]));
    if (st == LP_OK && spans)
        json_object_set_new(reply, "lanes", spans_json(&worker->bench, spans, n));
    free(spans);
    json_object_set_new(reply, "aligned", json_boolean(worker->bench.aligned));
    return st;
}

static void note_check(json_t *reply, const struct lp_check *check)
{
    json_array_append_new(json_object_get(reply, "wrong"), json_integer((json_int_t)check->wrong_elements));
    if (check->wrong_elements && !json_object_get(reply, "first_offset_bytes"))
        json_object_set_new(reply, "first_offset_bytes", json_integer((json_int_t)check->first_offset_bytes));
}

/* {prepare: true}: fill for the timed operations · {last: true}: compare the last of them · else `iterations` whole checks. */
static enum lp_status do_check(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    uint32_t first = (uint32_t)lp_json_int(request, "first", 0);
    int iterations = (int)lp_json_int(request, "iterations", 0);
    struct lp_check check;
    enum lp_status st = LP_OK;

    json_object_set_new(reply, "wrong", json_array());
    lp_channel_at(worker->channel, "check");
    if (lp_json_bool(request, "prepare", false))
        return lp_check_prepare(&worker->bench, first, why);
    if (lp_json_bool(request, "last", false)) {
        st = lp_check_last(&worker->bench, first, &check, why);
        if (st == LP_OK)
            note_check(reply, &check);
        return st;
    }
    for (int i = 0; i < iterations && st == LP_OK; i++) {
        st = lp_check_once(&worker->bench, first + (uint32_t)i, &check, why);
        if (st == LP_OK)
            note_check(reply, &check);
    }
    return st;
}

static enum lp_status do_peers(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    (void)request;
    lp_bench_release(&worker->bench);
    return lp_join_peers(&worker->mate, worker->channel, reply, why);
}

static enum lp_status do_bye(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    (void)request;
    (void)reply;
    (void)why;
    lp_channel_at(worker->channel, "shutdown");
    lp_bench_release(&worker->bench); /* graphs go before the communicator */
    lp_crewmate_release(&worker->mate);
    worker->going = false;
    return LP_OK;
}

static const struct {
    const char *what;
    handler *run;
    bool needs_cell;
} handlers[] = {
    {"survey", do_survey, false}, {"offer", do_offer, false}, {"arena", do_arena, false},
    {"open", do_open, false},     {"peers", do_peers, false}, {"cell", do_cell, false},
    {"blocks", do_blocks, true},  {"check", do_check, true},  {"bye", do_bye, false},
};

/* In the reading thread. The communicator may not exist yet, or be in the making: then there is no more to say. */
static void say_where(void *arg, json_t *reply)
{
    struct worker *worker = arg;
    struct lp_comm *comm = worker->mate.comm;
    const char *step = atomic_load(&worker->where.step);
    char error[256] = "";

    json_object_set_new(reply, "step", json_string(step ? step : "starting"));
    json_object_set_new(reply, "block", json_integer(atomic_load(&worker->where.block)));
    json_object_set_new(reply, "blocks", json_integer(atomic_load(&worker->where.blocks)));
    if (comm && worker->mate.library->async_error)
        worker->mate.library->async_error(comm, error, sizeof(error));
    json_object_set_new(reply, "async_error", error[0] ? json_string(error) : json_null());
}

static void answer(struct worker *worker, const json_t *request)
{
    const char *what = lp_json_str(request, "do", "");
    struct lp_reason why = {""};
    enum lp_status st = lp_because(&why, LP_ERR_ARG, "unknown request '%.64s'", what);
    json_t *payload = json_object(), *reply;

    for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
        if (strcmp(what, handlers[i].what) == 0) {
            if (handlers[i].needs_cell && !worker->bench.op.enqueue)
                st = lp_because(&why, LP_ERR_ARG, "'%s' without a cell", what);
            else
                st = handlers[i].run(worker, request, payload, &why);
            break;
        }
    reply = lp_wire_reply(request, worker->rank, st, st == LP_OK ? NULL : why.text);
    json_object_update(reply, payload);
    json_decref(payload);
    if (st != LP_OK)
        fprintf(stderr, "linkperf-worker: %s: %s: %s\n", what, lp_status_name(st), why.text);
    lp_channel_send(worker->channel, reply);
}

int lp_serve(struct lp_channel *channel, int crew, int rank)
{
    static struct worker worker; /* some hundred KB of tables: not for the stack */
    json_t *hello = lp_wire_say(crew, rank, "hello"), *request;

    worker.channel = channel;
    worker.rank = rank;
    worker.going = true;
    lp_channel_set_where(channel, say_where, &worker);
    json_object_set_new(hello, "pid", json_integer(getpid()));
    lp_channel_send(channel, hello);
    while (worker.going && (request = lp_channel_next(channel)) != NULL) {
        answer(&worker, request);
        json_decref(request);
    }
    return 0;
}
