/* Results in memory, their file and their journal. What the members mean is DESIGN section 8. */
#include "model/result.h"

#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void lp_result_init(struct lp_result *result)
{
    memset(result, 0, sizeof(*result));
    result->head = json_pack("{s:s, s:b, s:[]}", "schema", LP_SCHEMA, "complete", 0, "variants");
}

void lp_result_release(struct lp_result *result)
{
    for (size_t i = 0; i < result->n; i++)
        free(result->record[i]);
    free(result->record);
    json_decref(result->head);
    memset(result, 0, sizeof(*result));
}

enum lp_status lp_result_add(struct lp_result *result, const struct lp_record *record)
{
    struct lp_record *copy = malloc(sizeof(*copy));

    if (!copy)
        return LP_ERR_MEMORY;
    if (result->n == result->cap) {
        size_t cap = result->cap ? result->cap * 2 : 256;
        struct lp_record **grown = realloc(result->record, cap * sizeof(struct lp_record *));

        if (!grown) {
            free(copy);
            return LP_ERR_MEMORY;
        }
        result->record = grown;
        result->cap = cap;
    }
    *copy = *record;
    result->record[result->n++] = copy;
    return LP_OK;
}

const struct lp_record *lp_result_find(const struct lp_result *result, const char *op, const char *variant, int repeat,
                                       enum lp_placement placement, enum lp_timing timing, size_t requested_bytes)
{
    for (size_t i = 0; i < result->n; i++) {
        const struct lp_record *record = result->record[i];

        if (strcmp(record->cell.op, op) == 0 && (!variant || (strcmp(record->variant, variant) == 0 && record->repeat == repeat)) &&
            record->cell.placement == placement && record->cell.timing == timing && record->cell.requested_bytes == requested_bytes)
            return record;
    }
    return NULL;
}

json_t *lp_result_to_json(const struct lp_result *result)
{
    json_t *document = json_deep_copy(result->head);
    json_t *p2p = json_array(), *collectives = json_array();

    for (size_t i = 0; i < result->n; i++)
        json_array_append_new(result->record[i]->cell.kind == LP_COPY ? p2p : collectives, lp_record_to_json(result->record[i]));
    json_object_set_new(document, "p2p", p2p);
    json_object_set_new(document, "collectives", collectives);
    return document;
}

static enum lp_status add_json(struct lp_result *result, const json_t *json, enum lp_kind kind, struct lp_reason *why)
{
    struct lp_record *record = malloc(sizeof(*record));
    enum lp_status st = record ? lp_record_from_json(json, kind, record, why) : LP_ERR_MEMORY;

    if (st == LP_OK)
        st = lp_result_add(result, record);
    free(record);
    return st;
}

static enum lp_status take_document(struct lp_result *result, json_t *document, struct lp_reason *why)
{
    static const struct {
        const char *key;
        enum lp_kind kind;
    } lists[] = {{"p2p", LP_COPY}, {"collectives", LP_COLLECTIVE}};
    enum lp_status st = LP_OK;

    for (size_t i = 0; i < 2 && st == LP_OK; i++) {
        const json_t *list = json_object_get(document, lists[i].key);

        for (size_t k = 0; k < json_array_size(list) && st == LP_OK; k++)
            st = add_json(result, json_array_get(list, k), lists[i].kind, why);
        json_object_del(document, lists[i].key);
    }
    json_object_update(result->head, document);
    return st;
}

static void take_evidence(struct lp_result *result, json_t *evidence)
{
    const char *number;
    json_t *value;

    json_object_foreach(evidence, number, value)
    {
        unsigned long i = strtoul(number, NULL, 10);

        if (i < result->n)
            lp_evidence_from_json(value, &result->record[i]->evidence);
    }
}

static enum lp_status take_journal_line(struct lp_result *result, const json_t *line, struct lp_reason *why)
{
    const json_t *head = json_object_get(line, "head");

    if (head) {
        json_object_update(result->head, (json_t *)head);
        return LP_OK;
    }
    if (json_object_get(line, "evidence")) {
        take_evidence(result, json_object_get(line, "evidence"));
        return LP_OK;
    }
    if (json_object_get(line, "p2p"))
        return add_json(result, json_object_get(line, "p2p"), LP_COPY, why);
    if (json_object_get(line, "collective"))
        return add_json(result, json_object_get(line, "collective"), LP_COLLECTIVE, why);
    return lp_because(why, LP_ERR_PARSE, "a journal line holds neither head nor record");
}

static enum lp_status load_journal(FILE *file, struct lp_result *out, struct lp_reason *why)
{
    enum lp_status st = LP_OK;
    char *text = NULL;
    size_t cap = 0;
    ssize_t len;

    while (st == LP_OK && (len = getline(&text, &cap, file)) > 0) {
        json_t *line = text[len - 1] == '\n' ? json_loads(text, 0, NULL) : NULL;

        if (line)
            st = take_journal_line(out, line, why);
        else if (text[len - 1] == '\n')
            st = lp_because(why, LP_ERR_PARSE, "a line of the journal is not JSON");
        json_decref(line);
    }
    free(text);
    return st;
}

/* A result file holds one document over several lines; a journal one document a line. */
static enum lp_status load_stream(FILE *file, const char *path, struct lp_result *out, struct lp_reason *why)
{
    json_error_t error;
    json_t *document = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
    enum lp_status st;

