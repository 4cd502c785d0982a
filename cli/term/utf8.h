/* utf8.h - text of unknown origin. */
#ifndef TAMIS_CLI_TERM_UTF8_H
#define TAMIS_CLI_TERM_UTF8_H

#include <stddef.h>

/* How many bytes of well-formed UTF-8 start here, 0 if none. A NUL follows the text. */
size_t utf8_size(const char *text);
/* How many letters it has; a byte that is not UTF-8 is one. */
size_t utf8_letters(const char *text);

#endif
