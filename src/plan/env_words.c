/* Shell words: quotes, comments, continuation. Expansion is noticed, not done. */
#include "plan/env_words.h"

#include <stdlib.h>
#include <string.h>

struct growing {
    char *text;
    size_t n, cap;
    bool failed, expands; /* memory was out; a quoted part holds $ or ` */
};

static void put(struct growing *word, char c)
{
    if (word->n + 1 >= word->cap) {
        size_t cap = word->cap ? word->cap * 2 : 64;
        char *grown = realloc(word->text, cap);

        if (!grown) {
            word->failed = true;
            return;
        }
        word->text = grown;
        word->cap = cap;
    }
    word->text[word->n++] = c;
    word->text[word->n] = '\0';
}

static char take(struct lp_env_reader *reader)
{
    if (*reader->text == '\n')
        reader->line++;
    return *reader->text++;
}

/* A line ended by \r\n ends there. */
static bool at_newline(const struct lp_env_reader *reader)
{
    return reader->text[0] == '\n' || (reader->text[0] == '\r' && (reader->text[1] == '\n' || reader->text[1] == '\0'));
}

static size_t continuation(const char *text)
{
    return text[0] != '\\' ? 0 : text[1] == '\n' ? 2 : text[1] == '\r' && text[2] == '\n' ? 3 : 0;
}

static bool skip_continuation(struct lp_env_reader *reader)
{
    size_t len = continuation(reader->text);

    for (size_t i = 0; i < len; i++)
        take(reader);
    return len > 0;
}

/* Behind the opening quote; false when it is not closed. */
static bool take_quoted(struct lp_env_reader *reader, char quote, struct growing *into)
{
    while (*reader->text && *reader->text != quote) {
        if (quote == '"' && skip_continuation(reader))
            continue;
        if (quote == '"' && *reader->text == '\\' && reader->text[1] && strchr("$`\"\\", reader->text[1]))
            take(reader);
        else if (quote == '"' && (*reader->text == '$' || *reader->text == '`'))
            into->expands = true;
        put(into, take(reader));
    }
    if (*reader->text == '\0')
        return false;
    take(reader);
    return true;
}

static bool ends_word(const struct lp_env_reader *reader)
{
    return *reader->text == '\0' || at_newline(reader) || strchr(" \t;&|()<>", *reader->text);
}

/* $(command) or `command`, whatever is in it; false when it is not closed. */
static bool take_substitution(struct lp_env_reader *reader, struct growing *into)
{
    int depth = 0;

    if (*reader->text == '`') {
        do
            put(into, take(reader));
        while (*reader->text && *reader->text != '`');
    } else {
        do {
            depth += (*reader->text == '(') - (*reader->text == ')');
            put(into, take(reader));
        } while (*reader->text && (depth > 0 || *reader->text == '('));
        return depth == 0;
    }
    if (*reader->text == '\0')
        return false;
    put(into, take(reader));
    return true;
}

/* One word; false when a quote is not closed. */
static bool take_word(struct lp_env_reader *reader, struct growing *into, struct lp_env_word *word)
{
    bool closed = true;

    while (closed && !ends_word(reader)) {
        char c = *reader->text;

        if (skip_continuation(reader))
            continue;
        if (c == '\'' || c == '"') {
            take(reader);
            closed = take_quoted(reader, c, into);
            word->expands = word->expands || into->expands;
        } else if (c == '\\' && reader->text[1]) {
            take(reader);
            put(into, take(reader));
        } else if (c == '`' || (c == '$' && reader->text[1] == '(')) {
            word->expands = true;
            closed = take_substitution(reader, into);
        } else {
            /* ~ counts at the start of a word or of a value */
            if (c == '$' || (c == '~' && (into->n == 0 || into->text[into->n - 1] == '=')))
                word->expands = true;
            put(into, take(reader));
        }
    }
    return closed;
}

