/* Where variants come from: the built-in matrix, a YAML file, --variant. */
#ifndef LP_PLAN_MATRIX_H
#define LP_PLAN_MATRIX_H

#include "model/variant.h"

/*
 * Reads a run matrix: a mapping with the list `variants`, each with name, env (a mapping; a plain ~, null or nothing
 * removes the variable, '' sets it empty), sweep (a mapping of
 * variables to lists of values: one variant for each combination), options (timing, nccl) and when (always, nvlink, pcie). Values
 * are taken byte for byte. LP_ERR_IO or LP_ERR_ARG with file and line. Appends to list.
 */
enum lp_status lp_matrix_read(const char *path, struct lp_variants *list, struct lp_reason *why);

/* "NAME: K=V K2= K3": sets K and K2 (to nothing), removes K3. Appends to list. */
enum lp_status lp_matrix_add_text(const char *text, struct lp_variants *list, struct lp_reason *why);

/* The built-in matrix of a device, without "default". */
enum lp_status lp_matrix_builtin(const char *device, struct lp_variants *list);

/* A variant changed a variable that is linkperf's own (NCCL_DEBUG, CUDA_VISIBLE_DEVICES, ...), or a name is there twice. */
enum lp_status lp_matrix_check(const struct lp_variants *list, struct lp_reason *why);

#endif
