/* parts.c - static kinds: from keys in memory to a payload, part by part.
 *
 * Hashes are dealt out to parts, if there is more than one; then each part is dealt out to groups,
 * and the kind's solver takes it. Parts are independent: threads take one after the other. A part
 * that its geometry cannot hold makes the whole filter a step larger.
 *
 * Memory besides the payload: eight bytes a key for the hashes by part, if there are several; then,
 * for each thread, eight bytes for each key of the largest part, and what the solver needs. */
#include "core/parts.h"

#include <pthread.h>
#include <string.h>

#include "base/bits.h"
#include "base/cpu.h"
#include "base/parts.h"
#include "base/radix.h"
#include "base/sort.h"
#include "core/memory.h"

enum { MOST_THREADS = 64 };

typedef struct building {
    tamis *f;
    const uint64_t *keys;
    size_t n;
    unsigned part_bits, threads;
    size_t parts, largest;
    uint64_t *hashes; /* by part; of a single part there are only keys */
    size_t *starts;   /* of parts */
    size_t next_part, distinct;
    int status;
} building;

/* ---- Dealing ----------------------------------------------------------- */

static void counts_to_starts(size_t *counts, size_t n)
{
    size_t start = 0;

    for (size_t i = 0; i < n; i++) {
        size_t count = counts[i];
        counts[i] = start;
        start += count;
    }
}

/* starts[i + 1] counts part i, then is where it is dealt to, and in the end where it ends. */
static void deal_parts(building *b)
{
    radix r = { .skip = 0, .bits = b->part_bits, .salt = b->f->salt };

    b->starts[0] = 0;
    if (b->parts == 1) {
        b->starts[1] = b->largest = b->n;
        return;
    }
    memset(b->starts, 0, (b->parts + 1) * sizeof *b->starts);
    tamis__radix_count(b->starts + 1, &r, b->keys, b->n);
    for (size_t i = 0; i < b->parts; i++)
        if (b->starts[i + 1] > b->largest)
            b->largest = b->starts[i + 1];
    counts_to_starts(b->starts + 1, b->parts);
    tamis__radix_deal(b->hashes, b->starts + 1, &r, b->keys, b->n);
}

/* The hashes of a part, in groups. */
static void deal_groups(const building *b, uint64_t *out, size_t part)
{
    size_t n = b->starts[part + 1] - b->starts[part];
    radix r = { .skip = b->part_bits, .bits = group_bits(n), .salt = b->f->salt };
    const uint64_t *from = b->hashes ? b->hashes + b->starts[part] : b->keys;
    size_t ends[1 << MOST_GROUP_BITS];

    r.is_hashed = b->hashes != NULL;
    memset(ends, 0, sizeof *ends << r.bits);
    tamis__radix_count(ends, &r, from, n);
    counts_to_starts(ends, (size_t)1 << r.bits);
    tamis__radix_deal(out, ends, &r, from, n);
}

/* ---- Solving ----------------------------------------------------------- */

/* What a thread works in: room for the hashes of a part, then for whatever is done with them. */
static size_t hashes_size(const building *b)
{
    return round_up(b->largest * sizeof(uint64_t), 64);
}

static size_t room_size(const building *b)
{
    return hashes_size(b) + round_up(b->f->ops->solver->scratch(&b->f->plan, b->largest), 64);
}

static tamis_status solve_part(building *b, size_t part, uint8_t *room)
{
    uint8_t *payload = b->f->payload;
    uint64_t *hashes = (uint64_t *)room;
    size_t n = b->starts[part + 1] - b->starts[part];
    size_t size = (size_t)b->f->plan.bytes / b->parts;

    deal_groups(b, hashes, part);
    tamis_status status = b->f->ops->solver->solve(&b->f->plan, payload + part * size, hashes, &n,
                                                   room + hashes_size(b));
    __atomic_fetch_add(&b->distinct, n, __ATOMIC_RELAXED);
    return status;
}

