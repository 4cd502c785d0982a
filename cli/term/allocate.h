/* allocate.h - memory. If there is none left, the program ends with its exit code. */
#ifndef TAMIS_CLI_TERM_ALLOCATE_H
#define TAMIS_CLI_TERM_ALLOCATE_H

#include <stddef.h>
#include <stdint.h>

/* n items of that size, zeros. To be freed. */
void *allocate(uint64_t n, size_t size);
/* A copy of these bytes, with a NUL after them. To be freed. */
char *allocate_text(const char *bytes, size_t size);

#endif
