/* CPU time of this machine and of our own processes, from /proc: how much of it others take. */
#ifndef LP_MACHINE_LOAD_H
#define LP_MACHINE_LOAD_H

/* Ticks (1/100 s) since the machine started. */
struct lp_load {
    int cpus;              /* that were counted; 0: nothing is known */
    long long total, busy; /* of those CPUs; busy: not idle, what a hypervisor took for others among it */
    long long ours;        /* of our processes, on whichever CPU */
};

/*
 * cpus: a list ("0-3,8"), or "" for all. pids: n processes; what a child that has ended used counts with its parent. One that
 * is gone counts nothing. proc is "/proc", or a copy of it in tests.
 */
void lp_load_read(const char *proc, const char *cpus, const long *pids, int n, struct lp_load *out);

/* Share of the CPUs' time, 0 to 1, that others than us took between two readings; NaN when unknown, or after less than 0.25 s. */
double lp_load_others(const struct lp_load *before, const struct lp_load *after);

#endif
