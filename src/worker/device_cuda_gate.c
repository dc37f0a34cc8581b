/*
 * The gate of the cuda device: a kernel on each held stream that waits for a word in host memory. When to close and open it,
 * and what a late gate means for a sample, is the bench's.
 */
#include "worker/device_cuda.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_NS UINT64_C(100000000) /* a host that forgets or dies must not keep a GPU busy for ever */

struct lp_gate {
    struct lp_gate_page *page; /* pinned; one address on the host and on every device, by unified addressing */
    uint32_t ticket;           /* of the gate as it was last closed */
};

enum lp_status lp_cuda_gate_create(struct lp_device *device, struct lp_gate **out, struct lp_reason *why)
{
    struct lp_gate *gate = calloc(1, sizeof(*gate));
    enum lp_status st;

    *out = NULL;
    if (!gate)
        return lp_because(why, LP_ERR_MEMORY, "no host memory for a gate");
    st = lp_cuda_select(device, why);
    if (st == LP_OK)
        st = lp_cuda_check(cudaHostAlloc((void **)&gate->page, sizeof(*gate->page), cudaHostAllocPortable | cudaHostAllocMapped),
                           why, "cudaHostAlloc(%zu) for the gate", sizeof(*gate->page));
    if (st != LP_OK) {
        free(gate);
        return st;
    }
    memset(gate->page, 0, sizeof(*gate->page));
    *out = gate;
    return LP_OK;
}

enum lp_status lp_cuda_gate_close(struct lp_gate *gate, struct lp_reason *why)
{
    (void)why;
    gate->ticket++;
    return LP_OK;
}

enum lp_status lp_cuda_gate_hold(struct lp_gate *gate, struct lp_device *device, struct lp_stream *stream, struct lp_reason *why)
{
    enum lp_status st = lp_cuda_select(device, why);

    if (st == LP_OK)
        st = lp_cuda_check(lp_kernel_hold(gate->page, gate->ticket, LIMIT_NS, stream->stream), why, "gate kernel on GPU %d",
                           device->index);
    return st;
}

enum lp_status lp_cuda_gate_open(struct lp_gate *gate, struct lp_reason *why)
{
    (void)why;
    __atomic_store_n(&gate->page->opened, gate->ticket, __ATOMIC_SEQ_CST);
    return LP_OK;
}

enum lp_status lp_cuda_gate_was_late(struct lp_gate *gate, bool *late, struct lp_reason *why)
{
    (void)why;
    *late = __atomic_load_n(&gate->page->late, __ATOMIC_SEQ_CST) == gate->ticket && gate->ticket != 0;
    return LP_OK;
}

/* cudaFreeHost waits for kernels that use the page; so let them go first. */
void lp_cuda_gate_free(struct lp_gate *gate)
{
    if (!gate)
        return;
    lp_cuda_gate_open(gate, NULL);
    lp_cuda_forget(cudaFreeHost(gate->page));
    free(gate);
}
