/*
 * What a variant asked for, joined with what its crew's NCCL log shows (nccl_log.h): the path of each cell, what became of
 * each variable, and the standing of the variant. "" and LP_CHANNELS_UNKNOWN mean that the log does not say.
 */
#ifndef LP_PROOF_PROOF_H
#define LP_PROOF_PROOF_H

#include "model/variant.h"
#include "proof/nccl_log.h"

#define LP_CHANNELS_UNKNOWN (-1)
#define LP_CHANNELS_VARY    (-2)

/* The path of one collective cell. */
struct lp_proof_cell {
    char name[128];      /* the cell in words */
    char algorithm[32];  /* "Ring", "Symmetric", "CopyEngine"; "varies" */
    char protocol[64];   /* "LL", "Simple", a symmetric kernel's name; "varies" */
    char transport[256]; /* "P2P/CUMEM", "mixed: ...", "NVLS", "symmetric memory", "copy engine" */
    int channels;
    bool sends;    /* made of sends and receives: NCCL has no algorithm to choose, only the transport counts */
    bool varies;   /* NCCL chose differently for equal calls */
    bool missing;  /* set by the caller: the cell has no result here, so it is not compared */
    char tag[160]; /* "Ring/LL x1", "Tree/Simple x24", "CopyEngine", "varies: Ring/LL x1, Ring/LL x2", "unknown" */
};

/*
 * Finds the cell in its crew's log, by function and bytes (of one rank's part where NCCL logs that). nranks: of the crew.
 * alone: the crew ran no other collective; only then lines that name no function (2.20 to 2.22) are taken for it.
 */
void lp_proof_cell(const struct lp_nccl_log *log, const struct lp_cell *cell, int nranks, bool alone, struct lp_proof_cell *out);

/* All four of algorithm, protocol, channels and transport are known (of sends and receives: the transport). */
bool lp_proof_cell_known(const struct lp_proof_cell *cell);

/* {algorithm, protocol, channels, transport, tag}; null for unknown, "varies" where it does. New reference. */
json_t *lp_proof_cell_json(const struct lp_proof_cell *cell);

/* What NCCL did with a variable. */
enum lp_took {
    LP_TOOK_UNKNOWN,   /* no log, or its init did not get that far */
    LP_TOOK_ASKED,     /* as asked; also: unset, and not acknowledged */
    LP_TOOK_OTHER,     /* something else: 16 of 16M, or the value was refused or clamped */
    LP_TOOK_NOTHING,   /* not acknowledged: NCCL does not read it, or not this value */
    LP_TOOK_SILENTLY,  /* this release never acknowledges it, so nothing follows from that */
    LP_TOOK_DIFFERENT, /* ranks differ */
    LP_TOOK_NOT_OURS   /* not NCCL's variable */
};

struct lp_proof_variable {
    char name[64];
    char asked[LP_NCCL_VALUE], took[LP_NCCL_VALUE]; /* took: "" nothing */
    bool unset;                                     /* asked to be unset */
    enum lp_took state;
    char words[768]; /* "asked NCCL_BUFFSIZE=16M, NCCL took 16" */
};

/* All zero is empty. */
struct lp_proof_variables {
    struct lp_proof_variable *item;
    size_t n;
};

/* One item for every change of the variant. LP_ERR_MEMORY. log may be NULL: everything unknown. */
enum lp_status lp_proof_variables(const struct lp_nccl_log *log, const struct lp_variant *variant, struct lp_proof_variables *out);
void lp_proof_variables_release(struct lp_proof_variables *variables);

/* {"NCCL_BUFFSIZE": {asked, took, state, words}}, for variants[].acknowledged. New reference. */
json_t *lp_proof_variables_json(const struct lp_proof_variables *variables);

const char *lp_took_name(enum lp_took took); /* "as asked", "other", "not acknowledged", ... */

/*
 * In what the ranks of a crew differ, by their logs: NCCL version, network, cuMem host memory, channels, values of variables.
 * Sentences joined by "; ", "" when they agree as far as is known. Also for the report of a hang. Returns buf.
 */
const char *lp_proof_differences(const struct lp_nccl_log *log, char *buf, size_t cap);

enum lp_standing { LP_EFFECTIVE, LP_SAME_PATH, LP_INEFFECTIVE, LP_RANKS_DIFFER, LP_UNPROVEN };

const char *lp_standing_name(enum lp_standing standing); /* "effective", "same path as default", ... */

/* Whether a cell's time is that of default, as the caller judges. */
enum lp_same { LP_SAME_UNKNOWN, LP_SAME_YES, LP_SAME_NO };

/* All that is known of one variant. cell[i] is the same cell for every crew that is compared. */
struct lp_proof_crew {
    const struct lp_variant *variant;
    const struct lp_nccl_log *log; /* NULL: none */
    const struct lp_proof_variables *variables;
    const struct lp_proof_cell *cell;
    size_t ncells;
};

struct lp_proof_standing {
    enum lp_standing standing;
    char words[1024]; /* one sentence */
};

/* DESIGN section 5. same_time: of each cell, NULL when nothing is known. Both crews have the same ncells. */
void lp_proof_standing(const struct lp_proof_crew *base, const struct lp_proof_crew *crew, const enum lp_same *same_time,
                       struct lp_proof_standing *out);

/* group[i]: index of the first crew with the same path in every cell (its own when there is none before); -1: path not known. */
void lp_proof_groups(const struct lp_proof_crew *crews, size_t n, int *group);

/*
 * The variant sets nothing but ways for the data (P2P level, P2P, SHM, NVLS, algorithm, protocol), so that with the same
 * path as another it is the same setting, and what differs is noise. True also for one that changes nothing.
 */
bool lp_proof_only_path(const struct lp_variant *variant);

#endif
