/* workers.h - the same work on several threads at a time. */
#ifndef TAMIS_CORE_WORKERS_H
#define TAMIS_CORE_WORKERS_H

enum { WORKERS_MAX = 64 };

/* Calls work(ctx, 0) .. work(ctx, n - 1), each on a thread of its own, the first one on the
 * caller's; returns when all have. A thread that the system refuses is not missed if the work is
 * shared out as it is done. */
void tamis__work(void (*work)(void *ctx, unsigned worker), void *ctx, unsigned n);

#endif
