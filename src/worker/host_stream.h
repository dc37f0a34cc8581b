/*
 * Streams of the host device, and how the host library's work reaches them. A stream has no thread: a task runs in the call
 * that submits it, or is kept while the stream captures and runs at each launch of the graph.
 */
#ifndef LP_WORKER_HOST_STREAM_H
#define LP_WORKER_HOST_STREAM_H

#include "worker/device.h"

/* Its arguments stay the stream's. */
typedef enum lp_status (*lp_host_task)(const void *args, struct lp_reason *why);

/*
 * Runs the task now and returns what it returns; or, while capturing, keeps a copy of args_bytes at args, and what they
 * point to must outlive the graph. stream NULL: now.
 */
enum lp_status lp_host_stream_submit(struct lp_stream *stream, lp_host_task task, const void *args, size_t args_bytes,
                                     struct lp_reason *why);

/* LP_ERR_ARG with "what on a host stream that captures", for what must have happened when its call returns. */
enum lp_status lp_host_refuse_in_capture(const struct lp_stream *stream, const char *what, struct lp_reason *why);

/* The device's slots of these names. Marks are CLOCK_MONOTONIC; while capturing they are recorded too, and move at each launch. */
enum lp_status lp_host_stream_create(struct lp_device *device, struct lp_stream **out, struct lp_reason *why);
void lp_host_stream_free(struct lp_stream *stream);
enum lp_status lp_host_stream_sync(struct lp_stream *stream, struct lp_reason *why);
enum lp_status lp_host_mark_create(struct lp_device *device, struct lp_event_mark **out, struct lp_reason *why);
void lp_host_mark_free(struct lp_event_mark *mark);
enum lp_status lp_host_mark_record(struct lp_event_mark *mark, struct lp_stream *stream, struct lp_reason *why);
enum lp_status lp_host_mark_elapsed(struct lp_event_mark *start, struct lp_event_mark *stop, double *us, struct lp_reason *why);
enum lp_status lp_host_capture_begin(struct lp_stream *stream, struct lp_reason *why);
enum lp_status lp_host_capture_end(struct lp_stream *stream, struct lp_graph **out, struct lp_reason *why);
enum lp_status lp_host_graph_launch(struct lp_graph *graph, struct lp_stream *stream, struct lp_reason *why);
void lp_host_graph_free(struct lp_graph *graph);

#endif
