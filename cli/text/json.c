/* json.c - JSON on standard output. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abilities.h"
#include "json.h"
#include "term/unicode.h"

static void indent(const json *j)
{
    printf("\n%*s", (int)(2 * j->depth), "");
}

static void put_bytes(const char *bytes, size_t n)
{
    const char *s = bytes, *end = s + n;

    putchar('"');
    while (s < end) {
        size_t size;
        uint32_t code = unicode_at(s, end, &size);

        if (!unicode_is_printable(code) || code == '"' || code == '\\' || (code > 127 && size == 1))
            printf("\\u%04" PRIx32, code);
        else
            fwrite(s, 1, size, stdout);
        s += size;
    }
    putchar('"');
}

static void put_string(const char *text)
{
    put_bytes(text, strlen(text));
}

static void begin_member(json *j, const char *name)
{
    if (j->has_members)
        putchar(',');
    if (j->depth > 0)
        indent(j);
    if (name) {
        put_string(name);
        printf(": ");
    }
    j->has_members = true;
}

void json_open(json *j, const char *name, char bracket)
{
    begin_member(j, name);
    putchar(bracket);
    j->depth++;
    j->has_members = false;
}

void json_close(json *j, char bracket)
{
    j->depth--;
    if (j->has_members)
        indent(j);
    putchar(bracket);
    if (j->depth == 0)
        putchar('\n');
    j->has_members = true;
}

void json_text(json *j, const char *name, const char *text)
{
    begin_member(j, name);
    put_string(text);
}

void json_bytes(json *j, const char *name, const char *bytes, size_t size)
{
    begin_member(j, name);
    put_bytes(bytes, size);
}

void json_count(json *j, const char *name, uint64_t value)
{
    begin_member(j, name);
    printf("%" PRIu64, value);
}

void json_bool(json *j, const char *name, bool value)
{
    begin_member(j, name);
    printf("%s", value ? "true" : "false");
}

void json_real(json *j, const char *name, double value)
{
    char digits[40] = "null";

    for (int n = 1; isfinite(value) && n <= 17; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    begin_member(j, name);
    printf("%s", digits);
}

void json_abilities(json *j, const char *name, unsigned can)
{
    json_open(j, name, '[');
    for (const ability *a = abilities; a->name; a++)
        if (can & a->bit)
            json_text(j, NULL, a->name);
    json_close(j, ']');
}
