/* letters.h - characters of Unicode: which are parts of words, which are blanks, which are equal.
 */
#ifndef TAMIS_CLI_SIMILAR_LETTERS_H
#define TAMIS_CLI_SIMILAR_LETTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character that starts here, and how many bytes it takes. A byte that is not UTF-8 is the
 * character U+FFFD. What follows the text is no UTF-8 continuation. */
uint32_t letters_read(const char *text, size_t *size);
/* Writes it as UTF-8, at most four bytes; returns how many. */
size_t letters_write(char *to, uint32_t c);

/* Letters, digits and "_"; beyond ASCII, all but punctuation, symbols and blanks. */
bool letters_in_word(uint32_t c);
bool letters_is_blank(uint32_t c);
/* The small letter of a capital of Latin, Greek or Cyrillic; any other character is itself. */
uint32_t letters_small(uint32_t c);

#endif
