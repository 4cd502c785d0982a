/* unicode.c - letters of Unicode.
 *
 * The tables are the program's own, so that a text is read in the same way whatever the language of
 * the system, and no locale is loaded. */
#include "unicode.h"

#include <string.h>

#include "unicode_table.h"
#include "utf8.h"

enum {
    N_LETTERS = sizeof LETTERS / sizeof *LETTERS,
    N_CAPITALS = sizeof CAPITALS / sizeof *CAPITALS,
    NO_LETTER = 0xFFFD
};

/* ---- Terminals --------------------------------------------------------- */

bool letter_is_shown(uint32_t letter)
{
    bool is_control = letter < ' ' || (letter >= 0x7F && letter < 0xA0);
    bool ends_line = letter == 0x2028 || letter == 0x2029;
    bool turns = letter == 0x061C || letter == 0x200E || letter == 0x200F ||
                 (letter >= 0x202A && letter <= 0x202E) || (letter >= 0x2066 && letter <= 0x2069);

    return !is_control && !ends_line && !turns;
}

size_t letter_clean(char *text, size_t size)
{
    size_t kept = 0;

    for (size_t at = 0, n; at < size; at += n) {
        uint32_t letter = letter_at(text + at, text + size, &n);

        if (letter_is_shown(letter) && !(letter == NO_LETTER && n == 1)) {
            memmove(text + kept, text + at, n);
            kept += n;
        } else {
            text[kept++] = '?';
        }
    }
    return kept;
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

/* ---- Kinds of letters --------------------------------------------------- */

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
