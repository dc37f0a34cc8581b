/* Inputs of tests: JSON written with ' for ", and a folder for files that is gone afterwards. */
#ifndef LP_TESTS_FIXTURE_H
#define LP_TESTS_FIXTURE_H

#include <assert.h>
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The document of text in which ' stands for "; NULL is a mistake of the test. New reference. */
static inline json_t *json_of(const char *text)
{
    char *json = strdup(text);
    json_error_t error;
    json_t *document;

    for (char *p = json; *p; p++)
        if (*p == '\'')
            *p = '"';
    document = json_loads(json, 0, &error);
    if (!document)
        fprintf(stderr, "fixture: %s at %d in %s\n", error.text, error.column, json);
    assert(document);
    free(json);
    return document;
}

struct scratch {
    char folder[64];
    char path[128]; /* of the file named last */
};

static inline void scratch_make(struct scratch *scratch)
{
    strcpy(scratch->folder, "/tmp/linkperf-test-XXXXXX");
    if (!mkdtemp(scratch->folder))
        abort();
}

/* The path of a file in the folder, which need not exist; valid until the next call. */
static inline const char *scratch_path(struct scratch *scratch, const char *name)
{
    snprintf(scratch->path, sizeof(scratch->path), "%s/%s", scratch->folder, name);
    return scratch->path;
}

static inline const char *scratch_write(struct scratch *scratch, const char *name, const void *data, size_t len)
{
    FILE *file = fopen(scratch_path(scratch, name), "w");

    if (!file || fwrite(data, 1, len, file) != len || fclose(file) != 0)
        abort();
    return scratch->path;
}

static inline void scratch_remove(struct scratch *scratch)
{
    DIR *folder = opendir(scratch->folder);
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)) != NULL) {
        char path[400];

        snprintf(path, sizeof(path), "%s/%s", scratch->folder, entry->d_name);
        if (entry->d_name[0] != '.')
            remove(path);
    }
    if (folder)
        closedir(folder);
    rmdir(scratch->folder);
}

#endif
