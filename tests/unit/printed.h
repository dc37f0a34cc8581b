/* What a view prints, as text, and checks of its lines. Include after unit.h. */
#ifndef LP_TESTS_PRINTED_H
#define LP_TESTS_PRINTED_H

#include "report/views.h"

#include <stdlib.h>

typedef void view(const struct lp_result *result, FILE *out, int width);

/* What the view prints; the caller frees it. Inlined, gcc 12 takes the text for its own address and warns. */
static __attribute__((noinline)) char *printed(view *print, const struct lp_result *result, int width)
{
    char *text = NULL;
    size_t len;
    FILE *memory = open_memstream(&text, &len);

    assert_non_null(memory);
    print(result, memory, width);
    fclose(memory);
    return text;
}

static inline void print_all(const struct lp_result *result, FILE *out, int width)
{
    lp_view_all(result, true, width, out);
}

/* The first line that holds the text (a leading newline: begins with it); fails without one. The caller frees it. */
static inline char *line_with(const char *text, const char *part)
{
    const char *at = strstr(text, part);

    if (!at)
        fail_msg("'%s' is not in:\n%s", part, text);
    at += *at == '\n';
    while (at > text && at[-1] != '\n')
        at--;
    return strndup(at, strcspn(at, "\n"));
}

static inline void assert_line(const char *text, const char *part, const char *also)
{
    char *line = line_with(text, part);

    if (!strstr(line, also))
        fail_msg("'%s' is not in the line: %s", also, line);
    free(line);
}

static inline void assert_no(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' should not be in:\n%s", part, text);
}

/* How many lines begin with the text. */
static inline int count_lines(const char *text, const char *start)
{
    int n = 0;

    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        n += strncmp(line, start, strlen(start)) == 0;
    return n;
}

#endif
