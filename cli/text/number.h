/* number.h - numbers as people write them. All are exact, and false means "no such number". */
#ifndef TAMIS_CLI_TEXT_NUMBER_H
#define TAMIS_CLI_TEXT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 1000, 1e9, 1.5e6, and k M G T for powers of 1000. */
bool number_count(uint64_t *out, const char *text);
/* 4096, and K M G T for powers of 1024. */
bool number_bytes(uint64_t *out, const char *text);
/* Decimal, or hexadecimal after 0x; the text need not end with a NUL. */
bool number_integer(uint64_t *out, const char *text, size_t size);
/* 0.01, 1e-3. */
bool number_real(double *out, const char *text);
/* The same, and 1%, 0.1%. */
bool number_share(double *out, const char *text);
/* The same, or with a unit of time, in seconds: 500ms, 1us, 2.5h. */
bool number_cost(double *out, bool *is_time, const char *text);

#endif
