/* sheet.c - one of the two tables of a join.
 *
 * A record is checked when it is split, whether or not it goes out: what is wrong with a file must
 * not depend on the other one, or on what a filter drops. Short records are taken, as spreadsheets
 * leave out empty fields at the end; their missing fields are empty. */
#include <string.h>

#include "sheet.h"
#include "term/message.h"
#include "text/names.h"
#include "text/nearest.h"
#include "text/number.h"

/* ---- Records ----------------------------------------------------------- */

/* Just after the closing quote; NULL if there is none. */
static const char *skip_quoted(const char *at, const char *end)
{
    for (const char *quote = at; (quote = memchr(quote + 1, '"', (size_t)(end - quote - 1)));
         quote++)
        if (quote + 1 == end || quote[1] != '"')
            return quote + 1;
    return NULL;
}

static size_t count_byte(const char *at, const char *end, unsigned char byte)
{
    size_t n = 0;

    for (; at < end; at++)
        n += (unsigned char)*at == byte;
    return n;
}

/* Fields that start with a quote may hold anything; `stop` is where the field ends. */
static row_fault skip_field(const csv_format *f, const char *at, const char *end, const char **stop)
{
    if (at == end || *at != '"') {
        while (at < end && (unsigned char)*at != f->delim && (unsigned char)*at != f->end)
            at++;
        *stop = at;
        return ROW_GOOD;
    }
    if (!(at = skip_quoted(at, end)))
        return ROW_OPEN;
    *stop = at;
    if (at + 1 < end && at[0] == '\r' && (unsigned char)at[1] == f->end)
        at++;
    if (at < end && (unsigned char)*at != f->delim && (unsigned char)*at != f->end)
        return ROW_TRAILING;
    return ROW_GOOD;
}

static void note_key(const sheet *s, row *r, const char *at, const char *stop)
{
    for (size_t i = 0; i < s->n_keys; i++)
        if (s->keys[i] == r->fields)
            r->keys[i] = (span){ at, (size_t)(stop - at) };
}

/* The carriage return of a line end is no part of the last field. */
static const char *without_cr(const char *at, const char *stop)
{
    return stop > at && stop[-1] == '\r' ? stop - 1 : stop;
}

/* Field after field, with quotes. */
static const char *split_quoted(const sheet *s, const char *at, const char *end, row *r,
                                row_fault *fault)
{
    const char *start = at, *stop;

    for (;; at = stop + 1) {
        if ((*fault = skip_field(&s->csv, at, end, &stop)))
            return end;
        r->lines += *at == '"' ? count_byte(at, stop, s->csv.end) : 0;
        bool is_last = stop == end || (unsigned char)*stop != s->csv.delim;
        const char *last = is_last && *at != '"' ? without_cr(at, stop) : stop;
        note_key(s, r, at, last);
        r->fields++;
        if (is_last) {
            r->text = (span){ start, (size_t)(last - start) };
            return stop + (stop < end && *stop == '\r') + 1;
        }
    }
}

/* Only the columns up to the last one of the key are looked at; the others are counted. */
static const char *split_plain(const sheet *s, const char *at, const char *end, row *r)
{
    const char *line_end = memchr(at, s->csv.end, (size_t)(end - at));
    const char *last = without_cr(at, line_end), *stop = at;

    r->text = (span){ at, (size_t)(last - at) };
    for (; stop && r->fields <= s->last_key; at = stop + 1) {
        stop = memchr(at, s->csv.delim, (size_t)(last - at));
        note_key(s, r, at, stop ? stop : last);
        r->fields++;
        if (!stop)
            return line_end + 1;
    }
    r->fields += 1 + count_byte(at, last, s->csv.delim);
    return line_end + 1;
}

static const char *split(const sheet *s, bool is_plain, const char *at, const char *end, row *r,
                         row_fault *fault)
{
    *fault = ROW_GOOD;
    r->fields = 0;
    r->lines = 1;
    return is_plain ? split_plain(s, at, end, r) : split_quoted(s, at, end, r, fault);
}

const char *sheet_row(const sheet *s, bool is_plain, const char *at, const char *end, row *r,
                      row_fault *fault)
{
    at = split(s, is_plain, at, end, r, fault);
    if (*fault || r->text.size == 0)
        return at;
    if (r->fields <= s->last_key)
        *fault = ROW_SHORT;
    else if (r->fields > s->columns)
        *fault = ROW_WIDE;
    return at;
}

void sheet_refuse(const sheet *s, uint64_t line, row_fault fault)
{
    static const char *const texts[] = {
        [ROW_OPEN] = "a quoted field is not closed; --no-quotes takes quotes as text",
        [ROW_TRAILING] = "text follows a closing quote; a quote in a field is written twice",
    };

    if (fault == ROW_SHORT)
        die(CODE_CORRUPT,
            "%s, line %" PRIu64 ": there is no column %" PRIu64
            ", which is part of the key; is --delim right?",
            s->name, line, s->last_key + 1);
    if (fault == ROW_WIDE)
        die(CODE_CORRUPT, "%s, line %" PRIu64 ": more fields than the %zu of the first line",
            s->name, line, s->columns);
    die(CODE_CORRUPT, "%s, line %" PRIu64 ": %s", s->name, line, texts[fault]);
}

