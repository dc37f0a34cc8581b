/* Opening and closing what a worker works with. What is then measured on it is bench's. */
#include "worker/crewmate.h"

#include "machine/cpus.h"

#include <stdint.h>
#include <string.h>

struct lp_station *lp_crewmate_station(struct lp_crewmate *mate, int rank)
{
    for (int i = 0; i < mate->nstations; i++)
        if (mate->station[i].rank == rank)
            return &mate->station[i];
    return NULL;
}

enum lp_status lp_crewmate_add_station(struct lp_crewmate *mate, int index, int rank, struct lp_reason *why)
{
    struct lp_station *station = &mate->station[mate->nstations];
    const struct lp_device_ops *ops = mate->ops;
    enum lp_status st;

    *station = (struct lp_station){.index = index, .rank = rank};
    st = ops->open(index, &station->device, why);
    if (st != LP_OK)
        return st;
    mate->nstations++;
    st = ops->stream_create(station->device, &station->stream, why);
    if (st == LP_OK)
        st = ops->mark_create(station->device, &station->start, why);
    if (st == LP_OK)
        st = ops->mark_create(station->device, &station->stop, why);
    return st;
}

static void free_arenas(struct lp_crewmate *mate, struct lp_station *station)
{
    struct lp_buffer *buffers[] = {&station->send, &station->recv, &station->flags, &station->bounce};

    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
        if (buffers[i]->ptr)
            mate->ops->free(station->device, buffers[i]);
}

static enum lp_status alloc_arenas(struct lp_crewmate *mate, struct lp_station *station, struct lp_reason *why)
{
    enum lp_status st = mate->ops->alloc(station->device, mate->arena_bytes, &station->send, why);

    if (st == LP_OK)
        st = mate->ops->alloc(station->device, mate->arena_bytes, &station->recv, why);
    if (st == LP_OK)
        st = mate->ops->alloc(station->device, sizeof(struct lp_flags), &station->flags, why);
    if (st == LP_OK && mate->bounce_bytes)
        st = mate->ops->alloc(station->device, mate->bounce_bytes, &station->bounce, why);
    return st;
}

enum lp_status lp_crewmate_add_arenas(struct lp_crewmate *mate, size_t arena_bytes, size_t bounce_bytes, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    mate->arena_bytes = arena_bytes;
    mate->bounce_bytes = bounce_bytes;
    for (int i = 0; i < mate->nstations && st == LP_OK && arena_bytes > 0; i++)
        st = alloc_arenas(mate, &mate->station[i], why);
    for (int i = 0; i < mate->nstations && st != LP_OK; i++)
        free_arenas(mate, &mate->station[i]);
    return st;
}

size_t lp_crewmate_free_bytes(struct lp_crewmate *mate)
{
    size_t least = SIZE_MAX;

    for (int i = 0; i < mate->nstations; i++) {
        size_t free_bytes = 0, total_bytes = 0;

        if (mate->ops->memory(mate->station[i].device, &free_bytes, &total_bytes, NULL) != LP_OK)
            return 0;
        if (free_bytes < least)
            least = free_bytes;
    }
    return mate->nstations ? least : 0;
}

static enum lp_status enable_pair(struct lp_crewmate *mate, struct lp_station *from, struct lp_station *to)
{
    char *error = mate->access_error[from->rank][to->rank];
    struct lp_reason why = {""};
    bool yes = false;
    enum lp_status st = mate->ops->can_access(from->index, to->index, &yes, &why);

    if (st == LP_OK && !yes)
        lp_because(&why, LP_ERR_UNSUPPORTED, "the driver says no");
    if (st == LP_OK && yes)
        st = mate->ops->enable_access(from->device, to->index, &why);
    if (st == LP_OK && yes)
        return LP_OK;
    memcpy(error, why.text, sizeof(mate->access_error[0][0]) - 1);
    return LP_ERR_UNSUPPORTED;
}

void lp_crewmate_enable_peers(struct lp_crewmate *mate)
{
    mate->peer_access = true;
    for (int i = 0; i < mate->nstations; i++)
        for (int k = 0; k < mate->nstations; k++)
            if (i != k)
                enable_pair(mate, &mate->station[i], &mate->station[k]);
}

static void free_host(struct lp_crewmate *mate, struct lp_host_memory *host)
{
    if (host->buffer.ptr)
        mate->ops->host_free(host->near->device, &host->buffer);
    *host = (struct lp_host_memory){.near = NULL};
}

