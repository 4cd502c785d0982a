/* utf8.c - text of unknown origin. */
#include "utf8.h"

size_t utf8_size(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t size = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;

    if (s[0] > 0xF4 || (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

size_t utf8_letters(const char *text)
{
    size_t n = 0;

    for (size_t size; *text; text += size ? size : 1, n++)
        size = utf8_size(text);
    return n;
}
