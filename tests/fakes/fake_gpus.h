/* GPUs made of host memory: a device kind "cuda" for tests without a GPU, with LINKPERF_FAKE_GPUS of them in every process. */
#ifndef LP_FAKES_FAKE_GPUS_H
#define LP_FAKES_FAKE_GPUS_H

#include "worker/device.h"

/* It has none where LINKPERF_FAKE_GPUS is not set. */
extern struct lp_device_ops fake_gpus;

#endif
