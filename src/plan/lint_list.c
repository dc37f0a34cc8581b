/* NCCL_ALGO and NCCL_PROTO: lists that NCCL would refuse or misread, with the list that was meant. What they leave is lint_reach's.
 */
#include "plan/lint_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_ENTRIES 16

/* One "function:^name,name", repaired as far as that is safe. */
struct entry {
    char prefix[32];
    bool has_prefix, inverted;
    char names[128]; /* with commas */
};

struct list {
    const struct lp_nccl_word *words; /* algorithms or protocols */
    const char *what;                 /* "algorithm" */
    int version;
    struct entry entry[MAX_ENTRIES];
    int n;
    bool sure;         /* the repair is what was meant */
    char problem[256]; /* the first one; "" : none */
    const char *then;  /* what NCCL does about it; NULL: it refuses to start, or leaves it out in releases before 2.24 */
};

static void complain_but(struct list *list, const char *then, const char *problem)
{
    if (list->problem[0])
        return;
    list->then = then;
    snprintf(list->problem, sizeof(list->problem), "%s", problem);
}

static void __attribute__((format(printf, 2, 3))) complain(struct list *list, const char *fmt, ...)
{
    va_list args;

    if (list->problem[0])
        return;
    va_start(args, fmt);
    vsnprintf(list->problem, sizeof(list->problem), fmt, args);
    va_end(args);
}

/* "all_reduce", "AllReduces": near enough to one function or name only; NULL otherwise. */
static const struct lp_nccl_word *nearest_word(const struct lp_nccl_word *words, const char *text)
{
    const struct lp_nccl_word *found = NULL;
    size_t limit = strlen(text) < 4 ? 1 : 2, best = limit + 1;

    for (; words->name; words++) {
        size_t distance = lp_edit_distance(text, words->name);

        if (distance < best) {
            best = distance;
            found = words;
        } else if (distance == best) {
            found = NULL;
        }
    }
    return found;
}

static const struct lp_nccl_word *take_word(struct list *list, const struct lp_nccl_word *words, const char *what, const char *text)
{
    const struct lp_nccl_word *word = lp_nccl_word_find(words, text, strlen(text), true);

    if (word)
        return word;
    complain(list, "'%.60s' is no %s", text, what);
    word = nearest_word(words, text);
    list->sure = list->sure && word;
    return word;
}

static void add_name(struct entry *entry, const char *name)
{
    size_t used = strlen(entry->names);

    snprintf(entry->names + used, sizeof(entry->names) - used, "%s%s", used ? "," : "", name);
}

static void take_names(struct list *list, struct entry *entry, char *text)
{
    char *next;

    if (text[0] == '^') {
        entry->inverted = true;
        text++;
    }
    if (text[0] == '\0') {
        complain_but(list, entry->inverted ? "NCCL takes all of them" : NULL, "a list without a name");
        list->sure = false;
    }
    for (char *name = text; name && text[0]; name = next) {
        const struct lp_nccl_word *word;
        bool excluded = false;

        if ((next = strchr(name, ',')) != NULL)
            *next++ = '\0';
        if (name[0] == '^') {
            complain(list, "'^' stands once, in front of the first name, and then excludes all of them");
            excluded = true;
            name++;
        }
        if (name[0] == '\0') {
            complain_but(list, "NCCL passes over it", "an empty name between commas");
            continue;
        }
        word = take_word(list, list->words, list->what, name);
        if (word && list->version && list->version < word->since) {
            complain(list, "this release has no %s", word->name);
            list->sure = false;
        }
        if (word && excluded == (excluded && entry->inverted)) /* what a list that includes excludes is not in it anyway */
            add_name(entry, word->name);
    }
}

/* Functions that NCCL makes of sends and receives, which no list reaches. */
static bool is_sendrecv(const char *function)
{
    static const char *const names[] = {"alltoall", "sendrecv", "send", "recv", "gather", "scatter"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcasecmp(names[i], function) == 0)
            return true;
    return false;
}

