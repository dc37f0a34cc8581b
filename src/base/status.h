/* The one return type of functions that can fail, and the text that says why. */
#ifndef LP_BASE_STATUS_H
#define LP_BASE_STATUS_H

enum lp_status {
    LP_OK = 0,
    LP_ERR_ARG,         /* the caller or the user asked for something that makes no sense */
    LP_ERR_MEMORY,      /* host or device memory ran out */
    LP_ERR_IO,          /* a file, socket or system call failed */
    LP_ERR_PARSE,       /* text that is not what it should be */
    LP_ERR_ENV,         /* the machine is not fit: driver, library, launcher */
    LP_ERR_UNSUPPORTED, /* cannot be done here; an outcome, not a failure of ours */
    LP_ERR_FAILED,      /* a device or library call failed */
    LP_ERR_LOST,        /* the process that should answer is gone or late */
    LP_ERR_SIGNAL,      /* the user ended the run */
};

/* Why a call failed, in words for the user. Filled once, by whoever knew first; callers pass it on. */
struct lp_reason {
    char text[512];
};

/* Writes the reason (cut at its size; why may be NULL) and returns st, so that a failure is one line. */
enum lp_status lp_because(struct lp_reason *why, enum lp_status st, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* "ok", "unsupported", ...: how a status travels in a worker's reply. */
const char *lp_status_name(enum lp_status st);

/* The reverse; LP_ERR_FAILED for a name that is not known. */
enum lp_status lp_status_from_name(const char *name);

#endif
