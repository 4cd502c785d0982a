/* exact.c - which lines came before, without mistakes.
 *
 * A table in memory has two words for each line: its two hashes or, if texts are compared, one of
 * them and where its text is. While there is room, a line is answered at once. From the first one
 * that finds none, all lines that are not in the table wait in a file. When the input has ended,
 * the table is emptied and the file read as if it were the input; what finds no room again goes to
 * a second file, and so on. Each pass prints the first of what is left and nothing after that, so
 * that the order of the input is kept; the number of passes is that of different lines by those
 * that fit in memory.
 *
 * The files have no name, so that nothing is left of them whatever ends the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"
#include "scratch.h"
#include "term/array.h"
#include "term/buffer.h"
#include "term/message.h"

typedef struct slot {
    uint64_t hash;
    uint64_t rest; /* the other hash, or where the text is, from 1; 0: the slot is empty */
} slot;

struct exact {
    slot *slots;
    size_t n_slots, used;
    bool by_text, is_bounded;
    bool is_full;         /* since the last pass began */
    buffer texts;         /* size and bytes of each */
    size_t texts_max;     /* if bounded */
    FILE *waiting, *pass; /* being written, being read */
    buffer line;          /* of the pass */
};

/* Slots at first, if there is no bound. */
enum { SLOTS_MIN = 1 << 12, FILE_BUFFER = 1 << 18 };

/* ---- Table ------------------------------------------------------------- */

static slot *new_slots(size_t n)
{
    return array_new(n, sizeof(slot), "lines; set a limit with --memory");
}

/* Texts are longer than slots. */
exact *exact_open(uint64_t memory, bool by_text)
{
    exact *e = array_new(1, sizeof *e, "lines");
    uint64_t for_slots = by_text ? memory / 3 : memory;

    e->by_text = by_text;
    e->is_bounded = memory > 0;
    e->n_slots = memory ? (size_t)(for_slots / sizeof *e->slots) : SLOTS_MIN;
    e->slots = new_slots(e->n_slots);
    e->texts_max = (size_t)(memory - for_slots);
    if (memory && by_text)
        buffer_reserve(&e->texts, e->texts_max);
    return e;
}

static uint64_t rest_of(const exact *e, const exact_line *line)
{
    return e->by_text ? e->texts.size + 1 : line->hash[1] | 1;
}

static bool has_text(const exact *e, const slot *s, span text)
{
    const char *at = e->texts.bytes + s->rest - 1;
    size_t size;

    memcpy(&size, at, sizeof size);
    return size == text.size && memcmp(at + sizeof size, text.at, size) == 0;
}

static bool is_same(const exact *e, const slot *s, const exact_line *line)
{
    if (s->hash != line->hash[0])
        return false;
    return e->by_text ? has_text(e, s, line->key) : s->rest == rest_of(e, line);
}

/* The slot of the line, or the empty one where it belongs. */
static slot *find(const exact *e, const exact_line *line)
{
    size_t i = (size_t)(line->hash[0] % e->n_slots);

    while (e->slots[i].rest && !is_same(e, &e->slots[i], line))
        i = i + 1 < e->n_slots ? i + 1 : 0;
    return &e->slots[i];
}

static void double_slots(exact *e)
{
    slot *old = e->slots;
    size_t n = e->n_slots;

    e->n_slots = 2 * n;
    e->slots = new_slots(e->n_slots);
    for (size_t i = 0; i < n; i++) {
        size_t to = (size_t)(old[i].hash % e->n_slots);

        while (old[i].rest && e->slots[to].rest)
            to = to + 1 < e->n_slots ? to + 1 : 0;
        if (old[i].rest)
            e->slots[to] = old[i];
    }
    free(old);
}

static bool has_room(const exact *e, const exact_line *line)
{
    size_t text = e->by_text ? sizeof(size_t) + line->key.size : 0;

    return e->used < e->n_slots - e->n_slots / 8 - 1 && text <= e->texts_max - e->texts.size;
}

