/* matches.c - rows of B by their keys.
 *
 * Slots hold 16 bits of a hash and where a record is. Rows with one key make a ring in the order of
 * the file, and the slot has its last row: the first is next to it, and one more row is put between
 * the two. */
#include <stdlib.h>
#include <string.h>

#include "matches.h"
#include "term/message.h"

/* In record.place. */
static const uint64_t MARK = UINT64_C(1) << 63;

static uint64_t tag_of(uint64_t hash)
{
    return (hash >> 32 & 0xffff) << 48;
}

/* Records begin at multiples of eight. */
static uint64_t slot_for(uint64_t hash, uint64_t offset)
{
    return tag_of(hash) | (offset / 8 + 1);
}

static record *record_at(const matches *m, uint64_t offset)
{
    return (void *)(m->rows->bytes + offset);
}

static record *record_in(const matches *m, uint64_t slot)
{
    return record_at(m, ((slot & ((UINT64_C(1) << 48) - 1)) - 1) * 8);
}

static bool has_key(const record *r, uint64_t hash, span key)
{
    return r->hash == hash && r->key_size == key.size &&
           (key.size == 0 || memcmp(record_key(r).at, key.at, key.size) == 0);
}

/* The slot of the key, or the empty one where it belongs. */
static uint64_t *find_slot(const matches *m, uint64_t hash, span key)
{
    size_t i = (size_t)((hash & UINT32_MAX) * m->n_slots >> 32);

    for (;; i = i + 1 < m->n_slots ? i + 1 : 0) {
        uint64_t *slot = &m->slots[i];

        if (!*slot || (tag_of(hash) == (*slot & ~UINT64_C(0) << 48) &&
                       has_key(record_in(m, *slot), hash, key)))
            return slot;
    }
}

/* Behind the last row of its key. */
static void add_to_ring(matches *m, record *r, uint64_t offset)
{
    uint64_t *slot = find_slot(m, r->hash, record_key(r));

    r->place = offset;
    if (*slot) {
        record *last = record_in(m, *slot);

        r->place = last->place;
        last->place = offset;
    }
    *slot = slot_for(r->hash, offset);
}

static void open_rings(matches *m)
{
    for (uint64_t at = 0; at < m->rows->size; at += record_size(record_at(m, at)))
        add_to_ring(m, record_at(m, at), at);
}

/* Records only ever move to the front, and no slot is made before its record has its place. */
static void open_each_once(matches *m, uint64_t *n)
{
    uint64_t kept = 0, next;

    *n = 0;
    for (uint64_t at = 0; at < m->rows->size; at = next) {
        record *r = record_at(m, at);
        size_t size = record_size(r);
        uint64_t *slot = find_slot(m, r->hash, record_key(r));

        next = at + size;
        if (*slot) {
            record_in(m, *slot)->place += r->place;
            continue;
        }
        *slot = slot_for(r->hash, kept);
        memmove(record_at(m, kept), r, size);
        kept += size;
        ++*n;
    }
    m->rows->size = (size_t)kept;
}

void matches_open(matches *m, buffer *rows, uint64_t *n, bool each_once)
{
    size_t n_slots = (size_t)(*n + *n / 2 + 1);

    *m = (matches){ .rows = rows, .n_slots = n_slots, .each_once = each_once };
    if (*n >= UINT32_MAX / 2 || !(m->slots = calloc(n_slots, sizeof *m->slots)))
        die(CODE_MEMORY, "out of memory for %" PRIu64 " rows; set a limit with --memory", *n);
    if (each_once)
        open_each_once(m, n);
    else
        open_rings(m);
}

void matches_close(matches *m)
{
    free(m->slots);
    m->slots = NULL;
}

record *matches_find(const matches *m, uint64_t hash, span key)
{
    uint64_t slot = *find_slot(m, hash, key);

    return slot ? record_in(m, slot) : NULL;
}

record *matches_next(const matches *m, const record *r)
{
    return m->each_once ? (record *)r : record_at(m, r->place & ~MARK);
}

uint64_t matches_mark(const matches *m, record *r)
{
    uint64_t n = 0;

    if (r->place & MARK)
        return 0;
    if (m->each_once) {
        n = r->place;
        r->place |= MARK;
        return n;
    }
    const record *at = r;
    do {
        at = matches_next(m, at);
        n++;
    } while (at != r);
    r->place |= MARK;
    return n;
}
