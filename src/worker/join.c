/* The requests before the first cell. What is then opened and how is crewmate's. */
#include "worker/join.h"

#include "base/json.h"
#include "worker/see.h"

#include <stdio.h>
#include <string.h>

/* What must be alike on all ranks: the environment as this process has it, library and driver. */
static json_t *identity(struct lp_crewmate *mate)
{
    char driver[64] = "", runtime[64] = "", version[64] = "", path[1024] = "";

    if (mate->ops->versions)
        mate->ops->versions(driver, sizeof(driver), runtime, sizeof(runtime));
    if (mate->library)
        mate->library->describe(version, sizeof(version), path, sizeof(path));
    return json_pack("{s:o, s:s, s:s, s:o}", "environment", lp_see_environment(), "CUDA driver", driver, "NCCL version", version,
                     "NCCL library", lp_json_text(path));
}

static void note_free(struct lp_crewmate *mate, json_t *reply)
{
    json_object_set_new(reply, "free_bytes", json_integer((json_int_t)lp_crewmate_free_bytes(mate)));
}

/* Which library this is, for the record: the one that was asked for may be found elsewhere. */
static json_t *library_json(const struct lp_library_ops *library)
{
    char version[64] = "", path[1024] = "";

    library->describe(version, sizeof(version), path, sizeof(path));
    return json_pack("{s:s, s:o, s:o}", "name", library->name, "version", lp_json_text(version), "path", lp_json_text(path));
}

static enum lp_status open_stations(struct lp_crewmate *mate, const json_t *list, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < json_array_size(list) && st == LP_OK; i++) {
        const json_t *station = json_array_get(list, i);

        st = lp_crewmate_add_station(mate, (int)lp_json_int(station, "device", 0), (int)lp_json_int(station, "rank", 0), why);
    }
    return st;
}

/* Handles by which other processes map this worker's memory. */
static enum lp_status export_memory(struct lp_crewmate *mate, json_t *blob, struct lp_reason *why)
{
    struct lp_station *station = &mate->station[0];
    const struct {
        const char *name;
        const struct lp_buffer *buffer;
    } list[] = {{"send", &station->send}, {"recv", &station->recv}, {"bounce", &station->bounce}, {"flags", &station->flags}};
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) && st == LP_OK; i++) {
        char handle[LP_HANDLE_MAX] = "";

        if (!list[i].buffer->ptr)
            continue;
        st = mate->ops->export_buffer(station->device, list[i].buffer, handle, why);
        json_object_set_new(blob, list[i].name, json_string(handle));
    }
    return st;
}

static enum lp_status choose_kinds(struct lp_crewmate *mate, const json_t *request, struct lp_reason *why)
{
    const char *device = lp_json_str(request, "device", ""), *library = lp_json_str(request, "library", NULL);

    mate->ops = lp_device_find(device);
    mate->library = library ? lp_library_find(library) : NULL;
    if (!mate->ops || (library && !mate->library))
        return lp_because(why, LP_ERR_ARG, "this worker was built without '%s'", mate->ops ? library : device);
    return mate->library ? mate->library->load(lp_json_str(request, "nccl", NULL), why) : LP_OK;
}

/* What rank 0 makes for all. */
static enum lp_status offer_handles(struct lp_crewmate *mate, struct lp_channel *channel, const json_t *request, json_t *blob,
                                    struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    if (lp_json_bool(request, "export", false))
        st = export_memory(mate, blob, why);
    if (st == LP_OK && lp_json_bool(request, "page", false)) {
        st = lp_page_create((int)lp_json_int(request, "workers", 1), &mate->page, why);
        if (st == LP_OK)
            json_object_set_new(blob, "page", json_string(lp_page_handle(mate->page)));
    }
    if (st == LP_OK && mate->library) {
        char id[LP_COMM_ID_MAX] = "";

        lp_channel_at(channel, "make communicator id");
        st = mate->library->make_id(id, why);
        json_object_set_new(blob, "comm_id", json_string(id));
    }
    return st;
}

enum lp_status lp_join_offer(struct lp_crewmate *mate, struct lp_channel *channel, int rank, const json_t *request, json_t *reply,
                             struct lp_reason *why)
{
    json_t *blob = json_object();
    enum lp_status st;

    json_object_set_new(reply, "blob", blob);
    lp_crewmate_release(mate);
    lp_channel_at(channel, "init device");
    st = choose_kinds(mate, request, why);
    if (st == LP_OK && mate->library)
        json_object_set_new(reply, "library", library_json(mate->library));
    mate->rank = rank;
    mate->nranks = (int)lp_json_int(request, "nranks", 1);
    if (st == LP_OK)
        st = open_stations(mate, json_array_get(json_object_get(request, "stations"), (size_t)rank), why);
    if (st == LP_OK && lp_json_bool(request, "gate", false))
        st = lp_crewmate_add_gate(mate, why);
    if (st == LP_OK)
        json_object_set_new(reply, "identity", identity(mate));
    if (st == LP_OK && rank == 0)
        st = offer_handles(mate, channel, request, blob, why);
    note_free(mate, reply);
    return st;
}

