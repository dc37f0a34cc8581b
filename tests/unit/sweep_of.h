/*
 * Sweeps made up for the judge: a result with a record for every crew and cell, whose times a test fills in; and a small
 * generator of random numbers of the tests' own, so that every run sees the same. Include after unit.h.
 */
#ifndef LP_TESTS_SWEEP_OF_H
#define LP_TESTS_SWEEP_OF_H

#include "base/json.h"
#include "model/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

/* ---- random numbers: xorshift64* (Vigna 2016) ---- */

struct dice {
    uint64_t state; /* not 0 */
};

static inline double dice_uniform(struct dice *dice)
{
    dice->state ^= dice->state >> 12;
    dice->state ^= dice->state << 25;
    dice->state ^= dice->state >> 27;
    return ((double)((dice->state * 2685821657736338717u) >> 11) + 0.5) / 9007199254740992.0;
}

static inline size_t dice_below(struct dice *dice, size_t n)
{
    return (size_t)(dice_uniform(dice) * (double)n);
}

/* Normal, by Box and Muller. */
static inline double dice_normal(struct dice *dice)
{
    double radius = sqrt(-2.0 * log(dice_uniform(dice)));

    return radius * cos(2.0 * M_PI * dice_uniform(dice));
}

/* ---- sweeps ---- */

#define MOST_SETTINGS 24
#define MOST_SIZES    32

/* What is measured. Settings: default first. Sizes begin at first_bytes and double. */
struct sweep {
    const char *setting[MOST_SETTINGS];
    size_t nsettings, nsizes, first_bytes;
    const char *collective[2];
    size_t ncollectives, nplacements;
    enum lp_timing timing;
    int rounds;
};

/* One crew of it: default has two a round, the first and the last; the others run in rotated order. */
struct sweep_crew {
    size_t setting;
    int repeat, round, crew;
    double when; /* 0 the first crew of the run, towards 1 the last */
};

/* Every crew of the sweep in the order of time. Returns how many. */
static inline size_t sweep_crews(const struct sweep *sweep, struct sweep_crew *out)
{
    size_t n = 0, others = sweep->nsettings - 1, all = (others + 2) * (size_t)sweep->rounds;

    for (int round = 0; round < sweep->rounds; round++)
        for (size_t i = 0; i < others + 2; i++) {
            struct sweep_crew *crew = &out[n];

            *crew = (struct sweep_crew){.repeat = i > others, .round = sweep->rounds > 1 ? round + 1 : 0, .crew = (int)n + 1};
            if (i > 0 && i <= others)
                crew->setting = 1 + (i - 1 + (size_t)round) % others;
            crew->when = (double)n++ / (double)all;
        }
    return n;
}

/* How long an operation takes here, roughly as on two H200s. */
static inline double sweep_base_us(size_t bytes)
{
    return 5.5 + (double)bytes / 270e3;
}

static inline struct lp_record sweep_record(const struct sweep *sweep, size_t collective, size_t placement, size_t size,
                                            const struct sweep_crew *crew)
{
    struct lp_record record;
    struct lp_cell cell = {.kind = LP_COLLECTIVE, .root = -1, .timing = sweep->timing, .placement = (enum lp_placement)placement};

    cell.requested_bytes = cell.size_bytes = sweep->first_bytes << size;
    cell.count = cell.size_bytes / 4;
    strcpy(cell.op, sweep->collective[collective]);
    strcpy(cell.library, "nccl");
    strcpy(cell.buffers, "plain");
    lp_record_begin(&record, &cell);
    snprintf(record.variant, sizeof(record.variant), "%s", sweep->setting[crew->setting]);
    record.repeat = crew->repeat;
    record.round = crew->round;
    record.crew = crew->crew;
    record.checked.iterations = 7;
    record.evidence = (struct lp_evidence){.read = true, .algorithm = "Ring", .protocol = "LL", .channels = 1, .tag = "Ring/LL x1"};
    return record;
}

/* The time of a record, with samples that agree within 0.1 percent or so, and the rates that follow. */
static inline void sweep_time(struct lp_record *record, double time_us)
{
    record->time_us = (struct lp_stats){.median = time_us,
                                        .p10 = 0.997 * time_us,
                                        .p90 = 1.004 * time_us,
                                        .p99 = (double)NAN,
                                        .min = 0.995 * time_us,
                                        .max = 1.01 * time_us,
                                        .ci95_low = 0.999 * time_us,
                                        .ci95_high = 1.001 * time_us,
                                        .n = 30};
    record->algbw_gbps = record->busbw_gbps = (double)record->cell.size_bytes / time_us / 1e3;
}

/* All records of the sweep, each with its base time, cell by cell within a crew; head.variants without changes of the environment.
 */
