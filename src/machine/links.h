/* How ranks' GPUs are joined, out of what their workers saw. Pure: it reads answers and asks nobody. */
#ifndef LP_MACHINE_LINKS_H
#define LP_MACHINE_LINKS_H

#include "machine/survey.h"

/* In one worker's answer: the device of an index, NULL when there is none, and the index of the device at a PCI id, -1. */
const json_t *lp_seen_device(const json_t *machine, int index);
int lp_seen_find(const json_t *machine, const char *pci);

/* head.topology of placed ranks: {pairs, line}. seen as in lp_machine_judge. New reference. */
json_t *lp_links_topology(json_t *const *seen, const struct lp_machine *found);

#endif
