/* What NCCL warned of, and what a warning says in a known shape: shared memory that failed, collectives without algorithm. */
#include "proof/nccl_lines.h"

#include "proof/nccl_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_WARNINGS ((size_t)64)
#define MAX_SHM      ((size_t)16)

static bool has_any(const char *text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

#define HAS_ANY(text, words) has_any(text, words, sizeof(words) / sizeof((words)[0]))

/* A value that was refused, changed or ignored: one of these words, and what was set. 2.20 says most of it at WARN, 2.28 at INFO.
 */
static bool refuses_setting(const char *text)
{
    static const char *const verdicts[] = {
        "Invalid ",           "invalid value", "too low",         "too big", "larger than", "not valid",
        "not a valid",        "ignored",       "gnoring",         "imiting", "no effect",   "Unable to recognize",
        "Unknown CTA policy", "setting it to", "failed to decode"};
    static const char *const subjects[] = {"NCCL_", "User asked for a", "minCTAs ", "maxCTAs ", "nvlsCTAs ", "CTA policy"};

    return HAS_ANY(text, verdicts) && HAS_ANY(text, subjects);
}

/* Lines of INFO that tell of a way that could not be taken. */
static bool tells_of_fallback(const char *text)
{
    static const char *const words[] = {"falling back to", "Proceeding without", "P2P is disabled between", ", clamping"};

    return HAS_ANY(text, words);
}

static void add_warning(struct lp_nccl_log *log, int writer, const struct lp_nccl_warning *warning)
{
    struct lp_nccl_warning *grown;
    size_t i = 0, dropped = log->dropped;

    while (i < log->nwarnings && strcmp(log->warning[i].text, warning->text) != 0)
        i++;
    if (i == log->nwarnings) {
        grown = lp_nccl_room(log, log->warning, log->nwarnings, sizeof(*grown), MAX_WARNINGS);
        if (!grown) {
            log->dropped = dropped;
            log->warnings_dropped++;
            return;
        }
        log->warning = grown;
        log->warning[i] = *warning;
        log->nwarnings++;
    }
    log->warning[i].count++;
    if (writer >= 0)
        log->warning[i].writers |= UINT64_C(1) << writer;
}

/* ", error: No space left on device (28)", or nothing in releases before 2.22. */
static void take_error(const char *at, char *out, size_t cap)
{
    const char *end;

    out[0] = '\0';
    if (!lp_take(&at, ", error: "))
        return;
    end = strstr(at, " (");
    if (end)
        snprintf(out, cap, "%.*s", (int)(end - at), at);
}

/*
 * "Error while attaching to shared memory segment PATH (size N)", "Error: failed to extend PATH to N bytes", both with the
 * error since 2.22. The path of a segment that was never named is junk, so it is taken by what follows it.
 */
static void shm_line(struct lp_nccl_log *log, const char *at)
{
    struct lp_nccl_shm shm = {0}, *grown;
    bool extend = lp_take(&at, "Error: failed to extend ");
    const char *after = extend ? " to " : " (size ", *end;

    if (!extend) {
        if (!lp_take(&at, "Error while "))
            return;
        shm.attaching = lp_take(&at, "attaching to");
        if ((!shm.attaching && !lp_take(&at, "creating")) || !lp_take(&at, " shared memory segment "))
            return;
    }
    end = strstr(at, after);
    if (!end || (size_t)(end - at) >= sizeof(shm.path))
        return;
    memcpy(shm.path, at, (size_t)(end - at));
    at = end + strlen(after);
    if (!lp_take_int(&at, &shm.size_bytes) || !lp_take(&at, extend ? " bytes" : ")"))
        return;
    take_error(at, shm.error, sizeof(shm.error));
    grown = lp_nccl_room(log, log->shm, log->nshm, sizeof(*grown), MAX_SHM);
    if (grown) {
        log->shm = grown;
        log->shm[log->nshm++] = shm;
    }
}

/* "Error : no algorithm/protocol available for function AllGather with datatype ncclInt8. ..."; up to 2.23 without function. */
static void no_algorithm_line(struct lp_nccl_log *log, const char *at)
{
    char function[32] = "";

    if (!lp_take(&at, "Error : no algorithm/protocol available"))
        return;
    if (lp_take(&at, " for function ") && !lp_take_word(&at, "", function, sizeof(function)))
        return;
    for (int i = 0; i < log->nno_algorithm; i++)
        if (strcmp(log->no_algorithm[i], function) == 0)
            return;
    if (log->nno_algorithm < (int)(sizeof(log->no_algorithm) / sizeof(log->no_algorithm[0])))
        memcpy(log->no_algorithm[log->nno_algorithm++], function, sizeof(function));
}

void lp_nccl_warning_line(struct lp_nccl_log *log, int writer, bool error, const char *text)
{
    struct lp_nccl_warning warning = {.error = error, .setting = refuses_setting(text)};
    char clean[1024];
    size_t i = 0;

    if (!error && !warning.setting && !tells_of_fallback(text))
        return;
    for (; i < sizeof(clean) - 1 && text[i]; i++)
        clean[i] = text[i] == '\t' ? ' ' : iscntrl((unsigned char)text[i]) || (unsigned char)text[i] >= 0x80 ? '?' : text[i];
    clean[i] = '\0';
    snprintf(warning.text, sizeof(warning.text), "%.*s", (int)sizeof(warning.text) - 1, clean);
    add_warning(log, writer, &warning);
    if (error) {
        shm_line(log, clean);
        no_algorithm_line(log, clean);
    }
}
