/* Words to the user on stderr: one line each, from rank 0 only. Tables go to stdout and not through here. */
#ifndef LP_BASE_LOG_H
#define LP_BASE_LOG_H

/* "linkperf: " and the text; a newline is added. */
void lp_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
