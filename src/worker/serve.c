/* Requests to actions. What a machine looks like is see's, how time is taken bench's, what is right check's. */
#include "worker/serve.h"

#include "base/json.h"
#include "control/wire.h"
#include "model/record.h"
#include "worker/check.h"
#include "worker/crewmate.h"
#include "worker/see.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct worker {
    struct lp_channel *channel;
    int rank;
    struct lp_crewmate mate;
    struct lp_bench bench; /* of the cell in hand */
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

/* Which library this is, for the record: the one that was asked for may be found elsewhere. */
static json_t *library_json(const struct lp_library_ops *library)
{
    char version[64] = "", path[1024] = "";

    library->describe(version, sizeof(version), path, sizeof(path));
    return json_pack("{s:s, s:o, s:o}", "name", library->name, "version", lp_json_text(version), "path", lp_json_text(path));
}

/* ---- offer and open: what a crew needs before its first cell ---- */

static enum lp_status open_stations(struct worker *worker, const json_t *list, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < json_array_size(list) && st == LP_OK; i++) {
        const json_t *station = json_array_get(list, i);

        st = lp_crewmate_add_station(&worker->mate, (int)lp_json_int(station, "device", 0), (int)lp_json_int(station, "rank", 0),
                                     why);
    }
    return st;
}

/* Handles by which other processes map this worker's memory. */
static enum lp_status export_memory(struct worker *worker, json_t *blob, struct lp_reason *why)
{
    struct lp_station *station = &worker->mate.station[0];
    const struct {
        const char *name;
        const struct lp_buffer *buffer;
    } list[] = {{"send", &station->send}, {"recv", &station->recv}, {"bounce", &station->bounce}};
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) && st == LP_OK; i++) {
        char handle[LP_HANDLE_MAX] = "";

        if (!list[i].buffer->ptr)
            continue;
        st = worker->mate.ops->export_buffer(station->device, list[i].buffer, handle, why);
        json_object_set_new(blob, list[i].name, json_string(handle));
    }
    return st;
}

static enum lp_status choose_kinds(struct worker *worker, const json_t *request, struct lp_reason *why)
{
    const char *device = lp_json_str(request, "device", ""), *library = lp_json_str(request, "library", NULL);

    worker->mate.ops = lp_device_find(device);
    worker->mate.library = library ? lp_library_find(library) : NULL;
    if (!worker->mate.ops || (library && !worker->mate.library))
        return lp_because(why, LP_ERR_ARG, "this worker was built without '%s'", worker->mate.ops ? library : device);
    return worker->mate.library ? worker->mate.library->load(lp_json_str(request, "nccl", NULL), why) : LP_OK;
}

static enum lp_status offer_handles(struct worker *worker, const json_t *request, json_t *blob, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    if (lp_json_bool(request, "export", false))
        st = export_memory(worker, blob, why);
    if (st == LP_OK && lp_json_bool(request, "page", false) && worker->rank == 0) {
        st = lp_page_create((int)lp_json_int(request, "workers", 1), &worker->mate.page, why);
        if (st == LP_OK)
            json_object_set_new(blob, "page", json_string(lp_page_handle(worker->mate.page)));
    }
    if (st == LP_OK && worker->mate.library && worker->rank == 0) {
        char id[LP_COMM_ID_MAX] = "";

        lp_channel_at(worker->channel, "make communicator id");
        st = worker->mate.library->make_id(id, why);
        json_object_set_new(blob, "comm_id", json_string(id));
    }
    return st;
}

static enum lp_status do_offer(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    json_t *blob = json_object();
    enum lp_status st;

    json_object_set_new(reply, "blob", blob);
    lp_crewmate_release(&worker->mate);
    lp_channel_at(worker->channel, "init device");
    st = choose_kinds(worker, request, why);
    if (st == LP_OK && worker->mate.library)
        json_object_set_new(reply, "library", library_json(worker->mate.library));
    worker->mate.rank = worker->rank;
    worker->mate.nranks = (int)lp_json_int(request, "nranks", 1);
    worker->mate.arena_bytes = (size_t)lp_json_int(request, "arena_bytes", 0);
    worker->mate.bounce_bytes = (size_t)lp_json_int(request, "bounce_bytes", 0);
    if (st == LP_OK)
        st = open_stations(worker, json_array_get(json_object_get(request, "stations"), (size_t)worker->rank), why);
    if (st == LP_OK && lp_json_bool(request, "peer_access", false))
        lp_crewmate_enable_peers(&worker->mate);
    if (st == LP_OK && lp_json_bool(request, "gate", false))
        st = lp_crewmate_add_gate(&worker->mate, why);
    return st == LP_OK ? offer_handles(worker, request, blob, why) : st;
}

