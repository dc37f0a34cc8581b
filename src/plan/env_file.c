/* Commands that set variables, and what they set. Words are env_words'. */
#include "plan/env_file.h"

#include "plan/env_words.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct file {
    const char *path;
    struct lp_variant *variant;
    struct lp_findings *remarks;
    enum lp_status st;
};

static void __attribute__((format(printf, 3, 4))) remark(struct file *file, int line, const char *fmt, ...)
{
    struct lp_finding *finding = lp_findings_add(file->remarks, LP_LINT_WARNING, file->variant->name);
    va_list args;
    int used;

    if (!finding) {
        file->st = LP_ERR_MEMORY;
        return;
    }
    used = snprintf(finding->text, sizeof(finding->text), "line %d: ", line);
    va_start(args, fmt);
    vsnprintf(finding->text + used, sizeof(finding->text) - (size_t)used, fmt, args);
    va_end(args);
    for (char *p = finding->text; *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = '?';
}

/* Length of the NAME of NAME=..., or of a whole text that is a name; 0 for another. */
static size_t name_length(const char *text)
{
    size_t len = 0;

    if (isdigit((unsigned char)text[0]))
        return 0;
    while (isalnum((unsigned char)text[len]) || text[len] == '_')
        len++;
    return text[len] == '=' || text[len] == '\0' ? len : 0;
}

static bool is_assignment(const char *text)
{
    size_t len = name_length(text);

    return len > 0 && text[len] == '=';
}

static void set(struct file *file, int line, const char *text)
{
    size_t len = name_length(text);
    struct lp_reason why = {""};
    char *name = strndup(text, len);
    enum lp_status st = name ? lp_variant_set(file->variant, name, text + len + 1, &why) : LP_ERR_MEMORY;

    if (st == LP_ERR_ARG)
        remark(file, line, "%s", why.text);
    else if (st != LP_OK)
        file->st = st;
    free(name);
}

/* NAME=value of a word; a value that the shell would expand is not known here. */
static void take_assignment(struct file *file, int line, const struct lp_env_word *word)
{
    if (word->expands)
        remark(file, line, "%.200s: what the shell puts in there is not known: left out", word->text);
    else
        set(file, line, word->text);
}

/* A word where NAME=value or, of a variable that is set elsewhere, NAME may stand. */
static void take_setting(struct file *file, int line, const struct lp_env_word *word)
{
    bool found;

    if (is_assignment(word->text))
        take_assignment(file, line, word);
    else if (name_length(word->text) == 0)
        remark(file, line, "'%.200s' is no NAME=value", word->text);
    else if (lp_variant_get(file->variant, word->text, &found) == NULL && !found)
        remark(file, line, "%.200s is passed on as it is set elsewhere: its value is not known here", word->text);
}

/* docker's env-file: every line NAME=value to its end, quotes and blanks included. */
static void read_docker_file(struct file *file, int line, const char *name)
{
    const char *slash = strrchr(file->path, '/');
    char path[4096], *text = NULL, *start;
    FILE *stream;
    size_t cap = 0;
    int inner = 0;

    snprintf(path, sizeof(path), "%.*s%s", name[0] == '/' || !slash ? 0 : (int)(slash + 1 - file->path), file->path, name);
    stream = fopen(path, "re");
    if (!stream) {
        remark(file, line, "--env-file %.200s: %s", name, strerror(errno));
        return;
    }
    while (getline(&text, &cap, stream) > 0 && file->st == LP_OK) {
        inner++;
        text[strcspn(text, "\r\n")] = '\0';
        start = text + strspn(text, " \t");
        if (is_assignment(start))
            set(file, inner, start);
        else if (start[0] && start[0] != '#')
            remark(file, line, "--env-file %.100s, its line %d: '%.200s' is no NAME=value", name, inner, start);
    }
    free(text);
    fclose(stream);
}

/* What follows an option: "-e A=B", "-eA=B", "--env=A=B". Moves *i on when it is a word of its own; NULL: no such option. */
static const char *option_value(const struct lp_env_command *command, size_t *i, const char *option)
{
    const char *text = command->word[*i].text;
    size_t len = strlen(option);
    bool is_long = option[1] == '-' || len > 2;

    if (strncmp(text, option, len) != 0)
        return NULL;
    if (text[len] == '\0')
        return *i + 1 < command->n ? command->word[++*i].text : NULL;
    if (is_long)
        return text[len] == '=' ? text + len + 1 : NULL;
    return option[1] == 'e' ? text + len : NULL;
}

static void take_option(struct file *file, const struct lp_env_command *command, size_t i, const char *value)
{
    struct lp_env_word word = {.text = (char *)value, .expands = command->word[i].expands};

    take_setting(file, command->line, &word);
}

/* A word that someone may take for a setting, and that is none. */
static void say_no_setting(struct file *file, const struct lp_env_command *command, size_t i, const char *without)
{
    const char *text = command->word[i].text, *nccl = strstr(text, "NCCL");

    if (nccl && strchr(nccl, '='))
        remark(file, command->line, "'%.200s'%s is an argument, not a variable: left out", text, without);
}

/* Options of docker up to the image are not told from the program's behind it: -e of that is rare, and would be said anyway. */
static void take_env(struct file *file, const struct lp_env_command *command, size_t first);

static void take_docker(struct file *file, const struct lp_env_command *command, size_t first)
{
    for (size_t i = first; i < command->n; i++) {
        const char *value;

        if (strcmp(command->word[i].text, "env") == 0) {
            take_env(file, command, i + 1);
            return;
        }
        if ((value = option_value(command, &i, "--env-file")) != NULL)
            read_docker_file(file, command->line, value);
        else if ((value = option_value(command, &i, "--env")) != NULL || (value = option_value(command, &i, "-e")) != NULL)
            take_option(file, command, i, value);
        else
            say_no_setting(file, command, i, " without -e");
    }
}

static void take_mpirun(struct file *file, const struct lp_env_command *command, size_t first)
{
    for (size_t i = first; i < command->n; i++) {
        const char *value;

        if (strcmp(command->word[i].text, "env") == 0) {
            take_env(file, command, i + 1);
            return;
        }
        if ((value = option_value(command, &i, "-x")) != NULL)
            take_option(file, command, i, value);
        else if (strcmp(command->word[i].text, "-genv") == 0 || strcmp(command->word[i].text, "-env") == 0)
            remark(file, command->line, "%s is not understood here: write NAME=value in front of the command",
                   command->word[i].text);
        else
            say_no_setting(file, command, i, " without -x");
    }
}

/* --export=ALL,A=B,C: settings between commas. */
static void take_srun(struct file *file, const struct lp_env_command *command, size_t first)
{
    for (size_t i = first; i < command->n; i++) {
        const char *value = option_value(command, &i, "--export");
        char *copy = value ? strdup(value) : NULL, *save = NULL;

        for (char *text = copy ? strtok_r(copy, ",", &save) : NULL; text; text = strtok_r(NULL, ",", &save))
            if (strcmp(text, "ALL") != 0 && strcmp(text, "NONE") != 0)
                take_option(file, command, i, text);
        free(copy);
    }
}

static void take_export(struct file *file, const struct lp_env_command *command, size_t first)
{
    for (size_t i = first; i < command->n; i++)
        if (command->word[i].text[0] == '-')
            remark(file, command->line, "option %.100s of %s is not understood", command->word[i].text, command->word[0].text);
        else
            take_setting(file, command->line, &command->word[i]);
}

static void take_unset(struct file *file, const struct lp_env_command *command, size_t first)
{
    for (size_t i = first; i < command->n; i++) {
        const char *name = command->word[i].text;

        if (strcmp(name, "-v") == 0)
            continue;
        if (name_length(name) != strlen(name) || name[0] == '\0')
            remark(file, command->line, "'%.200s' is no name of a variable", name);
        else if (lp_variant_set(file->variant, name, NULL, NULL) != LP_OK)
            file->st = LP_ERR_MEMORY;
    }
}

/* `declare -x A=B` only: without -x nothing is exported. */
static void take_declare(struct file *file, const struct lp_env_command *command, size_t first)
{
    if (first < command->n && strcmp(command->word[first].text, "-x") == 0)
        take_export(file, command, first + 1);
    else
        remark(file, command->line, "%s without -x exports nothing", command->word[first - 1].text);
}

static void run_words(struct file *file, const struct lp_env_command *command, size_t first);

/* `env -u A B=C command`: the variables, then the command. */
static void take_env(struct file *file, const struct lp_env_command *command, size_t first)
{
    size_t i = first;

    for (; i < command->n; i++) {
        const char *text = command->word[i].text;

        if (is_assignment(text)) {
            take_assignment(file, command->line, &command->word[i]);
        } else if (strcmp(text, "-u") == 0 && i + 1 < command->n && name_length(command->word[i + 1].text) > 0) {
            if (lp_variant_set(file->variant, command->word[++i].text, NULL, NULL) != LP_OK)
                file->st = LP_ERR_MEMORY;
        } else if (text[0] == '-') {
            remark(file, command->line, "option %.100s of env is not understood", text);
        } else {
            break;
        }
    }
    run_words(file, command, i);
}

static void take_wrapper(struct file *file, const struct lp_env_command *command, size_t first)
{
    run_words(file, command, first);
}

static void take_nothing(struct file *file, const struct lp_env_command *command, size_t first)
{
    (void)file, (void)command, (void)first;
}

static const struct {
    const char *name;
    void (*take)(struct file *file, const struct lp_env_command *command, size_t first);
} commands[] = {
    {"export", take_export},  {"declare", take_declare}, {"typeset", take_declare}, {"unset", take_unset},
    {"env", take_env},        {"docker", take_docker},   {"podman", take_docker},   {"nerdctl", take_docker},
    {"mpirun", take_mpirun},  {"mpiexec", take_mpirun},  {"orterun", take_mpirun},  {"srun", take_srun},
    {"sudo", take_wrapper},   {"exec", take_wrapper},    {"nohup", take_wrapper},   {"time", take_wrapper},
    {"echo", take_nothing},   {"cd", take_nothing},      {"true", take_nothing},    {":", take_nothing},
    {"module", take_nothing}, {"ulimit", take_nothing},
};

/* A command by its name, which may be a path. Of others only what looks like a variable and is none is said. */
static void run_words(struct file *file, const struct lp_env_command *command, size_t first)
{
    const char *name, *slash;

    if (first >= command->n)
        return;
    name = command->word[first].text;
    slash = strrchr(name, '/');
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(commands[i].name, slash ? slash + 1 : name) == 0) {
            commands[i].take(file, command, first + 1);
            return;
        }
    for (size_t i = first + 1; i < command->n; i++)
        say_no_setting(file, command, i, "");
    if (first == 0 && name[0] != '\0')
        remark(file, command->line, "'%.100s' is not understood: whether it sets variables is not known", name);
}

