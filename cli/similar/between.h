/* between.h - which characters of Unicode are parts of words, and which are blanks. */
#ifndef TAMIS_CLI_SIMILAR_BETWEEN_H
#define TAMIS_CLI_SIMILAR_BETWEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Letters, digits and "_"; beyond ASCII, all but punctuation, symbols and blanks. */
bool between_is_word(uint32_t c);
bool between_is_blank(uint32_t c);

#endif