/* ---- Keys -------------------------------------------------------------- */

static bool is_quoted(const sheet *s, span field)
{
    return s->has_quotes && field.size > 0 && *field.at == '"';
}

static void append_text(const sheet *s, buffer *to, span field)
{
    if (is_quoted(s, field))
        csv_unquote(to, field.at, field.size);
    else
        buffer_append(to, field.at, field.size);
}

size_t sheet_key_room(const sheet *s, size_t rows, size_t size)
{
    return s->n_keys * (rows * sizeof(uint32_t) + size);
}

/* The size of a column comes before it: else (a,b)(c) and (a)(b,c) would be one key. */
span sheet_key_text(const sheet *s, const row *r, buffer *joined)
{
    size_t start = joined->size;

    if (s->n_keys == 1 && !is_quoted(s, r->keys[0]))
        return r->keys[0];
    for (size_t i = 0; i < s->n_keys; i++) {
        size_t before = joined->size;
        uint32_t size = 0;

        if (s->n_keys > 1)
            buffer_append(joined, &size, sizeof size);
        append_text(s, joined, r->keys[i]);
        size = (uint32_t)(joined->size - before - sizeof size);
        if (s->n_keys > 1)
            memcpy(joined->bytes + before, &size, sizeof size);
    }
    return (span){ joined->bytes + start, joined->size - start };
}

/* ---- Fields, one by one ------------------------------------------------ */

/* The next field of a record that is known to be good; false: there is none. */
static bool next_field(const sheet *s, span *rest, span *field)
{
    const char *end = rest->at + rest->size, *stop;

    if (!rest->at)
        return false;
    stop = is_quoted(s, *rest) ? skip_quoted(rest->at, end)
                               : memchr(rest->at, s->csv.delim, rest->size);
    stop = stop ? stop : end;
    *field = (span){ rest->at, (size_t)(stop - rest->at) };
    *rest = stop < end ? (span){ stop + 1, (size_t)(end - stop - 1) } : (span){ 0 };
    return true;
}

static bool is_key(const sheet *s, uint64_t column)
{
    for (size_t i = 0; i < s->n_keys; i++)
        if (s->keys[i] == column)
            return true;
    return false;
}

size_t sheet_others(const sheet *s)
{
    size_t n = 0;

    for (uint64_t i = 0; i < s->columns; i++)
        n += !is_key(s, i);
    return n;
}

/* As it is or, for another delimiter, as a record with that one needs it. */
static void append_field(const sheet *s, const csv_format *format, buffer *to, span field)
{
    buffer plain = { 0 };

    if (format->delim == s->csv.delim) {
        buffer_append(to, field.at, field.size);
        return;
    }
    append_text(s, &plain, field);
    csv_quote(format, to, plain.bytes ? plain.bytes : "", plain.size);
    buffer_free(&plain);
}

void sheet_append_others(const sheet *s, const csv_format *format, buffer *to, span text)
{
    span rest = text, field = { 0 };

    for (uint64_t i = 0; i < s->columns; i++) {
        bool is_there = next_field(s, &rest, &field);
        if (is_key(s, i))
            continue;
        buffer_append(to, &format->delim, 1);
        if (is_there)
            append_field(s, format, to, field);
    }
}

/* ---- Header ------------------------------------------------------------ */

unsigned char sheet_delim(const char *path)
{
    static const char *const packed[] = { ".gz", ".zst", ".xz" };
    size_t size = strlen(path);

    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (size > strlen(packed[i]) && strcmp(path + size - strlen(packed[i]), packed[i]) == 0)
            size -= strlen(packed[i]);
    if (size > 4 &&
        (memcmp(path + size - 4, ".tsv", 4) == 0 || memcmp(path + size - 4, ".tab", 4) == 0))
        return '\t';
    return size > 4 && memcmp(path + size - 4, ".csv", 4) == 0 ? ',' : 0;
}

static const char *column_name(const sheet *s, span field, buffer *to)
{
    to->size = 0;
    append_text(s, to, field);
    buffer_append(to, "", 1);
    return to->bytes;
}

static const char *name_at(const void *ctx, size_t i)
{
    const names *all = ctx;

    return i < all->n ? names_at(all, i) : NULL;
}

static _Noreturn void refuse_name(const sheet *s, const char *wanted)
{
    span rest = { s->first.bytes, s->first.size }, field;
    char hint[HINT_SIZE];
    buffer text = { 0 };
    names all = { 0 };
    bool is_new;

    while (next_field(s, &rest, &field))
        names_enter(&all, column_name(s, field, &text), &is_new);
    die(CODE_USAGE, "join: %s has no column '%s' among its %zu; --on takes names or numbers.%s",
        s->name, wanted, s->columns, nearest_hint(hint, wanted, name_at, &all));
}

