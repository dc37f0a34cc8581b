/* Run matrices in YAML, by libyaml's document API: every error has its line, and no value is interpreted. */
#include "plan/matrix.h"

#include "plan/multiply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
    const char *path;
    yaml_document_t *document;
    bool *seen; /* per node: already used; a second use means an alias */
    struct lp_reason *why;
};

static enum lp_status complain(struct reader *reader, const yaml_node_t *node, const char *text)
{
    return lp_because(reader->why, LP_ERR_ARG, "%s, line %zu: %s", reader->path, node ? node->start_mark.line + 1 : 1, text);
}

/* The node of that index. Anchored nodes used twice are refused: a change of one would be a change of both. */
static yaml_node_t *node_at(struct reader *reader, int index, enum lp_status *st)
{
    yaml_node_t *node = yaml_document_get_node(reader->document, index);

    if (reader->seen[index])
        *st = complain(reader, node, "aliases are not taken: write the values out");
    reader->seen[index] = true;
    return node;
}

static const char *text_of(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* Plain ~, null or nothing; quoted ones are values. */
static bool is_null(const yaml_node_t *node)
{
    const char *text = text_of(node);

    return text && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0);
}

/* A scalar without NUL bytes, which no environment can hold. */
static const char *value_of(struct reader *reader, const yaml_node_t *node, enum lp_status *st)
{
    const char *text = text_of(node);

    if (!text)
        *st = complain(reader, node, "a value here must be text, not a list or mapping");
    else if (strlen(text) != node->data.scalar.length)
        *st = complain(reader, node, "a value holds a NUL byte");
    return text;
}

typedef enum lp_status member(struct reader *reader, const char *key, yaml_node_t *key_node, yaml_node_t *value, void *into);

/* Calls take for every pair of a mapping; keys are text and there once. */
static enum lp_status each_member(struct reader *reader, yaml_node_t *mapping, member *take, void *into)
{
    yaml_node_pair_t *first = mapping->data.mapping.pairs.start, *end = mapping->data.mapping.pairs.top;
    enum lp_status st = LP_OK;

    if (mapping->type != YAML_MAPPING_NODE)
        return complain(reader, mapping, "a mapping (name: value) is expected here");
    for (yaml_node_pair_t *pair = first; pair < end && st == LP_OK; pair++) {
        yaml_node_t *key = node_at(reader, pair->key, &st);
        yaml_node_t *value = st == LP_OK ? node_at(reader, pair->value, &st) : NULL;
        const char *text = st == LP_OK ? value_of(reader, key, &st) : NULL;

        for (yaml_node_pair_t *other = first; other < pair && st == LP_OK; other++) {
            const char *earlier = text_of(yaml_document_get_node(reader->document, other->key));

            if (earlier && strcmp(earlier, text) == 0)
                st = complain(reader, key, "this key is there twice");
        }
        if (st == LP_OK)
            st = take(reader, text, key, value, into);
    }
    return st;
}

static enum lp_status take_env(struct reader *reader, const char *key, yaml_node_t *key_node, yaml_node_t *value, void *into)
{
    struct lp_reason inner = {""};
    enum lp_status st = LP_OK;
    const char *text = is_null(value) ? NULL : value_of(reader, value, &st);

    if (st == LP_OK && lp_variant_set(into, key, text, &inner) != LP_OK)
        st = complain(reader, key_node, inner.text);
    return st;
}

static enum lp_status take_axis_value(struct reader *reader, yaml_node_t *node, struct lp_axes *axes)
{
    enum lp_status st = LP_OK;
    const char *text = is_null(node) ? NULL : value_of(reader, node, &st);

    return st == LP_OK ? lp_axes_add_value(axes, text, reader->why) : st;
}

/* NAME: [value, value, ...] */
static enum lp_status take_axis(struct reader *reader, const char *key, yaml_node_t *key_node, yaml_node_t *value, void *into)
{
    struct lp_reason inner = {""};
    enum lp_status st = LP_OK;

