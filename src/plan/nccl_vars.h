/*
 * What NCCL reads from its environment: one table of names, how each is parsed, what it accepts, when, and what it acts on. Read
 * from NCCL's source, releases 2.18 to 2.30.7, and its guide. What is made of it is lint's and proof's.
 */
#ifndef LP_PLAN_NCCL_VARS_H
#define LP_PLAN_NCCL_VARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How NCCL reads the text. */
enum lp_nccl_kind {
    LP_VAR_NUMBER, /* base-0 integer (0x is hexadecimal, a leading 0 octal), what follows it is dropped */
    LP_VAR_SWITCH, /* the same; any number but 0 is on */
    LP_VAR_ONE,    /* the same; on only when it is exactly 1 */
    LP_VAR_LEVEL,  /* a path level such as PHB, upper case, or an old number */
    LP_VAR_ALGO,   /* list of algorithms, per function */
    LP_VAR_PROTO,  /* list of protocols, per function */
    LP_VAR_WORD,   /* one of words */
    LP_VAR_KERNEL, /* the exact name of a symmetric kernel, or "^" */
    LP_VAR_TEXT,   /* host, interface, pattern, ...: not looked into */
    LP_VAR_PATH,   /* of a file; "~" is not expanded */
    LP_VAR_PLUGIN, /* path or suffix of a library, or "none" */
};

/* What a variable acts on; 0 in a group is all of it. Algorithms, and send/receive with what is made of it: */
#define LP_ON_RING          0x1u
#define LP_ON_TREE          0x2u
#define LP_ON_NVLS          0x4u
#define LP_ON_NVLS_TREE     0x8u
#define LP_ON_COLLNET       0x10u /* CollNetDirect */
#define LP_ON_COLLNET_CHAIN 0x20u
#define LP_ON_PAT           0x40u
#define LP_ON_SENDRECV      0x80u
#define LP_ON_COLLS         0x7fu
#define LP_ON_ALGORITHMS    0xffu
/* Protocols: */
#define LP_ON_LL        0x100u
#define LP_ON_LL128     0x200u
#define LP_ON_SIMPLE    0x400u
#define LP_ON_PROTOCOLS 0x700u
/* The rest: */
#define LP_ON_P2P     0x1000u  /* transport between GPUs of a host */
#define LP_ON_SHM     0x2000u  /* transport through host memory */
#define LP_ON_NET     0x4000u  /* transport through a network: between hosts, or P2P and SHM are off */
#define LP_ON_HOSTS   0x8000u  /* several hosts */
#define LP_ON_START   0x10000u /* start, logs, health: not the time of an operation */
#define LP_ON_WINDOWS 0x20000u /* buffers or windows that the program registers */

/* Outside min..max: the nearest of the two is used, or the value is not taken; neither: NCCL takes what makes no sense. */
#define LP_VAR_LOW_CLAMPED  0x1u
#define LP_VAR_LOW_IGNORED  0x2u
#define LP_VAR_HIGH_CLAMPED 0x4u
#define LP_VAR_HIGH_IGNORED 0x8u
#define LP_VAR_CLAMPED      (LP_VAR_LOW_CLAMPED | LP_VAR_HIGH_CLAMPED)
#define LP_VAR_IGNORED      (LP_VAR_LOW_IGNORED | LP_VAR_HIGH_IGNORED)
#define LP_VAR_POWER_OF_2   0x10u   /* other values are taken, and have gone wrong */
#define LP_VAR_LEAST        0x20u   /* below min NCCL divides by zero */
#define LP_VAR_CHANNELS     0x40u   /* max is that of channels: 32, and 64 since 2.25 */
#define LP_VAR_64_BITS      0x80u   /* else NCCL keeps 32 */
#define LP_VAR_WARPS        0x100u  /* not a multiple of 32: max is used */
#define LP_VAR_ANY_CASE     0x200u  /* words in any case */
#define LP_VAR_JOINED       0x1000u /* words, several joined by |, since 2.29; before, their place in the list */
#define LP_VAR_OURS         0x400u  /* linkperf sets it in its crews */
#define LP_VAR_PLUGINS_OWN  0x800u  /* read by a plug-in, not by libnccl */

struct lp_nccl_var {
    const char *name;
    enum lp_nccl_kind kind;
    int since, until; /* first and last release that reads it, 22803 for 2.28.3; 0: before 2.7, and still */
    unsigned on, flags;
    int64_t min, max;  /* of numbers */
    const char *words; /* accepted, blanks between */
    const char *help;
};

extern const struct lp_nccl_var lp_nccl_vars_local[], lp_nccl_vars_net[]; /* two parts of the table, each ended by name NULL */

/* The entry of exactly that name, or NULL. */
const struct lp_nccl_var *lp_nccl_var_find(const char *name);

/* The i-th of all, or NULL past the end. */
const struct lp_nccl_var *lp_nccl_var_at(size_t i);

/*
 * The entry that a name that is none may have meant: another case, no NCCL_, or a few letters wrong. NULL when nothing is
 * near enough, or for a name that is right.
 */
const struct lp_nccl_var *lp_nccl_var_nearest(const char *name);

/* Letters to insert, delete, replace or swap with their neighbour to make a from b, in any case; at most 64 are looked at. */
size_t lp_edit_distance(const char *a, const char *b);

/* Was it read by that release? True for version 0. */
bool lp_nccl_var_in(const struct lp_nccl_var *var, int version);

/* "2.28.3" from 22803, "2.4" from 20499, which stands for the last of 2.4. Returns buf. */
const char *lp_nccl_version_text(int version, char *buf, size_t cap);

/* 22803 from "2.28.3", also from "2.28"; 0 for what is no version. */
int lp_nccl_version_parse(const char *text);

/* A number as NCCL reads it. */
struct lp_nccl_number {
    int64_t value;
    bool any;         /* there were digits; else value is 0 */
    bool overflow;    /* NCCL then uses its default */
    bool octal;       /* a leading 0 made it octal, and that changed it */
    const char *rest; /* what follows the digits and blanks, and is dropped; "" when nothing does */
};

struct lp_nccl_number lp_nccl_read_number(const char *text);

/* A name in a list of algorithms, protocols, functions or levels, with its bit or old number, and the releases that know it. */
struct lp_nccl_word {
    const char *name;
    unsigned bit;
    int since;
};

/* All end with name NULL. */
extern const struct lp_nccl_word lp_nccl_algos[], lp_nccl_protos[], lp_nccl_functions[], lp_nccl_levels[];

/* The word of that name, in any case when asked; NULL when there is none. len bytes of text are looked at. */
const struct lp_nccl_word *lp_nccl_word_find(const struct lp_nccl_word *words, const char *text, size_t len, bool any_case);

#endif