/* UINT64_MAX: there is none of that name. */
static uint64_t find_name(const sheet *s, const char *wanted)
{
    span rest = { s->first.bytes, s->first.size }, field;
    uint64_t found = UINT64_MAX;
    buffer text = { 0 };

    for (uint64_t i = 0; next_field(s, &rest, &field); i++) {
        if (strcmp(column_name(s, field, &text), wanted) != 0 || text.size != strlen(wanted) + 1)
            continue;
        if (found != UINT64_MAX)
            die(CODE_USAGE,
                "join: columns %" PRIu64 " and %" PRIu64 " of %s are both called '%s'; give the "
                "number of one",
                found + 1, i + 1, s->name, wanted);
        found = i;
    }
    buffer_free(&text);
    return found;
}

/* A name goes before a number: there are columns called 2024. */
static uint64_t find_column(const sheet *s, const char *wanted)
{
    uint64_t found = s->has_header ? find_name(s, wanted) : UINT64_MAX;

    if (found != UINT64_MAX)
        return found;
    if (!number_integer(&found, wanted, strlen(wanted)) || found == 0) {
        if (s->has_header)
            refuse_name(s, wanted);
        die(CODE_USAGE, "join: without headers, --on takes numbers, from 1, and not '%s'", wanted);
    }
    if (found > s->columns)
        die(CODE_USAGE, "join: %s has %zu columns, and none is column %s; is --delim right?",
            s->name, s->columns, wanted);
    return found - 1;
}

/* "id=user_id,2": the part of each for this sheet. */
static void find_keys(sheet *s, const sheet_key *key)
{
    buffer name = { 0 };

    for (const char *at = key->list;; at++) {
        size_t size = strcspn(at, ","), first = strcspn(at, "=");
        bool has_two = first < size;
        const char *from = has_two && key->is_second ? at + first + 1 : at;
        const char *to = has_two && !key->is_second ? at + first : at + size;

        name.size = 0;
        buffer_append(&name, from, (size_t)(to - from));
        buffer_append(&name, "", 1);
        s->keys[s->n_keys] = find_column(s, name.bytes);
        if (s->keys[s->n_keys] > s->last_key)
            s->last_key = s->keys[s->n_keys];
        s->n_keys++;
        at += size;
        if (!*at)
            break;
    }
    buffer_free(&name);
}

static const char *skip_mark(const char *at, const char *end)
{
    return end - at >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0 ? at + 3 : at;
}

const char *sheet_open(sheet *s, const sheet_key *key, const char *at, const char *end,
                       uint64_t *lines)
{
    const char *start = skip_mark(at, end), *next;
    row_fault fault;
    row r;

    next = split(s, !s->has_quotes, start, end, &r, &fault);
    if (fault)
        sheet_refuse(s, 1, fault);
    s->columns = r.fields;
    s->is_crlf = next - 2 >= start && next[-2] == '\r';
    buffer_append(&s->first, r.text.at, r.text.size);
    find_keys(s, key);
    pthread_mutex_lock(&s->lock);
    s->is_open = true;
    pthread_cond_broadcast(&s->opened);
    pthread_mutex_unlock(&s->lock);
    *lines += s->has_header ? r.lines : 0;
    return s->has_header ? next : start;
}

void sheet_await(sheet *s)
{
    pthread_mutex_lock(&s->lock);
    while (!s->is_open)
        pthread_cond_wait(&s->opened, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

void sheet_close(sheet *s)
{
    buffer_free(&s->first);
}

/* name, name_2, name_3: the first that is free. */
static void append_unique(names *taken, const csv_format *format, buffer *to, buffer *name)
{
    size_t size = --name->size;
    bool is_new;

    names_enter(taken, name->bytes, &is_new);
    for (unsigned i = 2; !is_new; i++) {
        name->size = size;
        buffer_print(name, "_%u", i);
        names_enter(taken, name->bytes, &is_new);
    }
    csv_quote(format, to, name->bytes, name->size);
}

void sheet_append_header(const sheet *s, const sheet *left, buffer *to)
{
    span rest = { left->first.bytes, left->first.size }, field;
    buffer name = { 0 };
    names taken = { 0 };
    bool is_new;

    while (next_field(left, &rest, &field))
        names_enter(&taken, column_name(left, field, &name), &is_new);
    rest = (span){ s->first.bytes, s->first.size };
    for (uint64_t i = 0; next_field(s, &rest, &field); i++) {
        if (is_key(s, i))
            continue;
        buffer_append(to, &left->csv.delim, 1);
        column_name(s, field, &name);
        append_unique(&taken, &left->csv, to, &name);
    }
    buffer_free(&name);
    names_free(&taken);
}
