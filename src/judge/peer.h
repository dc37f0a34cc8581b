/*
 * Peer truth: whether a GPU really reaches another one's memory. The driver's word is a claim; a copy whose data was checked is
 * the proof. For each directed pair, within one process and between processes (CUDA IPC). From the result only.
 */
#ifndef LP_JUDGE_PEER_H
#define LP_JUDGE_PEER_H

#include "judge/copies.h"

/* P2P at up to this many times the driver-staged rate goes through the host as well, whatever the driver says. */
#define LP_PEER_LIKE_STAGED 1.1

enum lp_peer_state { LP_PEER_YES, LP_PEER_NO, LP_PEER_WRONG, LP_PEER_HANGS, LP_PEER_FAILS, LP_PEER_UNKNOWN };

struct lp_peer_truth {
    enum lp_peer_state state;
    bool driver_yes;  /* the driver's word is yes; else it is no, or unknown */
    char reason[512]; /* empty for yes */
};

/*
 * What is known of src -> dst. processes: "one" or "ipc". A checked copy by a path that needs peer access is believed; of several
 * that disagree the worst. Pure.
 */
void lp_peer_find(const struct lp_result *result, struct lp_edge pair, const char *processes, struct lp_peer_truth *out);

/* "yes", "no", "says yes, data wrong", ..., "unknown"; without "says yes, " where the driver's word is not known. */
const char *lp_peer_name(const struct lp_peer_truth *truth);

/* Whether copies with P2P are faster than the driver-staged ones; GB/s of both at the largest size that both have. */
enum lp_peer_use { LP_PEER_USED, LP_PEER_NOT_USED, LP_PEER_USE_UNKNOWN };
struct lp_peer_rates {
    const char *path; /* of the P2P copies: "ce_write", or "sm_write"; NULL: nothing to compare */
    size_t bytes;
    double p2p_gbps, staged_gbps;
};

/* LP_PEER_USE_UNKNOWN where the driver does not say yes, or one of the two was not measured. Both are NaN then. */
enum lp_peer_use lp_peer_used(const struct lp_result *result, struct lp_edge pair, struct lp_peer_rates *out);

/*
 * Adds to each entry of topology.pairs: one_process and between_processes ({state, reason or null}), and peer_path_used (true,
 * false or null). topology is the one of result's head, or a copy of it. Does nothing on host memory, which knows no peer access.
 */
void lp_peer_note(json_t *topology, const struct lp_result *result);

#endif
