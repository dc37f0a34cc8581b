/*
 * What a GPU does at this moment, as NVML has it: clocks, temperature, what holds the clocks down, and which processes
 * compute on it. Only read, never set. Whose the processes are, and what follows, is the watch's to say.
 */
#ifndef LP_MACHINE_NVML_NOW_H
#define LP_MACHINE_NVML_NOW_H

#include "machine/nvml.h"

#define LP_NVML_MAX_PROCESSES 64

/* What takes clock rate away, as bits. Idle clocks, and clocks that somebody set, are none of these. */
enum lp_throttle {
    LP_THROTTLE_POWER_CAP = 1 << 0,
    LP_THROTTLE_HW_SLOWDOWN = 1 << 1,
    LP_THROTTLE_SYNC_BOOST = 1 << 2,
    LP_THROTTLE_SW_THERMAL = 1 << 3,
    LP_THROTTLE_HW_THERMAL = 1 << 4,
    LP_THROTTLE_POWER_BRAKE = 1 << 5,
};

#define LP_NTHROTTLES 6

struct lp_nvml_process {
    long pid;               /* 0: hidden. A container may be told numbers of the host, which mean nothing to it */
    long long memory_bytes; /* -1: not given */
};

/* -1 and NaN: not given. */
struct lp_nvml_now {
    int sm_mhz, sm_max_mhz, mem_mhz, mem_max_mhz;
    int temperature_c;
    double power_w;
    unsigned throttle;         /* of enum lp_throttle; 0 where it is not given, too */
    int busy_percent;          /* of the last sample period (some 0.2 to 1 s) in which a kernel ran */
    long long ecc_uncorrected; /* since the driver was loaded */
    long long used_bytes, total_bytes;
    int nprocesses; /* with a compute context */
    struct lp_nvml_process process[LP_NVML_MAX_PROCESSES];
};

/* The GPU at a PCI id as CUDA prints it. nvml NULL, or a GPU that it does not know: nothing is given. */
void lp_nvml_now(struct lp_nvml *nvml, const char *pci, struct lp_nvml_now *out);

/* "power cap", "hardware slowdown", ...: bit number i, below LP_NTHROTTLES. */
const char *lp_throttle_word(int i);

#endif
