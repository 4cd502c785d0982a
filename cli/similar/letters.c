/* letters.c - characters of Unicode. The same on every machine: no locale is asked. */
#include "similar/letters.h"
#include "utf8.h"

enum { REPLACEMENT = 0xFFFD };

uint32_t letters_read(const char *text, size_t *size)
{
    const unsigned char *s = (const unsigned char *)text;

    *size = utf8_size(text);
    switch (*size) {
    case 1:
        return s[0];
    case 2:
        return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
    case 3:
        return (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
    case 4:
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
    }
    *size = 1;
    return REPLACEMENT;
}

size_t letters_write(char *to, uint32_t c)
{
    size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned first[] = { 0, 0, 0xC0, 0xE0, 0xF0 };

    for (size_t i = size; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3F));
    to[0] = (char)(first[size] | c);
    return size;
}

/* ---- Classes ----------------------------------------------------------- */

typedef struct range {
    uint32_t low, high;
} range;

/* Controls, punctuation, symbols and blanks beyond ASCII. */
static const range between_words[] = {
    { 0x80, 0xA9 },     { 0xAB, 0xB4 },     { 0xB6, 0xB9 },     { 0xBB, 0xBF },
    { 0xD7, 0xD7 },     { 0xF7, 0xF7 },     { 0x1680, 0x1680 }, { 0x2000, 0x206F },
    { 0x20A0, 0x20CF }, { 0x2190, 0x2BFF }, { 0x3000, 0x3004 }, { 0x3008, 0x3020 },
    { 0x3030, 0x3030 }, { 0xFE30, 0xFE6F }, { 0xFEFF, 0xFF0F }, { 0xFF1A, 0xFF20 },
    { 0xFF3B, 0xFF40 }, { 0xFF5B, 0xFF65 }, { 0xFFE0, 0xFFFD },
};

static const range blanks[] = {
    { 0x09, 0x0D },     { 0x20, 0x20 },     { 0x85, 0x85 },     { 0xA0, 0xA0 },
    { 0x1680, 0x1680 }, { 0x2000, 0x200A }, { 0x2028, 0x2029 }, { 0x202F, 0x202F },
    { 0x205F, 0x205F }, { 0x3000, 0x3000 },
};

/* Ranges ascend. */
static bool is_within(uint32_t c, const range *ranges, size_t n)
{
    size_t i = 0;

    while (i < n && ranges[i].high < c)
        i++;
    return i < n && c >= ranges[i].low;
}

bool letters_in_word(uint32_t c)
{
    if (c < 0x80)
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '_';
    return !is_within(c, between_words, sizeof between_words / sizeof *between_words);
}

bool letters_is_blank(uint32_t c)
{
    return is_within(c, blanks, sizeof blanks / sizeof *blanks);
}

/* ---- Capitals ---------------------------------------------------------- */

/* Every `step`-th character from the first is a capital, and so far from its small letter. */
typedef struct capitals {
    uint32_t low, high, step, distance;
} capitals;

static const capitals alphabets[] = {
    { 'A', 'Z', 1, 32 },      { 0xC0, 0xD6, 1, 32 },      { 0xD8, 0xDE, 1, 32 },
    { 0x100, 0x12E, 2, 1 },   { 0x132, 0x136, 2, 1 },     { 0x139, 0x147, 2, 1 },
    { 0x14A, 0x176, 2, 1 },   { 0x178, 0x178, 1, -121u }, { 0x179, 0x17D, 2, 1 },
    { 0x18F, 0x18F, 1, 202 }, { 0x1A0, 0x1A0, 1, 1 },     { 0x1AF, 0x1AF, 1, 1 },
    { 0x1CD, 0x1DB, 2, 1 },   { 0x1F8, 0x21E, 2, 1 },     { 0x386, 0x386, 1, 38 },
    { 0x388, 0x38A, 1, 37 },  { 0x38C, 0x38C, 1, 64 },    { 0x38E, 0x38F, 1, 63 },
    { 0x391, 0x3A1, 1, 32 },  { 0x3A3, 0x3AB, 1, 32 },    { 0x400, 0x40F, 1, 80 },
    { 0x410, 0x42F, 1, 32 },  { 0x460, 0x480, 2, 1 },     { 0x48A, 0x4BE, 2, 1 },
    { 0x4C1, 0x4CD, 2, 1 },   { 0x4D0, 0x52E, 2, 1 },     { 0x1E00, 0x1E94, 2, 1 },
    { 0x1EA0, 0x1EFE, 2, 1 },
};

uint32_t letters_small(uint32_t c)
{
    size_t n = sizeof alphabets / sizeof *alphabets, i = 0;

    while (i < n && alphabets[i].high < c)
        i++;
    if (i < n && c >= alphabets[i].low && (c - alphabets[i].low) % alphabets[i].step == 0)
        return c + alphabets[i].distance;
    return c;
}
