/*
 * Lint: what NCCL would misread, ignore, clamp or refuse in a variant, said before anything starts, with the right spelling. Pure
 * but for the two functions that look at files. Facts are nccl_vars'.
 */
#ifndef LP_PLAN_LINT_H
#define LP_PLAN_LINT_H

#include "model/variant.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum lp_lint_level {
    LP_LINT_ERROR,   /* NCCL would take something else than what is written, or die: the run is refused */
    LP_LINT_WARNING, /* taken, but changed, without effect, or risky */
    LP_LINT_NOTE,    /* good to know */
};

struct lp_finding {
    enum lp_lint_level level;
    char variant[LP_NAME_MAX]; /* "" : of every variant */
    char name[128];            /* the variable; "" when it is about none */
    char value[256];           /* as given, cut, control characters as '?' */
    bool removed;              /* the variant removes the variable; value is "" */
    char text[512];            /* what is wrong with it, and what NCCL does */
    char fix[256];             /* what to write instead, "NCCL_BUFFSIZE=16777216"; "" when that is not known */
};

/* All zero is empty. */
struct lp_findings {
    struct lp_finding *item;
    size_t n;
};

void lp_findings_release(struct lp_findings *findings);

/* Adds one; text and fix are filled by the caller. NULL when memory is out; valid until the next call. */
struct lp_finding *lp_findings_add(struct lp_findings *findings, enum lp_lint_level level, const char *variant);

/* How many of that level; of one variant, or of all for NULL. */
size_t lp_findings_count(const struct lp_findings *findings, enum lp_lint_level level, const char *variant);

/* "error: NCCL_BUFFSIZE=16M: NCCL reads 16, not 16 MiB; write NCCL_BUFFSIZE=16777216". Returns buf. */
const char *lp_finding_words(const struct lp_finding *finding, char *buf, size_t cap);

/* Those of one variant (NULL: all) as [{level, variant, name, value, text, fix}], null for what is empty. New reference. */
json_t *lp_findings_json(const struct lp_findings *findings, const char *variant);

/* "error", "warning", "note". */
const char *lp_lint_level_name(enum lp_lint_level level);

/* Names beginning with NCCL_ that a library holds, sorted. All zero is empty. */
struct lp_lint_names {
    char **item;
    size_t n;
    int version; /* of "NCCL version 2.28.3" in it; 0: not found */
};

/*
 * Searches the bytes of a libnccl for names: every name that NCCL reads is there whole, as a string of its own. 0.15 s for 218 MB.
 * LP_ERR_IO with the reason. Release it in any case.
 */
enum lp_status lp_lint_names_in_library(const char *path, struct lp_lint_names *out, struct lp_reason *why);
bool lp_lint_names_has(const struct lp_lint_names *names, const char *name);
void lp_lint_names_release(struct lp_lint_names *names);

/*
 * What NCCL's conf files set: [{"path": ..., "env": {NAME: value}}] in the order NCCL reads them (earlier wins, the environment
 * wins over all). conf_file: the inherited NCCL_CONF_FILE or NULL (read since 2.23); home: for ~/.nccl.conf, or NULL; etc: "/etc".
 * Files that are absent are left out. New reference.
 */
json_t *lp_lint_conf_read(const char *conf_file, const char *home, const char *etc, int version);

/* What is known about the run; all zero is nothing. Borrowed. */
struct lp_lint_context {
    int version;                         /* of the NCCL that workers load, 22803; 0: not known */
    const char *const *collectives;      /* measured ones, by linkperf's names, ended by NULL; NULL: not known */
    const struct lp_lint_names *library; /* of that NCCL; NULL: not searched */
    const json_t *inherited;             /* {NAME: value} of the environment variants start from; NULL: not known */
    const json_t *conf;                  /* of lp_lint_conf_read; NULL: not known */
    const char *device;                  /* "cuda", "host"; NULL: not known */
    int nranks, nhosts;                  /* 0: not known */
};

/* Adds what there is to say about one variant. LP_ERR_MEMORY. */
enum lp_status lp_lint_variant(const struct lp_variant *variant, const struct lp_lint_context *context, struct lp_findings *out);

/*
 * The same for a list, and what concerns several: variants with the same effective environment (also as "default", the inherited
 * one), conf files and env plug-ins that reach into all of them.
 */
enum lp_status lp_lint_matrix(const struct lp_variants *list, const struct lp_lint_context *context, struct lp_findings *out);

#endif
