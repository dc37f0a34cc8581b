/* Line framing over a descriptor. */
#include "base/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum lp_status make_room(struct lp_lines *lines)
{
    char *grown;
    size_t cap;

    if (lines->start > 0) {
        memmove(lines->data, lines->data + lines->start, lines->used - lines->start);
        lines->used -= lines->start;
        lines->start = 0;
    }
    if (lines->used < lines->cap)
        return LP_OK;
    cap = lines->cap ? lines->cap * 2 : 16384;
    if (cap > LP_LINE_MAX)
        return LP_ERR_PARSE;
    grown = realloc(lines->data, cap);
    if (!grown)
        return LP_ERR_MEMORY;
    lines->data = grown;
    lines->cap = cap;
    return LP_OK;
}

enum lp_status lp_lines_read(struct lp_lines *lines, int fd)
{
    enum lp_status st = make_room(lines);
    ssize_t got;

    if (st != LP_OK)
        return st;
    do
        got = read(fd, lines->data + lines->used, lines->cap - lines->used);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? LP_OK : errno == ECONNRESET ? LP_ERR_LOST : LP_ERR_IO;
    if (got == 0)
        return LP_ERR_LOST;
    lines->used += (size_t)got;
    return LP_OK;
}

char *lp_lines_next(struct lp_lines *lines)
{
    char *line, *end;

    if (lines->start == lines->used)
        return NULL;
    line = lines->data + lines->start;
    end = memchr(line, '\n', lines->used - lines->start);
    if (!end)
        return NULL;
    *end = '\0';
    lines->start = (size_t)(end - lines->data) + 1;
    return line;
}

void lp_lines_release(struct lp_lines *lines)
{
    free(lines->data);
    memset(lines, 0, sizeof(*lines));
}
