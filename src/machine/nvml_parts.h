/* The inside of NVML's door, for nvml.c and nvml_now.c: what we use of its ABI, written by hand. */
#ifndef LP_MACHINE_NVML_PARTS_H
#define LP_MACHINE_NVML_PARTS_H

#include "machine/nvml.h"

/* From NVML's ABI, which only grows: a struct's layout and a number's meaning stay. */
enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3 };
enum { VALUE_UINT = 1, VALUE_ULONG = 2, VALUE_ULONGLONG = 3 };
enum { FIELD_NVLINK_SPEED_COMMON = 90, FIELD_NVLINK_SPEED = 164 }; /* MB/s; the second per link, since about driver 520 */
enum { REMOTE_GPU = 0, REMOTE_NPU = 1, REMOTE_SWITCH = 2 };
enum { ONE_BOARD = 0, ONE_SWITCH = 10, SWITCHES = 20, HOST_BRIDGE = 30, NUMA_NODE = 40, SYSTEM = 50 }; /* nvmlGpuTopologyLevel_t */
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { SENSOR_GPU = 0 };
enum { ECC_UNCORRECTED = 1, ECC_VOLATILE = 0 };

typedef struct nvml_device *device_t; /* opaque */

struct field_value {
    unsigned id, scope; /* scope: the link, for fields that are a link's */
    long long timestamp_us, latency_us;
    int type; /* VALUE_... */
    int result;
    union {
        double real;
        unsigned uint;
        unsigned long ulong;
        unsigned long long ulonglong;
    } value;
};

struct pci_info { /* version 3, which the _v2 call below fills */
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};

struct memory_info { /* nvmlMemory_t */
    unsigned long long total, free, used;
};

struct utilisation {
    unsigned gpu, memory; /* percent of the last sample period in which a kernel ran, or memory was accessed */
};

struct process_info { /* nvmlProcessInfo_v2_t */
    unsigned pid;
    unsigned long long used; /* bytes; all ones: not given */
    unsigned gpu_instance, compute_instance;
};

struct lp_nvml {
    void *handle;
    char driver[80];
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*driver_version)(char *, unsigned);
    int (*by_pci)(const char *, device_t *);
    int (*uuid)(device_t, char *, unsigned);
    int (*vbios)(device_t, char *, unsigned);
    int (*link_state)(device_t, unsigned, int *);
    int (*link_remote_type)(device_t, unsigned, int *);
    int (*link_remote_pci)(device_t, unsigned, struct pci_info *);
    int (*field_values)(device_t, int, struct field_value *);
    int (*pcie_gen)(device_t, unsigned *);
    int (*pcie_width)(device_t, unsigned *);
    int (*pcie_max_gen)(device_t, unsigned *);
    int (*pcie_max_width)(device_t, unsigned *);
    int (*common_ancestor)(device_t, device_t, int *);
    int (*memory)(device_t, struct memory_info *);
    int (*clock)(device_t, int, unsigned *);
    int (*max_clock)(device_t, int, unsigned *);
    int (*temperature)(device_t, int, unsigned *);
    int (*power)(device_t, unsigned *); /* mW */
    int (*clock_reasons)(device_t, unsigned long long *);
    int (*utilisation)(device_t, struct utilisation *);
    int (*ecc_errors)(device_t, int, int, unsigned long long *);
    int (*processes)(device_t, unsigned *, struct process_info *);
};

#endif
