/* word_breaks.h - which characters of Unicode are parts of words, and which are blanks. */
#ifndef TAMIS_APPS_SIMILAR_WORD_BREAKS_H
#define TAMIS_APPS_SIMILAR_WORD_BREAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Letters, digits and "_"; beyond ASCII, all but punctuation, symbols and blanks. */
bool between_is_word(uint32_t c);
bool between_is_blank(uint32_t c);

#endif
