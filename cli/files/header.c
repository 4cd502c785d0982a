/* header.c - the first line of each input, where columns have names. */
#include <string.h>

#include "header.h"
#include "term/message.h"
#include "text/number.h"

bool header_is_expected(const source *s)
{
    return s->field_names || s->value_name;
}

static uint64_t find_column(const key_format *format, span header, span name, const char *input)
{
    uint64_t column;

    if (!number_integer(&column, name.at, name.size) &&
        !(column = key_column(format, header, name)))
        die(CODE_USAGE, "%s: no column of its first line is called '%.*s'; is --delim right?",
            input, (int)name.size, name.at);
    return column;
}

static void find_columns(source *s, span header, const char *input)
{
    key_format *f = &s->format;
    const char *at = s->field_names;

    for (size_t i = 0; at && i < f->n_fields; i++) {
        span name = { at, strcspn(at, ",") };
        f->fields[i] = find_column(f, header, name, input);
        at += name.size + 1;
    }
    if (s->value_name)
        f->value_field =
            find_column(f, header, (span){ s->value_name, strlen(s->value_name) }, input);
}

void header_take(buffer *header, source *s, buffer *text, const char *input)
{
    size_t size = key_line_size(&s->format, text->bytes, text->bytes + text->size);

    if (header->size == 0) {
        find_columns(s, (span){ text->bytes, size }, input);
        buffer_append(header, text->bytes, size);
    } else if (header->size != size || memcmp(header->bytes, text->bytes, size) != 0) {
        die(CODE_USAGE, "%s: its first line has other columns than that of the first input", input);
    }
    text->size -= size;
    memmove(text->bytes, text->bytes + size, text->size);
}
