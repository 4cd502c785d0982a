/* unicode.c - letters of Unicode.
 *
 * The tables are the program's own, so that a text is read in the same way whatever the language of
 * the system, and no locale is loaded. */
#include "unicode.h"

#include <stdlib.h>
#include <string.h>

#include "unicode_table.h"

enum {
    N_LETTERS = sizeof LETTERS / sizeof *LETTERS,
    N_CAPITALS = sizeof CAPITALS / sizeof *CAPITALS,
    NOT_UNICODE = 0xFFFD
};

/* ---- Terminals --------------------------------------------------------- */

bool unicode_is_printable(uint32_t code)
{
    bool is_control = code < ' ' || (code >= 0x7F && code < 0xA0);
    bool ends_line = code == 0x2028 || code == 0x2029;
    bool turns = code == 0x061C || code == 0x200E || code == 0x200F ||
                 (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);

    return !is_control && !ends_line && !turns;
}

size_t unicode_clean(char *text, size_t size)
{
    size_t kept = 0;

    for (size_t at = 0, n; at < size; at += n) {
        uint32_t code = unicode_at(text + at, text + size, &n);

        if (unicode_is_printable(code) && !(code == NOT_UNICODE && n == 1)) {
            memmove(text + kept, text + at, n);
            kept += n;
        } else {
            text[kept++] = '?';
        }
    }
    return kept;
}

/* ---- UTF-8 ------------------------------------------------------------- */

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

size_t utf8_length(const char *text)
{
    size_t n = 0;

    for (size_t size; *text; text += size ? size : 1, n++)
        size = utf8_size(text);
    return n;
}

uint32_t unicode_at(const char *at, const char *end, size_t *size)
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
        return NOT_UNICODE;
    }
}

const char *unicode_before(const char *at, const char *start)
{
    for (at--; at > start && ((unsigned char)*at & 0xC0) == 0x80; at--)
        ;
    return at;
}

size_t unicode_write(char out[4], uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((0xF00u >> size & 0xFF) | code);
    return size;
}

/* ---- Kinds of letters --------------------------------------------------- */

/* The first two members of a row of both tables. */
static int compare_range(const void *code, const void *row)
{
    uint32_t c = *(const uint32_t *)code;
    const uint16_t *range = row;

    return (c > range[1]) - (c < range[0]);
}

bool unicode_is_letter(uint32_t code)
{
    if (code < 0x80)
        return (code | 0x20) >= 'a' && (code | 0x20) <= 'z';
    return bsearch(&code, LETTERS, N_LETTERS, sizeof *LETTERS, compare_range);
}

uint32_t unicode_lower(uint32_t code)
{
    if (code < 0x80)
        return code >= 'A' && code <= 'Z' ? code + 32 : code;
    __typeof__(*CAPITALS) *found =
        bsearch(&code, CAPITALS, N_CAPITALS, sizeof *CAPITALS, compare_range);
    if (!found || (code - found->first) % found->step)
        return code;
    return (uint32_t)((int32_t)code + found->distance);
}

uint32_t unicode_upper(uint32_t code)
{
    if (code < 0x80)
        return code >= 'a' && code <= 'z' ? code - 32 : code;
    for (size_t i = 0; i < N_CAPITALS; i++) {
        int64_t capital = (int64_t)code - CAPITALS[i].distance;
        if (capital >= CAPITALS[i].first && capital <= CAPITALS[i].last &&
            (capital - CAPITALS[i].first) % CAPITALS[i].step == 0)
            return (uint32_t)capital;
    }
    return code;
}
