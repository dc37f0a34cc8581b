/*
 * The cuda device: finding and opening GPUs, streams, marks and graphs, and the table of all its functions. Memory, test
 * data and the gate have files of their own; what is measured, and why, is the bench's.
 */
#include "worker/device_cuda.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lp_event_mark {
    cudaEvent_t event;
};

struct lp_graph {
    cudaGraphExec_t exec;
};

/* sm_XX of the current device as XX; 0 when even that fails. */
static int current_arch(void)
{
    int device, major, minor;

    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) != cudaSuccess) {
        lp_cuda_forget(cudaGetLastError());
        return 0;
    }
    return 10 * major + minor;
}

enum lp_status lp_cuda_check(cudaError_t err, struct lp_reason *why, const char *call, ...)
{
    char what[256];
    va_list args;

    if (err == cudaSuccess)
        return LP_OK;
    cudaGetLastError();
    va_start(args, call);
    vsnprintf(what, sizeof(what), call, args);
    va_end(args);
    if (err == cudaErrorNoKernelImageForDevice || err == cudaErrorUnsupportedPtxVersion) {
        int arch = current_arch();

        return lp_because(why, LP_ERR_ENV, "%s: linkperf-worker was built without code for sm_%d: rebuild with ARCH=%d", what, arch,
                          arch);
    }
    return lp_because(why, err == cudaErrorMemoryAllocation ? LP_ERR_MEMORY : LP_ERR_FAILED, "%s: %s (%s)", what,
                      cudaGetErrorString(err), cudaGetErrorName(err));
}

void lp_cuda_forget(cudaError_t err)
{
    if (err != cudaSuccess)
        cudaGetLastError();
}

enum lp_status lp_cuda_select(struct lp_device *device, struct lp_reason *why)
{
    return lp_cuda_check(cudaSetDevice(device->index), why, "cudaSetDevice(%d)", device->index);
}

/* An old driver is a fault of the machine; no driver at all (version 0) is a machine without GPUs. */
static enum lp_status driver_too_old(int *n, struct lp_reason *why)
{
    int driver = 0;

    lp_cuda_forget(cudaDriverGetVersion(&driver));
    *n = 0;
    if (driver == 0)
        return LP_OK;
    return lp_because(why, LP_ERR_ENV,
                      "the NVIDIA driver is for CUDA %d.%d and linkperf-worker was built with %d.%d: update the driver, or "
                      "rebuild with CUDA_HOME at an older toolkit",
                      driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

static enum lp_status count(int *n, struct lp_reason *why)
{
    cudaError_t err = cudaGetDeviceCount(n);

    if (err == cudaSuccess)
        return LP_OK;
    cudaGetLastError();
    *n = 0;
    switch (err) {
    case cudaErrorNoDevice:
        return LP_OK;
    case cudaErrorInsufficientDriver:
        return driver_too_old(n, why);
    case cudaErrorSystemNotReady:
        return lp_because(why, LP_ERR_ENV,
                          "CUDA reports system not ready (802): on NVSwitch machines the fabric manager must run; reboot after a "
                          "restart of it");
    default:
        return lp_because(why, LP_ERR_ENV, "cudaGetDeviceCount: %s (%s, %d)", cudaGetErrorString(err), cudaGetErrorName(err),
                          (int)err);
    }
}

/* The driver's is the highest CUDA version it can do; its own number (580.95) is known to NVML. */
static void versions(char *driver, size_t driver_cap, char *runtime, size_t runtime_cap)
{
    int code = 0;

    lp_cuda_forget(cudaDriverGetVersion(&code));
    snprintf(driver, driver_cap, "%s", "");
    if (code > 0)
        snprintf(driver, driver_cap, "%d.%d", code / 1000, code % 1000 / 10);
    snprintf(runtime, runtime_cap, "%d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

/* As nvidia-smi writes it: GPU-, then 8, 4, 4, 4 and 12 hex digits. */
static void format_uuid(const cudaUUID_t *uuid, char *out, size_t cap)
{
    size_t n = (size_t)snprintf(out, cap, "GPU-");

    for (size_t i = 0; i < sizeof(uuid->bytes) && n < cap; i++)
        n += (size_t)snprintf(out + n, cap - n, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                              (unsigned char)uuid->bytes[i]);
}

/* Twice the memory clock, since data moves on both edges, by the bus width; a driver that does not tell may say 0. */
static double memory_gbps(int index)
{
    int khz = 0, bits = 0;

    lp_cuda_forget(cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, index));
    lp_cuda_forget(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, index));
    return khz > 0 && bits > 0 ? 2.0 * khz * bits / 8 / 1e6 : (double)NAN;
}

static bool is_exclusive(int index)
{
    int mode = cudaComputeModeDefault;

    lp_cuda_forget(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, index));
    return mode != cudaComputeModeDefault;
}

static enum lp_status describe(int index, struct lp_device_info *out, struct lp_reason *why)
{
    struct cudaDeviceProp prop;
    enum lp_status st = lp_cuda_check(cudaGetDeviceProperties(&prop, index), why, "cudaGetDeviceProperties(%d)", index);

