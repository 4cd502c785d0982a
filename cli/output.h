/* output.h - standard output, where nothing may get lost unnoticed. */
#ifndef TAMIS_CLI_OUTPUT_H
#define TAMIS_CLI_OUTPUT_H

#include <stddef.h>

/* All of it at once, past stdio. */
void output_write(const void *bytes, size_t size);
/* Call last: flushes and closes, and ends the program with its code if something was lost. */
void output_end(void);

#endif
