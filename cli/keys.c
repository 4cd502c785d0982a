/* keys.c - bytes to lines, lines to keys.
 *
 * Nothing is decoded or trimmed: a line is all bytes between two line ends, carriage returns
 * included, and may be empty. In raw mode the key is an integer written as text. */
#include <string.h>

#include "keys.h"
#include "number.h"

static const char *find(const char *at, const char *end, unsigned char byte)
{
    const char *found = memchr(at, byte, (size_t)(end - at));

    return found ? found : end;
}

static bool narrow_to_field(span *line, const key_format *format, uint64_t number)
{
    const char *at = line->at, *end = at + line->size;
    const char *stop = find(at, end, format->delim);

    for (uint64_t field = 1; field < number; field++) {
        if (stop == end)
            return false;
        at = stop + 1;
        stop = find(at, end, format->delim);
    }
    *line = (span){ at, (size_t)(stop - at) };
    return true;
}

span key_text(const key_format *format, const char *line, const char *end)
{
    span text = { line, (size_t)(find(line, end, format->end) - line) };

    if (format->field > 0)
        narrow_to_field(&text, format, format->field);
    return text;
}

static key_fault make_key(uint64_t *key, const key_format *format, span text)
{
    if (format->hasher.hash != TAMIS_RAW) {
        *key = tamis_hasher_key(&format->hasher, text.at, text.size);
        return KEY_GOOD;
    }
    if (!number_integer(key, text.at, text.size))
        return KEY_NO_INTEGER;
    return format->below && *key >= format->below ? KEY_TOO_LARGE : KEY_GOOD;
}

static void mark_keyless(batch *b, size_t i)
{
    b->keys[i] = 0;
    b->keyless[i / 64] |= UINT64_C(1) << i % 64;
    b->n_keyless++;
}

static key_fault take_value(uint64_t *value, const key_format *format, span text)
{
    if (format->value_field == 0)
        return KEY_GOOD;
    return number_integer(value, text.at, text.size) ? KEY_GOOD : KEY_NO_VALUE;
}

static void take_line(batch *b, const key_format *format, span line)
{
    span value = line;

    if ((format->field > 0 && !narrow_to_field(&line, format, format->field)) ||
        (format->value_field > 0 && !narrow_to_field(&value, format, format->value_field)))
        mark_keyless(b, b->n);
    else if (!(b->fault = make_key(&b->keys[b->n], format, line)))
        b->fault = take_value(&b->values[b->n], format, value);
}

const char *batch_take(batch *b, const key_format *format, const char *at, const char *end)
{
    b->n = b->n_keyless = 0;
    b->fault = KEY_GOOD;
    memset(b->keyless, 0, sizeof b->keyless);
    b->start[0] = at;
    while (b->n < BATCH_LINES && at < end) {
        const char *stop = find(at, end, format->end);

        take_line(b, format, (span){ at, (size_t)(stop - at) });
        if (b->fault)
            break;
        at = stop < end ? stop + 1 : end;
        b->start[++b->n] = at;
    }
    return at;
}

void batch_drop_keyless(batch *b)
{
    size_t kept = 0;

    if (b->n_keyless == 0)
        return;
    for (size_t i = 0; i < b->n; i++)
        if (!(b->keyless[i / 64] >> i % 64 & 1)) {
            b->values[kept] = b->values[i];
            b->keys[kept++] = b->keys[i];
        }
    b->n = kept;
}
