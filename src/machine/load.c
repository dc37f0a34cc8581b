/* Reading /proc/stat and /proc/PID/stat (proc(5)). Who we are is the caller's to know. */
#include "machine/load.h"

#include "machine/cpus.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LEAST_TICKS 25 /* on each CPU: a reading is whole ticks */

/* Adds a line "cpu3 user nice system idle iowait irq softirq steal ..."; guests, which follow, are in user already. */
static void add_cpu(const char *line, struct lp_load *out)
{
    long long t[8] = {0};
    int n = sscanf(line, "cpu%*d %lld %lld %lld %lld %lld %lld %lld %lld", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);

    if (n < 4)
        return;
    out->cpus++;
    for (int i = 0; i < n; i++) {
        out->total += t[i];
        if (i != 3 && i != 4)
            out->busy += t[i];
    }
}

static void read_cpus(const char *proc, const char *cpus, struct lp_load *out)
{
    char path[256], line[512];
    cpu_set_t set;
    bool all = lp_cpus_parse(cpus, &set) != LP_OK;
    FILE *file;
    int cpu;

    snprintf(path, sizeof(path), "%s/stat", proc);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        /* the first line, without a number, is the sum of the others */
        if (isdigit((unsigned char)line[3]) && sscanf(line, "cpu%d", &cpu) == 1 &&
            (all || (cpu < CPU_SETSIZE && CPU_ISSET((unsigned)cpu, &set))))
            add_cpu(line, out);
        if (strncmp(line, "cpu", 3) != 0)
            break; /* the rest of the file takes longer to write than all CPUs do */
    }
    if (file)
        fclose(file);
}

/* User and system time of the process, and of its children that have ended. */
static long long time_of(const char *proc, long pid)
{
    long long user, system, children_user, children_system;
    char path[256], text[1024];
    const char *rest;
    size_t len;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%ld/stat", proc, pid);
    file = fopen(path, "re");
    len = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = '\0';
    rest = strrchr(text, ')'); /* the name before it may hold anything */
    if (!rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld %lld", &user, &system, &children_user,
                        &children_system) != 4)
        return 0;
    return user + system + children_user + children_system;
}

void lp_load_read(const char *proc, const char *cpus, const long *pids, int n, struct lp_load *out)
{
    *out = (struct lp_load){0};
    read_cpus(proc, cpus, out);
    for (int i = 0; i < n; i++)
        out->ours += time_of(proc, pids[i]);
}

double lp_load_others(const struct lp_load *before, const struct lp_load *after)
{
    long long total = after->total - before->total, others = after->busy - before->busy - (after->ours - before->ours);

    if (before->cpus == 0 || after->cpus != before->cpus || total < (long long)LEAST_TICKS * after->cpus)
        return (double)NAN;
    return others <= 0 ? 0.0 : (double)others / (double)total;
}
