/* Cuts a shell text into commands and words, without running or expanding anything. For env_file. */
#ifndef LP_PLAN_ENV_WORDS_H
#define LP_PLAN_ENV_WORDS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* A word without its quotes. */
struct lp_env_word {
    char *text;   /* owned */
    bool expands; /* holds $ or ` outside single quotes, or a leading ~: the shell would put something else there */
};

/* What ends a command. */
enum lp_env_end {
    LP_ENV_END_PLAIN, /* new line ; && & | */
    LP_ENV_END_OTHER, /* || ( ) << */
    LP_ENV_END_QUOTE, /* the end of the file inside a quote or substitution */
    LP_ENV_END_FILE,
};

/* All zero but text is the start. */
struct lp_env_reader {
    const char *text; /* what is left */
    int line;         /* lines before it */
};

struct lp_env_command {
    struct lp_env_word *word;
    size_t n;
    int line; /* where it begins, from 1 */
    enum lp_env_end end;
    char end_char; /* of LP_ENV_END_OTHER: its first */
};

/* The next command, perhaps without words. Release it in any case. LP_ERR_MEMORY. */
enum lp_status lp_env_command_next(struct lp_env_reader *reader, struct lp_env_command *out);
void lp_env_command_release(struct lp_env_command *command);

#endif
