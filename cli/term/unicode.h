/* unicode.h - letters of Unicode: UTF-8, capitals and small letters. */
#ifndef TAMIS_CLI_TERM_UNICODE_H
#define TAMIS_CLI_TERM_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The letter at `at`, and how many bytes it has. A byte that is not UTF-8 is U+FFFD. */
uint32_t letter_at(const char *at, const char *end, size_t *size);
/* Where the letter before `at` starts. */
const char *letter_before(const char *at, const char *start);
/* Writes it as UTF-8; returns how many bytes. */
size_t letter_write(char out[4], uint32_t letter);

/* A terminal shows it. It may obey others: controls of one byte or two (U+0080 to U+009F), and
 * marks that end a line or turn its direction. */
bool letter_is_shown(uint32_t letter);
/* Puts '?' in place of letters that are not shown and of bytes that are not UTF-8; returns the size
 * that is left. All text of other machines and of files goes through this on its way to a terminal.
 */
size_t letter_clean(char *text, size_t size);

bool letter_is_alphabetic(uint32_t letter);
uint32_t letter_small(uint32_t letter);
uint32_t letter_capital(uint32_t letter);

#endif
