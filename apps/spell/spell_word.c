/* spell_word.c - words, and how they are written. */
#include <string.h>

#include "spell_word.h"
#include "term/unicode.h"

bool word_append(word *w, const char *text, size_t size)
{
    if (size > WORD_MAX - w->size)
        return false;
    memcpy(w->text + w->size, text, size);
    w->size += size;
    w->text[w->size] = 0;
    return true;
}

bool word_set(word *w, const char *text, size_t size)
{
    w->size = 0;
    return word_append(w, text, size);
}

/* Whether it is a capital, or has no case at all. */
static bool is_no_small(uint32_t letter)
{
    return unicode_upper(letter) == letter;
}

static bool is_small_ascii(const word *w)
{
    for (size_t i = 0; i < w->size; i++)
        if ((unsigned char)w->text[i] >= 0x80 || (w->text[i] >= 'A' && w->text[i] <= 'Z'))
            return false;
    return true;
}

word_case word_find_case(const word *w)
{
    const char *end = w->text + w->size;
    size_t n = 0, capitals = 0, no_small = 0;
    bool is_first = false;

    if (is_small_ascii(w))
        return CASE_SMALL;
    for (size_t at = 0, size; at < w->size; at += size, n++) {
        uint32_t letter = unicode_at(w->text + at, end, &size);
        bool is_capital = unicode_lower(letter) != letter;

        is_first |= is_capital && n == 0;
        capitals += is_capital;
        no_small += is_capital || is_no_small(letter);
    }
    if (capitals == 0)
        return CASE_SMALL;
    if (capitals == 1 && is_first)
        return CASE_INITIAL;
    return no_small == n ? CASE_ALL : CASE_MIXED;
}

/* The first `n` letters of w through `turn`, and the others as they are. */
static word turned(const word *w, size_t n, uint32_t (*turn)(uint32_t letter))
{
    const char *end = w->text + w->size;
    word out = { 0 };

    for (size_t at = 0, size; at < w->size; at += size) {
        uint32_t letter = unicode_at(w->text + at, end, &size);
        uint32_t other = n ? turn(letter) : letter;
        char bytes[4];

        n -= n > 0;
        /* A case may have more bytes than the other: what does not fit was no word. */
        if (other == letter ? !word_append(&out, w->text + at, size)
                            : !word_append(&out, bytes, unicode_write(bytes, other)))
            return *w;
    }
    return out;
}

word word_small(const word *w)
{
    return turned(w, SIZE_MAX, unicode_lower);
}

word word_initial(const word *w)
{
    return turned(w, 1, unicode_upper);
}

word word_capitals(const word *w)
{
    return turned(w, SIZE_MAX, unicode_upper);
}
