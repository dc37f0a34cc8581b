/* Which linkperf this is. */
#ifndef LP_BASE_VERSION_H
#define LP_BASE_VERSION_H

/* As git described the sources when they were built, such as "v1.0-3-gabc1234-dirty", or "unknown". */
const char *lp_version(void);

#endif
