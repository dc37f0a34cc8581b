/* Taking words and numbers off the front of a text. Each takes what it wants and moves *at behind it, or leaves *at alone. */
#ifndef LP_PROOF_NCCL_SCAN_H
#define LP_PROOF_NCCL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exactly this word. */
bool lp_take(const char **at, const char *word);

/* Blanks, any number of them. */
void lp_take_blanks(const char **at);

/* A whole decimal number with an optional minus; false when it does not fit. */
bool lp_take_int(const char **at, int64_t *out);

/* The same from min to max. */
bool lp_take_range(const char **at, int min, int max, int *out);

/* Digits with an optional fraction, as "%.2f" writes them. */
bool lp_take_real(const char **at, double *out);

/* Letters, digits and the characters of `also`, at least one; false (nothing taken) when they do not fit into buf. */
bool lp_take_word(const char **at, const char *also, char *buf, size_t cap);

/* `name` in text, not as part of a longer name of letters, digits and underscores. */
bool lp_mentions(const char *text, const char *name);

#endif
