/* Finding a device kind or a library by name. Which ones there are is in lists_cuda.c or lists_host.c, as the Makefile picks. */
#include "worker/library.h"

#include <string.h>

const struct lp_device_ops *lp_device_find(const char *name)
{
    for (size_t i = 0; lp_devices[i]; i++)
        if (strcmp(lp_devices[i]->name, name) == 0)
            return lp_devices[i];
    return NULL;
}

const struct lp_library_ops *lp_library_find(const char *name)
{
    for (size_t i = 0; lp_libraries[i]; i++)
        if (strcmp(lp_libraries[i]->name, name) == 0)
            return lp_libraries[i];
    return NULL;
}
