/* Reading in a thread, writing under a lock. What the lines mean is serve's. */
#include "worker/channel.h"

#include "base/json.h"
#include "base/lines.h"
#include "control/wire.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QUEUE_MAX 64

struct lp_channel {
    int in, out, crew, rank;
    bool by_hand;
    pthread_mutex_t write_lock, lock;
    pthread_cond_t changed;
    json_t *queue[QUEUE_MAX];
    int first, n;
    bool ended;
    struct timespec born;
    lp_channel_where *where;
    void *where_arg;
    char phase[256]; /* under lock */
};

/* Adds a request for the main thread; waits when that is far behind. */
static void push(struct lp_channel *channel, json_t *request)
{
    pthread_mutex_lock(&channel->lock);
    while (channel->n == QUEUE_MAX)
        pthread_cond_wait(&channel->changed, &channel->lock);
    channel->queue[(channel->first + channel->n++) % QUEUE_MAX] = request;
    pthread_cond_broadcast(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}

/* The controller is gone, or the file is at its end. */
static void end_of_input(struct lp_channel *channel)
{
    if (!channel->by_hand)
        _exit(0); /* whatever the main thread is blocked in goes with the process */
    pthread_mutex_lock(&channel->lock);
    channel->ended = true;
    pthread_cond_broadcast(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}

/* Answered here: the main thread may be blocked for ever, which is why one asks. */
static void answer_where(struct lp_channel *channel, const json_t *request)
{
    json_t *reply = lp_wire_reply(request, channel->rank, LP_OK, NULL);

    pthread_mutex_lock(&channel->lock);
    json_object_set_new(reply, "phase", json_string(channel->phase));
    pthread_mutex_unlock(&channel->lock);
    if (channel->where)
        channel->where(channel->where_arg, reply);
    lp_channel_send(channel, reply);
}

static void take_request(struct lp_channel *channel, const char *text)
{
    json_t *request = json_loads(text, 0, NULL);

    if (strcmp(lp_json_str(request, "do", ""), "where") != 0) {
        push(channel, request ? request : json_object());
        return;
    }
    answer_where(channel, request);
    json_decref(request);
}

static void *read_all(void *arg)
{
    struct lp_channel *channel = arg;
    struct lp_lines lines = {0};
    char *text;

    while (lp_lines_read(&lines, channel->in) == LP_OK)
        while ((text = lp_lines_next(&lines)) != NULL)
            take_request(channel, text);
    lp_lines_release(&lines);
    end_of_input(channel);
    return NULL;
}

enum lp_status lp_channel_open(int in, int out, int crew, int rank, bool by_hand, struct lp_channel **out_channel,
                               struct lp_reason *why)
{
    struct lp_channel *channel = calloc(1, sizeof(*channel));
    pthread_t thread;

    if (!channel)
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    *channel = (struct lp_channel){.in = in, .out = out, .crew = crew, .rank = rank, .by_hand = by_hand};
    pthread_mutex_init(&channel->write_lock, NULL);
    pthread_mutex_init(&channel->lock, NULL);
    pthread_cond_init(&channel->changed, NULL);
    clock_gettime(CLOCK_MONOTONIC, &channel->born);
    if (pthread_create(&thread, NULL, read_all, channel) != 0) {
        free(channel);
        return lp_because(why, LP_ERR_ENV, "no thread for the control socket");
    }
    pthread_detach(thread);
    *out_channel = channel;
    return LP_OK;
}

void lp_channel_set_where(struct lp_channel *channel, lp_channel_where *where, void *arg)
{
    channel->where_arg = arg;
    channel->where = where;
}

json_t *lp_channel_next(struct lp_channel *channel)
{
    json_t *request = NULL;

    pthread_mutex_lock(&channel->lock);
    while (channel->n == 0 && !channel->ended)
        pthread_cond_wait(&channel->changed, &channel->lock);
    if (channel->n > 0) {
        request = channel->queue[channel->first];
        channel->first = (channel->first + 1) % QUEUE_MAX;
        channel->n--;
        pthread_cond_broadcast(&channel->changed);
    }
    pthread_mutex_unlock(&channel->lock);
    return request;
}

void lp_channel_send(struct lp_channel *channel, json_t *document)
{
    char *text = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(9));
    size_t len = text ? strlen(text) : 0, done = 0;

    json_decref(document);
    if (!text)
        return;
    text[len++] = '\n'; /* in place of the NUL */
    pthread_mutex_lock(&channel->write_lock);
    while (done < len) {
        ssize_t wrote = write(channel->out, text + done, len - done);

        if (wrote < 0 && errno != EINTR)
            break; /* the reading thread sees the same end and leaves */
        if (wrote > 0)
            done += (size_t)wrote;
    }
    pthread_mutex_unlock(&channel->write_lock);
    free(text);
}

void lp_channel_at(struct lp_channel *channel, const char *fmt, ...)
{
    struct timespec now;
    char phase[256];
    va_list args;
    json_t *line;

    va_start(args, fmt);
    vsnprintf(phase, sizeof(phase), fmt, args);
    va_end(args);
    pthread_mutex_lock(&channel->lock);
    snprintf(channel->phase, sizeof(channel->phase), "%s", phase);
    pthread_mutex_unlock(&channel->lock);
    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(stderr, "linkperf-worker: %.3f s: %s\n",
            (double)(now.tv_sec - channel->born.tv_sec) + (double)(now.tv_nsec - channel->born.tv_nsec) / 1e9, phase);
    line = lp_wire_say(channel->crew, channel->rank, "at");
    json_object_set_new(line, "phase", json_string(phase));
    lp_channel_send(channel, line);
}
