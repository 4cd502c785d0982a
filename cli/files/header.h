/* header.h - the first line of each input, where columns have names. */
#ifndef TAMIS_CLI_FILES_HEADER_H
#define TAMIS_CLI_FILES_HEADER_H

#include "pipeline.h"

bool header_is_expected(const source *s);
/* Moves the first line of an input from its text to `header`, and finds the columns of the source
 * in it. If there is a header already, it must be the same. What is wrong ends the program. */
void header_take(buffer *header, source *s, buffer *text, const char *input);

#endif
