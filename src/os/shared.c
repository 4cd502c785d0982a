/* shared.c - one filter for any number of threads.
 *
 * A hash of its own takes a key to one of 2^bits parts: a filter uses all bits of the hash that it
 * works with. Each part has a lock for readers and writers (os/turns.h). Kinds read their payloads
 * by plain loads, so that a lookup beside a change would be a race even where its answer is thrown
 * away after it: readers take the lock too, which costs them two atomic changes of a line that
 * threads seldom share.
 *
 * Small integers are cut by their lowest bits instead, and a part holds what remains. */
#include "tamis_shared.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "core/memory.h"
#include "core/plan.h"
#include "core/sized.h"
#include "os/turns.h"
#include "tamis_collection.h"

enum {
    SHARED_BITS = 10,           /* 1024 parts */
    PARTS_PER_THREAD = 4,       /* two threads meet in one of so many lookups, for each thread */
    THREADS_EXPECTED = 16,      /* if the caller does not say */
    LARGE_PART = 1 << 16,       /* keys: a quotient filter of them grows in about 10 ms */
    SMALL_PART = 1 << 12,       /* keys: chance adds a ninth to these */
    LEAST_GROWING_PART = 1 << 8 /* keys that a part is planned for if it grows */
};

enum { APART = 128 }; /* bytes: lines of the cache are fetched in pairs */

/* Of which no two are in one line of the cache. */
typedef union shared_part {
    struct {
        turns turns;
        tamis *f;
    } in;
    char apart[APART];
} shared_part;

_Static_assert(sizeof(shared_part) == APART, "a part fills its lines");

struct tamis_shared {
    uint64_t salt; /* of the hash that tells the part */
    unsigned bits; /* 2^bits parts */
    bool is_indexed;
    tamis_hasher hasher;
    tamis_allocator alloc;
    shared_part *parts; /* behind this struct */
};

static size_t shared_parts(const tamis_shared *s)
{
    return (size_t)1 << s->bits;
}

/* ---- One key ----------------------------------------------------------- */

/* The number of its part. */
static size_t shared_place(const tamis_shared *s, uint64_t key)
{
    return (size_t)(s->is_indexed ? key & (shared_parts(s) - 1)
                                  : scale64(hash_key(key, s->salt), shared_parts(s)));
}

/* What the filter of its part knows it as. */
static uint64_t shared_inside(const tamis_shared *s, uint64_t key)
{
    return s->is_indexed ? key >> s->bits : key;
}

static const tamis *shared_read(shared_part *p)
{
    tamis__turns_enter(&p->in.turns, false);
    return p->in.f;
}

static void shared_end_read(shared_part *p)
{
    tamis__turns_leave(&p->in.turns, false);
}

static tamis *shared_change(shared_part *p)
{
    tamis__turns_enter(&p->in.turns, true);
    return p->in.f;
}

static void shared_end_change(shared_part *p)
{
    tamis__turns_leave(&p->in.turns, true);
}

uint64_t tamis_shared_key(const tamis_shared *s, const void *data, size_t size)
{
    return tamis_hasher_key(&s->hasher, data, size);
}

bool tamis_shared_has(const tamis_shared *s, uint64_t key)
{
    shared_part *p = &s->parts[shared_place(s, key)];
    bool found = tamis_has(shared_read(p), shared_inside(s, key));

    shared_end_read(p);
    return found;
}

uint64_t tamis_shared_count(const tamis_shared *s, uint64_t key)
{
    shared_part *p = &s->parts[shared_place(s, key)];
    uint64_t count = tamis_count(shared_read(p), shared_inside(s, key));

    shared_end_read(p);
    return count;
}

tamis_status tamis_shared_add(tamis_shared *s, uint64_t key)
{
    shared_part *p = &s->parts[shared_place(s, key)];
    tamis_status status = tamis_add(shared_change(p), shared_inside(s, key));

    shared_end_change(p);
    return status;
}

