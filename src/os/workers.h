/* workers.h - the work of the engine (core/make.h) on several threads. */
#ifndef TAMIS_OS_WORKERS_H
#define TAMIS_OS_WORKERS_H

#include "core/make.h"
#include "tamis_builder.h"

enum { WORKERS_MAX = 64 };

/* Does all units of w, on at most WORKERS_MAX threads, of which the caller's is one. progress(),
 * which may be NULL, is told after each unit, by one thread at a time. After TAMIS_IO errno is that
 * of the thread that met it. */
tamis_status tamis__workers_run(make_work *w, unsigned workers, tamis_progress *progress,
                                void *ctx);

#endif
