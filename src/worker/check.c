/* Checking of one worker's part. Putting the ranks' findings together is the controller's. */
#include "worker/check.h"

#include <string.h>

static struct lp_pattern pattern_of(const struct lp_op *op, uint32_t iteration)
{
    return lp_pattern_make(op->dtype, op->redop, op->nranks, iteration);
}

static enum lp_status poison_slot(struct lp_op *op, size_t slot, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (int i = 0; i < op->noutputs && st == LP_OK; i++) {
        struct lp_output *out = &op->output[i];

        st = out->ops->poison(out->device, out->stream, out->base + slot * out->stride, out->bytes, why);
    }
    return st;
}

static enum lp_status fill_slot(struct lp_op *op, size_t slot, uint32_t iteration, struct lp_reason *why)
{
    struct lp_pattern pattern = pattern_of(op, iteration);
    enum lp_status st = LP_OK;

    for (int i = 0; i < op->ninputs && st == LP_OK; i++) {
        struct lp_input *in = &op->input[i];

        st = in->ops->fill(in->device, in->stream, in->base + slot * in->stride, op->dtype, in->count, pattern, in->rank, why);
    }
    return st;
}

/* Until fills and poison have arrived; the operation may run on other streams. */
static enum lp_status settle(struct lp_op *op, struct lp_reason *why)
{
    enum lp_status st = LP_OK;

    for (int i = 0; i < op->ninputs && st == LP_OK; i++)
        st = op->input[i].ops->stream_sync(op->input[i].stream, why);
    for (int i = 0; i < op->noutputs && st == LP_OK; i++)
        st = op->output[i].ops->stream_sync(op->output[i].stream, why);
    return st;
}

/* Where the operation works on other memory than the inputs and outputs. */
static enum lp_status load_slot(struct lp_op *op, size_t slot, struct lp_reason *why)
{
    return op->load ? op->load(op, slot, why) : LP_OK;
}

static enum lp_status judge_op(struct lp_op *op, struct lp_check *out, struct lp_reason *why)
{
    memset(out, 0, sizeof(*out));
    return op->judge(op, &out->wrong_elements, why);
}

static enum lp_status verify_slot(struct lp_op *op, size_t slot, uint32_t iteration, struct lp_check *out, struct lp_reason *why)
{
    struct lp_pattern pattern = pattern_of(op, iteration);
    enum lp_status st = op->unload ? op->unload(op, slot, why) : LP_OK;

    memset(out, 0, sizeof(*out));
    if (st == LP_OK && op->judge)
        return judge_op(op, out, why);
    for (int i = 0; i < op->noutputs && st == LP_OK; i++) {
        struct lp_output *output = &op->output[i];
        struct lp_mismatch found = {0};

        st = output->ops->verify(output->device, output->stream, output->base + slot * output->stride, op->dtype, pattern,
                                 output->segments, output->nsegments, &found, why);
        if (st == LP_OK && found.elements) {
            if (!out->wrong_elements)
                out->first_offset_bytes = found.first_offset * lp_dtype_size(op->dtype);
            out->wrong_elements += found.elements;
        }
    }
    return st;
}

static void barrier(struct lp_bench *bench)
{
    lp_where_step(bench->where, "waiting for the other workers");
    if (bench->page)
        lp_page_barrier(bench->page);
}

enum lp_status lp_check_once(struct lp_bench *bench, uint32_t iteration, struct lp_check *out, struct lp_reason *why)
{
    struct lp_op *op = &bench->op;
    size_t slot = iteration % op->slots;
    enum lp_status st = poison_slot(op, slot, why); /* before the fill: in place they are the same bytes */

    if (st == LP_OK)
        st = fill_slot(op, slot, iteration, why);
    if (st == LP_OK)
        st = settle(op, why);
    if (st == LP_OK)
        st = load_slot(op, slot, why);
    if (st != LP_OK)
        return st;
    barrier(bench); /* a peer may write into outputs that are poisoned here */
    if (op->nlanes > 0)
        st = lp_bench_once(bench, slot, why);
    if (st != LP_OK)
        return st;
    barrier(bench); /* and what it wrote is whole only when it says so */
    return verify_slot(op, slot, iteration, out, why);
}

enum lp_status lp_check_prepare(struct lp_bench *bench, uint32_t iteration, struct lp_reason *why)
{
    struct lp_op *op = &bench->op;
    enum lp_status st = LP_OK;

    for (size_t slot = 0; slot < op->slots && st == LP_OK; slot++) {
        if (!op->in_place)
            st = poison_slot(op, slot, why);
        if (st == LP_OK)
            st = fill_slot(op, slot, iteration, why);
    }
    if (st == LP_OK)
        st = settle(op, why);
    for (size_t slot = 0; slot < op->slots && st == LP_OK; slot++)
        st = load_slot(op, slot, why);
    if (st == LP_OK)
        barrier(bench);
    return st;
}

enum lp_status lp_check_last(struct lp_bench *bench, uint32_t iteration, struct lp_check *out, struct lp_reason *why)
{
    barrier(bench);
    return verify_slot(&bench->op, bench->last_slot, iteration, out, why);
}
