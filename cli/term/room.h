/* room.h - memory. Without it, the program ends and says for what there was none. */
#ifndef TAMIS_CLI_TERM_ROOM_H
#define TAMIS_CLI_TERM_ROOM_H

#include <stddef.h>

/* Zeros, to be freed: for `n` things of that size, which may be none. */
void *room_for(size_t n, size_t size, const char *what);
/* As realloc(), of such a block or of NULL. What was not in the block is not set. */
void *room_resized(void *block, size_t n, size_t size, const char *what);
/* Makes `*room`, which is that of `block` in things of that size, larger if it is not above `n`. */
void *room_for_next(void *block, size_t n, size_t *room, size_t size, const char *what);
char *room_copy(const char *text, const char *what);

#endif