    if (value->type != YAML_SEQUENCE_NODE)
        return complain(reader, value, "a sweep gives each variable a list: NCCL_X: [a, b]");
    if (lp_axes_add(into, key, &inner) != LP_OK)
        return complain(reader, key_node, inner.text);
    for (yaml_node_item_t *item = value->data.sequence.items.start; item < value->data.sequence.items.top && st == LP_OK; item++) {
        yaml_node_t *node = node_at(reader, *item, &st);

        if (st == LP_OK)
            st = take_axis_value(reader, node, into);
    }
    return st;
}

static enum lp_status take_timings(struct reader *reader, yaml_node_t *value, struct lp_variant *variant)
{
    enum lp_status st = LP_OK;
    const char *text = value_of(reader, value, &st);
    struct lp_reason inner = {""};
    char copy[128], *save = NULL;

    if (st == LP_OK && (text[0] == '\0' || strlen(text) >= sizeof(copy)))
        return complain(reader, value, "timing is a list like 'graph,isolated'");
    snprintf(copy, sizeof(copy), "%s", text ? text : "");
    for (char *word = strtok_r(copy, ", ", &save); word && st == LP_OK; word = strtok_r(NULL, ", ", &save)) {
        enum lp_timing timing;

        if (lp_timing_parse(word, &timing, &inner) != LP_OK)
            st = complain(reader, value, inner.text);
        else
            variant->timings |= 1u << timing;
    }
    return st;
}

static enum lp_status take_option(struct reader *reader, const char *key, yaml_node_t *key_node, yaml_node_t *value, void *into)
{
    struct lp_variant *variant = into;
    enum lp_status st = LP_OK;
    const char *text;

    if (strcmp(key, "timing") == 0)
        return take_timings(reader, value, variant);
    if (strcmp(key, "nccl") != 0)
        return complain(reader, key_node, "unknown option: use timing or nccl");
    text = value_of(reader, value, &st);
    if (st == LP_OK && !(variant->nccl = strdup(text)))
        st = LP_ERR_MEMORY;
    return st;
}

static enum lp_status take_when(struct reader *reader, yaml_node_t *value, struct lp_variant *variant)
{
    enum lp_status st = LP_OK;
    const char *text = value_of(reader, value, &st);

    for (int i = LP_WHEN_ALWAYS; text && i <= LP_WHEN_PCIE; i++)
        if (strcmp(text, lp_when_name((enum lp_when)i)) == 0) {
            variant->when = (enum lp_when)i;
            return LP_OK;
        }
    return st == LP_OK ? complain(reader, value, "unknown 'when': use always, nvlink or pcie") : st;
}

static enum lp_status take_name(struct reader *reader, yaml_node_t *value, struct lp_variant *variant)
{
    enum lp_status st = LP_OK;
    const char *text = value_of(reader, value, &st);

    if (st != LP_OK)
        return st;
    if (text[0] == '\0' || strlen(text) >= sizeof(variant->name))
        return complain(reader, value, "a name has 1 to 63 bytes");
    snprintf(variant->name, sizeof(variant->name), "%s", text);
    return LP_OK;
}

/* A variant while its members are read. */
struct draft {
    struct lp_variant *variant;
    struct lp_axes axes;
};

static enum lp_status take_member(struct reader *reader, const char *key, yaml_node_t *key_node, yaml_node_t *value, void *into)
{
    struct draft *draft = into;

    if (strcmp(key, "name") == 0)
        return take_name(reader, value, draft->variant);
    if (strcmp(key, "when") == 0)
        return take_when(reader, value, draft->variant);
    if (strcmp(key, "env") == 0)
        return is_null(value) ? LP_OK : each_member(reader, value, take_env, draft->variant);
    if (strcmp(key, "sweep") == 0)
        return is_null(value) ? LP_OK : each_member(reader, value, take_axis, &draft->axes);
    if (strcmp(key, "options") == 0)
        return is_null(value) ? LP_OK : each_member(reader, value, take_option, draft->variant);
    return complain(reader, key_node, "unknown key: use name, env, sweep, options or when");
}