    memset(out, 0, sizeof(*out));
    out->memory_gbps = memory_gbps(index);
    out->exclusive = is_exclusive(index);
    if (st == LP_OK)
        st = lp_cuda_check(cudaDeviceGetPCIBusId(out->pci, sizeof(out->pci), index), why, "cudaDeviceGetPCIBusId(%d)", index);
    if (st != LP_OK)
        return st;
    snprintf(out->name, sizeof(out->name), "%.*s", (int)sizeof(out->name) - 1, prop.name);
    format_uuid(&prop.uuid, out->uuid, sizeof(out->uuid));
    out->memory_bytes = prop.totalGlobalMem;
    out->cc_major = prop.major;
    out->cc_minor = prop.minor;
    return LP_OK;
}

static void close_device(struct lp_device *device)
{
    if (!device)
        return;
    lp_cuda_data_close(device);
    free(device); /* the context stays: it is the process's, and a library may still use it */
}

static enum lp_status open_device(int index, struct lp_device **out, struct lp_reason *why)
{
    struct lp_device *device = calloc(1, sizeof(*device));
    enum lp_status st;

    *out = NULL;
    if (!device)
        return lp_because(why, LP_ERR_MEMORY, "no host memory for a device");
    device->index = index;
    st = lp_cuda_select(device, why);
    if (st == LP_OK) /* before CUDA 12 the context is only made by the first call that needs one */
        st = lp_cuda_check(cudaFree(NULL), why, "making the CUDA context of GPU %d", index);
    if (st == LP_OK)
        st = lp_cuda_check(cudaDeviceGetAttribute(&device->sms, cudaDevAttrMultiProcessorCount, index), why,
                           "cudaDeviceGetAttribute(multiprocessors) of GPU %d", index);
    if (st == LP_OK)
        st = lp_cuda_check(lp_kernels_load(), why, "loading kernels on GPU %d", index);
    if (st == LP_OK)
        st = lp_cuda_data_open(device, why);
    if (st == LP_OK)
        *out = device;
    else
        close_device(device);
    return st;
}

static enum lp_status stream_create(struct lp_device *device, struct lp_stream **out, struct lp_reason *why)
{
    struct lp_stream *stream = calloc(1, sizeof(*stream));
    enum lp_status st;

    *out = NULL;
    if (!stream)
        return lp_because(why, LP_ERR_MEMORY, "no host memory for a stream");
    stream->device = device;
    st = lp_cuda_select(device, why);
    if (st == LP_OK) /* never waits for the legacy default stream, which libraries may use */
        st = lp_cuda_check(cudaStreamCreateWithFlags(&stream->stream, cudaStreamNonBlocking), why, "cudaStreamCreate on GPU %d",
                           device->index);
    if (st == LP_OK)
        *out = stream;
    else
        free(stream);
    return st;
}

static void stream_free(struct lp_stream *stream)
{
    if (!stream)
        return;
    lp_cuda_forget(cudaStreamDestroy(stream->stream));
    free(stream);
}

static enum lp_status stream_sync(struct lp_stream *stream, struct lp_reason *why)
{
    return lp_cuda_check(cudaStreamSynchronize(stream->stream), why, "cudaStreamSynchronize on GPU %d", stream->device->index);
}

static enum lp_status make_mark(struct lp_device *device, unsigned flags, struct lp_event_mark **out, struct lp_reason *why)
{
    struct lp_event_mark *mark = calloc(1, sizeof(*mark));
    enum lp_status st;

    *out = NULL;
    if (!mark)
        return lp_because(why, LP_ERR_MEMORY, "no host memory for an event");
    st = lp_cuda_select(device, why);
    if (st == LP_OK)
        st = lp_cuda_check(cudaEventCreateWithFlags(&mark->event, flags), why, "cudaEventCreate on GPU %d", device->index);
    if (st == LP_OK)
        *out = mark;
    else
        free(mark);
    return st;
}

static enum lp_status mark_create(struct lp_device *device, struct lp_event_mark **out, struct lp_reason *why)
{
    return make_mark(device, cudaEventDefault, out, why);
}

static enum lp_status order_mark_create(struct lp_device *device, struct lp_event_mark **out, struct lp_reason *why)
{
    return make_mark(device, cudaEventDisableTiming, out, why);
}

static void mark_free(struct lp_event_mark *mark)
{
    if (!mark)
        return;
    lp_cuda_forget(cudaEventDestroy(mark->event));
    free(mark);
}

static enum lp_status mark_record(struct lp_event_mark *mark, struct lp_stream *stream, struct lp_reason *why)
{
    return lp_cuda_check(cudaEventRecord(mark->event, stream->stream), why, "cudaEventRecord on GPU %d", stream->device->index);
}

static enum lp_status mark_elapsed(struct lp_event_mark *start, struct lp_event_mark *stop, double *us, struct lp_reason *why)
{
    float ms = 0;
    enum lp_status st = lp_cuda_check(cudaEventElapsedTime(&ms, start->event, stop->event), why, "cudaEventElapsedTime");

