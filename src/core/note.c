/* note.c - the line of text that may come with a filter.
 *
 * Whoever wrote it, it goes to terminals and log files: so no control characters are let in, with
 * which a text can do more than be read. */
#include "core/note.h"

#include <string.h>

#include "base/le.h"

/* Bytes of the character that starts there; 0 if it is none, or has no place in a line. */
static size_t note_character(const uint8_t *s, size_t left)
{
    /* By size: below these, it is a control character, or could be written in fewer bytes. */
    static const uint32_t lowest[] = { 0, 0x20, 0xa0, 0x800, 0x10000 };
    size_t size = s[0] < 0x80       ? 1
                  : s[0] >> 5 == 6  ? 2
                  : s[0] >> 4 == 14 ? 3
                  : s[0] >> 3 == 30 ? 4
                                    : 0;

    if (size == 0 || size > left)
        return 0;
    uint32_t c = size == 1 ? s[0] : s[0] & 0x7fu >> size;
    for (size_t i = 1; i < size; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    bool is_surrogate = c >> 11 == 0xd800 >> 11;
    return c < lowest[size] || c == 0x7f || c > 0x10ffff || is_surrogate ? 0 : size;
}

bool tamis__note_is_text(const char *text, size_t size)
{
    const uint8_t *s = (const uint8_t *)text;

    for (size_t at = 0, step; at < size; at += step)
        if (size > TAMIS_NOTE_MAX || !(step = note_character(s + at, size - at)))
            return false;
    return size > 0;
}

size_t tamis__note_size(const tamis_note *note)
{
    size_t size = strlen(note->text);

    return size ? NOTE_TIME_SIZE + size : 0;
}

void tamis__note_put(uint8_t content[NOTE_SIZE_MAX], const tamis_note *note)
{
    put_le64(content, note->time);
    memcpy(content + NOTE_TIME_SIZE, note->text, strlen(note->text));
}

/* The content may be a mapped file, which others can change: what is checked is the copy. */
bool tamis__note_get(tamis_note *note, const uint8_t *content, size_t size)
{
    size_t length = size - NOTE_TIME_SIZE;
    tamis_note copy = { 0 };

    if (size <= NOTE_TIME_SIZE || length > TAMIS_NOTE_MAX)
        return false;
    copy.time = le64(content);
    memcpy(copy.text, content + NOTE_TIME_SIZE, length);
    if (!tamis__note_is_text(copy.text, length))
        return false;
    *note = copy;
    return true;
}