static void remember(exact *e, const exact_line *line)
{
    *find(e, line) = (slot){ line->hash[0], rest_of(e, line) };
    if (e->by_text) {
        buffer_append(&e->texts, &line->key.size, sizeof line->key.size);
        buffer_append(&e->texts, line->key.at, line->key.size);
    }
    if (++e->used > e->n_slots / 4 * 3 && !e->is_bounded)
        double_slots(e);
}

static void forget_all(exact *e)
{
    memset(e->slots, 0, e->n_slots * sizeof *e->slots);
    e->used = e->texts.size = 0;
    e->is_full = false;
}

/* ---- Files ------------------------------------------------------------- */

/* What comes before a line in the file; its key follows. */
typedef struct record {
    uint64_t hash[2];
    size_t size, key_size;
    bool has_key;
} record;

static FILE *new_file(void)
{
    FILE *file = fdopen(scratch_open(), "w+");

    if (!file)
        die_errno("make a file in", scratch_folder());
    setvbuf(file, NULL, _IOFBF, FILE_BUFFER);
    return file;
}

static void put_bytes(exact *e, const void *bytes, size_t size)
{
    if (size && fwrite(bytes, 1, size, e->waiting) != size)
        die_errno("write to a file in", scratch_folder());
}

static void let_wait(exact *e, const exact_line *line)
{
    record r = { .hash = { line->hash[0], line->hash[1] },
                 .size = line->text.size,
                 .key_size = line->key.size,
                 .has_key = line->has_key };

    if (!e->waiting)
        e->waiting = new_file();
    put_bytes(e, &r, sizeof r);
    put_bytes(e, line->text.at, line->text.size);
    put_bytes(e, line->key.at, line->key.size);
}

static bool take_bytes(exact *e, void *bytes, size_t size)
{
    if (fread(bytes, 1, size, e->pass) == size)
        return true;
    if (ferror(e->pass))
        die_errno("read a file in", scratch_folder());
    return false;
}

static bool take_waiting(exact *e, exact_line *line)
{
    record r;

    if (!take_bytes(e, &r, sizeof r))
        return false;
    e->line.size = 0;
    buffer_reserve(&e->line, r.size + r.key_size);
    if (!take_bytes(e, e->line.bytes, r.size + r.key_size))
        return false;
    *line = (exact_line){ { r.hash[0], r.hash[1] },
                          r.has_key,
                          { e->line.bytes, r.size },
                          { e->line.bytes + r.size, r.key_size } };
    return true;
}

static bool begin_pass(exact *e)
{
    if (!e->waiting)
        return false;
    e->pass = e->waiting;
    e->waiting = NULL;
    if (fflush(e->pass) || fseek(e->pass, 0, SEEK_SET))
        die_errno("write to a file in", scratch_folder());
    forget_all(e);
    return true;
}

static void end_pass(exact *e)
{
    fclose(e->pass); /* all of it was read again */
    e->pass = NULL;
}

/* ---- Lines ------------------------------------------------------------- */

exact_answer exact_look(exact *e, const exact_line *line)
{
    if (line->has_key && find(e, line)->rest)
        return EXACT_SEEN;
    if (line->has_key && e->is_bounded && !has_room(e, line)) {
        if (e->used == 0)
            die(CODE_MEMORY, "dedup: a line of %zu bytes does not fit in --memory; give more",
                line->key.size);
        e->is_full = true;
    }
    if (e->is_full) {
        let_wait(e, line);
        return EXACT_WAITS;
    }
    if (line->has_key)
        remember(e, line);
    return EXACT_NEW;
}

bool exact_next(exact *e, span *text, uint64_t *seen)
{
    exact_line line;

    while (e->pass || begin_pass(e)) {
        if (!take_waiting(e, &line)) {
            end_pass(e);
            continue;
        }
        exact_answer answer = exact_look(e, &line);
        *seen += answer == EXACT_SEEN;
        *text = line.text;
        if (answer == EXACT_NEW)
            return true;
    }
    return false;
}

void exact_close(exact *e)
{
    buffer_free(&e->texts);
    buffer_free(&e->line);
    free(e->slots);
    free(e);
}