static inline void sweep_make(const struct sweep *sweep, struct lp_result *result)
{
    struct sweep_crew crews[MOST_SETTINGS * 8];
    size_t n = sweep_crews(sweep, crews);
    json_t *variants = json_array();

    lp_result_init(result);
    for (size_t s = 0; s <= sweep->nsettings; s++)
        json_array_append_new(variants, json_pack("{s:s, s:i, s:{}}", "name", sweep->setting[s % sweep->nsettings], "repeat",
                                                  s == sweep->nsettings, "env"));
    json_object_set_new(result->head, "variants", variants);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < sweep->ncollectives; c++)
            for (size_t p = 0; p < sweep->nplacements; p++)
                for (size_t s = 0; s < sweep->nsizes; s++) {
                    struct lp_record record = sweep_record(sweep, c, p, s, &crews[i]);

                    sweep_time(&record, sweep_base_us(record.cell.size_bytes));
                    if (lp_result_add(result, &record) != LP_OK)
                        abort();
                }
}

/* The environment of a variant, as JSON with ' for ". */
static inline void sweep_env(struct lp_result *result, const char *name, const char *env)
{
    json_t *variants = json_object_get(result->head, "variants");

    for (size_t i = 0; i < json_array_size(variants); i++)
        if (strcmp(lp_json_str(json_array_get(variants, i), "name", ""), name) == 0)
            json_object_set_new(json_array_get(variants, i), "env", json_of(env));
}

/* ---- times ---- */

#define MOST_FAMILIES 4

/*
 * How crews differ. A crew has a course over the sizes that neighbours share (correlation 0.9), half of its variance common to all
 * families. All zero: not at all.
 */
struct crew_noise {
    double small, large;    /* standard deviations of the log time up to 512K, and above */
    double heavy;           /* degrees of freedom of a t in place of the normal; 0: normal */
    double modes, mode_log; /* share of crews in another mode, and how much faster that is; drawn anew at 8, 2K and 128K bytes */
    double slow_share, slow_log; /* share of crews of which one rank is slow, in all cells, and by how much */
    double drift;                /* over the whole run */
};

/* What a variant changes: the logarithm of its time over default's. */
typedef double crew_effect(const struct lp_record *record);

static inline void course_over_sizes(struct dice *dice, size_t nsizes, double *out)
{
    for (size_t s = 0; s < nsizes; s++)
        out[s] = s ? 0.9 * out[s - 1] + sqrt(1.0 - 0.81) * dice_normal(dice) : dice_normal(dice);
}

/* By how much the squares of a t with df degrees of freedom exceed a normal's, so that its variance is 1. */
static inline double heaviness(struct dice *dice, double df)
{
    double squares = 0.0;

    for (int i = 0; i < (int)df; i++) {
        double z = dice_normal(dice);

        squares += z * z;
    }
    return df > 2.0 ? sqrt((df - 2.0) / squares) : 1.0;
}

/* The crew's noise in one family, size by size. */
static inline void crew_course(struct dice *dice, const struct sweep *sweep, const struct crew_noise *noise, const double *common,
                               double *out)
{
    double own[MOST_SIZES], scale = heaviness(dice, noise->heavy);
    bool other = false;

    course_over_sizes(dice, sweep->nsizes, own);
    for (size_t s = 0; s < sweep->nsizes; s++) {
        size_t bytes = sweep->first_bytes << s;
        bool small = bytes < (1 << 20);

        if (s == 0 || bytes == 2048 || bytes == 128 << 10)
            other = dice_uniform(dice) < noise->modes;
        out[s] = (small ? noise->small : noise->large) * scale * sqrt(0.5) * (common[s] + own[s]) -
                 (small && other ? noise->mode_log : 0.0);
    }
}

/* New times for all records of a result that sweep_make made. effect NULL: none. */
static inline void sweep_fill(const struct sweep *sweep, struct lp_result *result, struct dice *dice,
                              const struct crew_noise *noise, crew_effect *effect)
{
    struct sweep_crew crews[MOST_SETTINGS * 8];
    size_t n = sweep_crews(sweep, crews), at = 0;

    for (size_t i = 0; i < n; i++) {
        double common[MOST_SIZES], slow = dice_uniform(dice) < noise->slow_share ? noise->slow_log : 0.0;

        course_over_sizes(dice, sweep->nsizes, common);
        for (size_t f = 0; f < sweep->ncollectives * sweep->nplacements; f++) {
            double course[MOST_SIZES];

            crew_course(dice, sweep, noise, common, course);
            for (size_t s = 0; s < sweep->nsizes; s++) {
                struct lp_record *record = result->record[at++];

                sweep_time(record, sweep_base_us(record->cell.size_bytes) *
                                       exp(course[s] + slow + noise->drift * crews[i].when + (effect ? effect(record) : 0.0)));
            }
        }
    }
}

#endif