/* Maps one kind of memory of one other worker; a GPU that cannot be mapped leaves ptr NULL and its reason with the pair. */
static enum lp_status map_one(struct worker *worker, int rank, const json_t *blob, const char *name, struct lp_buffer *out,
                              struct lp_reason *why)
{
    struct lp_crewmate *mate = &worker->mate;
    const char *handle = lp_json_str(blob, name, NULL);
    size_t bytes = strcmp(name, "bounce") == 0 ? mate->bounce_bytes : mate->arena_bytes;

    if (!handle)
        return LP_OK;
    if (rank == worker->rank) {
        const struct lp_station *own = &mate->station[0];

        *out = strcmp(name, "send") == 0 ? own->send : strcmp(name, "recv") == 0 ? own->recv : own->bounce;
        return LP_OK;
    }
    return mate->ops->import_buffer(mate->station[0].device, handle, bytes, out, why);
}

static enum lp_status map_peers(struct worker *worker, const json_t *blobs, struct lp_reason *why)
{
    struct lp_crewmate *mate = &worker->mate;
    enum lp_status st = LP_OK;

    lp_channel_at(worker->channel, "map peers");
    for (size_t r = 0; r < json_array_size(blobs) && st == LP_OK; r++) {
        const json_t *blob = json_array_get(blobs, r);

        st = map_one(worker, (int)r, blob, "send", &mate->peer_send[r], why);
        if (st == LP_OK)
            st = map_one(worker, (int)r, blob, "recv", &mate->peer_recv[r], why);
        if (st == LP_OK)
            st = map_one(worker, (int)r, blob, "bounce", &mate->peer_bounce[r], why);
    }
    return st;
}

static enum lp_status do_open(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    const json_t *blobs = json_object_get(request, "blobs");
    const json_t *first = json_array_get(blobs, 0);
    const char *page = lp_json_str(first, "page", NULL);
    enum lp_status st = LP_OK;

    (void)reply;
    if (page && !worker->mate.page)
        st = lp_page_open(page, &worker->mate.page, why);
    if (st == LP_OK)
        st = map_peers(worker, blobs, why);
    if (st == LP_OK && worker->mate.library) {
        lp_channel_at(worker->channel, "init communicator");
        st = lp_crewmate_add_communicator(&worker->mate, lp_json_str(first, "comm_id", ""), why);
    }
    return st;
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
    json_object_set_new(reply, "slots", json_integer((json_int_t)op.slots));
    return st;
}

static enum lp_status do_blocks(struct worker *worker, const json_t *request, json_t *reply, struct lp_reason *why)
{
    double samples[LP_MAX_SAMPLES];
    int k = (int)lp_json_int(request, "k", 1), n = (int)lp_json_int(request, "n", 1);
    json_t *list = json_array();
    enum lp_status st;

    json_object_set_new(reply, "samples_us", list);
    if (k < 1 || n < 1 || n > LP_MAX_SAMPLES || (worker->bench.timing == LP_ISOLATED && k != 1))
        return lp_because(why, LP_ERR_ARG, "blocks: k = %d, n = %d", k, n);
    lp_channel_at(worker->channel, "%s %d x %d", lp_json_str(request, "purpose", "time"), n, k);
    st = lp_bench_blocks(&worker->bench, k, n, samples, why);
    for (int i = 0; i < n && st == LP_OK; i++)
        json_array_append_new(list, lp_json_real(samples[i]));
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
    {"survey", do_survey, false}, {"offer", do_offer, false}, {"open", do_open, false}, {"cell", do_cell, false},
    {"blocks", do_blocks, true},  {"check", do_check, true},  {"bye", do_bye, false},
};

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
    json_object_set_new(hello, "pid", json_integer(getpid()));
    lp_channel_send(channel, hello);
    while (worker.going && (request = lp_channel_next(channel)) != NULL) {
        answer(&worker, request);
        json_decref(request);
    }
    return 0;
}
