/* make.c - the engine: lists of items, work in units, solving part by part. See make.h.
 *
 * Memory besides the payload: if keys in an array make several parts, their items, by part; then,
 * for each worker, the items of the largest part and what solve() needs. */
#include "core/make.h"

#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/parts.h"
#include "base/radix.h"
#include "base/sort.h"
#include "core/memory.h"
#include "core/plan.h"

/* ---- Lists ------------------------------------------------------------- */

/* Kinds that build sets get their keys in an order that tells nothing about slots: a table that is
 * filled from one end to the other is full earlier than one that fills everywhere. */
static uint64_t make_salt(const tamis *f)
{
    return f->ops.traits & TAMIS_TRAIT_BUILDS_SETS ? ~f->salt : f->salt;
}

void tamis__make_items(uint64_t *items, const tamis *f, const uint64_t *keys,
                       const uint64_t *values, size_t n)
{
    uint64_t salt = make_salt(f);

    if (!values)
        for (size_t i = 0; i < n; i++)
            items[i] = hash_key(keys[i], salt);
    else
        for (size_t i = 0; i < n; i++) {
            items[2 * i] = hash_key(keys[i], salt);
            items[2 * i + 1] = values[i];
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
        c->has_failed = !items;
    }
    if (items)
        c->left -= *n;
    return items;
}

static size_t make_buffer_words(const make_list *l)
{
    return l->keys ? MAKE_BUFFER : l->chunk * l->words;
}

/* Deals items in memory out to groups. ends[] has room for a number for each of them, and in the
 * end tells where it ends. */
static void make_deal(uint64_t *to, size_t *ends, const make_list *l, make_cursor from,
                      const radix *r, uint64_t *buffer)
{
    const uint64_t *items;
    size_t n, start = 0;

    memset(ends, 0, sizeof *ends << r->bits);
    for (make_cursor c = from; (items = tamis__make_read(l, &c, buffer, &n));)
        (l->words == 2 ? tamis__radix_count_pairs : tamis__radix_count)(ends, r, items, n);
    for (size_t i = 0; i < (size_t)1 << r->bits; i++) {
        size_t count = ends[i];
        ends[i] = start;
        start += count;
    }
    for (make_cursor c = from; (items = tamis__make_read(l, &c, buffer, &n));)
        (l->words == 2 ? tamis__radix_deal_pairs : tamis__radix_deal)(to, ends, r, items, n);
}

/* ---- Work -------------------------------------------------------------- */

static void make_lay_out(make_work *w)
{
    size_t a = make_buffer_words(&w->m->keys), b = make_buffer_words(&w->m->others);

    w->scratch_at = round_up(w->part, 64);
    w->items_at = w->scratch_at + round_up(w->scratch, 64);
    w->buffer_at = w->items_at + round_up((uint64_t)w->room * w->words * 8, 64);
    w->starts_at = w->buffer_at + round_up((a > b ? a : b) * sizeof(uint64_t), 64);
    w->needs = w->starts_at + (w->groups ? sizeof(size_t) << group_bits(w->room) : 0);
    w->needs = round_up(w->needs, 64) + 64;
}

/* As many as have something to do and fit in the memory that is left. */
static unsigned make_workers(make_work *w)
{
    const make *m = w->m;
    uint64_t left = m->host->memory ? m->host->memory(m) : SIZE_MAX / 2;
    uint64_t payload = m->host->memory && m->f->payload ? m->f->plan.bytes : 0;
    uint64_t n = w->most ? w->most : m->host->threads ? m->host->threads : 1;

    make_lay_out(w);
    left = left < SIZE_MAX / 2 ? left : SIZE_MAX / 2;
    left = left > payload ? left - payload : 0;
    n = n < w->units ? n : w->units;
    return (unsigned)(n < left / w->needs ? n : left / w->needs);
}

/* Lists in memory are moved elsewhere if there is no room beside them. Then less room is often
 * enough, as repeated items are dropped when it is full, and most may be. */
static tamis_status make_find_room(make_work *w)
{
    make *m = w->m;
    size_t least = m->keys.chunk > m->others.chunk ? m->keys.chunk : m->others.chunk;

    w->set_sizes(w);
    if (make_workers(w) == 0 && m->host->unload && (m->keys.items || m->others.items)) {
        tamis_status status = m->host->unload(m);
        if (status)
            return status;
        w->set_sizes(w);
    }
    while (make_workers(w) == 0 && !w->keeps_repeats && w->room > least && least)
        w->room -= w->room / 16 + 1;
    return make_workers(w) ? TAMIS_OK : TAMIS_NOMEM;
}

