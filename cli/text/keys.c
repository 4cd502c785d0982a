/* keys.c - bytes to lines, lines to keys.
 *
 * Nothing is decoded or trimmed that was not asked for: a line is all bytes between two line ends,
 * and may be empty. In raw mode the key is an integer written as text. */
#include <string.h>

#include "csv.h"
#include "keys.h"
#include "number.h"

static const char *find(const char *at, const char *end, unsigned char byte)
{
    const char *found = memchr(at, byte, (size_t)(end - at));

    return found ? found : end;
}

/* ---- Columns ----------------------------------------------------------- */

/* Just after the last byte of the column that starts at `at`. */
static const char *column_end(const key_format *format, const char *at, const char *end)
{
    if (format->columns == COLUMNS_BY_CSV)
        return csv_field(&(csv_format){ format->delim, format->end }, at, end);
    return find(at, end, format->delim);
}

static bool find_by_delim(span *column, const key_format *format, span line, uint64_t number)
{
    const char *at = line.at, *end = at + line.size;
    const char *stop = column_end(format, at, end);

    for (uint64_t field = 1; field < number; field++) {
        if (stop == end)
            return false;
        at = stop + 1;
        stop = column_end(format, at, end);
    }
    *column = (span){ at, (size_t)(stop - at) };
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool find_by_blanks(span *column, span line, uint64_t number)
{
    const char *at = line.at, *end = at + line.size, *stop = at;

    for (uint64_t field = 0; field < number; field++) {
        for (at = stop; at < end && is_blank(*at);)
            at++;
        if (at == end)
            return false;
        for (stop = at; stop < end && !is_blank(*stop);)
            stop++;
    }
    *column = (span){ at, (size_t)(stop - at) };
    return true;
}

static bool find_column(span *column, const key_format *format, span line, uint64_t number)
{
    if (format->columns == COLUMNS_BY_BLANKS)
        return find_by_blanks(column, line, number);
    return find_by_delim(column, format, line, number);
}

static bool is_quoted(const key_format *format, span column)
{
    return format->columns == COLUMNS_BY_CSV && column.size > 0 && *column.at == '"';
}

/* What a column says, in the line itself or at the end of `joined`. */
static span column_text(const key_format *format, span column, buffer *joined)
{
    size_t before = joined->size;

    if (!is_quoted(format, column))
        return column;
    buffer_reserve(joined, column.size);
    csv_unquote(joined, column.at, column.size);
    return (span){ joined->bytes + before, joined->size - before };
}

/* As column_text(), and quoted again: else (a,b)(c) and (a)(b,c) would be one key. */
static void join_csv(const key_format *format, span column, buffer *joined)
{
    buffer plain = { 0 };
    span text = column_text(format, column, &plain);

    csv_quote(&(csv_format){ format->delim, format->end }, joined, text.at, text.size);
    buffer_free(&plain);
}

static bool join_columns(span *text, const key_format *format, span line, buffer *joined)
{
    span column;

    buffer_reserve(joined, line.size + 1);
    for (size_t i = 0; i < format->n_fields; i++) {
        if (!find_column(&column, format, line, format->fields[i]))
            return false;
        if (i > 0)
            buffer_append(joined, &format->delim, 1);
        if (format->columns == COLUMNS_BY_CSV)
            join_csv(format, column, joined);
        else
            buffer_append(joined, column.at, column.size);
    }
    *text = (span){ joined->bytes, joined->size };
    return true;
}

static bool text_of_line(span *text, const key_format *format, span line, buffer *joined)
{
    *text = line;
    if (format->n_fields == 0)
        return true;
    joined->size = 0;
    if (format->n_fields > 1)
        return join_columns(text, format, line, joined);
    if (!find_column(text, format, line, format->fields[0]))
        return false;
    *text = column_text(format, *text, joined);
    return true;
}

/* ---- Lines ------------------------------------------------------------- */

static const char *line_end(const key_format *format, const char *at, const char *end)
{
    const char *stop = find(at, end, format->end);
    csv_state state = CSV_START;

    if (format->columns != COLUMNS_BY_CSV || !memchr(at, '"', (size_t)(stop - at)))
        return stop;
    stop = csv_record(&(csv_format){ format->delim, format->end }, &state, at, end);
    return stop ? stop - 1 : end;
}

static span line_between(const key_format *format, const char *at, const char *stop)
{
    return (span){ at, (size_t)(stop - at) - (format->strips_cr && stop > at && stop[-1] == '\r') };
}

bool key_text(span *text, const key_format *format, const char *line, const char *end,
              buffer *joined)
{
    return text_of_line(text, format, line_between(format, line, line_end(format, line, end)),
                        joined);
}

size_t key_line_size(const key_format *format, const char *at, const char *end)
{
    const char *stop = line_end(format, at, end);

    return (size_t)(stop - at) + (stop < end);
}

uint64_t key_column(const key_format *format, span header, span name)
{
    span line =
        line_between(format, header.at, line_end(format, header.at, header.at + header.size));
    buffer joined = { 0 };
    uint64_t found = 0, n = 1;

    for (span column; !found && find_column(&column, format, line, n); n++) {
        joined.size = 0;
        span text = column_text(format, column, &joined);
        if (text.size == name.size && memcmp(text.at, name.at, name.size) == 0)
            found = n;
    }
    buffer_free(&joined);
    return found;
}

key_fault key_make(uint64_t *key, const key_format *format, span text)
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

/* Overwrites `joined`: the key must be made before. */
static key_fault take_value(uint64_t *value, const key_format *format, span column, buffer *joined)
{
    if (format->value_field == 0)
        return KEY_GOOD;
    joined->size = 0;
    span text = column_text(format, column, joined);
    return number_integer(value, text.at, text.size) ? KEY_GOOD : KEY_NO_VALUE;
}

static void take_line(batch *b, const key_format *format, span line)
{
    span text, value = line;

    if (!text_of_line(&text, format, line, &b->joined) ||
        (format->value_field > 0 && !find_column(&value, format, line, format->value_field)))
        mark_keyless(b, b->n);
    else if (!(b->fault = key_make(&b->keys[b->n], format, text)))
        b->fault = take_value(&b->values[b->n], format, value, &b->joined);
}

const char *batch_take(batch *b, const key_format *format, const char *at, const char *end)
{
    b->n = b->n_keyless = 0;
    b->fault = KEY_GOOD;
    memset(b->keyless, 0, sizeof b->keyless);
    b->start[0] = at;
    while (b->n < BATCH_LINES && at < end) {
        const char *stop = line_end(format, at, end);

        take_line(b, format, line_between(format, at, stop));
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