tamis_status tamis_shared_remove(tamis_shared *s, uint64_t key)
{
    shared_part *p = &s->parts[shared_place(s, key)];
    tamis_status status = tamis_remove(shared_change(p), shared_inside(s, key));

    shared_end_change(p);
    return status;
}

/* ---- Many keys --------------------------------------------------------- */

/* One by one: kinds take up to 14 KiB of stack for a batch, which leaves no room to sort keys by
 * their parts. */

size_t tamis_shared_has_many(const tamis_shared *s, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t sum = 0;

    memset(hits, 0, (n + 63) / 64 * sizeof *hits);
    for (size_t i = 0; i < n; i++) {
        bool found = tamis_shared_has(s, keys[i]);
        hits[i / 64] |= (uint64_t)found << i % 64;
        sum += found;
    }
    return sum;
}

tamis_status tamis_shared_add_many(tamis_shared *s, size_t *added, const uint64_t *keys, size_t n)
{
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n && !status; *added += !status)
        status = tamis_shared_add(s, keys[*added]);
    return status;
}

/* ---- Plans ------------------------------------------------------------- */

/* An upper bound on the probability that more than `room` of n keys come to any of 2^bits parts:
 * Chernoff's exp(-n D(q || p)) for one part, times the number of parts. */
static double shared_overflow(uint64_t n, unsigned bits, uint64_t room)
{
    double keys = (double)n, p = ldexp(1, -(int)bits), q = ((double)room + 1) / keys;
    double relative = ((double)room + 1 - keys * p) / keys; /* q - p, without cancelling */

    if (room >= n)
        return 0;
    if (relative <= 0)
        return 1;
    double distance = q * log1p(relative / p);
    if (room + 1 < n)
        distance += (1 - q) * log1p(-relative / (1 - p));
    return exp(-keys * distance) / p;
}