static tamis_status make_run_alone(make_work *w)
{
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < w->units && !status; i++)
        status = w->do_unit(w, i, 0);
    return status;
}

tamis_status tamis__make_run(make_work *w)
{
    const make_host *host = w->m->host;
    tamis_status status = make_find_room(w);
    uint8_t *block = NULL;
    size_t size = 0;

    if (status)
        return status;
    unsigned n = make_workers(w);
    for (; n > 0 && !block; n -= !block) {
        size = (size_t)w->needs * n + 63;
        block = tamis__scratch_new(w->m->f, size);
    }
    if (!block)
        return TAMIS_NOMEM;
    w->memory = block + (-(uintptr_t)block & 63);
    status = host->run ? host->run(w, n) : make_run_alone(w);
    tamis__scratch_free(w->m->f, block, size);
    return status;
}

uint64_t tamis__make_largest(const make_list *a, const make_list *b, const uint64_t *counts,
                             size_t units)
{
    size_t buckets = ((size_t)1 << a->bits) / units;
    uint64_t most = 0;

    for (size_t from = 0, to = buckets; from < units * buckets; from = to, to += buckets) {
        uint64_t sum = 0;
        for (size_t i = from; i < to && counts; i++)
            sum += counts[i];
        if (!counts)
            sum = a->starts[to] - a->starts[from] + (b ? b->starts[to] - b->starts[from] : 0);
        most = sum > most ? sum : most;
    }
    return most;
}

uint64_t tamis__make_weight(const make_work *w, size_t unit)
{
    const make_list *keys = &w->m->keys, *others = &w->m->others;
    size_t buckets = ((size_t)1 << keys->bits) / w->units, from = unit * buckets;
    uint64_t n = keys->starts[from + buckets] - keys->starts[from];

    return others->starts ? n + others->starts[from + buckets] - others->starts[from] : n;
}

size_t tamis__make_room(const make_list *l, uint64_t all, uint64_t distinct)
{
    uint64_t ample = distinct + distinct / 4 + l->chunk + 64;

    return (size_t)(ample < all ? ample : all);
}

/* ---- Items of a part --------------------------------------------------- */

static uint8_t *make_memory(const make_part *p)
{
    return p->w->memory + (size_t)p->w->needs * p->worker;
}

uint64_t *tamis__make_buffer(const make_part *p)
{
    return (uint64_t *)(make_memory(p) + p->w->buffer_at);
}

make_part tamis__make_part(const make_work *w, unsigned worker, uint64_t number, unsigned bits)
{
    make_part p = { .w = w, .worker = worker, .bits = bits, .number = number, .room = w->room };

    p.items = (uint64_t *)(make_memory(&p) + w->items_at);
    return p;
}

/* The buckets of a list that have items of the part. */
static make_cursor make_start(const make_part *p, const make_list *l)
{
    size_t n = p->bits < l->bits ? (size_t)1 << (l->bits - p->bits) : 1;
    size_t first = (size_t)(p->bits > l->bits ? p->number >> (p->bits - l->bits) : p->number * n);

    return (make_cursor){ .next = first, .end = first + n };
}

bool tamis__make_passes(const make *m, uint64_t hash)
{
    uint64_t value;

    return m->f->ops.get(m->f, &value, tamis__make_key(m->f, hash));
}

/* Takes those that belong to the part, as long as there is room; returns how many it looked at. */
static size_t make_copy(make_part *p, const make_list *l, const uint64_t *items, size_t n)
{
    const unsigned words = p->w->words;
    const bool is_cut = p->bits > l->bits;
    uint64_t *to = p->items + p->n * words;

    if (!is_cut && !p->is_sieved && words == l->words) {
        n = n < p->room - p->n ? n : p->room - p->n;
        memcpy(to, items, n * words * sizeof *items);
        p->n += n;
        return n;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = items[i * l->words];
        if ((is_cut && part_of(hash, p->bits) != p->number) ||
            (p->is_sieved && !tamis__make_passes(p->w->m, hash)))
            continue;
        if (p->n == p->room)
            return i;
        to[0] = hash;
        if (words == 2)
            to[1] = l->words == 2 ? items[2 * i + 1] : p->value;
        to += words;
        p->n++;
    }
    return n;
}