static bool add_word(struct lp_env_command *command, const struct lp_env_word *word)
{
    struct lp_env_word *grown = realloc(command->word, (command->n + 1) * sizeof(*grown));

    if (!grown)
        return false;
    command->word = grown;
    grown[command->n++] = *word;
    return true;
}

/* Blanks, continuations and comments in front of a word. */
static void skip_blanks(struct lp_env_reader *reader)
{
    while (*reader->text == ' ' || *reader->text == '\t' || skip_continuation(reader))
        if (*reader->text == ' ' || *reader->text == '\t')
            take(reader);
    if (*reader->text == '#')
        while (*reader->text && *reader->text != '\n')
            take(reader);
}

static void take_end(struct lp_env_reader *reader, struct lp_env_command *command)
{
    command->end = LP_ENV_END_PLAIN;
    if (*reader->text == '\0') {
        command->end = LP_ENV_END_FILE;
    } else if (at_newline(reader)) {
        while (*reader->text == '\r')
            take(reader);
        if (*reader->text)
            take(reader);
    } else if (strncmp(reader->text, "&&", 2) == 0) {
        reader->text += 2;
    } else {
        bool either = strncmp(reader->text, "||", 2) == 0; /* only one of the two commands may run */

        command->end_char = take(reader);
        if (either || !strchr(";&|", command->end_char))
            command->end = LP_ENV_END_OTHER;
    }
}

/* A word at the reader; on failure it is empty. *closed: its quotes are. */
static enum lp_status read_word(struct lp_env_reader *reader, struct lp_env_word *word, bool *closed)
{
    struct growing text = {0};

    *word = (struct lp_env_word){0};
    put(&text, '\0'); /* '' is a word, too */
    text.n = 0;
    *closed = take_word(reader, &text, word);
    word->text = text.text;
    if (!text.failed)
        return LP_OK;
    free(text.text);
    word->text = NULL;
    return LP_ERR_MEMORY;
}

/* "> file", "2>&1", "< file": passed over with its target. Not <<, whose text follows in other lines. */
static enum lp_status skip_redirection(struct lp_env_reader *reader)
{
    struct lp_env_word target;
    enum lp_status st;
    bool closed;

    while (*reader->text && strchr("<>&|", *reader->text))
        take(reader);
    skip_blanks(reader);
    st = read_word(reader, &target, &closed);
    free(target.text);
    skip_blanks(reader);
    return st;
}

static bool at_redirection(const struct lp_env_reader *reader)
{
    return reader->text[0] == '>' || (reader->text[0] == '<' && reader->text[1] != '<');
}

static enum lp_status take_words(struct lp_env_reader *reader, struct lp_env_command *out)
{
    enum lp_status st = LP_OK;
    bool closed = true;

    while (st == LP_OK && closed && (!ends_word(reader) || at_redirection(reader))) {
        struct lp_env_word word;

        if (at_redirection(reader)) {
            st = skip_redirection(reader);
            continue;
        }
        st = read_word(reader, &word, &closed);
        if (st == LP_OK && closed && !add_word(out, &word))
            st = LP_ERR_MEMORY;
        if (st != LP_OK || !closed) /* what is not closed is not known */
            free(word.text);
        skip_blanks(reader);
    }
    if (!closed)
        out->end = LP_ENV_END_QUOTE;
    return st;
}

enum lp_status lp_env_command_next(struct lp_env_reader *reader, struct lp_env_command *out)
{
    enum lp_status st;

    memset(out, 0, sizeof(*out));
    skip_blanks(reader);
    out->line = reader->line + 1;
    st = take_words(reader, out);
    if (st == LP_OK && out->end != LP_ENV_END_QUOTE)
        take_end(reader, out);
    return st;
}

void lp_env_command_release(struct lp_env_command *command)
{
    for (size_t i = 0; i < command->n; i++)
        free(command->word[i].text);
    free(command->word);
    memset(command, 0, sizeof(*command));
}
