/*
 * Memory of the cuda device: allocating, sharing with other processes, reaching peers, and copies by the copy engines. Which
 * way a peer copy takes follows from what its caller enabled or imported before; nothing is enabled here unasked.
 */
#include "worker/device_cuda.h"

#include "base/units.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * CUDA cuts small allocations out of 2 MiB blocks, and an IPC handle gives the other process the whole block. An allocation
 * of whole blocks begins where its block does, so the importer's base is our pointer, and nobody sees more than was meant.
 */
#define BLOCK ((size_t)2 << 20)

enum lp_status lp_cuda_memory(struct lp_device *device, size_t *free_bytes, size_t *total_bytes, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = lp_cuda_check(cudaMemGetInfo(free_bytes, total_bytes), why, "cudaMemGetInfo on GPU %d", device->index);
    return st;
}

static enum lp_status out_of_memory(struct lp_device *device, size_t bytes, struct lp_reason *why)
{
    char need[32], have[32];
    size_t free_bytes = 0, total_bytes = 0;

    cudaGetLastError();
    if (lp_cuda_memory(device, &free_bytes, &total_bytes, NULL) != LP_OK)
        return lp_because(why, LP_ERR_MEMORY, "GPU %d: cudaMalloc of %s failed, free memory unknown", device->index,
                          lp_format_about(bytes, need, sizeof(need)));
    return lp_because(why, LP_ERR_MEMORY, "GPU %d: cudaMalloc needs %s and %s are free", device->index,
                      lp_format_about(bytes, need, sizeof(need)), lp_format_about(free_bytes, have, sizeof(have)));
}

enum lp_status lp_cuda_alloc(struct lp_device *device, size_t bytes, struct lp_buffer *out, struct lp_reason *why)
{
    size_t blocks = bytes / BLOCK + (bytes % BLOCK != 0 || bytes == 0);
    enum lp_status st = lp_cuda_select(device, why);
    void *ptr = NULL;
    cudaError_t err;

    *out = (struct lp_buffer){.device = device->index};
    if (st != LP_OK)
        return st;
    if (blocks > SIZE_MAX / BLOCK)
        return out_of_memory(device, bytes, why);
    err = cudaMalloc(&ptr, blocks * BLOCK);
    if (err == cudaErrorMemoryAllocation)
        return out_of_memory(device, blocks * BLOCK, why);
    st = lp_cuda_check(err, why, "cudaMalloc(%zu) on GPU %d", blocks * BLOCK, device->index);
    if (st == LP_OK)
        *out = (struct lp_buffer){.ptr = ptr, .bytes = bytes, .device = device->index};
    return st;
}

void lp_cuda_free(struct lp_device *device, struct lp_buffer *buffer)
{
    if (!buffer->ptr)
        return;
    if (lp_cuda_select(device, NULL) == LP_OK)
        lp_cuda_forget(cudaFree(buffer->ptr));
    memset(buffer, 0, sizeof(*buffer));
}

/* "<handle in hex>:<bytes>" */
enum lp_status lp_cuda_export(struct lp_device *device, const struct lp_buffer *buffer, char *handle, struct lp_reason *why)
{
    cudaIpcMemHandle_t ipc;
    unsigned char raw[sizeof(ipc)];
    enum lp_status st = lp_cuda_select(device, why);

    _Static_assert(2 * sizeof(ipc) + 1 + 20 < LP_HANDLE_MAX, "a handle fits with its size");
    if (st == LP_OK)
        st = lp_cuda_check(cudaIpcGetMemHandle(&ipc, buffer->ptr), why, "cudaIpcGetMemHandle(%zu bytes) on GPU %d", buffer->bytes,
                           device->index);
    if (st != LP_OK)
        return st;
    memcpy(raw, &ipc, sizeof(raw));
    for (size_t i = 0; i < sizeof(raw); i++)
        snprintf(handle + 2 * i, 3, "%02x", raw[i]);
    snprintf(handle + 2 * sizeof(raw), LP_HANDLE_MAX - 2 * sizeof(raw), ":%zu", buffer->bytes);
    return LP_OK;
}

