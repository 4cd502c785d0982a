/* unicode.h - characters of Unicode: UTF-8, capitals and small letters. */
#ifndef TAMIS_CLI_TERM_UNICODE_H
#define TAMIS_CLI_TERM_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes of well-formed UTF-8 start here, 0 if none. A NUL follows the text. */
size_t utf8_size(const char *text);
/* How many characters it has; a byte that is not UTF-8 is one. */
size_t utf8_length(const char *text);

/* The character at `at`, and how many bytes it has. A byte that is not UTF-8 is U+FFFD. */
uint32_t unicode_at(const char *at, const char *end, size_t *size);
/* Where the character before `at` starts. */
const char *unicode_before(const char *at, const char *start);
/* Writes it as UTF-8; returns how many bytes. */
size_t unicode_write(char out[4], uint32_t code);

/* A terminal shows it. It may obey others: controls of one byte or two (U+0080 to U+009F), and
 * marks that end a line or turn its direction. */
bool unicode_is_printable(uint32_t code);
/* Puts '?' in place of characters that are not shown and of bytes that are not UTF-8; returns the
 * size that is left. All text of other machines and of files goes through this on its way to a
 * terminal.
 */
size_t unicode_clean(char *text, size_t size);

bool unicode_is_letter(uint32_t code);
uint32_t unicode_lower(uint32_t code);
uint32_t unicode_upper(uint32_t code);

#endif
