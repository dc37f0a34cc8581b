/*
 * Streams, graphs and marks of the host device. What the tasks do, and that ranks wait for one another in them, is up to those
 * who submit them.
 */
#include "worker/host_stream.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

struct task {
    struct task *next;
    lp_host_task run;
    max_align_t args[];
};

struct lp_graph {
    struct task *first, **end;
};

struct lp_stream {
    struct lp_graph *recording; /* NULL: tasks run at once */
    bool incomplete;            /* a task could not be kept: the recording is worth nothing */
};

struct lp_event_mark {
    int64_t at_ns;
    bool reached;
};

static enum lp_status out_of_memory(struct lp_reason *why)
{
    return lp_because(why, LP_ERR_MEMORY, "out of memory");
}

static enum lp_status keep(struct lp_stream *stream, lp_host_task run, const void *args, size_t args_bytes, struct lp_reason *why)
{
    struct task *task = malloc(sizeof(*task) + args_bytes);

    if (!task) {
        stream->incomplete = true;
        return out_of_memory(why);
    }
    task->next = NULL;
    task->run = run;
    memcpy(task->args, args, args_bytes);
    *stream->recording->end = task;
    stream->recording->end = &task->next;
    return LP_OK;
}

enum lp_status lp_host_stream_submit(struct lp_stream *stream, lp_host_task task, const void *args, size_t args_bytes,
                                     struct lp_reason *why)
{
    if (stream && stream->recording)
        return keep(stream, task, args, args_bytes, why);
    return task(args, why);
}

enum lp_status lp_host_refuse_in_capture(const struct lp_stream *stream, const char *what, struct lp_reason *why)
{
    if (stream && stream->recording)
        return lp_because(why, LP_ERR_ARG, "%s on a host stream that captures", what);
    return LP_OK;
}

enum lp_status lp_host_stream_create(struct lp_device *device, struct lp_stream **out, struct lp_reason *why)
{
    struct lp_stream *stream = calloc(1, sizeof(*stream));

    (void)device;
    if (!stream)
        return out_of_memory(why);
    *out = stream;
    return LP_OK;
}

void lp_host_graph_free(struct lp_graph *graph)
{
    if (!graph)
        return;
    for (struct task *task = graph->first, *next; task; task = next) {
        next = task->next;
        free(task);
    }
    free(graph);
}

void lp_host_stream_free(struct lp_stream *stream)
{
    if (!stream)
        return;
    lp_host_graph_free(stream->recording);
    free(stream);
}

enum lp_status lp_host_stream_sync(struct lp_stream *stream, struct lp_reason *why)
{
    return lp_host_refuse_in_capture(stream, "synchronise", why);
}

enum lp_status lp_host_capture_begin(struct lp_stream *stream, struct lp_reason *why)
{
    enum lp_status st = lp_host_refuse_in_capture(stream, "another capture", why);
    struct lp_graph *graph;

    if (st != LP_OK)
        return st;
    graph = malloc(sizeof(*graph));
    if (!graph)
        return out_of_memory(why);
    graph->first = NULL;
    graph->end = &graph->first;
    stream->recording = graph;
    stream->incomplete = false;
    return LP_OK;
}

enum lp_status lp_host_capture_end(struct lp_stream *stream, struct lp_graph **out, struct lp_reason *why)
{
    struct lp_graph *graph = stream->recording;

    *out = NULL;
    if (!graph)
        return lp_because(why, LP_ERR_ARG, "no capture to end");
    stream->recording = NULL;
    if (stream->incomplete) {
        lp_host_graph_free(graph);
        return out_of_memory(why);
    }
    *out = graph;
    return LP_OK;
}

enum lp_status lp_host_graph_launch(struct lp_graph *graph, struct lp_stream *stream, struct lp_reason *why)
{
    enum lp_status st = lp_host_refuse_in_capture(stream, "graph launch", why);

    for (const struct task *task = graph->first; task && st == LP_OK; task = task->next)
        st = task->run(task->args, why);
    return st;
}

enum lp_status lp_host_mark_create(struct lp_device *device, struct lp_event_mark **out, struct lp_reason *why)
{
    struct lp_event_mark *mark = calloc(1, sizeof(*mark));

    (void)device;
    if (!mark)
        return out_of_memory(why);
    *out = mark;
    return LP_OK;
}

void lp_host_mark_free(struct lp_event_mark *mark)
{
    free(mark);
}

static enum lp_status reach_mark(const void *args, struct lp_reason *why)
{
    struct lp_event_mark *mark = *(struct lp_event_mark *const *)args;

    (void)why;
    mark->at_ns = lp_clock_now(&lp_clock_real);
    mark->reached = true;
    return LP_OK;
}

enum lp_status lp_host_mark_record(struct lp_event_mark *mark, struct lp_stream *stream, struct lp_reason *why)
{
    return lp_host_stream_submit(stream, reach_mark, &mark, sizeof(mark), why);
}

enum lp_status lp_host_mark_elapsed(struct lp_event_mark *start, struct lp_event_mark *stop, double *us, struct lp_reason *why)
{
    if (!start->reached || !stop->reached)
        return lp_because(why, LP_ERR_ARG, "time between marks that were not reached");
    *us = (double)(stop->at_ns - start->at_ns) / 1000.0;
    return LP_OK;
}
