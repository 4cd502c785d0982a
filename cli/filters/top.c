/* top.c - the most frequent lines of a stream, in memory set beforehand.
 *
 * Some lines are candidates: their text is kept and each is counted exactly. All other lines are
 * counted by a sketch, which never counts too little. If the sketch's count of a line is above the
 * count of the least frequent candidate, the line becomes a candidate in its place and starts with
 * the sketch's count. All but one of these may be counts of other lines. The candidate that is
 * replaced adds its count to the sketch.
 *
 * So a candidate came at most as often as its count says, and at least as often as it came since it
 * became a candidate. The count of the least frequent candidate never falls, and no other line came
 * more often than that. These bounds are certain; a larger sketch makes them closer. (Its counters
 * stop at 2^32 - 1, but only after every candidate came that often.) Where lines weigh more than 1,
 * the same holds for the sums of their weights.
 *
 * Homem, Carvalho: Finding top-k elements in data streams, 2010, with a conservative Count-Min
 * sketch as the filter. */
#include <stdlib.h>
#include <string.h>

#include "term/array.h"
#include "term/message.h"
#include "top.h"

/* Where a key is among the candidates; `at` is one more than its index, 0: nowhere. */
typedef struct slot {
    uint64_t key;
    size_t at;
} slot;

/* A heap of the candidates, the least frequent first. Its counts may be out of date. As counts only
 * grow, the first is the least frequent once its own count is up to date. */
typedef struct rank {
    uint64_t count;
    size_t index;
} rank;

struct top {
    tamis *sketch;
    candidate *candidates;
    rank *heap;
    size_t n, room;
    uint64_t floor; /* count of the least frequent when it was last asked; 0: never */
    slot *slots;    /* twice as many as candidates, at least */
    unsigned shift; /* 64 minus the logarithm of their number */
};

static void *take_array(size_t n, size_t size)
{
    return array_new(n, size, "candidates");
}

top *top_new(tamis *sketch, size_t room)
{
    top *t = take_array(1, sizeof *t);

    t->sketch = sketch;
    t->room = room;
    t->shift = 63;
    while (UINT64_C(1) << (64 - t->shift) < 2 * room)
        t->shift--;
    t->candidates = take_array(room, sizeof *t->candidates);
    t->heap = take_array(room, sizeof *t->heap);
    t->slots = take_array((size_t)1 << (64 - t->shift), sizeof *t->slots);
    return t;
}

void top_free(top *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->candidates[i].text);
    free(t->candidates);
    free(t->heap);
    free(t->slots);
    free(t);
}

/* ---- Keys to candidates ------------------------------------------------ */

static size_t mask_of(const top *t)
{
    return ((size_t)1 << (64 - t->shift)) - 1;
}

/* Raw keys may follow each other: 2^64 divided by the golden ratio scatters them. */
static size_t home_of(const top *t, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> t->shift);
}

/* The slot of the key, or the empty one where it would be. */
static slot *find_slot(const top *t, uint64_t key)
{
    size_t i = home_of(t, key);

    while (t->slots[i].at && t->slots[i].key != key)
        i = (i + 1) & mask_of(t);
    return &t->slots[i];
}

/* Later slots move up to fill the hole, but never before their home. */
static void empty_slot(top *t, slot *s)
{
    size_t mask = mask_of(t), hole = (size_t)(s - t->slots);

    for (size_t i = (hole + 1) & mask; t->slots[i].at; i = (i + 1) & mask)
        if (((i - home_of(t, t->slots[i].key)) & mask) >= ((i - hole) & mask)) {
            t->slots[hole] = t->slots[i];
            hole = i;
        }
    t->slots[hole].at = 0;
}

/* ---- The least frequent ------------------------------------------------ */

static void sink(top *t, size_t i)
{
    rank moved = t->heap[i];

    for (size_t child; (child = 2 * i + 1) < t->n; i = child) {
        if (child + 1 < t->n && t->heap[child + 1].count < t->heap[child].count)
            child++;
        if (t->heap[child].count >= moved.count)
            break;
        t->heap[i] = t->heap[child];
    }
    t->heap[i] = moved;
}

/* Puts one more at the end, and then where it belongs. */
static void rise(top *t, rank added)
{
    size_t i = t->n;

    for (; i > 0 && t->heap[(i - 1) / 2].count > added.count; i = (i - 1) / 2)
        t->heap[i] = t->heap[(i - 1) / 2];
    t->heap[i] = added;
}

static void update_floor(top *t)
{
    rank *first = &t->heap[0];

    while (first->count < t->candidates[first->index].count) {
        first->count = t->candidates[first->index].count;
        sink(t, 0);
    }
    t->floor = first->count;
}

/* ---- Candidates -------------------------------------------------------- */

static void keep_text(candidate *c, const top_chunk *chunk, const top_line *line)
{
    span text = chunk->text(chunk->ctx, line->at);
    size_t size = text.size > TOP_TEXT_MAX ? TOP_TEXT_MAX : text.size;

    if (!c->text || c->size != size) {
        free(c->text);
        c->text = take_array(size + 1, 1);
    }
    c->is_cut = text.size > TOP_TEXT_MAX;
    c->size = size;
    memcpy(c->text, text.at, size);
}

