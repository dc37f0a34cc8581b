/* Between nccl_log.c, which cuts a log into lines, and nccl_lines.c, which knows what they mean. */
#ifndef LP_PROOF_NCCL_LINES_H
#define LP_PROOF_NCCL_LINES_H

#include "proof/nccl_log.h"

/* One message, without the prefix. writer: index, or -1. error: NCCL WARN. Text with control characters is only a warning's. */
void lp_nccl_line(struct lp_nccl_log *log, int writer, bool error, const char *text);

/* Room for one more item of a list of n items: the list, perhaps moved; NULL when max are there or memory is out. */
void *lp_nccl_room(struct lp_nccl_log *log, void *items, size_t n, size_t size, size_t max);

/* Channels and their transport, rings, trees. False: the line is none. */
bool lp_nccl_link_line(struct lp_nccl_log *log, int writer, const char *at);
bool lp_nccl_ring_line(struct lp_nccl_log *log, int writer, const char *at);
bool lp_nccl_tree_line(struct lp_nccl_log *log, int writer, const char *at);

/* Lines of warnings: kept with their text, and what they say of shared memory and missing algorithms. Others: nothing. */
void lp_nccl_warning_line(struct lp_nccl_log *log, int writer, bool error, const char *text);

/* Lines about what was chosen for a call: "AllReduce: 1024 Bytes -> ...". False: it is none. */
bool lp_nccl_selection_line(struct lp_nccl_log *log, const char *text);

/* Reads "2.28.3+cuda13.0" or "2.28.3" into version and code; false for anything else. */
bool lp_nccl_version(const char *text, char *version, size_t cap, int *code);

#endif
