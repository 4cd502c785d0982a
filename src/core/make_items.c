/* make_items.c - from keys to items, and from lists of them to the items of a part. See make.h. */
#include <string.h>

#include "base/hash.h"
#include "base/hash_keys.h"
#include "base/parts.h"
#include "base/radix.h"
#include "base/sort.h"
#include "core/make.h"

/* ---- Lists ------------------------------------------------------------- */

/* Sets are built in an order that tells nothing about slots: a table that is filled from one end to
 * the other is full earlier than one that fills everywhere. */
static uint64_t make_salt(const tamis *f)
{
    return f->ops.traits & TAMIS_TRAIT_BUILDS_SETS ? ~f->salt : f->salt;
}

void tamis__make_items(uint64_t *items, const tamis *f, const uint64_t *keys,
                       const uint64_t *values, size_t n)
{
    const uint64_t salt = make_salt(f);
    const size_t words = values ? 2 : 1;

    if (!values && !f->ops.item)
        tamis__hash_keys(items, keys, n, salt, f->cpu);
    for (size_t i = 0; i < n && (values || f->ops.item); i++) {
        items[words * i] = f->ops.item ? f->ops.item(f, keys[i]) : hash_key(keys[i], salt);
        if (values)
            items[words * i + 1] = values[i];
    }
}

uint64_t tamis__make_key(const tamis *f, uint64_t hash)
{
    return unhash_key(hash, make_salt(f));
}

const uint64_t *tamis__make_read(const make_list *l, make_cursor *c, uint64_t *buffer, size_t *n)
{
    const uint64_t *items;

    for (; c->left == 0; c->next++) {
        if (c->next == c->end)
            return NULL;
        c->left = l->starts[c->next + 1] - l->starts[c->next];
    }
    uint64_t at = l->starts[c->next] - c->left;
    if (l->items) {
        *n = (size_t)c->left;
        items = l->items + at * l->words;
    } else if (l->keys) {
        *n = c->left < MAKE_BUFFER / l->words ? (size_t)c->left : MAKE_BUFFER / l->words;
        tamis__make_items(buffer, l->ctx, l->keys + at, l->values ? l->values + at : NULL, *n);
        items = buffer;
    } else {
        items = l->read(l, c, buffer, n);
    }
    c->has_failed = !items;
    c->left -= items ? *n : 0;
    return items;
}

/* ---- Dealing ----------------------------------------------------------- */

size_t tamis__make_pieces(unsigned workers)
{
    return workers > 1 ? 4 * (size_t)workers : 1;
}

/* Pieces of a list in memory, which several workers take. counts[] has a row for each piece, first
 * of how many items go to each group, then of where they go: behind those of the pieces before. */
typedef struct make_dealing {
    const make_list *l;
    uint64_t from, n; /* items of it */
    radix r;
    uint64_t *to; /* NULL: items are counted */
    size_t *counts;
    size_t pieces;
} make_dealing;

static radix make_radix(const make_list *l, unsigned skip, unsigned bits)
{
    return (radix){ .skip = skip, .bits = bits, .is_paired = l->words == 2, .is_hashed = true };
}

static const uint64_t *make_behind(const uint64_t *x, uint64_t n)
{
    return x ? x + n : NULL;
}

static void make_deal_piece(void *ctx, size_t piece, unsigned worker)
{
    const make_dealing *d = ctx;
    uint64_t from = d->n * piece / d->pieces, end = d->n * (piece + 1) / d->pieces;
    const uint64_t starts[] = { 0, end - from };
    size_t *counts = d->counts + (piece << d->r.bits);
    uint64_t buffer[MAKE_BUFFER];
    make_cursor c = { .end = 1 };
    make_list l = *d->l;
    const uint64_t *items;
    size_t n;

    (void)worker;
    from += d->from;
    l.starts = starts;
    l.keys = make_behind(l.keys, from);
    l.values = make_behind(l.values, from);
    l.items = make_behind(l.items, from * l.words);
    if (!d->to)
        memset(counts, 0, sizeof *counts << d->r.bits);
    while ((items = tamis__make_read(&l, &c, buffer, &n)))
        if (d->to)
            tamis__radix_deal(d->to, counts, &d->r, items, n);
        else
            tamis__radix_count(counts, &d->r, items, n);
}

/* starts[] may be NULL. */
static void make_start_pieces(uint64_t *starts, const make_dealing *d)
{
    const unsigned bits = d->r.bits;
    size_t start = 0;

    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        if (starts)
            starts[i] = start;
        for (size_t piece = 0; piece < d->pieces; piece++) {
            size_t count = d->counts[(piece << bits) + i];
            d->counts[(piece << bits) + i] = start;
            start += count;
        }
    }
    if (starts)
        starts[(size_t)1 << bits] = start;
}

static void make_deal_pieces(const tamis_team *t, make_dealing d, uint64_t *to, uint64_t *starts)
{
    d.pieces = tamis__make_pieces(t->workers);
    tamis__make_share(t, make_deal_piece, &d, d.pieces);
    make_start_pieces(starts, &d);
    d.to = to;
    tamis__make_share(t, make_deal_piece, &d, d.pieces);
}

