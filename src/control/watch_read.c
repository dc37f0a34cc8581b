/* The readings of a real run. A test that has readings of its own defines lp_watch_reader, and this file is not linked. */
#include "control/watch.h"

static void *open_nvml(void)
{
    struct lp_nvml *nvml;

    return lp_nvml_open(&nvml, NULL) == LP_OK ? nvml : NULL;
}

static void close_nvml(void *self)
{
    lp_nvml_close(self);
}

static void read_gpu(void *self, const char *pci, struct lp_nvml_now *out)
{
    lp_nvml_now(self, pci, out);
}

static void read_load(const char *cpus, const long *pids, int n, struct lp_load *out)
{
    lp_load_read("/proc", cpus, pids, n, out);
}

const struct lp_watch_reader lp_watch_reader = {.open = open_nvml, .close = close_nvml, .gpu = read_gpu, .load = read_load};