/* Repeated items are dropped when room runs out, and only then. A room that stays almost full would
 * be sorted again and again: it is taken for full. */
static tamis_status make_take(make_part *p, const make_list *l, const uint64_t *items, size_t n)
{
    for (size_t done; (done = make_copy(p, l, items, n)) < n; n -= done) {
        tamis_status status = p->w->keeps_repeats ? TAMIS_NOMEM : tamis__make_unique(p);
        if (status)
            return status;
        if (p->room - p->n <= p->room / 32)
            return TAMIS_NOMEM;
        items += done * l->words;
    }
    return TAMIS_OK;
}

tamis_status tamis__make_collect(make_part *p, const make_list *l)
{
    make_cursor c = make_start(p, l);
    tamis_status status = TAMIS_OK;
    const uint64_t *items;
    size_t n;

    while (!status && (items = tamis__make_read(l, &c, tamis__make_buffer(p), &n)))
        status = make_take(p, l, items, n);
    return c.has_failed ? TAMIS_IO : status;
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
        else if (p->w->m->f->ops.traits & TAMIS_TRAIT_TAKES_OTHERS)
            e[kept - 1].value |= e[i].value;
        else if (e[i].value != e[kept - 1].value)
            return TAMIS_CONFLICT;
    p->n = kept;
    return TAMIS_OK;
}

static size_t *make_starts(const make_part *p)
{
    return (size_t *)(make_memory(p) + p->w->starts_at);
}

void tamis__make_group(make_part *p)
{
    if (p->w->words == 1)
        tamis__sort_group(p->items, p->n, p->bits, group_bits(p->n), make_starts(p));
    else
        tamis__sort_group_pairs(p->items, p->n, p->bits, group_bits(p->n), make_starts(p));
}

/* ---- Counting ---------------------------------------------------------- */

static size_t make_common(const uint64_t *a, size_t n, const uint64_t *b, size_t m)
{
    size_t common = 0;

    for (size_t i = 0, j = 0; i < n && j < m;) {
        common += a[i] == b[j];
        bool is_next = a[i] <= b[j];
        j += a[i] >= b[j];
        i += is_next;
    }
    return common;
}

static tamis_status make_count_others(const make_work *w, size_t bucket, const make_part *keys)
{
    make_part p = *keys;

    p.items += p.n;
    p.room -= p.n;
    p.n = 0;
    tamis_status status = tamis__make_collect(&p, &w->m->others);
    if (status)
        return status;
    (void)tamis__make_unique(&p);
    w->m->both[bucket] = keys->n + p.n - make_common(keys->items, keys->n, p.items, p.n);
    return TAMIS_OK;
}

static tamis_status make_count_bucket(const make_work *w, size_t bucket, unsigned worker)
{
    make_part p = tamis__make_part(w, worker, bucket, w->m->keys.bits);
    tamis_status status = tamis__make_collect(&p, &w->m->keys);

    if (!status)
        status = tamis__make_unique(&p);
    w->m->distinct[bucket] = p.n;
    return status || !w->ctx ? status : make_count_others(w, bucket, &p);
}

static void make_size_count(make_work *w)
{
    const make_list *others = w->ctx;

    w->words = w->m->keys.words;
    w->room = (size_t)tamis__make_largest(&w->m->keys, others, NULL, w->units);
}

tamis_status tamis__make_count(make *m, bool with_others, uint64_t *keys, uint64_t *others)
{
    make_work w = { .m = m,
                    .do_unit = make_count_bucket,
                    .set_sizes = make_size_count,
                    .units = (size_t)1 << m->keys.bits,
                    .ctx = with_others ? &m->others : NULL };
    tamis_status status = tamis__make_run(&w);

    m->is_counted = !status;
    *keys = *others = 0;
    for (size_t i = 0; i < w.units; i++) {
        *keys += m->distinct[i];
        *others += with_others ? m->both[i] - m->distinct[i] : 0;
    }
    return status;
}

/* ---- Solving ----------------------------------------------------------- */

unsigned tamis__make_part_bits(const tamis_plan *p)
{
    return tamis__ops(p->kind)->traits & TAMIS_TRAIT_ONE_PART ? 0 : part_bits(p->capacity);
}

uint64_t tamis__make_part_room(const tamis_plan *p)
{
    return tamis__ops(p->kind)->traits & TAMIS_TRAIT_ONE_PART ? p->capacity
                                                              : part_room(p->capacity);
}

