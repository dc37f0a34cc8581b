/* How ranks' GPUs are joined, out of what their workers saw. Pure: it reads answers and asks nobody. */
#ifndef LP_MACHINE_LINKS_H
#define LP_MACHINE_LINKS_H

#include "machine/survey.h"

/* In one worker's answer: the device of an index, NULL when there is none, and the index of the device at a PCI id, -1. */
const json_t *lp_seen_device(const json_t *machine, int index);
int lp_seen_find(const json_t *machine, const char *pci);

/* Fills kind, kind_of and nkinds of placed ranks. seen as in lp_machine_judge. */
void lp_links_judge(json_t *const *seen, struct lp_machine *found);

/* Words for the user when the rank's GPU has fewer active NVLinks than another of its model; else NULL. New reference. */
json_t *lp_links_shortage(json_t *const *seen, const struct lp_machine *found, int rank);

/*
 * head.topology, after lp_links_judge: pairs {src, dst, peer_access, reason, kind, line_gbps, line_words}, one for each
 * directed pair of ranks, whose rate and words are its own also where its kind is "other"; and line, that of rank 0's GPU
 * with all its links. New reference.
 */
json_t *lp_links_topology(json_t *const *seen, const struct lp_machine *found);

#endif
