/* Machines made in memory, for tests of the plan. */
#ifndef LP_TESTS_MACHINES_H
#define LP_TESTS_MACHINES_H

#include "plan/plan.h"

#include "unit.h"

#define GIB ((size_t)1 << 30)

static inline struct lp_machine machine_of(const char *device, int nranks, size_t memory_bytes, bool nvlink)
{
    bool cuda = strcmp(device, "cuda") == 0;
    struct lp_machine machine = {.nranks = nranks, .visible = cuda ? nranks : 1, .nvlink = nvlink};

    strcpy(machine.device, device);
    strcpy(machine.library, cuda ? "nccl" : "host");
    for (int r = 0; r < nranks; r++) {
        machine.rank[r].device = cuda ? r : 0;
        machine.rank[r].at_rank0 = cuda || r == 0 ? r : -1;
        machine.rank[r].memory_bytes = memory_bytes;
    }
    return machine;
}

static inline struct lp_options default_options(void)
{
    struct lp_options options = {.factor = 2,
                                 .rounds = 1,
                                 .warmup = 5,
                                 .checks = 3,
                                 .timings = 1u << LP_GRAPH,
                                 .placements = 1u << LP_OUT_OF_PLACE | 1u << LP_IN_PLACE,
                                 .device = "auto"};

    return options;
}

static inline struct lp_plan plan_of(const struct lp_options *options, const struct lp_machine *machine)
{
    struct lp_reason why = {""};
    struct lp_plan plan;

    assert_int_equal(lp_plan_make(options, machine, &plan, &why), LP_OK);
    return plan;
}

static inline int without_locks(void **state)
{
    (void)state;
    unsetenv("LINKPERF_LOCK");
    return 0;
}

#endif
