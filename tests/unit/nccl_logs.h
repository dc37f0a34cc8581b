/* Reading a log of tests/data/nccl-logs by its name, for the tests of src/proof. Included after unit.h. */
#ifndef LP_TESTS_NCCL_LOGS_H
#define LP_TESTS_NCCL_LOGS_H

#include "proof/nccl_log.h"

#include <stdio.h>

#define LP_NCCL_LOGS "tests/data/nccl-logs/"

/* Adds the file to a log that has been initialised. */
static void read_file(struct lp_nccl_log *log, const char *name)
{
    char path[256];
    struct lp_reason why = {""};

    snprintf(path, sizeof(path), LP_NCCL_LOGS "%s.log", name);
    if (lp_nccl_log_read(log, path, &why) != LP_OK)
        fail_msg("%s", why.text);
}

#endif