    if (st == LP_OK)
        *us = 1e3 * (double)ms;
    return st;
}

static enum lp_status stream_wait(struct lp_stream *stream, struct lp_event_mark *mark, struct lp_reason *why)
{
    return lp_cuda_check(cudaStreamWaitEvent(stream->stream, mark->event, 0), why, "cudaStreamWaitEvent on GPU %d",
                         stream->device->index);
}

/* Thread-local: a call that no capture may hold, made by another thread (NCCL has some), must not spoil this one. */
static enum lp_status capture_begin(struct lp_stream *stream, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(stream->device, why);

    if (st == LP_OK)
        st = lp_cuda_check(cudaStreamBeginCapture(stream->stream, cudaStreamCaptureModeThreadLocal), why,
                           "cudaStreamBeginCapture on GPU %d", stream->device->index);
    return st;
}

/* Makes *out of what was recorded; the upload brings it to the device, so that no timed launch has to. */
static enum lp_status make_graph(cudaGraph_t recorded, struct lp_stream *stream, struct lp_graph **out, struct lp_reason *why)
{
    struct lp_graph *graph = calloc(1, sizeof(*graph));
    enum lp_status st;

    if (!graph)
        return lp_because(why, LP_ERR_MEMORY, "no host memory for a graph");
    st = lp_cuda_check(cudaGraphInstantiateWithFlags(&graph->exec, recorded, 0), why, "cudaGraphInstantiate on GPU %d",
                       stream->device->index);
    if (st != LP_OK)
        goto no_exec;
    st = lp_cuda_check(cudaGraphUpload(graph->exec, stream->stream), why, "cudaGraphUpload on GPU %d", stream->device->index);
    if (st != LP_OK)
        goto no_upload;
    *out = graph;
    return LP_OK;

no_upload:
    lp_cuda_forget(cudaGraphExecDestroy(graph->exec));
no_exec:
    free(graph);
    return st;
}

/* EndCapture ends the capture even where it fails because a call inside did; what it gives then is NULL. */
static enum lp_status capture_end(struct lp_stream *stream, struct lp_graph **out, struct lp_reason *why)
{
    cudaGraph_t recorded = NULL;
    enum lp_status st = lp_cuda_check(cudaStreamEndCapture(stream->stream, &recorded), why, "cudaStreamEndCapture on GPU %d",
                                      stream->device->index);

    *out = NULL;
    if (st == LP_OK)
        st = lp_cuda_select(stream->device, why);
    if (st == LP_OK)
        st = make_graph(recorded, stream, out, why);
    if (recorded)
        lp_cuda_forget(cudaGraphDestroy(recorded));
    return st;
}

static enum lp_status graph_launch(struct lp_graph *graph, struct lp_stream *stream, struct lp_reason *why)
{
    return lp_cuda_check(cudaGraphLaunch(graph->exec, stream->stream), why, "cudaGraphLaunch on GPU %d", stream->device->index);
}

static void graph_free(struct lp_graph *graph)
{
    if (!graph)
        return;
    lp_cuda_forget(cudaGraphExecDestroy(graph->exec));
    free(graph);
}

extern const struct lp_device_ops lp_device_cuda;
const struct lp_device_ops lp_device_cuda = {
    .name = "cuda",
    .versions = versions,
    .describe = describe,
    .count = count,
    .open = open_device,
    .close = close_device,
    .select = lp_cuda_select,
    .alloc = lp_cuda_alloc,
    .free = lp_cuda_free,
    .export_buffer = lp_cuda_export,
    .import_buffer = lp_cuda_import,
    .drop_import = lp_cuda_drop_import,
    .host_alloc = lp_cuda_host_alloc,
    .host_free = lp_cuda_host_free,
    .can_access = lp_cuda_can_access,
    .enable_access = lp_cuda_enable_access,
    .fill = lp_cuda_fill,
    .poison = lp_cuda_poison,
    .clear = lp_cuda_clear,
    .peek = lp_cuda_peek,
    .verify = lp_cuda_verify,
    .stream_create = stream_create,
    .stream_free = stream_free,
    .stream_sync = stream_sync,
    .mark_create = mark_create,
    .order_mark_create = order_mark_create,
    .mark_free = mark_free,
    .mark_record = mark_record,
    .stream_wait = stream_wait,
    .mark_elapsed = mark_elapsed,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .graph_launch = graph_launch,
    .graph_free = graph_free,
    .copy = lp_cuda_copy,
    .kernel_copy = lp_cuda_kernel_copy,
    .copy_plain = lp_cuda_copy_plain,
    .chase_make = lp_cuda_chase_make,
    .chase = lp_cuda_chase,
    .chase_end = lp_cuda_chase_end,
    .exchange = lp_cuda_exchange,
    .pass_on = lp_cuda_pass_on,
    .gate_create = lp_cuda_gate_create,
    .gate_free = lp_cuda_gate_free,
    .gate_close = lp_cuda_gate_close,
    .gate_hold = lp_cuda_gate_hold,
    .gate_open = lp_cuda_gate_open,
    .gate_was_late = lp_cuda_gate_was_late,
    .memory = lp_cuda_memory,
};
