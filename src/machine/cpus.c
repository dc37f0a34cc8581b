/* CPU lists by hwloc's bitmaps. Nothing here starts or binds anybody else. */
#include "machine/cpus.h"

#include <ctype.h>
#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <hwloc/linux.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "0-3,8" and nothing else, with numbers that a machine can have: hwloc takes much more, and "0-" without end. */
static bool is_list(const char *list)
{
    const char *p = list;

    while (isdigit((unsigned char)*p)) {
        for (int part = 0; part < 2; part++) {
            size_t digits = strspn(p, "0123456789");

            if (digits == 0 || digits > 6)
                return false;
            p += digits;
            if (part == 1 || *p != '-')
                break;
            p++;
        }
        if (*p == '\0')
            return true;
        if (*p++ != ',')
            return false;
    }
    return false;
}

static hwloc_bitmap_t bitmap_of(const char *list)
{
    hwloc_bitmap_t set = is_list(list) ? hwloc_bitmap_alloc() : NULL;

    if (set && (hwloc_bitmap_list_sscanf(set, list) < 0 || hwloc_bitmap_weight(set) < 1)) {
        hwloc_bitmap_free(set);
        return NULL;
    }
    return set;
}

static const char *list_of(hwloc_const_bitmap_t set, char *buf, size_t cap)
{
    if (hwloc_bitmap_weight(set) < 1 || hwloc_bitmap_list_snprintf(buf, cap, set) >= (int)cap)
        buf[0] = '\0';
    return buf;
}

enum lp_status lp_cpus_parse(const char *list, cpu_set_t *out)
{
    hwloc_bitmap_t set = bitmap_of(list);
    enum lp_status st = LP_OK;

    if (!set)
        return LP_ERR_PARSE;
    CPU_ZERO(out);
    if (hwloc_bitmap_last(set) >= CPU_SETSIZE)
        st = LP_ERR_PARSE;
    for (int cpu = hwloc_bitmap_first(set); st == LP_OK && cpu >= 0; cpu = hwloc_bitmap_next(set, cpu))
        CPU_SET((unsigned)cpu, out);
    hwloc_bitmap_free(set);
    return st;
}

const char *lp_cpus_of_process(int pid, char *buf, size_t cap)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    cpu_set_t cpus;

    buf[0] = '\0';
    if (!set)
        return buf;
    if (sched_getaffinity(pid, sizeof(cpus), &cpus) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET((unsigned)cpu, &cpus))
                hwloc_bitmap_set(set, (unsigned)cpu);
        list_of(set, buf, cap);
    }
    hwloc_bitmap_free(set);
    return buf;
}

int lp_cpus_count(const char *list)
{
    hwloc_bitmap_t set = bitmap_of(list);
    int n = set ? hwloc_bitmap_weight(set) : 0;

    if (set)
        hwloc_bitmap_free(set);
    return n;
}

enum lp_status lp_cpus_apply(const char *list)
{
    cpu_set_t cpus;
    enum lp_status st = lp_cpus_parse(list, &cpus);

    if (st != LP_OK)
        return st;
    return sched_setaffinity(0, sizeof(cpus), &cpus) == 0 ? LP_OK : LP_ERR_ENV;
}

const char *lp_cpus_common(const char *a, const char *b, char *buf, size_t cap)
{
    hwloc_bitmap_t left = bitmap_of(a), right = bitmap_of(b);

    buf[0] = '\0';
    if (left && right) {
        hwloc_bitmap_and(left, left, right);
        list_of(left, buf, cap);
    }
    if (left)
        hwloc_bitmap_free(left);
    if (right)
        hwloc_bitmap_free(right);
    return buf;
}

/* Path of a sysfs file of the device; CUDA prints upper-case hex, sysfs has lower case. */
static void sysfs_path(const char *pci, const char *file, char *buf, size_t cap)
{
    char low[64];
    size_t n = 0;

    for (; pci[n] && n + 1 < sizeof(low); n++)
        low[n] = (char)tolower((unsigned char)pci[n]);
    low[n] = '\0';
    snprintf(buf, cap, "/sys/bus/pci/devices/%s/%s", low, file);
}

const char *lp_cpus_share(const char *list, int part, int parts, char *buf, size_t cap)
{
    hwloc_bitmap_t set = bitmap_of(list), share = hwloc_bitmap_alloc();
    int n = set ? hwloc_bitmap_weight(set) : 0, i = 0;

    buf[0] = '\0';
    if (share && parts > 0 && n >= parts) {
        for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu), i++)
            if (i * parts / n == part)
                hwloc_bitmap_set(share, (unsigned)cpu);
        list_of(share, buf, cap);
    }
    if (set)
        hwloc_bitmap_free(set);
    if (share)
        hwloc_bitmap_free(share);
    return buf;
}

const char *lp_cpus_of_pci(const char *pci, char *buf, size_t cap)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    char path[160];

    buf[0] = '\0';
    sysfs_path(pci, "local_cpus", path, sizeof(path));
    if (set && hwloc_linux_read_path_as_cpumask(path, set) == 0)
        list_of(set, buf, cap);
    if (set)
        hwloc_bitmap_free(set);
    return buf;
}

int lp_numa_of_pci(const char *pci)
{
    char path[160];
    FILE *file;
    int node = -1;

    sysfs_path(pci, "numa_node", path, sizeof(path));
    file = fopen(path, "re");
    if (file && fscanf(file, "%d", &node) != 1)
        node = -1;
    if (file)
        fclose(file);
    return node;
}
