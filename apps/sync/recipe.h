/* recipe.h - how files are made of chunks of old ones and of new bytes, as bytes.
 *
 * First the keys of chunks that are gone: how many, how many bytes of each, and these. Then of each
 * file: how many steps it has, and of each step how many chunks of the old file come next, without
 * those that are gone, and how many new bytes after them. The rest of the old file follows. */
#ifndef TAMIS_APPS_SYNC_RECIPE_H
#define TAMIS_APPS_SYNC_RECIPE_H

#include "wire/coded.h"

/* Chunks are told from `others`. */
void recipe_put_gone(buffer *out, const uint64_t *keys, size_t n, size_t others);

typedef struct recipe {
    uint64_t *gone; /* starts of keys, in order */
    size_t n_gone;
    unsigned shift; /* of a key to its start */
    coded *files;   /* steps of each */
} recipe;

/* Of so many files and chunks of old ones; the bytes must stay. False: this is none. */
bool recipe_read(recipe *r, const void *bytes, size_t size, size_t n_files, size_t n_chunks);
bool recipe_lacks(const recipe *r, uint64_t key);
/* False after the last step. */
bool recipe_next(coded *steps, uint64_t *kept, uint64_t *fresh);
void recipe_free(recipe *r);

#endif
