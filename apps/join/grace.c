/* grace.c - a join in less memory than the rows of B take.
 *
 * Rows of both files are dealt to pairs of tapes by leading bits of their hashes, so that rows with
 * the same key meet in the same pair, until those of B fit in memory. A table of them is made, and
 * the rows of A of the pair go through it, in their order: what goes out is a run. All runs are
 * merged in the end.
 *
 * Rows with one key have one hash, and cannot be dealt. If they do not fit, B is taken in blocks,
 * and A goes through it once for each. Which rows of A have no partner is found out before that,
 * with one row for each key: a hash that several keys share, which nobody can bring about who does
 * not know the secret, costs time and no more. */
#include "join.h"
#include "term/message.h"
#include "term/progress.h"

enum { FAN_BITS = 5, USED_MAX = 48, PIECE_MIN = 1 << 10, PIECE_MAX = 1 << 18 };

size_t grace_room(const join *j)
{
    return (size_t)(j->memory / 2);
}

/* So that those of two files for each of a split take a quarter. */
size_t grace_piece(const join *j)
{
    uint64_t piece = j->memory >> (FAN_BITS + 3);

    return piece < PIECE_MIN ? PIECE_MIN : piece > PIECE_MAX ? PIECE_MAX : (size_t)piece;
}

/* ---- Rows of A go through a table -------------------------------------- */

static void probe_row(join *j, outlet *o, const record *r, probe_part part)
{
    record *last = matches_find(&j->matches, r->hash, record_key(r));

    if (part != PROBE_FOUND) {
        j->counts.a_found += last != NULL;
        if (!last)
            emit_alone(j, o, record_text(r), 0, &j->counts);
    }
    if (last && part != PROBE_ALONE) {
        j->counts.b_found += matches_mark(&j->matches, last);
        (void)emit_found(j, o, record_text(r), 0, last, &j->counts);
    }
}

void grace_probe(join *j, const tape *a, outlet *o, probe_part part)
{
    uint64_t done = 0;
    tape_reader reader;
    const record *r;

    tape_read(&reader, a, grace_piece(j));
    while ((r = tape_next(&reader))) {
        o->place = r->place;
        probe_row(j, o, r, part);
        if (o->when_full == OUTLET_RUNS || o->text->size > PIECE_MAX)
            emit_flush(j, o);
        if (++done % 65536 == 0)
            progress_show(done, a->rows, "rows");
    }
    emit_flush(j, o);
    tape_read_end(&reader);
}

/* ---- Tables ------------------------------------------------------------ */

typedef struct loaded {
    buffer rows;
    uint64_t n;
} loaded;

static bool is_over(const join *j, const loaded *l, const record *next)
{
    return l->n > 0 && l->rows.size + record_size(next) + (l->n + 1) * MATCHES_ROW > grace_room(j);
}

static void load_one(loaded *l, const record *r, span text)
{
    record_append(&l->rows, r, record_key(r), text);
    l->n++;
}

/* Takes out what came before; whether that made room. */
static bool thin(const join *j, loaded *l)
{
    matches once;

    matches_open(&once, &l->rows, &l->n, true);
    matches_close(&once);
    return l->rows.size + l->n * MATCHES_ROW < grace_room(j) / 4 * 3;
}

/* One row for each key, without its text. False: they do not fit, unless they must. */
static bool load_keys(const join *j, const tape *b, loaded *l, bool must)
{
    bool fits = true;
    tape_reader reader;
    const record *r;

    tape_read(&reader, b, grace_piece(j));
    while (fits && (r = tape_next(&reader))) {
        fits = !is_over(j, l, r) || thin(j, l) || must;
        load_one(l, r, (span){ 0 });
    }
    tape_read_end(&reader);
    return fits;
}

/* All rows, or as many as fit, and one at least; false: there was none left. */
static bool load_block(const join *j, tape_reader *reader, const record **next, loaded *l)
{
    l->rows.size = 0;
    l->n = 0;
    while (*next && !is_over(j, l, *next)) {
        load_one(l, *next, record_text(*next));
        *next = tape_next(reader);
    }
    return l->n > 0;
}

