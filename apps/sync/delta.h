/* delta.h - what differs between two files.
 *
 * Who has the new file makes a delta from a signature of the old one: blocks that the old file has,
 * wherever they are now, and the bytes between them. A delta and the old file make the new one. The
 * format is that of librsync: rdiff reads and writes the same files. */
#ifndef TAMIS_APPS_SYNC_DELTA_H
#define TAMIS_APPS_SYNC_DELTA_H

#include "signature.h"

/* Fills all of it with what the old file has there. */
typedef bool old_file_reader(void *ctx, void *bytes, size_t size, uint64_t offset);

tamis_status delta_make(const block_signature *s, byte_source *new_file, void *new_ctx,
                        tamis_sink *out, void *out_ctx, const tamis_allocator *a);
/* Writes the new file. TAMIS_FOREIGN: it is no delta. TAMIS_CORRUPT: it is damaged, or of another
 * old file. A delta may copy the old file once for each 18 of its bytes: a sink that returns false
 * sets a limit. */
tamis_status delta_apply(byte_source *delta, void *delta_ctx, old_file_reader *old_file,
                         void *old_ctx, uint64_t old_size, tamis_sink *out, void *out_ctx);

#endif
