/* letters.c - words as letters.
 *
 * The tables are the program's own, so that a text is read in the same way whatever the language of
 * the system, and no locale is loaded. */
#include <string.h>

#include "spell/letters.h"
#include "spell/letters_table.h"
#include "utf8.h"

enum {
    N_LETTERS = sizeof LETTERS / sizeof *LETTERS,
    N_CAPITALS = sizeof CAPITALS / sizeof *CAPITALS,
    NO_LETTER = 0xFFFD
};

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

/* ---- UTF-8 ------------------------------------------------------------- */

uint32_t letter_at(const char *at, const char *end, size_t *size)
{
    const unsigned char *s = (const unsigned char *)at;
    char copy[5] = { 0 };

    if (s[0] < 0x80) {
        *size = 1;
        return s[0];
    }
    memcpy(copy, at, (size_t)(end - at) < 4 ? (size_t)(end - at) : 4);
    *size = utf8_size(copy);
    switch (*size) {
    case 2:
        return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
    case 3:
        return (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    case 4:
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
    default:
        *size = 1;
        return NO_LETTER;
    }
}

const char *letter_before(const char *at, const char *start)
{
    for (at--; at > start && ((unsigned char)*at & 0xC0) == 0x80; at--)
        ;
    return at;
}

size_t letter_write(char out[4], uint32_t letter)
{
    if (letter < 0x80) {
        out[0] = (char)letter;
        return 1;
    }
    size_t size = letter < 0x800 ? 2 : letter < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; letter >>= 6)
        out[i] = (char)(0x80 | (letter & 0x3F));
    out[0] = (char)((0xF00u >> size & 0xFF) | letter);
    return size;
}

/* ---- Cases ------------------------------------------------------------- */

bool letter_is_alphabetic(uint32_t letter)
{
    size_t low = 0, high = N_LETTERS;

    if (letter < 0x80)
        return (letter | 0x20) >= 'a' && (letter | 0x20) <= 'z';
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (letter > LETTERS[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < N_LETTERS && letter >= LETTERS[low].first;
}

uint32_t letter_small(uint32_t letter)
{
    size_t low = 0, high = N_CAPITALS;

    if (letter < 0x80)
        return letter >= 'A' && letter <= 'Z' ? letter + 32 : letter;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (letter > CAPITALS[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == N_CAPITALS || letter < CAPITALS[low].first ||
        (letter - CAPITALS[low].first) % CAPITALS[low].step)
        return letter;
    return (uint32_t)((int32_t)letter + CAPITALS[low].distance);
}

uint32_t letter_capital(uint32_t letter)
{
    if (letter < 0x80)
        return letter >= 'a' && letter <= 'z' ? letter - 32 : letter;
    for (size_t i = 0; i < N_CAPITALS; i++) {
        int64_t capital = (int64_t)letter - CAPITALS[i].distance;
        if (capital >= CAPITALS[i].first && capital <= CAPITALS[i].last &&
            (capital - CAPITALS[i].first) % CAPITALS[i].step == 0)
            return (uint32_t)capital;
    }
    return letter;
}

/* Whether it is a capital, or has no case at all. */
static bool is_no_small(uint32_t letter)
{
    return letter_capital(letter) == letter;
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
        uint32_t letter = letter_at(w->text + at, end, &size);
        bool is_capital = letter_small(letter) != letter;

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
        uint32_t letter = letter_at(w->text + at, end, &size);
        uint32_t other = n ? turn(letter) : letter;
        char bytes[4];

        n -= n > 0;
        /* A case may have more bytes than the other: what does not fit was no word. */
        if (other == letter ? !word_append(&out, w->text + at, size)
                            : !word_append(&out, bytes, letter_write(bytes, other)))
            return *w;
    }
    return out;
}

word word_small(const word *w)
{
    return turned(w, SIZE_MAX, letter_small);
}

word word_initial(const word *w)
{
    return turned(w, 1, letter_capital);
}

word word_capitals(const word *w)
{
    return turned(w, SIZE_MAX, letter_capital);
}
