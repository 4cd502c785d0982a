/* nearest.h - the name that a mistyped word was meant to be. */
#ifndef TAMIS_CLI_TEXT_NEAREST_H
#define TAMIS_CLI_TEXT_NEAREST_H

#include <stddef.h>

/* The i-th name, or NULL after the last. */
typedef const char *name_list(const void *ctx, size_t i);

/* Room for " Did you mean '...'?". */
enum { HINT_SIZE = 80 };

/* " Did you mean 'query'?", or nothing; in `hint`, which is returned. */
const char *nearest_hint(char hint[HINT_SIZE], const char *word, name_list *at, const void *ctx);

#endif