static enum lp_status take_variant(struct reader *reader, yaml_node_t *node, struct lp_variants *list)
{
    struct draft draft = {.variant = lp_variants_add(list, "")};
    struct lp_reason inner = {""};
    enum lp_status st = draft.variant ? each_member(reader, node, take_member, &draft) : LP_ERR_MEMORY;

    if (st == LP_OK && draft.variant->name[0] == '\0')
        st = complain(reader, node, "a variant without a name");
    if (st == LP_OK && lp_variants_multiply(list, &draft.axes, &inner) != LP_OK)
        st = complain(reader, node, inner.text);
    lp_axes_release(&draft.axes);
    return st;
}

static enum lp_status take_variants(struct reader *reader, yaml_node_t *sequence, struct lp_variants *list)
{
    enum lp_status st = LP_OK;

    if (sequence->type != YAML_SEQUENCE_NODE)
        return complain(reader, sequence, "'variants' is a list: each entry begins with '- name: ...'");
    for (yaml_node_item_t *item = sequence->data.sequence.items.start; item < sequence->data.sequence.items.top && st == LP_OK;
         item++) {
        yaml_node_t *node = node_at(reader, *item, &st);

        if (st == LP_OK)
            st = take_variant(reader, node, list);
    }
    return st;
}

static enum lp_status take_top(struct reader *reader, const char *key, yaml_node_t *key_node, yaml_node_t *value, void *into)
{
    if (strcmp(key, "variants") != 0)
        return complain(reader, key_node, "unknown key: a run matrix has 'variants' at its top");
    return take_variants(reader, value, into);
}

static enum lp_status read_document(struct reader *reader, struct lp_variants *list)
{
    yaml_node_t *root = yaml_document_get_root_node(reader->document);
    size_t nodes = (size_t)(reader->document->nodes.top - reader->document->nodes.start);
    enum lp_status st;

    if (!root)
        return complain(reader, NULL, "the file is empty: a run matrix has 'variants' at its top");
    reader->seen = calloc(nodes + 1, sizeof(*reader->seen)); /* indices start at 1 */
    st = reader->seen ? each_member(reader, root, take_top, list) : LP_ERR_MEMORY;
    free(reader->seen);
    return st;
}

/* One document a file: what stands behind "---" would be ignored without a word. */
static enum lp_status check_no_more(yaml_parser_t *parser, struct reader *reader)
{
    yaml_document_t more;
    enum lp_status st = LP_OK;

    if (!yaml_parser_load(parser, &more))
        return lp_because(reader->why, LP_ERR_ARG, "%s, line %zu: %s", reader->path, parser->problem_mark.line + 1,
                          parser->problem ? parser->problem : "not YAML");
    if (yaml_document_get_root_node(&more))
        st = lp_because(reader->why, LP_ERR_ARG, "%s, line %zu: a second document: a run matrix is one", reader->path,
                        yaml_document_get_root_node(&more)->start_mark.line + 1);
    yaml_document_delete(&more);
    return st;
}

enum lp_status lp_matrix_read(const char *path, struct lp_variants *list, struct lp_reason *why)
{
    FILE *file = fopen(path, "re");
    struct reader reader = {.path = path, .why = why};
    yaml_document_t document;
    yaml_parser_t parser;
    enum lp_status st;

    if (!file)
        return lp_because(why, LP_ERR_IO, "%s: %s", path, strerror(errno));
    if (!yaml_parser_initialize(&parser)) {
        fclose(file);
        return lp_because(why, LP_ERR_MEMORY, "out of memory");
    }
    yaml_parser_set_input_file(&parser, file);
    if (!yaml_parser_load(&parser, &document)) {
        st = lp_because(why, LP_ERR_ARG, "%s, line %zu: %s", path, parser.problem_mark.line + 1,
                        parser.problem ? parser.problem : "not YAML");
    } else {
        reader.document = &document;
        st = read_document(&reader, list);
        yaml_document_delete(&document);
        if (st == LP_OK)
            st = check_no_more(&parser, &reader);
    }
    yaml_parser_delete(&parser);
    fclose(file);
    return st;
}
