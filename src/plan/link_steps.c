/*
 * The tables of the link. What must hold on 16 GPUs: every pair has one large and one small size; curves and long latencies are for
 * one pair of each kind (links of one kind are alike until a figure says otherwise).
 */
#include "plan/link_steps.h"

#include <stddef.h>

/* In this order: what needs no peer access first, since enabling it is for the life of the process. */
const struct lp_step lp_steps_before_peers[] = {
    {"ce_staged", "one_way", LP_FOR_PAIRS, LP_AT_LARGE, LP_ALWAYS},
    {"ce_staged", "both_ways", LP_FOR_TWOS, LP_AT_LARGE, LP_SAMPLED},
    {"ce_staged", "one_way", LP_FOR_PAIRS, LP_AT_SMALL, LP_SAMPLED},
    {"pinned_staged", "one_way", LP_FOR_PAIRS, LP_AT_LARGE, LP_SAMPLED},
    {"ce_staged_turns", "both_ways", LP_FOR_TWOS, LP_AT_TURNS, LP_FULL},
    {"pinned_staged", "both_ways", LP_FOR_TWOS, LP_AT_LARGE, LP_SAMPLED},
    {"pinned_plain", "one_way", LP_FOR_KINDS, LP_AT_LARGE, LP_FULL},
    {"ce_staged", "one_way", LP_FOR_KINDS, LP_AT_CURVE, LP_SAMPLED},
    {"pinned_staged", "one_way", LP_FOR_KINDS, LP_AT_CURVE, LP_SAMPLED},
    {"ce_staged", "one_way", LP_FOR_KINDS, LP_AT_ISOLATED, LP_FULL},
    {NULL, NULL, LP_FOR_ALL, LP_AT_LARGE, LP_FULL},
};

/* Of one GPU after the other: pinned memory lies near the GPU that uses it. */
const struct lp_step lp_steps_references[] = {
    {"pinned_to_gpu", "one_way", LP_FOR_GPUS, LP_AT_LARGE, LP_FULL},
    {"gpu_to_pinned", "one_way", LP_FOR_GPUS, LP_AT_LARGE, LP_FULL},
    {"pinned_both", "both_ways", LP_FOR_GPUS, LP_AT_LARGE, LP_FULL},
    {"pageable_to_gpu", "one_way", LP_FOR_GPUS, LP_AT_LARGE, LP_FULL},
    {"gpu_to_pageable", "one_way", LP_FOR_GPUS, LP_AT_LARGE, LP_FULL},
    {"on_card", "one_way", LP_FOR_GPUS, LP_AT_LARGE, LP_FULL},
    {NULL, NULL, LP_FOR_ALL, LP_AT_LARGE, LP_FULL},
};

const struct lp_step lp_steps_with_peers[] = {
    {"ce_write", "one_way", LP_FOR_PAIRS, LP_AT_LARGE, LP_ALWAYS},
    {"sm_write", "one_way", LP_FOR_PAIRS, LP_AT_LARGE, LP_ALWAYS},
    {"ce_read", "one_way", LP_FOR_PAIRS, LP_AT_LARGE, LP_FULL},
    {"sm_read", "one_way", LP_FOR_PAIRS, LP_AT_LARGE, LP_FULL},
    {"memcpy", "one_way", LP_FOR_PAIRS, LP_AT_LARGE, LP_FULL},
    {"ce_write", "both_ways", LP_FOR_TWOS, LP_AT_LARGE, LP_SAMPLED},
    {"sm_write", "both_ways", LP_FOR_TWOS, LP_AT_LARGE, LP_SAMPLED},
    {"ce_read", "both_ways", LP_FOR_TWOS, LP_AT_LARGE, LP_FULL},
    {"sm_read", "both_ways", LP_FOR_TWOS, LP_AT_LARGE, LP_FULL},
    {"ce_write", "one_way", LP_FOR_PAIRS, LP_AT_SMALL, LP_SAMPLED},
    {"load_latency", "one_way", LP_FOR_PAIRS, LP_AT_LARGE, LP_FULL},
    {"flag_latency", "both_ways", LP_FOR_TWOS, LP_AT_LARGE, LP_FULL},
    {"ce_write", "one_to_all", LP_FOR_GPUS, LP_AT_LARGE, LP_FULL},
    {"sm_write", "one_to_all", LP_FOR_GPUS, LP_AT_LARGE, LP_FULL},
    {"ce_write", "all_to_one", LP_FOR_GPUS, LP_AT_LARGE, LP_FULL},
    {"sm_write", "all_to_one", LP_FOR_GPUS, LP_AT_LARGE, LP_FULL},
    {"ce_write", "all_pairs", LP_FOR_ALL, LP_AT_LARGE, LP_FULL},
    {"sm_write", "all_pairs", LP_FOR_ALL, LP_AT_LARGE, LP_FULL},
    {NULL, NULL, LP_FOR_ALL, LP_AT_LARGE, LP_FULL},
};

/* One pair of each kind, and pairs that differ. */
const struct lp_step lp_steps_curves[] = {
    {"ce_write", "one_way", LP_FOR_KINDS, LP_AT_CURVE, LP_SAMPLED}, {"sm_write", "one_way", LP_FOR_KINDS, LP_AT_CURVE, LP_SAMPLED},
    {"ce_read", "one_way", LP_FOR_KINDS, LP_AT_CURVE, LP_FULL},     {"sm_read", "one_way", LP_FOR_KINDS, LP_AT_CURVE, LP_FULL},
    {"ce_write", "one_way", LP_FOR_KINDS, LP_AT_ISOLATED, LP_FULL}, {NULL, NULL, LP_FOR_ALL, LP_AT_LARGE, LP_FULL},
};

const struct lp_step lp_steps_between_processes[] = {
    {"sm_write", "ring", LP_FOR_ALL, LP_AT_LARGE, LP_ALWAYS},
    {"sm_write", "one_way", LP_FOR_PAIRS, LP_AT_TRUTH, LP_ALWAYS},
    {NULL, NULL, LP_FOR_ALL, LP_AT_LARGE, LP_FULL},
};

const struct lp_step lp_steps_on_host[] = {
    {"cpu_write", "one_way", LP_FOR_PAIRS, LP_AT_LARGE, LP_ALWAYS},
    {"cpu_bounce", "one_way", LP_FOR_PAIRS, LP_AT_LARGE, LP_ALWAYS},
    {"cpu_write", "ring", LP_FOR_ALL, LP_AT_LARGE, LP_ALWAYS},
    {"cpu_write", "both_ways", LP_FOR_TWOS, LP_AT_LARGE, LP_SAMPLED},
    {"cpu_bounce", "both_ways", LP_FOR_TWOS, LP_AT_LARGE, LP_SAMPLED},
    {"cpu_flag", "both_ways", LP_FOR_TWOS, LP_AT_LARGE, LP_SAMPLED},
    {"cpu_write", "one_way", LP_FOR_KINDS, LP_AT_CURVE, LP_FULL},
    {"cpu_bounce", "one_way", LP_FOR_KINDS, LP_AT_CURVE, LP_FULL},
    {"cpu_write", "one_way", LP_FOR_KINDS, LP_AT_ISOLATED, LP_FULL},
    {"cpu_bounce", "one_way", LP_FOR_KINDS, LP_AT_ISOLATED, LP_FULL},
    {NULL, NULL, LP_FOR_ALL, LP_AT_LARGE, LP_FULL},
};
