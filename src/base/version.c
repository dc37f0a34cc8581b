/* The version, alone in a file: the Makefile gives it to this one, so that a commit does not rebuild the others. */
#include "base/version.h"

#ifndef LP_VERSION
#define LP_VERSION "unknown"
#endif

const char *lp_version(void)
{
    return LP_VERSION;
}
