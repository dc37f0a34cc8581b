/* Reading LINKPERF_FAULT. */
#include "tests/fakes/fault.h"

#include "base/units.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const kinds[] = {
    [FAULT_NONE] = "none",
    [FAULT_NO_DEVICE] = "no-device",
    [FAULT_NO_LIBRARY] = "no-library",
    [FAULT_SLOW_INIT] = "slow-init",
    [FAULT_STALL_INIT] = "stall-init",
    [FAULT_FAIL_INIT] = "fail-init",
    [FAULT_SLOW_COLL] = "slow-coll",
    [FAULT_STALL_COLL] = "stall-coll",
    [FAULT_SEGV] = "segv",
    [FAULT_FPE] = "fpe",
    [FAULT_EXIT0] = "exit0",
    [FAULT_CORRUPT] = "corrupt",
    [FAULT_STALE] = "stale",
    [FAULT_STALL_COPY] = "stall-copy",
    [FAULT_CORRUPT_COPY] = "corrupt-copy",
    [FAULT_NO_PEER] = "no-peer",
    [FAULT_FAKE_PEER] = "fake-peer",
    [FAULT_CORRUPT_PEER] = "corrupt-peer",
    [FAULT_STALL_PEER] = "stall-peer",
    [FAULT_SLOW_PEER] = "slow-peer",
    [FAULT_NO_IPC] = "no-ipc",
    [FAULT_STALL_END] = "stall-end",
    [FAULT_IGNORE_TERM] = "ignore-term",
};

static const char *const places[] = {[FAULT_FIRST] = "first", [FAULT_MIDDLE] = "middle", [FAULT_LAST] = "last"};

static void __attribute__((noreturn)) refuse(const char *what)
{
    fprintf(stderr, "LINKPERF_FAULT: '%s' is not understood\n", what);
    _exit(99);
}

static int choose(const char *text, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    refuse(text);
}

/* "NAME=VALUE", or "size>=VALUE". */
static void read_condition(struct fault *fault, char *text)
{
    char *value = strchr(text, '=');
    enum lp_status st = LP_OK;
    long number = 0;

    if (!value)
        refuse(text);
    *value++ = '\0';
    if (strcmp(text, "at") == 0) {
        fault->where = (enum fault_where)choose(value, places, 3);
    } else if (strcmp(text, "size") == 0 || strcmp(text, "size>") == 0) {
        fault->at_least = text[4] == '>';
        st = lp_parse_size(value, &fault->size, NULL);
    } else {
        st = lp_parse_long(value, 0, 1000000, &number, NULL);
        if (strcmp(text, "rank") == 0)
            fault->rank = (int)number;
        else if (strcmp(text, "after") == 0)
            fault->after = number;
        else if (strcmp(text, "seconds") == 0)
            fault->seconds = number;
        else if (strcmp(text, "from") == 0)
            fault->from = (int)number;
        else if (strcmp(text, "to") == 0)
            fault->to = (int)number;
        else
            refuse(text);
    }
    if (st != LP_OK)
        refuse(value);
}

static void read_fault(const char *text, struct fault *out)
{
    char copy[256], *save = NULL, *conditions;

    *out = (struct fault){.rank = -1, .seconds = 1, .from = -1, .to = -1};
    snprintf(copy, sizeof(copy), "%s", text);
    conditions = strchr(copy, '@');
    if (conditions)
        *conditions++ = '\0';
    out->kind = (enum fault_kind)choose(copy, kinds, sizeof(kinds) / sizeof(kinds[0]));
    for (char *word = conditions ? strtok_r(conditions, ",", &save) : NULL; word; word = strtok_r(NULL, ",", &save))
        read_condition(out, word);
}

/* What stands after --rank on this process's command line; devices and libraries are not told it early enough. */
int fault_rank(void)
{
    char line[4096] = "";
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), rank = 0;
    ssize_t len = fd >= 0 ? read(fd, line, sizeof(line) - 1) : 0;

    for (const char *word = line; word < line + len; word += strlen(word) + 1)
        if (strcmp(word, "--rank") == 0)
            rank = atoi(word + sizeof("--rank"));
    if (fd >= 0)
        close(fd);
    return rank;
}

const struct fault *fault_get(void)
{
    static struct fault fault;
    static bool known;
    const char *text = getenv("LINKPERF_FAULT");

    if (known)
        return &fault;
    known = true;
    read_fault(text && text[0] ? text : "none", &fault);
    if (fault.rank >= 0 && fault.rank != fault_rank())
        fault.kind = FAULT_NONE;
    return &fault;
}

bool fault_is(enum fault_kind kind)
{
    return fault_get()->kind == kind;
}

bool fault_hits(enum fault_kind kind, size_t bytes)
{
    static long seen;
    const struct fault *fault = fault_get();

    if (fault->kind != kind || (fault->size && bytes != fault->size && !(fault->at_least && bytes > fault->size)))
        return false;
    return seen++ >= fault->after;
}

bool fault_hits_pair(enum fault_kind kind, int from, int to)
{
    const struct fault *fault = fault_get();

    return fault->kind == kind && (fault->from < 0 || fault->from == from) && (fault->to < 0 || fault->to == to);
}

void fault_stall(void)
{
    for (;;)
        pause();
}

void fault_spoil(void *output, size_t bytes, size_t element)
{
    size_t n = bytes / element, index = 0;
    unsigned char *at;

    if (fault_get()->where == FAULT_MIDDLE)
        index = n / 2;
    else if (fault_get()->where == FAULT_LAST)
        index = n - 1;
    at = (unsigned char *)output + index * element;
    for (size_t i = 0; i < element; i++)
        at[i] = (unsigned char)(at[i] + 0x5b); /* also wrong when it strikes twice */
}
