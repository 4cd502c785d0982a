/* keys.c - fuzzer: bytes as input of the command line, cut into lines, fields and keys.
 *
 * input: line end, delimiter, field and mode (one byte each), then the text. A second splitter,
 * slow and plain, must find the same lines, the same keys and the same first fault. */
#include <stdlib.h>
#include <string.h>

#include "../../cli/text/keys.h"
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SETTINGS = 4 };

static key_format format_of(const uint8_t *settings)
{
    key_format format = { .end = settings[0], .delim = settings[1], .fields = { settings[2] % 5 } };

    format.n_fields = format.fields[0] > 0;
    format.hasher.hash = settings[3] & 1 ? TAMIS_RAW : TAMIS_FAST;
    format.hasher.seed = settings[3];
    format.below = settings[3] & 2 ? 1000 : 0;
    return format;
}

/* ---- The plain splitter ------------------------------------------------ */

typedef struct {
    const char *at;
    size_t size;
} text;

static text until(text rest, unsigned char stop)
{
    text head = { rest.at, 0 };

    while (head.size < rest.size && (unsigned char)rest.at[head.size] != stop)
        head.size++;
    return head;
}

static bool find_field(text *field, text line, const key_format *format)
{
    *field = until(line, format->delim);
    for (uint64_t i = 1; i < format->fields[0]; i++) {
        size_t used = (size_t)(field->at - line.at) + field->size;
        if (used == line.size)
            return false;
        *field = until((text){ line.at + used + 1, line.size - used - 1 }, format->delim);
    }
    return true;
}

/* Wide enough that no text of a sane length overflows before it is looked at. */
__extension__ typedef unsigned __int128 wide;

static int value_of_digit(char c)
{
    static const char DIGITS[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = c ? strchr(DIGITS, c) : NULL;

    return found ? (int)((found - DIGITS) % 16) : 99;
}

static key_fault plain_number(uint64_t *key, text t)
{
    bool is_hex = t.size > 2 && t.at[0] == '0' && (t.at[1] | 0x20) == 'x';
    unsigned base = is_hex ? 16 : 10;
    wide value = 0;

    for (size_t i = is_hex ? 2 : 0; i < t.size; i++) {
        unsigned digit = (unsigned)value_of_digit(t.at[i]);
        value = value * base + digit;
        if (digit >= base || value > UINT64_MAX)
            return KEY_NO_INTEGER;
    }
    *key = (uint64_t)value;
    return t.size ? KEY_GOOD : KEY_NO_INTEGER;
}

static key_fault plain_key(uint64_t *key, text t, const key_format *format)
{
    if (format->hasher.hash != TAMIS_RAW) {
        *key = tamis_hasher_key(&format->hasher, t.at, t.size);
        return KEY_GOOD;
    }
    key_fault fault = plain_number(key, t);
    if (fault == KEY_GOOD && format->below && *key >= format->below)
        return KEY_TOO_LARGE;
    return fault;
}

/* ---- Comparison -------------------------------------------------------- */

static key_fault check_line(const batch *b, size_t i, text line, const key_format *format)
{
    text field = line;
    uint64_t key = 0;

    if (format->n_fields && !find_field(&field, line, format)) {
        MUST(i == b->n || b->keyless[i / 64] >> (i % 64) & 1);
        return KEY_GOOD;
    }
    key_fault fault = plain_key(&key, field, format);
    if (i < b->n) {
        MUST(fault == KEY_GOOD && b->keys[i] == key);
        MUST(!(b->keyless[i / 64] >> (i % 64) & 1));
    }
    return fault;
}

static void check_dropped(batch *b)
{
    size_t with_key = b->n - b->n_keyless;

    batch_drop_keyless(b);
    MUST(b->n == with_key);
}

/* Returns what is left after the batch. */
static text check_batch(batch *b, text rest, const key_format *format)
{
    for (size_t i = 0; i < b->n; i++) {
        text line = until(rest, format->end);
        MUST(rest.size > 0 && b->start[i] == rest.at);
        (void)check_line(b, i, line, format);
        size_t used = line.size + (line.size < rest.size);
        rest = (text){ rest.at + used, rest.size - used };
    }
    MUST(b->start[b->n] == rest.at);
    if (b->fault != KEY_GOOD)
        MUST(rest.size && check_line(b, b->n, until(rest, format->end), format) == b->fault);
    else
        MUST(b->n == BATCH_LINES || rest.size == 0);
    check_dropped(b);
    return rest;
}

/* Columns by other means: lines are taken one after the other, to the last. */
static void exercise_columns(batch *b, key_format format, text all)
{
    const char *end = all.at + all.size;

    format.strips_cr = true;
    format.n_fields = 1 + format.fields[0] % 2;
    format.fields[0] = 1;
    format.fields[1] = 2;
    for (format.columns = COLUMNS_BY_DELIM; format.columns <= COLUMNS_BY_CSV; format.columns++) {
        for (const char *at = all.at; at < end && !b->fault;) {
            const char *next = batch_take(b, &format, at, end);
            MUST(next == b->start[b->n] && (next > at || b->fault));
            at = next;
        }
        b->fault = KEY_GOOD;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static batch b;

    if (size < SETTINGS)
        return 0;
    key_format format = format_of(data);
    text rest = { (const char *)data + SETTINGS, size - SETTINGS };
    exercise_columns(&b, format, rest);
    while (rest.size) {
        const char *next = batch_take(&b, &format, rest.at, rest.at + rest.size);
        text left = check_batch(&b, rest, &format);
        MUST(next == left.at);
        if (b.fault)
            break;
        rest = left;
    }
    return 0;
}