    if (!document)
        return lp_because(why, LP_ERR_PARSE, "%s: not a linkperf result: %s at line %d", path, error.text, error.line);
    if (json_object_get(document, "head")) {
        rewind(file);
        st = load_journal(file, out, why);
    } else {
        st = take_document(out, document, why);
    }
    json_decref(document);
    if (st == LP_OK && strcmp(lp_json_str(out->head, "schema", ""), LP_SCHEMA) != 0)
        st = lp_because(why, LP_ERR_PARSE, "%s: schema is '%s', this linkperf reads '%s'", path,
                        lp_json_str(out->head, "schema", ""), LP_SCHEMA);
    return st;
}

enum lp_status lp_result_load(const char *path, struct lp_result *out, struct lp_reason *why)
{
    FILE *file = fopen(path, "re");
    enum lp_status st;

    lp_result_init(out);
    if (!file)
        return lp_because(why, LP_ERR_IO, "%s: %s", path, strerror(errno));
    json_object_del(out->head, "schema");
    st = load_stream(file, path, out, why);
    fclose(file);
    return st;
}

enum lp_status lp_result_save(const struct lp_result *result, const char *path, struct lp_reason *why)
{
    char temporary[4200];
    json_t *document;
    FILE *file;
    bool good;

    snprintf(temporary, sizeof(temporary), "%s.tmp", path);
    file = fopen(temporary, "we");
    if (!file)
        return lp_because(why, LP_ERR_IO, "%s: %s", temporary, strerror(errno));
    document = lp_result_to_json(result);
    good = json_dumpf(document, file, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9)) == 0;
    good = fputc('\n', file) != EOF && good;
    good = fclose(file) == 0 && good;
    json_decref(document);
    if (good && rename(temporary, path) == 0)
        return LP_OK;
    lp_because(why, LP_ERR_IO, "%s: %s", path, strerror(errno));
    unlink(temporary);
    return LP_ERR_IO;
}

void lp_journal_init(struct lp_journal *journal)
{
    journal->fd = -1;
    journal->path[0] = '\0';
}

static void part_path(const struct lp_journal *journal, char *buf, size_t cap)
{
    snprintf(buf, cap, "%s.part", journal->path);
}

enum lp_status lp_journal_open(struct lp_journal *journal, const char *path, struct lp_reason *why)
{
    char part[4200];
    struct stat info;

    if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode)) /* a link would be replaced by the file, not followed */
        return lp_because(why, LP_ERR_IO, "%s is not a regular file: name a file for the result", path);
    if (strlen(path) >= sizeof(journal->path))
        return lp_because(why, LP_ERR_IO, "path of the result file is longer than %zu bytes", sizeof(journal->path) - 1);
    snprintf(journal->path, sizeof(journal->path), "%s", path);
    part_path(journal, part, sizeof(part));
    journal->fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd >= 0)
        return LP_OK;
    if (errno == EEXIST)
        return lp_because(why, LP_ERR_IO,
                          "%s is left from a run that did not end: keep it with 'linkperf show %s', then move or remove it", part,
                          part);
    return lp_because(why, LP_ERR_IO, "%s: %s", part, strerror(errno));
}

/* A whole line in one write, so that a kill leaves at most one line cut. Takes the reference. */
static enum lp_status append(struct lp_journal *journal, json_t *line, struct lp_reason *why)
{
    char *text = json_dumps(line, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    size_t len, done = 0;

    json_decref(line);
    if (!text)
        return lp_because(why, LP_ERR_MEMORY, "out of memory for the journal");
    len = strlen(text);
    text[len++] = '\n'; /* takes the place of the NUL: the length is known */
    while (done < len) {
        ssize_t wrote = write(journal->fd, text + done, len - done);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            free(text);
            return lp_because(why, LP_ERR_IO, "%s.part: %s", journal->path, strerror(errno));
        }
        done += (size_t)wrote;
    }
    free(text);
    return LP_OK;
}

enum lp_status lp_journal_head(struct lp_journal *journal, const json_t *head, struct lp_reason *why)
{
    return journal->fd < 0 ? LP_OK : append(journal, json_pack("{s:O}", "head", (json_t *)head), why);
}

enum lp_status lp_journal_record(struct lp_journal *journal, const struct lp_record *record, struct lp_reason *why)
{
    if (journal->fd < 0)
        return LP_OK;
    return append(journal, json_pack("{s:o}", record->cell.kind == LP_COPY ? "p2p" : "collective", lp_record_to_json(record)), why);
}

enum lp_status lp_journal_evidence(struct lp_journal *journal, json_t *evidence, struct lp_reason *why)
{
    if (journal->fd >= 0)
        return append(journal, json_pack("{s:o}", "evidence", evidence), why);
    json_decref(evidence);
    return LP_OK;
}

enum lp_status lp_journal_finish(struct lp_journal *journal, const struct lp_result *result, struct lp_reason *why)
{
    char part[4200];
    enum lp_status st;

    if (journal->fd < 0)
        return LP_OK;
    st = lp_result_save(result, journal->path, why);
    close(journal->fd);
    journal->fd = -1;
    if (st != LP_OK)
        return st;
    part_path(journal, part, sizeof(part));
    unlink(part);
    return LP_OK;
}