/* The least room that each part needs, so that none is full. */
static uint64_t shared_room(uint64_t n, unsigned bits)
{
    uint64_t low = n >> bits, high = n;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (shared_overflow(n, bits, middle) < 1e-9)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The most keys for which such a room is enough. */
static uint64_t shared_capacity(uint64_t room, unsigned bits)
{
    uint64_t low = 0, high = room > UINT64_MAX >> bits ? UINT64_MAX : room << bits;

    while (low < high) {
        uint64_t middle = high - (high - low) / 2;
        if (shared_overflow(middle, bits, room) < 1e-9)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static unsigned shared_bits_for(const tamis_plan *whole, unsigned threads)
{
    uint64_t wanted = (uint64_t)PARTS_PER_THREAD * (threads ? threads : THREADS_EXPECTED);
    uint64_t least = tamis_plan_can(whole) & TAMIS_CAN_GROW ? 0 : SMALL_PART;
    unsigned bits = 0;

    while (bits < SHARED_BITS &&
           (UINT64_C(1) << bits < wanted || whole->capacity >> bits > LARGE_PART) &&
           whole->capacity >> bits >= 2 * least)
        bits++;
    return bits;
}

/* What one part is planned for. */
static void shared_divide(tamis_spec *spec, const tamis_plan *whole, unsigned bits)
{
    if (tamis_kind_can(whole->kind) & TAMIS_IS_INDEXED)
        spec->keys = (spec->keys >> bits) + ((spec->keys & ((UINT64_C(1) << bits) - 1)) != 0);
    else
        spec->keys = shared_room(spec->keys, bits);
    spec->universe = shared_room(spec->universe, bits);
    spec->max_bytes >>= bits;
    if (tamis_plan_can(whole) & TAMIS_CAN_GROW && !spec->max_bytes &&
        spec->keys < LEAST_GROWING_PART)
        spec->keys = LEAST_GROWING_PART;
}

static tamis_status shared_plan(tamis_plan *part, unsigned *bits, tamis_kind kind,
                                const tamis_spec *given, unsigned threads)
{
    tamis_spec spec;
    tamis_plan whole;

    if (!tamis__sized_take_spec(&spec, given))
        return TAMIS_RANGE;
    if (spec.bits || spec.quotient_bits || spec.can & TAMIS_CAN_ASK_KEYS)
        return TAMIS_CANNOT;
    spec.can |= TAMIS_CAN_ADD;
    tamis_status status = tamis_plan_kind(&whole, kind, &spec);
    if (status)
        return status;
    *bits = shared_bits_for(&whole, threads);
    shared_divide(&spec, &whole, *bits);
    return tamis_plan_kind(part, whole.kind, &spec);
}

/* ---- Life -------------------------------------------------------------- */

static size_t shared_size(unsigned bits)
{
    return sizeof(tamis_shared) + ((size_t)1 << bits) * sizeof(shared_part);
}

/* With locks, and without filters. */
static tamis_status shared_make(tamis_shared **out, const tamis_plan *part, unsigned bits,
                                const tamis_allocator *a)
{
    const tamis_allocator *from = a ? a : &tamis__default_allocator;
    tamis_shared *s = from->alloc(from->ctx, shared_size(bits));

    if (!s)
        return TAMIS_NOMEM;
    memset(s, 0, shared_size(bits));
    *s = (tamis_shared){ .salt = salt_of_seed(~part->hasher.seed),
                         .bits = bits,
                         .is_indexed = tamis_kind_can(part->kind) & TAMIS_IS_INDEXED,
                         .hasher = part->hasher,
                         .alloc = *from,
                         .parts = (shared_part *)(s + 1) };
    for (size_t i = 0; i < shared_parts(s); i++)
        if (!tamis__turns_new(&s->parts[i].in.turns)) {
            while (i-- > 0)
                tamis__turns_free(&s->parts[i].in.turns);
            from->free(from->ctx, s, shared_size(bits));
            return TAMIS_NOMEM;
        }
    *out = s;
    return TAMIS_OK;
}

void tamis_shared_free(tamis_shared *s)
{
    if (!s)
        return;
    tamis_allocator a = s->alloc;
    for (size_t i = 0; i < shared_parts(s); i++) {
        tamis_free(s->parts[i].in.f);
        tamis__turns_free(&s->parts[i].in.turns);
    }
    a.free(a.ctx, s, shared_size(s->bits));
}

tamis_status tamis_shared_new(tamis_shared **out, tamis_kind kind, const tamis_spec *spec,
                              unsigned threads, const tamis_allocator *a)
{
    tamis_shared *s;
    tamis_plan part;
    unsigned bits;
    tamis_status status = shared_plan(&part, &bits, kind, spec, threads);

    if (!status)
        status = shared_make(&s, &part, bits, a);
    if (status)
        return status;
    for (size_t i = 0; i < shared_parts(s) && !status; i++)
        status = tamis_new(&s->parts[i].in.f, &part, a);
    if (status)
        tamis_shared_free(s);
    else
        *out = s;
    return status;
}

/* ---- Whole filters ----------------------------------------------------- */

void tamis_shared_get_info(const tamis_shared *s, tamis_info *info)
{
    double parts = (double)shared_parts(s);
    tamis_info all = { .size = sizeof all, .note = "" };

    for (size_t i = 0; i < shared_parts(s); i++) {
        tamis_info here = { .size = sizeof here };
        tamis_get_info(shared_read(&s->parts[i]), &here);
        shared_end_read(&s->parts[i]);
        if (i > 0) {
            here.plan.capacity += all.plan.capacity;
            here.plan.bytes += all.plan.bytes;
            here.plan.slots += all.plan.slots;
        }
        all.plan = here.plan;
        all.count += here.count;
        all.cardinality += here.cardinality;
        all.fill += here.fill / parts;
        all.fpr += here.fpr / parts;
        all.saturated += here.saturated;
        all.adaptations += here.adaptations;
        all.adapted_bits += here.adapted_bits / parts;
    }
    if (!s->is_indexed)
        all.plan.capacity = shared_capacity(all.plan.capacity >> s->bits, s->bits);
    tamis__sized_give(info, &all, sizeof all);
}

/* ---- Files ------------------------------------------------------------- */

enum { NAME_SIZE = 32 };

static void shared_name(char name[NAME_SIZE], size_t i, unsigned bits)
{
    snprintf(name, NAME_SIZE, "part-%u-of-%u", (unsigned)i, 1u << bits);
}

static tamis_status shared_put(const tamis_shared *s, tamis_editor *e, size_t i)
{
    char name[NAME_SIZE];
    tamis *copy;
    tamis_status status = tamis_clone(&copy, shared_read(&s->parts[i]), &s->alloc);

    shared_end_read(&s->parts[i]);
    if (status)
        return status;
    shared_name(name, i, s->bits);
    status = tamis_editor_put(e, name, copy);
    tamis_free(copy);
    return status;
}

/* What a filter of another number of parts has left. */
static void shared_leave_out(tamis_editor *e, unsigned bits)
{
    char name[NAME_SIZE];

    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        shared_name(name, i, bits);
        if (tamis_editor_remove(e, name))
            return;
    }
}

tamis_status tamis_shared_save(const tamis_shared *s, const char *path)
{
    tamis_editor *e;
    tamis_status status = tamis_editor_open(&e, path, TAMIS_EDIT_COMPACT, &s->alloc);

    if (status)
        return status;
    for (unsigned bits = 0; bits <= SHARED_BITS; bits++)
        shared_leave_out(e, bits);
    for (size_t i = 0; i < shared_parts(s) && !status; i++)
        status = shared_put(s, e, i);
    if (!status)
        status = tamis_editor_save(e);
    tamis_editor_free(e);
    return status;
}

static tamis_status shared_get(tamis **out, const tamis_collection *c, size_t i, unsigned bits,
                               const tamis_allocator *a)
{
    char name[NAME_SIZE];
    tamis *view;

    shared_name(name, i, bits);
    tamis_status status = tamis_collection_get(c, &view, name, a);
    if (status)
        return status;
    status = tamis_clone(out, view, a);
    tamis_free(view);
    return status;
}

/* Parts differ by growth alone. */
static bool shared_is_part(const tamis *f, const tamis *first)
{
    return f->plan.kind == first->plan.kind && f->plan.flags == first->plan.flags &&
           tamis__same_hasher(&f->plan.hasher, &first->plan.hasher) &&
           tamis_plan_can(&f->plan) & TAMIS_CAN_ADD;
}

/* Takes the first part, also on failure. */
static tamis_status shared_fill(tamis_shared **out, tamis *first, const tamis_collection *c,
                                unsigned bits, const tamis_allocator *a)
{
    tamis_shared *s;
    tamis_status status = shared_make(&s, &first->plan, bits, a);

    if (status) {
        tamis_free(first);
        return status;
    }
    s->parts[0].in.f = first;
    for (size_t i = 0; i < shared_parts(s) && !status; i++) {
        if (i > 0)
            status = shared_get(&s->parts[i].in.f, c, i, bits, a);
        if (status == TAMIS_ABSENT || (!status && !shared_is_part(s->parts[i].in.f, first)))
            status = TAMIS_CORRUPT;
    }
    if (status)
        tamis_shared_free(s);
    else
        *out = s;
    return status;
}

tamis_status tamis_shared_load(tamis_shared **out, const char *path, const tamis_allocator *a)
{
    tamis_collection *c;
    tamis *first;
    unsigned bits = 0;
    tamis_status status = tamis_collection_open(&c, path, a);

    if (status)
        return status;
    while ((status = shared_get(&first, c, 0, bits, a)) == TAMIS_ABSENT && bits < SHARED_BITS)
        bits++;
    if (!status)
        status = shared_fill(out, first, c, bits, a);
    tamis_collection_free(c);
    return status;
}
