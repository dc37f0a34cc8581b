/*
 * The page that the workers of a crew on one host share: a barrier that yields, so that everybody starts a block
 * together on any number of cores. It lives in a memfd that the others open through /proc/PID/fd: nothing to unlink, so
 * nothing is left when a worker is killed.
 */
#ifndef LP_WORKER_PAGE_H
#define LP_WORKER_PAGE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct lp_page;

/* A new shared page for n workers. Free it with lp_page_free. */
enum lp_status lp_page_create(int n, struct lp_page **out, struct lp_reason *why);

/* Text by which another process of this host and user opens the page; valid while this one has it. */
const char *lp_page_handle(const struct lp_page *page);

enum lp_status lp_page_open(const char *handle, struct lp_page **out, struct lp_reason *why);
void lp_page_free(struct lp_page *page);

/* Returns when all n workers have called it as often as this one. Never gives up: a missing worker is the controller's to notice.
 */
void lp_page_barrier(struct lp_page *page);

/* A barrier that also tells everyone whether any of them said true. */
bool lp_page_any(struct lp_page *page, bool mine);

/* Shared memory under the same rules, for the host device: fd and handle of a memfd mapped at *ptr. */
enum lp_status lp_shared_create(size_t bytes, void **ptr, int *fd, struct lp_reason *why);
void lp_shared_handle(int fd, char *handle, size_t cap);
enum lp_status lp_shared_open(const char *handle, size_t bytes, void **ptr, struct lp_reason *why);
void lp_shared_close(void *ptr, size_t bytes, int fd);

#endif
