/* entry_message.h - what a folder holds, as a list that one side sends to the other. */
#ifndef TAMIS_APPS_SYNC_ENTRY_MESSAGE_H
#define TAMIS_APPS_SYNC_ENTRY_MESSAGE_H

#include "files/entry.h"
#include "tamis.h"
#include "term/buffer.h"

/* What is told apart: a hash of all of it. */
uint64_t entry_key(const entry *e, const tamis_hasher *by);

/* Names that stay below the folder: no empty part, "." or "..", and none that is too long. */
bool entry_name_is_safe(const char *name);

void entry_write(buffer *out, const entry *const *entries, size_t n);
/* How many entries these bytes say they are; 0: none, or more than so many bytes can be. */
size_t entry_count(const void *bytes, size_t size);
/* Takes the bytes, and beside them one block of entry_count() entries. False: this is no list that
 * entry_write() made; what is read of it is to be freed all the same. */
bool entry_read(entry_list *l, buffer *bytes);

#endif