/* All that has to be in memory at once; false: it does not fit. */
static bool load(const join *j, const tape *b, loaded *l)
{
    tape_reader reader;
    const record *next;

    if (!emits_pairs(j))
        return load_keys(j, b, l, !b->is_mixed);
    if (tape_bytes(b) + b->rows * MATCHES_ROW > grace_room(j))
        return false;
    tape_read(&reader, b, grace_piece(j));
    next = tape_next(&reader);
    load_block(j, &reader, &next, l);
    tape_read_end(&reader);
    return true;
}

/* What goes out for `a` and what is loaded is a run. */
static void probe_loaded(join *j, const tape *a, loaded *l, bool each_once, probe_part part)
{
    outlet o = { .when_full = OUTLET_RUNS, .text = &j->line };

    runs_begin(&j->runs);
    matches_open(&j->matches, &l->rows, &l->n, each_once);
    grace_probe(j, a, &o, part);
    matches_close(&j->matches);
}

/* ---- Blocks ------------------------------------------------------------ */

static void join_blocks(join *j, const tape *a, const tape *b)
{
    loaded l = { 0 };
    tape_reader reader;
    const record *next;

    load_keys(j, b, &l, true);
    probe_loaded(j, a, &l, true, PROBE_ALONE);
    tape_read(&reader, b, grace_piece(j));
    next = tape_next(&reader);
    while (load_block(j, &reader, &next, &l))
        probe_loaded(j, a, &l, false, PROBE_FOUND);
    tape_read_end(&reader);
    buffer_free(&l.rows);
}

/* ---- Splits ------------------------------------------------------------ */

typedef struct split {
    unsigned used, bits; /* of a hash: before, and by this one */
    tape parts[1 << FAN_BITS];
} split;

/* Twice as many parts as would do if all were of one size. */
static unsigned bits_for(const join *j, const tape *b)
{
    uint64_t parts = 2 * (tape_bytes(b) + b->rows * MATCHES_ROW) / grace_room(j);
    unsigned bits = 1;

    while (bits < FAN_BITS && UINT64_C(1) << bits < parts)
        bits++;
    return bits;
}

/* The parts are on disk then, and take no memory. */
static void deal(join *j, split *s, tape *from)
{
    size_t n = (size_t)1 << s->bits, piece = grace_piece(j);
    tape_reader reader;
    const record *r;

    for (size_t i = 0; i < n; i++)
        tape_open(&s->parts[i], piece);
    tape_read(&reader, from, piece);
    while ((r = tape_next(&reader)))
        tape_put(&s->parts[r->hash << s->used >> (64 - s->bits)], r);
    tape_read_end(&reader);
    j->spilled += tape_close(from);
    for (size_t i = 0; i < n; i++)
        tape_spill(&s->parts[i], piece);
}

static void join_parts(join *j, tape *a, tape *b, unsigned used)
{
    split of_a = { .used = used, .bits = bits_for(j, b) }, of_b = of_a;

    deal(j, &of_b, b);
    deal(j, &of_a, a);
    for (size_t i = 0; i < (size_t)1 << of_a.bits; i++)
        grace_join(j, &of_a.parts[i], &of_b.parts[i], used + of_a.bits);
}

void grace_join(join *j, tape *a, tape *b, unsigned used)
{
    loaded l = { 0 };
    bool fits = a->rows == 0 || load(j, b, &l);

    if (!fits && b->is_mixed && used < USED_MAX) {
        buffer_free(&l.rows);
        join_parts(j, a, b, used);
        return;
    }
    if (a->rows > 0 && fits)
        probe_loaded(j, a, &l, !emits_pairs(j), PROBE_ALL);
    buffer_free(&l.rows);
    if (!fits)
        join_blocks(j, a, b);
    j->spilled += tape_close(a) + tape_close(b);
}
