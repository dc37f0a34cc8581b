/* The lists of edges. */
#include "p2p/patterns.h"

#include <string.h>

static int add(struct lp_edge *out, int n, int most, int src, int dst)
{
    if (n < most)
        out[n] = (struct lp_edge){src, dst};
    return n + 1;
}

static int whole(int n, int most)
{
    return n <= most ? n : 0;
}

static int one_way(int n, int a, int b, struct lp_edge *out, int most)
{
    (void)n;
    return whole(add(out, 0, most, a, b), most);
}

static int both_ways(int n, int a, int b, struct lp_edge *out, int most)
{
    (void)n;
    return whole(add(out, add(out, 0, most, a, b), most, b, a), most);
}

/* In rank order; NCCL's own order is its rings' (evidence). */
static int ring(int n, int a, int b, struct lp_edge *out, int most)
{
    int edges = 0;

    (void)a;
    (void)b;
    for (int r = 0; r < n; r++)
        edges = add(out, edges, most, r, (r + 1) % n);
    return whole(edges, most);
}

static int one_to_all(int n, int a, int b, struct lp_edge *out, int most)
{
    int edges = 0;

    (void)b;
    for (int r = 0; r < n; r++)
        if (r != a)
            edges = add(out, edges, most, a, r);
    return whole(edges, most);
}

static int all_to_one(int n, int a, int b, struct lp_edge *out, int most)
{
    int edges = 0;

    (void)b;
    for (int r = 0; r < n; r++)
        if (r != a)
            edges = add(out, edges, most, r, a);
    return whole(edges, most);
}

/* By distance, so that each round of n edges loads every GPU alike. */
static int all_pairs(int n, int a, int b, struct lp_edge *out, int most)
{
    int edges = 0;

    (void)a;
    (void)b;
    for (int distance = 1; distance < n; distance++)
        for (int r = 0; r < n; r++)
            edges = add(out, edges, most, r, (r + distance) % n);
    return whole(edges, most);
}

const struct lp_pattern_kind lp_pattern_kinds[] = {
    {"one_way", "one way", one_way},
    {"both_ways", "both ways at once", both_ways},
    {"ring", "every rank to its next in the ring at once", ring},
    {"one_to_all", "one to all others at once", one_to_all},
    {"all_to_one", "all others to one at once", all_to_one},
    {"all_pairs", "every rank to every other at once", all_pairs},
    {NULL, NULL, NULL},
};

const struct lp_pattern_kind *lp_pattern_kind_find(const char *name)
{
    for (const struct lp_pattern_kind *kind = lp_pattern_kinds; kind->name; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}
