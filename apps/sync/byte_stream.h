/* byte_stream.h - bytes of files as one stream of messages, compressed if both sides can. */
#ifndef TAMIS_APPS_SYNC_BYTE_STREAM_H
#define TAMIS_APPS_SYNC_BYTE_STREAM_H

#include "sync_job.h"

typedef struct pour pour;

/* About so many bytes will come: the fewer, the better they are compressed. */
pour *pour_begin(const sync_job *job, uint64_t expected);
bool pour_write(void *p, const void *bytes, size_t size); /* a tamis_sink */
void pour_end(pour *p);

typedef struct drain drain;

drain *drain_begin(const sync_job *job);
/* Fills all of it. */
void drain_read(drain *d, void *bytes, size_t size);
/* Nothing may be left. */
void drain_end(drain *d);

#endif
