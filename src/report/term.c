/* Width of the terminal, also through mpirun. Does not ask whether anybody looks at it. */
#include "report/term.h"

#include "base/units.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0 when fd is no terminal, or one that does not know its size. */
static int fd_width(int fd)
{
    struct winsize size;

    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Only a character device is opened: opening somebody's pipe or file would be a side effect. */
static int parent_stderr_width(void)
{
    char path[64];
    struct stat info;
    int fd, width;

    snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)getppid());
    if (stat(path, &info) != 0 || !S_ISCHR(info.st_mode))
        return 0;
    fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return 0;
    width = fd_width(fd);
    close(fd);
    return width;
}

int lp_term_width(bool under_mpirun)
{
    int width = under_mpirun ? parent_stderr_width() : fd_width(STDOUT_FILENO);
    const char *columns = getenv("COLUMNS");
    long asked;

    if (width > 0)
        return width;
    if (columns && lp_parse_long(columns, 1, INT_MAX, &asked, NULL) == LP_OK)
        return (int)asked;
    return LP_WIDTH_DEFAULT;
}
