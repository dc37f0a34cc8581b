/* Cuts a byte stream into lines. Knows nothing of what they mean. */
#ifndef LP_BASE_LINES_H
#define LP_BASE_LINES_H

#include "base/status.h"

#include <stddef.h>

/* Longest line that is taken; a peer that sends more is broken. */
#define LP_LINE_MAX ((size_t)16 << 20)

/* All zero is an empty buffer. */
struct lp_lines {
    char *data;
    size_t start, used, cap;
};

/*
 * Reads what the descriptor has now into the buffer, once. LP_OK also when nothing was there (non-blocking);
 * LP_ERR_LOST at end of file; LP_ERR_IO on an error; LP_ERR_PARSE when a line is longer than LP_LINE_MAX.
 */
enum lp_status lp_lines_read(struct lp_lines *lines, int fd);

/* The next whole line without its newline, NUL-terminated, valid until the next call on this buffer; NULL when there is none. */
char *lp_lines_next(struct lp_lines *lines);

void lp_lines_release(struct lp_lines *lines);

#endif
