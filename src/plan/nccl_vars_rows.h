/* Short forms of a line of the table, for its two parts only. */
#ifndef LP_PLAN_NCCL_VARS_ROWS_H
#define LP_PLAN_NCCL_VARS_ROWS_H

#define NUMBER(name, since, until, on, flags, min, max, help)                                                                      \
    {                                                                                                                              \
        name, LP_VAR_NUMBER, since, until, on, flags, min, max, NULL, help                                                         \
    }
/* A number from least (0 or 1) up. */
#define COUNT(name, since, until, on, least, help) NUMBER(name, since, until, on, 0, least, INT32_MAX, help)
#define SWITCH(name, since, until, on, help)                                                                                       \
    {                                                                                                                              \
        name, LP_VAR_SWITCH, since, until, on, 0, 0, 1, NULL, help                                                                 \
    }
#define ONE(name, since, until, on, help)                                                                                          \
    {                                                                                                                              \
        name, LP_VAR_ONE, since, until, on, 0, 0, 1, NULL, help                                                                    \
    }
#define LIST(name, kind, on, help)                                                                                                 \
    {                                                                                                                              \
        name, kind, 0, 0, on, 0, 0, 0, NULL, help                                                                                  \
    }
#define WORD(name, since, until, on, flags, words, help)                                                                           \
    {                                                                                                                              \
        name, LP_VAR_WORD, since, until, on, flags, 0, 0, words, help                                                              \
    }
#define TEXT(name, since, until, on, help)                                                                                         \
    {                                                                                                                              \
        name, LP_VAR_TEXT, since, until, on, 0, 0, 0, NULL, help                                                                   \
    }
#define PATH(name, since, until, help)                                                                                             \
    {                                                                                                                              \
        name, LP_VAR_PATH, since, until, 0, 0, 0, 0, NULL, help                                                                    \
    }
#define PLUGIN(name, since, until, help)                                                                                           \
    {                                                                                                                              \
        name, LP_VAR_PLUGIN, since, until, 0, 0, 0, 0, NULL, help                                                                  \
    }

#endif
