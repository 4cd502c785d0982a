/* key_list.h - a list of keys on disk, which tells for certain what is in it. */
#ifndef TAMIS_CLI_FILTERS_KEY_LIST_H
#define TAMIS_CLI_FILTERS_KEY_LIST_H

#include "files/pipeline.h"

typedef struct key_list key_list;

/* Each line of the file, "-" for standard input, is a key of this filter. Lines end as those of
 * `like`. Warns if the filter was made from another list. Takes 16 bytes of disk for each line. */
key_list *key_list_read(const char *path, const source *like, const tamis *filter);
/* The key is what the filter makes of the text. */
bool key_list_has(const key_list *l, uint64_t key, span text);
void key_list_free(key_list *l);

#endif