/* Memory lies where the thread that touches it first runs; where the GPU's CPUs are not known it is all the same. */
static enum lp_status alloc_near(struct lp_crewmate *mate, struct lp_station *station, bool pinned, size_t bytes,
                                 struct lp_host_memory *host, struct lp_reason *why)
{
    char before[LP_CPUS_MAX], near[LP_CPUS_MAX], both[LP_CPUS_MAX] = "";
    struct lp_device_info info = {.pci = ""};
    enum lp_status st;

    lp_cpus_of_process(0, before, sizeof(before));
    if (mate->ops->describe(station->index, &info, NULL) == LP_OK && info.pci[0])
        lp_cpus_common(lp_cpus_of_pci(info.pci, near, sizeof(near)), before, both, sizeof(both));
    if (both[0])
        lp_cpus_apply(both);
    st = mate->ops->host_alloc(station->device, bytes, pinned, &host->buffer, why);
    if (both[0])
        lp_cpus_apply(before);
    host->near = station;
    return st;
}

struct lp_buffer *lp_crewmate_host_buffer(struct lp_crewmate *mate, struct lp_station *station, bool pinned, int which,
                                          size_t bytes, struct lp_reason *why)
{
    struct lp_host_memory *host;

    if (!mate->ops->host_alloc || which < 0 || which >= LP_MAX_HOST_BUFFERS) {
        lp_because(why, LP_ERR_ARG, "%s has no host memory number %d", mate->ops->name, which);
        return NULL;
    }
    host = &mate->host[pinned][which];
    if (host->buffer.bytes >= bytes && host->near == station)
        return &host->buffer;
    free_host(mate, host);
    return alloc_near(mate, station, pinned, bytes, host, why) == LP_OK ? &host->buffer : NULL;
}

enum lp_status lp_crewmate_add_gate(struct lp_crewmate *mate, struct lp_reason *why)
{
    return mate->ops->gate_create ? mate->ops->gate_create(mate->station[0].device, &mate->gate, why) : LP_OK;
}

enum lp_status lp_crewmate_add_communicator(struct lp_crewmate *mate, const char *id, struct lp_reason *why)
{
    struct lp_station *station = &mate->station[0];
    enum lp_status st;

    mate->config = (struct lp_comm_config){
        .rank = mate->rank,
        .nranks = mate->nranks,
        .id = id,
        .device = station->device,
        .page = mate->page,
        .send = station->send,
        .recv = station->recv,
        .bounce = station->bounce,
        .peer_send = mate->peer_send,
        .peer_recv = mate->peer_recv,
        .peer_bounce = mate->peer_bounce,
    };
    st = mate->ops->alloc(station->device, 64, &mate->meeting, why);
    if (st == LP_OK)
        st = mate->ops->poison(station->device, station->stream, mate->meeting.ptr, 64, why);
    if (st == LP_OK)
        st = mate->ops->stream_sync(station->stream, why);
    if (st == LP_OK)
        st = mate->ops->select(station->device, why);
    return st == LP_OK ? mate->library->comm_create(&mate->config, &mate->comm, why) : st;
}

static void release_station(struct lp_crewmate *mate, struct lp_station *station)
{
    const struct lp_device_ops *ops = mate->ops;

    if (station->stop)
        ops->mark_free(station->stop);
    if (station->start)
        ops->mark_free(station->start);
    if (station->stream)
        ops->stream_free(station->stream);
    free_arenas(mate, station);
    ops->close(station->device);
}

static void drop_imports(struct lp_crewmate *mate, struct lp_buffer *peers)
{
    for (int r = 0; r < LP_MAX_RANKS; r++)
        if (peers[r].ptr && !lp_crewmate_station(mate, r))
            mate->ops->drop_import(mate->station[0].device, &peers[r]);
}

void lp_crewmate_release(struct lp_crewmate *mate)
{
    if (mate->comm)
        mate->library->comm_destroy(mate->comm);
    if (mate->gate)
        mate->ops->gate_free(mate->gate);
    for (int i = 0; i < LP_MAX_HOST_BUFFERS; i++) {
        free_host(mate, &mate->host[0][i]);
        free_host(mate, &mate->host[1][i]);
    }
    if (mate->nstations > 0) {
        drop_imports(mate, mate->peer_send);
        drop_imports(mate, mate->peer_recv);
        drop_imports(mate, mate->peer_bounce);
        drop_imports(mate, mate->peer_flags);
        if (mate->meeting.ptr)
            mate->ops->free(mate->station[0].device, &mate->meeting);
    }
    for (int i = mate->nstations - 1; i >= 0; i--)
        release_station(mate, &mate->station[i]);
    if (mate->page)
        lp_page_free(mate->page);
    memset(mate, 0, sizeof(*mate));
}
