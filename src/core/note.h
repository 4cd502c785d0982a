/* note.h - the line of text that may come with a filter. */
#ifndef TAMIS_CORE_NOTE_H
#define TAMIS_CORE_NOTE_H

#include "filter.h"

/* Content of its section: when it was written, then the text. */
enum { NOTE_TIME_SIZE = 8, NOTE_SIZE_MAX = NOTE_TIME_SIZE + TAMIS_NOTE_MAX };

/* False unless it is one line of UTF-8 without control characters, of 1 to TAMIS_NOTE_MAX bytes. */
bool tamis__note_is_text(const char *text, size_t size);

/* Size of the content; 0: there is no note. */
size_t tamis__note_size(const tamis_note *note);
void tamis__note_put(uint8_t content[NOTE_SIZE_MAX], const tamis_note *note);
/* False, and no change, if this is not the content of a note. */
bool tamis__note_get(tamis_note *note, const uint8_t *content, size_t size);

#endif
