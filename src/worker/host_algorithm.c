/* Ring and tree, as takes. Ranks are in rank order: on one host's memory no order is better. Nothing is moved here. */
#include "worker/host_algorithm.h"

/* Chunk c of the vector in nranks chunks, the first of which are one element longer if it does not divide. */
static void set_chunk(size_t count, int nranks, int c, struct lp_host_take *take)
{
    size_t n = (size_t)nranks, i = (size_t)c, least = count / n, longer = count % n;

    take->first = i * least + (i < longer ? i : longer);
    take->count = least + (i < longer);
}

static int ring_all_reduce_steps(int nranks)
{
    return 2 * (nranks - 1);
}

/*
 * Reduce-scatter: in step s a rank takes chunk rank - 1 - s, which its predecessor holds reduced over s + 1 ranks; at
 * the end its chunk rank + 1 is complete. All-gather: it takes chunk rank - s, starting with the predecessor's complete one.
 */
static struct lp_host_take ring_all_reduce_take(size_t count, int nranks, int rank, int step)
{
    struct lp_host_take take = {.source = (rank + nranks - 1) % nranks};
    int scatter = nranks - 1;

    if (step < scatter) {
        take.from_send = step == 0;
        take.reduce = take.with_send = true;
        set_chunk(count, nranks, (rank + nranks - 1 - step) % nranks, &take);
    } else {
        set_chunk(count, nranks, (rank + nranks - (step - scatter)) % nranks, &take);
    }
    return take;
}

static int depth_of(int nranks)
{
    int depth = 0;

    while (1 << depth < nranks)
        depth++;
    return depth;
}

static int tree_steps(int nranks)
{
    return 2 * depth_of(nranks);
}

/*
 * Up: at height h the multiples of 2^(h+1) take what the rank 2^h above them has collected; at height 0, and if it is the
 * last rank, it has collected nothing and gives its input. Down: the same pairs the other way, from the top.
 */
static struct lp_host_take tree_take(size_t count, int nranks, int rank, int step)
{
    int depth = depth_of(nranks), height = step < depth ? step : 2 * depth - 1 - step;
    int reach = 1 << height, place = rank % (2 * reach);
    struct lp_host_take take = {.count = count};

    if (step < depth && place == 0 && rank + reach < nranks) {
        take.source = rank + reach;
        take.from_send = height == 0 || take.source == nranks - 1;
        take.reduce = true;
        take.with_send = height == 0;
    } else if (step >= depth && place == reach) {
        take.source = rank - reach;
    } else {
        take.count = 0;
    }
    return take;
}

static int ring_all_gather_steps(int nranks)
{
    return nranks - 1;
}

static struct lp_host_take ring_all_gather_take(size_t count, int nranks, int rank, int step)
{
    size_t part = (size_t)((rank + nranks - 1 - step) % nranks);

    return (struct lp_host_take){.source = (rank + nranks - 1) % nranks, .first = part * count, .count = count};
}

const struct lp_host_algorithm lp_host_ring_all_reduce = {.steps = ring_all_reduce_steps, .take = ring_all_reduce_take};
const struct lp_host_algorithm lp_host_tree_all_reduce = {.steps = tree_steps, .take = tree_take};
const struct lp_host_algorithm lp_host_ring_all_gather = {
    .steps = ring_all_gather_steps, .take = ring_all_gather_take, .gathers = true};