typedef struct worker {
    building *b;
    uint8_t *room;
    pthread_t thread;
    bool is_started;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    building *b = w->b;
    size_t part;

    while (!__atomic_load_n(&b->status, __ATOMIC_RELAXED) &&
           (part = __atomic_fetch_add(&b->next_part, 1, __ATOMIC_RELAXED)) < b->parts) {
        tamis_status status = solve_part(b, part, w->room);
        if (status)
            __atomic_store_n(&b->status, (int)status, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* A thread that cannot be had leaves more to the others; the caller is one of them. */
static tamis_status solve_all(building *b, uint8_t *rooms)
{
    worker workers[MOST_THREADS];

    b->next_part = b->distinct = 0;
    b->status = TAMIS_OK;
    for (unsigned i = 0; i < b->threads; i++) {
        worker *w = &workers[i];
        *w = (worker){ .b = b, .room = rooms + i * room_size(b) };
        w->is_started = i > 0 && pthread_create(&w->thread, NULL, work, w) == 0;
    }
    work(&workers[0]);
    for (unsigned i = 1; i < b->threads; i++)
        if (workers[i].is_started)
            pthread_join(workers[i].thread, NULL);
    return (tamis_status)b->status;
}

/* ---- Building ---------------------------------------------------------- */

/* More keys than planned are welcome as long as they are the same ones again. */
static bool is_too_much(const building *b, uint8_t *room)
{
    uint64_t *hashes = (uint64_t *)room, distinct = 0;

    if (b->n <= b->f->plan.capacity)
        return false;
    for (size_t i = 0; i < b->parts; i++) {
        deal_groups(b, hashes, i);
        distinct += tamis__sort_unique(hashes, b->starts[i + 1] - b->starts[i]);
    }
    return distinct > b->f->plan.capacity;
}

unsigned tamis__part_bits(const tamis_plan *p)
{
    return tamis__ops(p->kind)->whole ? 0 : part_bits(p->capacity);
}

uint64_t tamis__part_room(const tamis_plan *p)
{
    return tamis__ops(p->kind)->whole ? p->capacity : part_room(p->capacity);
}

tamis_status tamis__parts_grow(tamis *f, void (*enlarge)(tamis_plan *p))
{
    tamis_plan larger = f->plan;

    enlarge(&larger);
    larger.bytes = f->ops->bytes(&larger);
    if (larger.bytes == 0)
        return TAMIS_FULL;
    f->drop(f);
    f->block = NULL;
    f->plan = larger;
    tamis__use_cpu(f, tamis__cpu());
    return tamis__payload_new(f);
}

static tamis_status solve_until_it_fits(building *b)
{
    tamis_status status = TAMIS_FULL;

    for (bool is_first = true; status == TAMIS_FULL; is_first = false) {
        size_t size = b->threads * room_size(b) + 63;
        uint8_t *memory = tamis__scratch_new(b->f, size);
        if (!memory)
            return TAMIS_NOMEM;
        uint8_t *rooms = memory + (-(uintptr_t)memory & 63);
        bool is_over = is_first && is_too_much(b, rooms);
        status = is_over ? TAMIS_FULL : solve_all(b, rooms);
        tamis__scratch_free(b->f, memory, size);
        if (is_over)
            return TAMIS_FULL;
        if (status == TAMIS_FULL) {
            tamis_status grown = tamis__parts_grow(b->f, b->f->ops->solver->enlarge);
            if (grown)
                return grown;
        }
    }
    return status;
}

tamis_status tamis__parts_build(tamis *f, const uint64_t *keys, size_t n, unsigned threads)
{
    building b = { .f = f, .keys = keys, .n = n, .part_bits = tamis__part_bits(&f->plan) };
    size_t hashes, size;

    b.parts = (size_t)1 << b.part_bits;
    b.threads = (unsigned)(threads < b.parts ? threads : b.parts);
    if (b.threads > MOST_THREADS)
        b.threads = MOST_THREADS;
    hashes = b.parts > 1 ? round_up(n * sizeof *b.hashes, 64) : 0;
    size = hashes + (b.parts + 1) * sizeof *b.starts + 63;
    uint8_t *memory = tamis__scratch_new(f, size);
    if (!memory)
        return TAMIS_NOMEM;
    uint8_t *at = memory + (-(uintptr_t)memory & 63);
    b.hashes = b.parts > 1 ? (uint64_t *)at : NULL;
    b.starts = (size_t *)(at + hashes);
    deal_parts(&b);
    tamis_status status = solve_until_it_fits(&b);
    tamis__scratch_free(f, memory, size);
    if (!status)
        f->count = b.distinct;
    return status;
}
