/* array.h - arrays. Out of memory ends the program with its exit code. */
#ifndef TAMIS_CLI_TERM_ARRAY_H
#define TAMIS_CLI_TERM_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* n things of so many bytes, all of them 0; free() takes them. `what` they are is for the message.
 */
void *array_new(uint64_t n, size_t size, const char *what);
/* The same n things in a block with space for one more. */
void *array_grown(void *all, size_t n, size_t size, const char *what);
/* A copy of these bytes, and a NUL. */
char *array_text(const char *bytes, size_t size);

/* The number of a thing, and what it is sorted by. */
typedef struct ranked {
    uint64_t by;
    uint32_t id;
} ranked;

/* The least first, and of one rank the least id. */
void array_sort(ranked *all, size_t n);

#endif
