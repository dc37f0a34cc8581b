/*
 * Variables as people keep them in files: shell exports, docker's -e lists and env-files, mpirun -x. Read into one variant; what
 * is not understood is said with its line and left out, never guessed. What the values mean is lint's.
 */
#ifndef LP_PLAN_ENV_FILE_H
#define LP_PLAN_ENV_FILE_H

#include "model/variant.h"
#include "plan/lint.h"

/*
 * Reads the file into variant (which has its name already). Taken: `A=B`, `export A=B C=D`, `declare -x A=B`, `unset A`,
 * `A=B command`, `env A=B command`, docker (podman, nerdctl) with -e, --env and --env-file, mpirun -x A=B, srun --export=A=B;
 * quotes, comments, line continuation, `;` and `&&`. Everything else that could set a variable is a warning in remarks,
 * "line 3: ...". LP_ERR_IO with the reason when a file cannot be read.
 */
enum lp_status lp_env_file_read(const char *path, struct lp_variant *variant, struct lp_findings *remarks, struct lp_reason *why);

#endif
