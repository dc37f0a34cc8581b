/* The device kinds and libraries of a worker built with CUDA, first the ones to prefer. */
#include "worker/library.h"

extern const struct lp_device_ops lp_device_cuda, lp_device_host;
extern const struct lp_library_ops lp_library_nccl, lp_library_host;

const struct lp_device_ops *const lp_devices[] = {&lp_device_cuda, &lp_device_host, NULL};
const struct lp_library_ops *const lp_libraries[] = {&lp_library_nccl, &lp_library_host, NULL};