static void take_function(struct list *list, struct entry *entry, const char *text)
{
    const struct lp_nccl_word *function;

    if (text[0] == '^') {
        complain(list, "'^' stands behind the colon");
        entry->inverted = true;
        text++;
    }
    entry->has_prefix = true;
    if (list->version && list->version < 22400) {
        complain(list, "functions in front of a colon are read since 2.24");
        list->sure = false;
    } else if (is_sendrecv(text)) {
        complain(list, "'%s' is made of sends and receives, which have no choice of %s", text, list->what);
        list->sure = false;
    } else {
        function = take_word(list, lp_nccl_functions, "function (AllReduce, AllGather, ReduceScatter, Broadcast, Reduce)", text);
        snprintf(entry->prefix, sizeof(entry->prefix), "%s", function ? function->name : "");
        for (char *p = entry->prefix; *p; p++)
            *p = (char)tolower((unsigned char)*p);
    }
}

static void take_entry(struct list *list, char *text)
{
    struct entry *entry = &list->entry[list->n];
    char *colon = strchr(text, ':');

    if (text[0] == '\0') {
        complain_but(list, "NCCL passes over it", "an empty entry");
        return;
    }
    if (list->n == MAX_ENTRIES) {
        complain(list, "more than %d entries", MAX_ENTRIES);
        list->sure = false;
        return;
    }
    list->n++;
    if (colon) {
        *colon++ = '\0';
        take_function(list, entry, text);
        if (strchr(colon, ':')) {
            complain_but(list, "NCCL drops what follows the second",
                         "two colons in one entry, where functions are separated by ';'");
            list->sure = false;
            return;
        }
    } else if (list->n > 1) {
        complain(list, "only the first entry may lack a function (names are separated by ',', functions by ';')");
    }
    take_names(list, entry, colon ? colon : text);
}

static void write_entry(const struct entry *entry, const char *separator, char *buf, size_t cap)
{
    size_t used = strlen(buf);

    snprintf(buf + used, cap - used, "%s%s%s%s%s", used ? separator : "", entry->prefix, entry->has_prefix ? ":" : "",
             entry->inverted ? "^" : "", entry->names);
}

/* The list that was meant; false when that is not sure. */
static bool write_repair(const struct list *list, char *buf, size_t cap)
{
    int bare = 0, inverted = 0;

    for (int i = 0; i < list->n; i++) {
        bare += !list->entry[i].has_prefix;
        inverted += !list->entry[i].has_prefix && list->entry[i].inverted;
    }
    buf[0] = '\0';
    if (!list->sure || list->n == 0 || (bare > 1 && (bare < list->n || inverted)))
        return false;
    for (int i = 0; i < list->n; i++) /* what holds for all functions comes first; "ring;tree" is "ring,tree" */
        if (!list->entry[i].has_prefix)
            write_entry(&list->entry[i], ",", buf, cap);
    for (int i = 0; i < list->n; i++)
        if (list->entry[i].has_prefix)
            write_entry(&list->entry[i], ";", buf, cap);
    return true;
}

/* A copy without blanks; true when there were some. The copy is cut at cap. */
static bool without_blanks(const char *text, char *buf, size_t cap)
{
    bool found = false;
    size_t n = 0;

    for (; *text; text++)
        if (isspace((unsigned char)*text))
            found = true;
        else if (n + 1 < cap)
            buf[n++] = *text;
    buf[n] = '\0';
    return found;
}

bool lp_lint_list(struct lp_lint *lint, const struct lp_nccl_var *var, const struct lp_env *env)
{
    struct list list = {.words = var->kind == LP_VAR_ALGO ? lp_nccl_algos : lp_nccl_protos,
                        .what = var->kind == LP_VAR_ALGO
                                    ? "algorithm (Ring, Tree, NVLS, NVLSTree, CollNetDirect, CollNetChain, PAT)"
                                    : "protocol (LL, LL128, Simple)",
                        .version = lint->context->version,
                        .sure = strlen(env->value) < 512};
    char copy[512], repair[512], *next;

    if (without_blanks(env->value, copy, sizeof(copy)))
        complain(&list, "blanks are part of the names");
    for (char *text = copy; text; text = next) {
        if ((next = strchr(text, ';')) != NULL)
            *next++ = '\0';
        take_entry(&list, text);
    }
    if (!list.problem[0])
        return true;
    if (!list.then)
        list.then = list.version == 0      ? "NCCL refuses to start, and before 2.24 leaves it out without a word"
                    : list.version < 22400 ? "this NCCL leaves it out without a word"
                                           : "NCCL refuses to start (invalid usage)";
    lp_lint_say(lint, LP_LINT_ERROR, env, write_repair(&list, repair, sizeof(repair)) ? repair : NULL, "%s: %s", list.problem,
                list.then);
    return false;
}