void tamis__make_deal(const tamis_team *t, make_list *l, unsigned bits, uint64_t *to,
                      uint64_t *starts, size_t *counts)
{
    const make_dealing d = { .l = l, .n = l->n, .r = make_radix(l, 0, bits), .counts = counts };

    make_deal_pieces(t, d, to, starts);
    l->bits = bits;
    l->starts = starts;
    l->items = to;
    l->keys = NULL;
}

/* ---- Parts ------------------------------------------------------------- */

make_part tamis__make_part(const make_work *w, unsigned worker, uint64_t number, unsigned bits)
{
    uint8_t *memory = w->memory + (size_t)w->needs * worker;

    return (make_part){ .w = w,
                        .team = { w->team, w->m, tamis__make_share },
                        .bits = bits,
                        .number = number,
                        .memory = memory,
                        .items = (uint64_t *)(memory + w->items_at),
                        .buffer = (uint64_t *)(memory + w->buffer_at) };
}

make_cursor tamis__make_start(const make_part *p, const make_list *l)
{
    size_t n = p->bits < l->bits ? (size_t)1 << (l->bits - p->bits) : 1;
    size_t first = (size_t)(p->bits > l->bits ? p->number >> (p->bits - l->bits) : p->number * n);

    return (make_cursor){ .next = first, .end = first + n };
}

bool tamis__make_passes(const tamis *f, uint64_t hash)
{
    uint64_t value;

    return f->ops.get(f, &value, tamis__make_key(f, hash));
}

/* Takes those that belong to the part, as long as there is room; returns how many it looked at. */
static size_t make_take(make_part *p, const make_list *l, const uint64_t *items, size_t n)
{
    const size_t words = p->w->words, room = (size_t)p->w->sizes.room;
    const bool is_cut = p->bits > l->bits;
    uint64_t *to = p->items + p->n * words;

    if (!is_cut && !p->is_sieved && words == l->words) {
        n = n < room - p->n ? n : room - p->n;
        memcpy(to, items, n * words * sizeof *items);
        p->n += n;
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = items[i * l->words];
        if ((is_cut && part_of(hash, p->bits) != p->number) ||
            (p->is_sieved && !tamis__make_passes(p->w->m->f, hash)))
            continue;
        if (p->n++ == room)
            return p->n--, i;
        *to++ = hash;
        if (words == 2)
            *to++ = l->words == 2 ? items[2 * i + 1] : p->value;
    }
    return n;
}

/* Repeated items are dropped when room runs out, and only then. A room that stays almost full would
 * be sorted again and again: it is taken for full. */
tamis_status tamis__make_collect(make_part *p, const make_list *l)
{
    make_cursor c = tamis__make_start(p, l);
    const uint64_t *items;
    size_t n;

    while ((items = tamis__make_read(l, &c, p->buffer, &n)))
        for (size_t done; (done = make_take(p, l, items, n)) < n; n -= done) {
            tamis_status status = p->w->keeps_repeats ? TAMIS_NOMEM : tamis__make_unique(p);
            if (status || p->w->sizes.room - p->n <= p->w->sizes.room / 32)
                return status ? status : TAMIS_NOMEM;
            items += done * l->words;
        }
    return c.has_failed ? TAMIS_IO : TAMIS_OK;
}

tamis_status tamis__make_unique(make_part *p)
{
    tamis_entry *e = (tamis_entry *)p->items;
    size_t kept = p->n > 0;

    if (p->w->words == 1) {
        p->n = tamis__sort_unique(p->items, p->n);
        return TAMIS_OK;
    }
    tamis__sort_pairs(e, p->n);
    for (size_t i = 1; i < p->n; i++)
        if (e[i].hash != e[kept - 1].hash)
            e[kept++] = e[i];
        else if (p->w->m->f->ops.traits & TAMIS_TRAIT_TAKES_EXCLUDED)
            e[kept - 1].value |= e[i].value;
        else if (p->w->m->f->ops.append)
            e[kept - 1].value += e[i].value;
        else if (e[i].value != e[kept - 1].value)
            return TAMIS_CONFLICT;
    p->n = kept;
    return TAMIS_OK;
}

void tamis__make_group(make_part *p)
{
    size_t *starts = (size_t *)(p->memory + p->w->starts_at);

    tamis__sort_group(p->items, p->n, p->w->words, p->bits, group_bits(p->n), starts);
}

/* Deals the items of a part in memory out to its groups. */
static void make_deal_to_groups(make_part *p, const make_list *l, uint64_t from)
{
    const radix r = make_radix(l, p->bits, group_bits(p->n));
    size_t *counts = (size_t *)(p->memory + p->w->starts_at);
    const make_dealing d = { .l = l, .from = from, .n = p->n, .r = r, .counts = counts };

    make_deal_pieces(&p->team, d, p->items, NULL);
}

tamis_status tamis__make_load(make_part *p, const make_list *l)
{
    make_cursor c = tamis__make_start(p, l);

    if (l->read || p->bits > l->bits) {
        tamis_status status = tamis__make_collect(p, l);
        tamis__make_group(p);
        return status;
    }
    p->n = (size_t)(l->starts[c.end] - l->starts[c.next]);
    make_deal_to_groups(p, l, l->starts[c.next]);
    return TAMIS_OK;
}
