/* A whole run: what the result file holds, in memory. Live run and `linkperf show` fill the same struct. */
#ifndef LP_MODEL_RESULT_H
#define LP_MODEL_RESULT_H

#include "model/record.h"

#include <jansson.h>

#define LP_SCHEMA "linkperf/1"

struct lp_result {
    json_t *head;              /* object: every top-level member of DESIGN section 8 except the records; owned */
    struct lp_record **record; /* in the order they were made; owned */
    size_t n, cap;
};

/* Empty, with head {schema, complete: false, variants: []}. Release it in any case. */
void lp_result_init(struct lp_result *result);
void lp_result_release(struct lp_result *result);

/* Adds a copy of the record. LP_ERR_MEMORY. */
enum lp_status lp_result_add(struct lp_result *result, const struct lp_record *record);

/* The first record of these; NULL when there is none. variant NULL: any. */
const struct lp_record *lp_result_find(const struct lp_result *result, const char *op, const char *variant, int repeat,
                                       enum lp_placement placement, enum lp_timing timing, size_t requested_bytes);

/* One document with head, p2p and collectives. New reference. */
json_t *lp_result_to_json(const struct lp_result *result);

/*
 * Reads a result file, or a journal (FILE.part) as far as it got: a line that a kill cut off is dropped and
 * head.complete stays false. LP_ERR_IO, or LP_ERR_PARSE with what is wrong in words. *out is initialised in any case.
 */
enum lp_status lp_result_load(const char *path, struct lp_result *out, struct lp_reason *why);

/* Writes the document to path through a temporary file beside it. LP_ERR_IO names path and error. */
enum lp_status lp_result_save(const struct lp_result *result, const char *path, struct lp_reason *why);

/*
 * The journal: every change of a result as one line, on disk before the next cell starts. path.part is created and must
 * not exist. All functions are no-ops on a journal that is not open (fd < 0), so callers need not ask.
 */
struct lp_journal {
    int fd;
    char path[4096]; /* of the final file */
};

void lp_journal_init(struct lp_journal *journal);

/* LP_ERR_IO: cannot be created, or FILE.part exists: the reason says what to do with it. */
enum lp_status lp_journal_open(struct lp_journal *journal, const char *path, struct lp_reason *why);

/* {"head": {...}}: members to merge into the head. Borrows head. */
enum lp_status lp_journal_head(struct lp_journal *journal, const json_t *head, struct lp_reason *why);

enum lp_status lp_journal_record(struct lp_journal *journal, const struct lp_record *record, struct lp_reason *why);

/*
 * {"evidence": {"17": {...}}}: what was found out later about records that are in the journal already, by their number in
 * it, counted from 0. Takes the reference.
 */
enum lp_status lp_journal_evidence(struct lp_journal *journal, json_t *evidence, struct lp_reason *why);

/* Assembles FILE from the result in memory and removes FILE.part. On failure the part stays. */
enum lp_status lp_journal_finish(struct lp_journal *journal, const struct lp_result *result, struct lp_reason *why);

#endif
