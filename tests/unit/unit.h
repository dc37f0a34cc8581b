/* What every unit test here includes last: cmocka with what it needs, and checks that say which line of a table failed. */
#ifndef LP_TESTS_UNIT_H
#define LP_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT_OF(list) (sizeof(list) / sizeof((list)[0]))

/* A condition of one line of a table; name is any text that tells which. */
#define assert_case(name, condition)                                                                                               \
    do {                                                                                                                           \
        if (!(condition))                                                                                                          \
            fail_msg("case \"%s\": %s", name, #condition);                                                                         \
    } while (0)

/* A message for the user that must name something. */
#define assert_says(text, part)                                                                                                    \
    do {                                                                                                                           \
        if (!strstr(text, part))                                                                                                   \
            fail_msg("\"%s\" does not say \"%s\"", text, part);                                                                    \
    } while (0)

#endif