/* false: not what lp_cuda_export writes. */
static bool parse_handle(const char *text, cudaIpcMemHandle_t *ipc, size_t *bytes)
{
    unsigned char raw[sizeof(*ipc)];
    char end;

    for (size_t i = 0; i < sizeof(raw); i++) {
        unsigned byte;

        if (strspn(text + 2 * i, "0123456789abcdef") < 2 || sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        raw[i] = (unsigned char)byte;
    }
    memcpy(ipc, raw, sizeof(raw));
    return sscanf(text + 2 * sizeof(raw), ":%zu%c", bytes, &end) == 1;
}

/* The flag enables peer access between the two GPUs; there is no way to open a handle without. */
enum lp_status lp_cuda_import(struct lp_device *device, const char *handle, size_t bytes, struct lp_buffer *out,
                              struct lp_reason *why)
{
    cudaIpcMemHandle_t ipc;
    size_t exported;
    void *base = NULL;
    enum lp_status st;

    *out = (struct lp_buffer){.device = -1};
    if (!parse_handle(handle, &ipc, &exported))
        return lp_because(why, LP_ERR_PARSE, "not a CUDA IPC handle: '%.40s'", handle);
    if (bytes > exported)
        return lp_because(why, LP_ERR_ARG, "%zu bytes wanted of an exported buffer of %zu", bytes, exported);
    st = lp_cuda_select(device, why);
    if (st == LP_OK)
        st = lp_cuda_check(cudaIpcOpenMemHandle(&base, ipc, cudaIpcMemLazyEnablePeerAccess), why,
                           "cudaIpcOpenMemHandle(%zu bytes) on GPU %d", exported, device->index);
    if (st == LP_OK)
        *out = (struct lp_buffer){.ptr = base, .bytes = bytes, .device = -1, .owner = base};
    return st;
}

void lp_cuda_drop_import(struct lp_device *device, struct lp_buffer *buffer)
{
    if (!buffer->owner)
        return;
    if (lp_cuda_select(device, NULL) == LP_OK)
        lp_cuda_forget(cudaIpcCloseMemHandle(buffer->owner));
    memset(buffer, 0, sizeof(*buffer));
}

enum lp_status lp_cuda_can_access(int index, int peer, bool *yes, struct lp_reason *why)
{
    int can = peer == index; /* CUDA says no for a device and itself */
    enum lp_status st = LP_OK;

    if (!can)
        st = lp_cuda_check(cudaDeviceCanAccessPeer(&can, index, peer), why, "cudaDeviceCanAccessPeer(%d, %d)", index, peer);
    if (st == LP_OK)
        *yes = can != 0;
    return st;
}

enum lp_status lp_cuda_enable_access(struct lp_device *device, int peer, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);
    cudaError_t err;

    if (st != LP_OK || peer == device->index)
        return st;
    err = cudaDeviceEnablePeerAccess(peer, 0);
    if (err == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
        return LP_OK;
    }
    st = lp_cuda_check(err, why, "cudaDeviceEnablePeerAccess from GPU %d to %d", device->index, peer);
    return err == cudaErrorPeerAccessUnsupported ? LP_ERR_UNSUPPORTED : st;
}

/*
 * Between two devices of this process the Peer call is by the copy engine where peer access is enabled, and staged through
 * host memory by the driver where not. Everything else, imports too, is one address space to the Default kind.
 */
enum lp_status lp_cuda_copy(struct lp_device *device, struct lp_stream *stream, struct lp_buffer dst, size_t dst_off,
                            struct lp_buffer src, size_t src_off, size_t bytes, struct lp_reason *why)
{
    char *to = (char *)dst.ptr + dst_off;
    const char *from = (const char *)src.ptr + src_off;
    enum lp_status st = lp_cuda_select(device, why);

    if (st != LP_OK)
        return st;
    if (dst.device >= 0 && src.device >= 0 && dst.device != src.device)
        return lp_cuda_check(cudaMemcpyPeerAsync(to, dst.device, from, src.device, bytes, stream->stream), why,
                             "cudaMemcpyPeerAsync(%zu bytes) from GPU %d to %d", bytes, src.device, dst.device);
    return lp_cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream->stream), why,
                         "cudaMemcpyAsync(%zu bytes) on GPU %d", bytes, device->index);
}

/* The legacy stream's copies between GPUs may still be under way when cudaMemcpy returns. */
enum lp_status lp_cuda_copy_plain(struct lp_device *device, struct lp_buffer dst, size_t dst_off, struct lp_buffer src,
                                  size_t src_off, size_t bytes, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = lp_cuda_check(cudaMemcpy((char *)dst.ptr + dst_off, (const char *)src.ptr + src_off, bytes, cudaMemcpyDefault), why,
                           "cudaMemcpy(%zu bytes) on GPU %d", bytes, device->index);
    return st == LP_OK ? lp_cuda_check(cudaStreamSynchronize(cudaStreamLegacy), why, "cudaStreamSynchronize after cudaMemcpy") : st;
}

/* Pinned for all GPUs (portable). Plain memory is touched here, or the first copy would pay for its pages. */
enum lp_status lp_cuda_host_alloc(struct lp_device *device, size_t bytes, bool pinned, struct lp_buffer *out, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);
    void *ptr = NULL;

    *out = (struct lp_buffer){.device = -1};
    if (st == LP_OK && pinned)
        st = lp_cuda_check(cudaHostAlloc(&ptr, bytes, cudaHostAllocPortable), why, "cudaHostAlloc(%zu bytes)", bytes);
    if (st == LP_OK && !pinned) {
        ptr = aligned_alloc(BLOCK, (bytes + BLOCK - 1) / BLOCK * BLOCK);
        if (!ptr)
            return lp_because(why, LP_ERR_MEMORY, "no host memory for %zu bytes", bytes);
        memset(ptr, 0, bytes);
    }
    if (st == LP_OK)
        *out = (struct lp_buffer){.ptr = ptr, .bytes = bytes, .device = -1, .owner = pinned ? ptr : NULL};
    return st;
}

void lp_cuda_host_free(struct lp_device *device, struct lp_buffer *buffer)
{
    (void)device;
    if (buffer->owner)
        lp_cuda_forget(cudaFreeHost(buffer->owner));
    else
        free(buffer->ptr);
    memset(buffer, 0, sizeof(*buffer));
}
