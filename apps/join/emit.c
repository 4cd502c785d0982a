/* emit.c - rows that go out. */
#include "join.h"
#include "term/message.h"

/* Bytes that wait at most, but for one row. */
enum { OUTLET_MAX = 1 << 20 };

bool emits_alone(const join *j)
{
    return j->kind == JOIN_LEFT || j->kind == JOIN_ANTI;
}

bool emits_pairs(const join *j)
{
    return j->kind == JOIN_INNER || j->kind == JOIN_LEFT;
}

void emit_flush(join *j, outlet *o)
{
    span text = { o->text->bytes, o->text->size };

    if (text.size == 0 || o->when_full == OUTLET_STOPS)
        return;
    if (o->when_full == OUTLET_RUNS)
        runs_put(&j->runs, o->place, text);
    else
        replace_write(j->to, text.at, text.size);
    o->text->size = 0;
}

static void append_end(const join *j, buffer *to)
{
    buffer_append(to, j->a.is_crlf ? "\r\n" : "\n", 1 + (size_t)j->a.is_crlf);
}

/* A row of A, so many delimiters, and what follows them. */
static void emit_row(const join *j, outlet *o, span text, size_t delims, span others,
                     join_counts *counts)
{
    buffer_append(o->text, text.at, text.size);
    while (delims-- > 0)
        buffer_append(o->text, &j->a.csv.delim, 1);
    buffer_append(o->text, others.at, others.size);
    append_end(j, o->text);
    counts->out++;
}

static bool emit_pairs(join *j, outlet *o, span text, size_t missing, const record *last,
                       join_counts *counts)
{
    const record *r = last;

    do {
        r = matches_next(&j->matches, r);
        emit_row(j, o, text, missing, record_text(r), counts);
        if (o->text->size > OUTLET_MAX) {
            if (o->when_full == OUTLET_STOPS)
                return false;
            emit_flush(j, o);
        }
    } while (r != last);
    return true;
}

bool emit_found(join *j, outlet *o, span text, size_t missing, const record *last,
                join_counts *counts)
{
    if (emits_pairs(j))
        return emit_pairs(j, o, text, missing, last, counts);
    if (j->kind == JOIN_SEMI)
        emit_row(j, o, text, 0, (span){ 0 }, counts);
    return true;
}

void emit_alone(const join *j, outlet *o, span text, size_t missing, join_counts *counts)
{
    size_t delims = j->kind == JOIN_LEFT ? missing + sheet_others(&j->b) : 0;

    if (emits_alone(j))
        emit_row(j, o, text, delims, (span){ 0 }, counts);
}

/* Once both headers are known. */
void emit_header(join *j)
{
    buffer text = { 0 };

    if (j->has_written_header || !j->a.has_header)
        return;
    j->has_written_header = true;
    buffer_append(&text, j->a.first.bytes, j->a.first.size);
    if (emits_pairs(j))
        sheet_append_header(&j->b, &j->a, &text);
    append_end(j, &text);
    replace_write(j->to, text.bytes, text.size);
    buffer_free(&text);
}
