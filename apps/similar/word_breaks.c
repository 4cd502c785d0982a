/* word_breaks.c - what is between words. The same on every machine: no locale is asked. */
#include "word_breaks.h"

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

bool between_is_word(uint32_t c)
{
    if (c < 0x80)
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '_';
    return !is_within(c, between_words, sizeof between_words / sizeof *between_words);
}

bool between_is_blank(uint32_t c)
{
    return is_within(c, blanks, sizeof blanks / sizeof *blanks);
}
