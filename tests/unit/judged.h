/* A machine put together from what the ranks' survey workers answer, and what lp_machine_judge makes of it. */
#ifndef LP_TESTS_JUDGED_H
#define LP_TESTS_JUDGED_H

#include "machine/survey.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

#include "unit.h"

/* What is judged, and what comes of it. Release it in any case. */
struct judged {
    json_t *seen[LP_MAX_RANKS], *head;
    int n;
    struct lp_machine machine;
    struct lp_reason why;
};

static inline enum lp_status judge(struct judged *judged)
{
    int local_rank[LP_MAX_RANKS];

    for (int r = 0; r < judged->n; r++)
        local_rank[r] = r;
    judged->head = json_object();
    judged->why.text[0] = '\0';
    return lp_machine_judge(judged->seen, local_rank, judged->n, &judged->machine, judged->head, &judged->why);
}

static inline void release(struct judged *judged)
{
    for (int r = 0; r < judged->n; r++)
        json_decref(judged->seen[r]);
    json_decref(judged->head);
}

/* ---- its pairs of GPUs ---- */

static inline const struct lp_pair_kind *kind_of(const struct judged *judged, int src, int dst)
{
    int k = judged->machine.kind_of[src][dst];

    assert_true(k >= 0 && k < judged->machine.nkinds);
    return &judged->machine.kind[k];
}

static inline bool same_gbps(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) < 0.01;
}

/* The entry of head.topology.pairs. */
static inline const json_t *entry_of(const struct judged *judged, int src, int dst)
{
    const json_t *pairs = json_object_get(json_object_get(judged->head, "topology"), "pairs");

    for (size_t i = 0; i < json_array_size(pairs); i++)
        if (lp_json_int(json_array_get(pairs, i), "src", -1) == src && lp_json_int(json_array_get(pairs, i), "dst", -1) == dst)
            return json_array_get(pairs, i);
    fail_msg("no pair %d -> %d", src, dst);
    return NULL;
}

static inline void expect_pair(const struct judged *judged, int src, int dst, const char *name, double gbps)
{
    const struct lp_pair_kind *kind = kind_of(judged, src, dst);
    const json_t *entry = entry_of(judged, src, dst);

    if (strcmp(kind->name, name) != 0 || !same_gbps(kind->line_gbps, gbps))
        fail_msg("%d -> %d is %s at %g (%s), not %s at %g", src, dst, kind->name, kind->line_gbps, kind->words, name, gbps);
    assert_string_equal(lp_json_str(entry, "kind", ""), name);
    assert_true(same_gbps(lp_json_num(entry, "line_gbps", (double)NAN), gbps));
    assert_int_equal(json_is_null(json_object_get(entry, "line_gbps")), isnan(gbps));
}

#endif