tamis_status tamis__make_solve_part(make_part *p)
{
    const make *m = p->w->m;
    size_t size = (size_t)(m->f->plan.bytes >> p->bits);
    uint8_t *memory = make_memory(p), *at = memory;

    if (m->host->put)
        memset(at, 0, size);
    else
        at = (uint8_t *)m->f->payload + p->number * size;
    tamis_status status =
        m->f->ops.solve(m->f, p->w->stage, at, p->items, &p->n, memory + p->w->scratch_at);
    return status || !m->host->put ? status : m->host->put(m, p->number * size, at, size);
}

/* Items in memory are dealt straight to their groups. */
static tamis_status make_load(make_part *p, const make_list *l)
{
    radix r = { .skip = p->bits, .is_hashed = true };
    make_cursor c = make_start(p, l);

    if (l->read || p->bits > l->bits) {
        tamis_status status = tamis__make_collect(p, l);
        tamis__make_group(p);
        return status;
    }
    p->n = (size_t)(l->starts[c.end] - l->starts[c.next]);
    r.bits = group_bits(p->n);
    make_deal(p->items, make_starts(p), l, c, &r, tamis__make_buffer(p));
    return TAMIS_OK;
}

static tamis_status make_solve_unit(const make_work *w, size_t unit, unsigned worker)
{
    make *m = w->m;
    unsigned bits = tamis__make_part_bits(&m->f->plan);
    size_t parts = ((size_t)1 << bits) / w->units;
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < parts && !status; i++) {
        make_part p = tamis__make_part(w, worker, unit * parts + i, bits);
        status = make_load(&p, &m->keys);
        if (!status)
            status = tamis__make_solve_part(&p);
        __atomic_fetch_add(&m->count, p.n, __ATOMIC_RELAXED);
    }
    return status;
}

static void make_size_solve(make_work *w)
{
    const make *m = w->m;
    const tamis_plan *plan = &m->f->plan;
    uint64_t all = tamis__make_largest(&m->keys, NULL, NULL, w->units), distinct = all;

    if (m->is_counted && m->keys.read)
        distinct = tamis__make_largest(&m->keys, NULL, m->distinct, w->units);
    w->words = m->keys.words;
    w->room = tamis__make_room(&m->keys, all, distinct);
    w->scratch = m->f->ops.scratch(plan, w->stage, w->room);
    w->part = m->host->put ? plan->bytes >> tamis__make_part_bits(plan) : 0;
}

uint64_t tamis__make_needs(const tamis_plan *p)
{
    const tamis_ops *ops = tamis__ops(p->kind);
    make m = { .keys = { .words = 1 } };
    make_work w = { .m = &m, .words = ops->traits & TAMIS_TRAIT_TAKES_VALUES ? 2 : 1 };

    w.room = (size_t)tamis__make_part_room(p);
    w.groups = true;
    w.scratch = ops->scratch(p, TAMIS_STAGE_SIEVE, w.room);
    w.part = p->bytes >> tamis__make_part_bits(p);
    make_lay_out(&w);
    return w.needs;
}

size_t tamis__make_units(const make *m)
{
    unsigned bits = tamis__make_part_bits(&m->f->plan);

    return (size_t)1 << (bits < m->keys.bits ? bits : m->keys.bits);
}

static tamis_status make_solve_once(make *m)
{
    make_work w = { .m = m,
                    .do_unit = make_solve_unit,
                    .set_sizes = make_size_solve,
                    .units = tamis__make_units(m),
                    .groups = true };

    if (m->f->ops.traits & TAMIS_TRAIT_TAKES_OTHERS)
        return tamis__make_excluding(m);
    return tamis__make_run(&w);
}

/* The rate stays the planned one: with more room it is no worse. */
static tamis_status make_enlarge(make *m)
{
    tamis_plan larger = m->f->plan;

    if (tamis__plan_enlarge(&larger))
        return TAMIS_FULL;
    larger.fpr = m->f->plan.fpr;
    if (!m->host->put)
        return tamis__payload_replace(m->f, &larger);
    m->f->plan = larger;
    tamis__use_cpu(m->f, m->f->cpu);
    return TAMIS_OK;
}

/* That a key is among the others, too, is found while solving, if only because there is no room for
 * it: both lists are cleaned when one is, not before. */
