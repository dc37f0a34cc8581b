/* CPUs as lists ("0-3,8"): which a process may use, and which are near a GPU. "" stands for unknown everywhere. */
#ifndef LP_MACHINE_CPUS_H
#define LP_MACHINE_CPUS_H

#include "base/status.h"

#include <sched.h>
#include <stddef.h>

#define LP_CPUS_MAX 512 /* room for a list as text */

/* LP_ERR_PARSE for text that is no list, an empty list, or CPUs beyond cpu_set_t. */
enum lp_status lp_cpus_parse(const char *list, cpu_set_t *out);

/* The CPUs that process pid (0: this one) may run on. Returns buf, "" when they cannot be read. */
const char *lp_cpus_of_process(int pid, char *buf, size_t cap);

/* Number of CPUs in the list; 0 for "". */
int lp_cpus_count(const char *list);

/* Restricts this process (threads started later inherit it) to the list; LP_ERR_ENV when the kernel refuses. */
enum lp_status lp_cpus_apply(const char *list);

/* The CPUs that both lists have; "" when there is none, or one is unknown. Returns buf. */
const char *lp_cpus_common(const char *a, const char *b, char *buf, size_t cap);

/*
 * The part-th of so many equal parts of the list, in its order. Returns buf; "" when there are fewer CPUs than parts, since
 * then nothing is gained by sharing out.
 */
const char *lp_cpus_share(const char *list, int part, int parts, char *buf, size_t cap);

/* CPUs near the PCI device ("0000:00:06.0"), from sysfs. Returns buf; "" in virtual machines that do not tell. */
const char *lp_cpus_of_pci(const char *pci, char *buf, size_t cap);

/* NUMA node of the PCI device, or -1. */
int lp_numa_of_pci(const char *pci);

#endif
