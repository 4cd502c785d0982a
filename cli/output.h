/* output.h - standard output. Every failed write is reported. */
#ifndef TAMIS_CLI_OUTPUT_H
#define TAMIS_CLI_OUTPUT_H

#include <stddef.h>

/* Writes all of it, without stdio. */
void output_write(const void *bytes, size_t size);
/* Call last: flushes and closes. Ends the program if something could not be written. */
void output_end(void);

#endif