enum lp_status lp_join_arena(struct lp_crewmate *mate, struct lp_channel *channel, const json_t *request, json_t *reply,
                             struct lp_reason *why)
{
    json_t *blob = json_object();
    enum lp_status st;

    json_object_set_new(reply, "blob", blob);
    lp_channel_at(channel, "allocate");
    if (mate->nstations == 0)
        return lp_because(why, LP_ERR_ARG, "'arena' before 'offer'");
    st = lp_crewmate_add_arenas(mate, (size_t)lp_json_int(request, "arena_bytes", 0),
                                (size_t)lp_json_int(request, "bounce_bytes", 0), why);
    if (st == LP_OK && lp_json_bool(request, "export", false))
        st = export_memory(mate, blob, why);
    return st;
}

/* Maps one kind of memory of one worker; `own` is this worker's of that kind, and as large. */
static enum lp_status map_one(struct lp_crewmate *mate, int rank, const json_t *blob, const char *name, const struct lp_buffer *own,
                              struct lp_buffer *out, struct lp_reason *why)
{
    const char *handle = lp_json_str(blob, name, NULL);

    if (!handle)
        return LP_OK;
    if (rank == mate->rank) {
        *out = *own;
        return LP_OK;
    }
    return mate->ops->import_buffer(mate->station[0].device, handle, own->bytes, out, why);
}

/* All that a worker exported. */
static enum lp_status map_peer(struct lp_crewmate *mate, int rank, const json_t *blob, struct lp_reason *why)
{
    const struct lp_station *own = &mate->station[0];
    enum lp_status st = map_one(mate, rank, blob, "send", &own->send, &mate->peer_send[rank], why);

    if (st == LP_OK)
        st = map_one(mate, rank, blob, "recv", &own->recv, &mate->peer_recv[rank], why);
    if (st == LP_OK)
        st = map_one(mate, rank, blob, "bounce", &own->bounce, &mate->peer_bounce[rank], why);
    if (st == LP_OK)
        st = map_one(mate, rank, blob, "flags", &own->flags, &mate->peer_flags[rank], why);
    return st;
}

/* In a crew for copies a GPU that cannot be reached costs its own copies; a library needs all. */
static enum lp_status map_peers(struct lp_crewmate *mate, struct lp_channel *channel, const json_t *blobs, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    lp_channel_at(channel, "map peers");
    for (size_t r = 0; r < json_array_size(blobs) && st == LP_OK; r++) {
        st = map_peer(mate, (int)r, json_array_get(blobs, r), why);
        if (st != LP_OK && !mate->library) {
            snprintf(mate->access_error[mate->rank][r], sizeof(mate->access_error[0][0]), "%.150s", why->text);
            st = LP_OK;
        }
    }
    return st;
}

/* [[from, to, words], ...]: which GPUs of this worker cannot reach which. */
static json_t *access_errors(const struct lp_crewmate *mate)
{
    json_t *errors = json_array();

    for (int from = 0; from < LP_MAX_RANKS; from++)
        for (int to = 0; to < LP_MAX_RANKS; to++)
            if (mate->access_error[from][to][0])
                json_array_append_new(errors, json_pack("[i, i, o]", from, to, lp_json_text(mate->access_error[from][to])));
    return errors;
}

enum lp_status lp_join_open(struct lp_crewmate *mate, struct lp_channel *channel, int rank, const json_t *request, json_t *reply,
                            struct lp_reason *why)
{
    const json_t *blobs = json_object_get(request, "blobs");
    const json_t *first = json_array_get(blobs, 0);
    const char *page = lp_json_str(first, "page", NULL);
    enum lp_status st = LP_OK;

    if (mate->nstations == 0)
        return lp_because(why, LP_ERR_ARG, "'open' before 'offer'");
    if (page && rank > 0)
        st = lp_page_open(page, &mate->page, why);
    if (st == LP_OK)
        st = map_peers(mate, channel, blobs, why);
    if (st == LP_OK && !mate->library)
        json_object_set_new(reply, "errors", access_errors(mate));
    if (st == LP_OK && mate->library) {
        lp_channel_at(channel, "init communicator");
        st = lp_crewmate_add_communicator(mate, lp_json_str(first, "comm_id", ""), why);
    }
    note_free(mate, reply); /* the communicator has taken its share now */
    return st;
}

enum lp_status lp_join_peers(struct lp_crewmate *mate, struct lp_channel *channel, json_t *reply, struct lp_reason *why)
{
    lp_channel_at(channel, "enable peer access");
    if (mate->nstations == 0)
        return lp_because(why, LP_ERR_ARG, "'peers' before 'offer'");
    lp_crewmate_enable_peers(mate);
    json_object_set_new(reply, "errors", access_errors(mate));
    return LP_OK;
}
