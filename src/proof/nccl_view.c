/* Answers from a log that has been read. */
#include "proof/nccl_log.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

/* SHM lines do not say what for, so they count for both. */
static bool link_counts(const struct lp_nccl_link *link, int from, int to, enum lp_nccl_links which)
{
    if ((from >= 0 && link->from != from) || (to >= 0 && link->to != to))
        return false;
    return which == LP_LINKS_ALL || link->conn < 0 || (link->conn == 0) == (which == LP_LINKS_COLLECTIVE);
}

const char *lp_nccl_log_transport(const struct lp_nccl_log *log, int from, int to, enum lp_nccl_links which, char *buf, size_t cap)
{
    unsigned used = 0;
    size_t n = 0;

    for (size_t i = 0; i < log->nlinks; i++)
        if (link_counts(&log->link[i], from, to, which))
            used |= 1u << log->link[i].way;
    if (used && (used & (used - 1)))
        n = (size_t)snprintf(buf, cap, "mixed: ");
    else
        buf[0] = '\0';
    for (int way = 0; way < log->nways; way++)
        if (used >> way & 1 && n < cap)
            n += (size_t)snprintf(buf + n, cap - n, "%s%s", n > 7 ? ", " : "", log->ways[way]);
    if (strcmp(buf, "unknown") == 0)
        buf[0] = '\0';
    return buf;
}

const struct lp_nccl_ring *lp_nccl_log_ring(const struct lp_nccl_log *log, int channel)
{
    for (size_t i = 0; i < log->nrings; i++)
        if (log->ring[i].channel == channel)
            return &log->ring[i];
    return NULL;
}

const struct lp_nccl_writer *lp_nccl_log_rank(const struct lp_nccl_log *log, int rank)
{
    for (size_t i = 0; i < log->nwriters; i++)
        if (log->writer[i].rank == rank)
            return &log->writer[i];
    return NULL;
}

static json_t *text_or_null(const char *text)
{
    return lp_json_text(text[0] ? text : NULL);
}

static json_t *count_or_null(int n)
{
    return n < 0 ? json_null() : json_integer(n);
}

static json_t *init_json(const struct lp_nccl_writer *who)
{
    json_t *parts = json_object();

    for (int i = 0; i < who->nparts; i++)
        json_object_set_new(parts, who->part[i].name, json_real(who->part[i].seconds));
    return json_pack("{s:o, s:o}", "total_s", lp_json_real(who->init_s), "parts_s", parts);
}

static json_t *writers_json(const struct lp_nccl_log *log)
{
    json_t *list = json_array();

    for (size_t i = 0; i < log->nwriters; i++) {
        const struct lp_nccl_writer *who = &log->writer[i];

        json_array_append_new(
            list,
            json_pack("{s:o, s:I, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "rank", count_or_null(who->rank), "pid",
                      (json_int_t)who->pid, "complete", who->complete, "nccl", text_or_null(who->version), "network",
                      text_or_null(who->network), "coll_channels", count_or_null(who->coll_channels), "nvls_channels",
                      count_or_null(who->nvls_channels), "cumem_host",
                      who->cumem_host_failed ? json_string("failed") : (who->cumem_host_used ? json_string("used") : json_null()),
                      "init", init_json(who)));
    }
    return list;
}

static json_t *rings_json(const struct lp_nccl_log *log)
{
    json_t *list = json_array();

    for (size_t i = 0; i < log->nrings; i++) {
        json_t *order = json_array();

        for (int k = 0; k < log->ring[i].n; k++)
            json_array_append_new(order, json_integer(log->ring[i].rank[k]));
        json_array_append_new(list, json_pack("{s:i, s:o}", "channel", log->ring[i].channel, "ranks", order));
    }
    return list;
}

static json_t *warnings_json(const struct lp_nccl_log *log)
{
    json_t *list = json_array();

    for (size_t i = 0; i < log->nwarnings; i++)
        json_array_append_new(list, json_pack("{s:o, s:b, s:I}", "text", lp_json_text(log->warning[i].text), "error",
                                              log->warning[i].error, "lines", (json_int_t)log->warning[i].count));
    return list;
}

json_t *lp_nccl_log_json(const struct lp_nccl_log *log)
{
    char transport[256];

    lp_nccl_log_transport(log, -1, -1, LP_LINKS_ALL, transport, sizeof(transport));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:I}", "nccl", text_or_null(log->version), "transport",
                     text_or_null(transport), "ranks", writers_json(log), "rings", rings_json(log), "warnings", warnings_json(log),
                     "nvls", log->nvls_connected, "buffers_registered", log->registered > 0, "more_warnings",
                     (json_int_t)log->warnings_dropped);
}