tamis_status tamis__make_solve(make *m)
{
    const bool excludes = m->f->ops.traits & TAMIS_TRAIT_TAKES_OTHERS;
    const uint64_t done = m->done;
    tamis_status status = TAMIS_FULL;

    while (status == TAMIS_FULL) {
        m->done = done;
        m->count = 0;
        status = make_solve_once(m);
        if (excludes && !m->is_clean && (status == TAMIS_FULL || status == TAMIS_CONFLICT)) {
            m->is_clean = true;
            tamis__payload_clear(m->f);
            status = TAMIS_FULL;
        } else if (status == TAMIS_FULL) {
            tamis_status enlarged = make_enlarge(m);
            if (enlarged)
                return enlarged;
        }
    }
    for (size_t i = 0; i < (size_t)1 << m->keys.bits && excludes; i++)
        m->count += m->distinct[i];
    m->f->count = m->count;
    return status;
}

/* ---- Keys in an array -------------------------------------------------- */

static size_t make_dealt_words(const make_list *l, unsigned bits)
{
    return bits ? (size_t)l->n * l->words + ((size_t)1 << bits) + 1 : 0;
}

/* By part. */
static void make_deal_list(make_list *l, unsigned bits, uint64_t *to, size_t *ends)
{
    const radix r = { .bits = bits, .is_hashed = true };
    uint64_t buffer[MAKE_BUFFER], *starts = to + l->n * l->words;

    make_deal(to, ends, l, (make_cursor){ .end = 1 }, &r, buffer);
    starts[0] = 0;
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        starts[i + 1] = ends[i];
    *l = (make_list){ .words = l->words, .bits = bits, .n = l->n, .starts = starts, .items = to };
}

/* More keys than planned are welcome as long as they are the same ones again. */
static tamis_status make_solve_lists(make *m)
{
    const bool excludes = m->f->ops.traits & TAMIS_TRAIT_TAKES_OTHERS;
    uint64_t keys = 0, others;
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < (size_t)1 << m->keys.bits && excludes; i++)
        m->both[i] = m->keys.starts[i + 1] - m->keys.starts[i] + m->others.starts[i + 1] -
                     m->others.starts[i];
    if (excludes || m->keys.n > m->f->plan.capacity)
        status = tamis__make_count(m, false, &keys, &others);
    if (!status && keys > m->f->plan.capacity)
        status = TAMIS_FULL;
    return status ? status : tamis__make_solve(m);
}

/* Several parts: the items of both lists are dealt out to them first. */
static tamis_status make_solve_arrays(make *m)
{
    unsigned bits = tamis__make_part_bits(&m->f->plan);
    size_t parts = (size_t)1 << bits, keys = make_dealt_words(&m->keys, bits);
    size_t size = (3 * parts + keys + make_dealt_words(&m->others, bits)) * sizeof(uint64_t) +
                  parts * sizeof(size_t);
    uint64_t *memory = tamis__scratch_new(m->f, size), *dealt = memory + 3 * parts;

    if (!memory)
        return TAMIS_NOMEM;
    memset(memory, 0, 3 * parts * sizeof *memory);
    m->distinct = memory;
    m->both = memory + parts;
    m->rest = memory + 2 * parts;
    if (bits > 0) {
        size_t *ends = (size_t *)(dealt + keys + make_dealt_words(&m->others, bits));
        make_deal_list(&m->keys, bits, dealt, ends);
        make_deal_list(&m->others, bits, dealt + keys, ends);
    }
    tamis_status status = make_solve_lists(m);
    tamis__scratch_free(m->f, memory, size);
    return status;
}

tamis_status tamis__make(tamis *f, const make_keys *k)
{
    static const make_host ALONE = { 0 };
    const uint64_t keys[] = { 0, k->n }, others[] = { 0, k->m };
    make m = { .f = f, .host = &ALONE };
    size_t added;

    m.keys = (make_list){ .words = k->values ? 2 : 1,
                          .n = k->n,
                          .starts = keys,
                          .keys = k->keys,
                          .values = k->values,
                          .ctx = f };
    m.others =
        (make_list){ .words = 1, .n = k->m, .starts = others, .keys = k->excluded, .ctx = f };
    if (f->ops.traits & TAMIS_TRAIT_BUILDS_SETS)
        return tamis__make_set(&m);
    if (!f->ops.solve)
        return tamis_add_many(f, &added, k->keys, k->n);
    return make_solve_arrays(&m);
}
