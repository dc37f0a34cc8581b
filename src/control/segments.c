/* Reading /proc/PID/maps before a kill, and tidying after it. */
#include "control/segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "/dev/shm/nccl-"

static int is_known(const struct lp_segments *segments, const char *path)
{
    for (size_t i = 0; i < segments->n; i++)
        if (strcmp(segments->path[i], path) == 0)
            return 1;
    return 0;
}

static void note_line(struct lp_segments *segments, char *line)
{
    char *path = strchr(line, '/'); /* the columns before the path hold none */

    if (!path || strncmp(path, PREFIX, strlen(PREFIX)) != 0 || strstr(path, " (deleted)") || segments->n == LP_MAX_SEGMENTS)
        return;
    path[strcspn(path, "\n")] = '\0';
    if (is_known(segments, path))
        return;
    segments->path[segments->n] = strdup(path);
    if (segments->path[segments->n])
        segments->n++;
}

void lp_segments_note(struct lp_segments *segments, pid_t pid)
{
    char name[64], line[4096];
    FILE *maps;

    snprintf(name, sizeof(name), "/proc/%ld/maps", (long)pid);
    maps = fopen(name, "re");
    if (!maps)
        return;
    while (fgets(line, sizeof(line), maps))
        note_line(segments, line);
    fclose(maps);
}

size_t lp_segments_remove(struct lp_segments *segments)
{
    size_t removed = 0;
    struct stat info;

    for (size_t i = 0; i < segments->n; i++) {
        if (lstat(segments->path[i], &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
            unlink(segments->path[i]) == 0)
            removed++;
        free(segments->path[i]);
    }
    memset(segments, 0, sizeof(*segments));
    return removed;
}
