/* csv.c - records with quoted fields.
 *
 * Quotes inside a field that does not start with one are text, and so is what follows the closing
 * quote: most programs that read such files agree on that. */
#include <stdbool.h>
#include <string.h>

#include "csv.h"

static csv_state next_state(const csv_format *f, csv_state state, unsigned char byte)
{
    switch (state) {
    case CSV_START:
        return byte == '"' ? CSV_QUOTED : byte == f->delim ? CSV_START : CSV_BARE;
    case CSV_BARE:
        return byte == f->delim ? CSV_START : CSV_BARE;
    case CSV_QUOTED:
        return byte == '"' ? CSV_CLOSED : CSV_QUOTED;
    default:
        return byte == '"' ? CSV_QUOTED : byte == f->delim ? CSV_START : CSV_BARE;
    }
}

const char *csv_record(const csv_format *f, csv_state *state, const char *at, const char *end)
{
    for (; at < end; at++) {
        unsigned char byte = (unsigned char)*at;

        if (byte == f->end && *state != CSV_QUOTED) {
            *state = CSV_START;
            return at + 1;
        }
        *state = next_state(f, *state, byte);
    }
    return NULL;
}

const char *csv_field(const csv_format *f, const char *at, const char *end)
{
    csv_state state = CSV_START;

    if (at == end || *at != '"') {
        const char *stop = memchr(at, f->delim, (size_t)(end - at));
        return stop ? stop : end;
    }
    for (; at < end; at++) {
        if ((unsigned char)*at == f->delim && state != CSV_QUOTED)
            break;
        state = next_state(f, state, (unsigned char)*at);
    }
    return at;
}

void csv_unquote(buffer *to, const char *field, size_t size)
{
    const char *at = field + 1, *end = field + size, *quote;

    while ((quote = memchr(at, '"', (size_t)(end - at))) && quote + 1 < end && quote[1] == '"') {
        buffer_append(to, at, (size_t)(quote + 1 - at));
        at = quote + 2;
    }
    if (quote) {
        buffer_append(to, at, (size_t)(quote - at));
        at = quote + 1;
    }
    buffer_append(to, at, (size_t)(end - at));
}

static bool needs_quotes(const csv_format *f, const char *text, size_t size)
{
    return memchr(text, '"', size) || memchr(text, f->delim, size) || memchr(text, '\r', size) ||
           memchr(text, f->end, size);
}

void csv_quote(const csv_format *f, buffer *to, const char *text, size_t size)
{
    const char *end = text + size, *quote;

    if (!needs_quotes(f, text, size)) {
        buffer_append(to, text, size);
        return;
    }
    buffer_append(to, "\"", 1);
    for (; (quote = memchr(text, '"', (size_t)(end - text))); text = quote + 1) {
        buffer_append(to, text, (size_t)(quote + 1 - text));
        buffer_append(to, "\"", 1);
    }
    buffer_append(to, text, (size_t)(end - text));
    buffer_append(to, "\"", 1);
}