static void take_command(struct file *file, const struct lp_env_command *command)
{
    size_t first = 0;

    while (first < command->n && is_assignment(command->word[first].text))
        take_assignment(file, command->line, &command->word[first++]);
    run_words(file, command, first);
    if (command->end == LP_ENV_END_QUOTE)
        remark(file, command->line, "a quote or substitution is not closed");
    else if (command->end == LP_ENV_END_OTHER)
        remark(file, command->line, "'%c' is not understood: what is behind it is read as a command of its own", command->end_char);
}

static char *read_all(const char *path, struct lp_reason *why)
{
    FILE *stream = fopen(path, "re");
    char *text = NULL;
    size_t cap = 0;
    ssize_t len;

    if (!stream) {
        lp_because(why, LP_ERR_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    errno = 0;
    len = getdelim(&text, &cap, '\0', stream); /* to the end, or to a NUL byte */
    if (len >= 0 && !feof(stream)) {
        lp_because(why, LP_ERR_IO, "%s: holds a NUL byte: not a text", path);
        len = -1;
    } else if (len < 0 && !ferror(stream)) { /* empty */
        free(text);
        text = strdup("");
        len = text ? 0 : -1;
    } else if (len < 0) {
        lp_because(why, LP_ERR_IO, "%s: %s", path, strerror(errno));
    }
    fclose(stream);
    if (len < 0) {
        free(text);
        return NULL;
    }
    return text;
}

enum lp_status lp_env_file_read(const char *path, struct lp_variant *variant, struct lp_findings *remarks, struct lp_reason *why)
{
    struct file file = {.path = path, .variant = variant, .remarks = remarks};
    char *text = read_all(path, why);
    struct lp_env_reader reader = {.text = text};
    enum lp_env_end end = LP_ENV_END_PLAIN;

    if (!text)
        return LP_ERR_IO;
    while (file.st == LP_OK && end != LP_ENV_END_FILE) {
        struct lp_env_command command;

        file.st = lp_env_command_next(&reader, &command);
        end = command.end;
        if (file.st == LP_OK)
            take_command(&file, &command);
        lp_env_command_release(&command);
    }
    free(text);
    return file.st == LP_OK ? LP_OK : lp_because(why, file.st, "out of memory");
}