static uint64_t weight_of(const top_chunk *chunk, const top_line *line)
{
    return chunk->weights ? chunk->weights[line - chunk->lines] : 1;
}

static void write_candidate(top *t, size_t index, const candidate *c)
{
    *find_slot(t, c->key) = (slot){ c->key, index + 1 };
    t->candidates[index] = *c;
}

/* A new candidate, while there is room. */
static void admit(top *t, const top_chunk *chunk, const top_line *line)
{
    candidate c = { .key = line->key, .count = weight_of(chunk, line) };

    keep_text(&c, chunk, line);
    write_candidate(t, t->n, &c);
    rise(t, (rank){ c.count, t->n });
    t->n++;
}

/* From now on the sketch counts at least what the candidate counted. */
static void dismiss(top *t, const candidate *c)
{
    uint64_t known = tamis_count(t->sketch, c->key);

    empty_slot(t, find_slot(t, c->key));
    if (c->count > known) {
        tamis_status status = tamis_add_times(t->sketch, c->key, c->count - known);
        if (status)
            die_status("count lines in", "the sketch", status);
    }
}

static void replace_least(top *t, const top_chunk *chunk, const top_line *line, uint64_t count)
{
    size_t index = t->heap[0].index;
    candidate c = t->candidates[index];

    dismiss(t, &c);
    c.key = line->key;
    c.count = count;
    c.extra = count - weight_of(chunk, line);
    keep_text(&c, chunk, line);
    write_candidate(t, index, &c);
    t->heap[0].count = count;
    sink(t, 0);
}

/* The line may have become a candidate meanwhile, whose count then includes this copy. */
static void consider(top *t, const top_chunk *chunk, const top_line *line, uint64_t count)
{
    update_floor(t);
    if (count > t->floor && !find_slot(t, line->key)->at)
        replace_least(t, chunk, line, count);
}

/* ---- Lines ------------------------------------------------------------- */

/* Lines that go through the sketch at a time: few enough to stay in the first-level cache. */
enum { BLOCK = 256 };

typedef struct others {
    uint64_t keys[BLOCK];
    const top_line *lines[BLOCK];
    size_t n;
} others;

static void add_ones(top *t, const others *o)
{
    size_t added;
    tamis_status status = tamis_add_many(t->sketch, &added, o->keys, o->n);

    if (status)
        die_status("count lines in", "the sketch", status);
}

/* One after the other, but counters that are looked at together come from memory together. */
static void add_weights(top *t, const top_chunk *chunk, const others *o)
{
    uint64_t counts[BLOCK];
    tamis_status status = TAMIS_OK;

    tamis_count_many(t->sketch, counts, o->keys, o->n);
    for (size_t i = 0; i < o->n && !status; i++)
        status = tamis_add_times(t->sketch, o->keys[i], weight_of(chunk, o->lines[i]));
    if (status)
        die_status("count lines in", "the sketch", status);
}

static void count_others(top *t, const top_chunk *chunk, const others *o)
{
    uint64_t counts[BLOCK];

    if (chunk->weights)
        add_weights(t, chunk, o);
    else
        add_ones(t, o);
    tamis_count_many(t->sketch, counts, o->keys, o->n);
    for (size_t i = 0; i < o->n; i++)
        if (counts[i] > t->floor)
            consider(t, chunk, o->lines[i], counts[i]);
}

static void take_block(top *t, const top_chunk *chunk, const top_line *lines, size_t n)
{
    others o = { .n = 0 };

    for (size_t i = 0; i < n; i++) {
        size_t at = find_slot(t, lines[i].key)->at;

        if (at)
            t->candidates[at - 1].count += weight_of(chunk, &lines[i]);
        else if (t->n < t->room)
            admit(t, chunk, &lines[i]);
        else {
            o.keys[o.n] = lines[i].key;
            o.lines[o.n++] = &lines[i];
        }
    }
    if (o.n > 0)
        count_others(t, chunk, &o);
}

void top_take(top *t, const top_chunk *chunk)
{
    size_t n = chunk->n;

    for (size_t i = 0; i < n; i += BLOCK)
        take_block(t, chunk, chunk->lines + i, n - i < BLOCK ? n - i : BLOCK);
}

/* ---- Results ----------------------------------------------------------- */

/* By count, then by certainty, then by bytes: the same order with any number of threads. */
static int by_rank(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->extra != y->extra)
        return x->extra < y->extra ? -1 : 1;
    int order = memcmp(x->text, y->text, x->size < y->size ? x->size : y->size);
    if (order)
        return order;
    return (x->size > y->size) - (x->size < y->size);
}

const candidate *top_rank(top *t, size_t *n)
{
    if (t->floor > 0)
        update_floor(t);
    qsort(t->candidates, t->n, sizeof *t->candidates, by_rank);
    *n = t->n;
    return t->candidates;
}

uint64_t top_floor(const top *t)
{
    return t->floor;
}

uint64_t top_doubt(const top *t, size_t shown)
{
    uint64_t least = UINT64_MAX, other = t->floor;

    for (size_t i = 0; i < shown; i++)
        if (t->candidates[i].count - t->candidates[i].extra < least)
            least = t->candidates[i].count - t->candidates[i].extra;
    if (shown < t->n && t->candidates[shown].count > other)
        other = t->candidates[shown].count;
    return least < other ? other : 0;
}
