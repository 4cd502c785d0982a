/* distinct.c - how many different keys came, by a filter of those that did.
 *
 * A key that the filter does not know is new for certain, so that the count of new keys is never
 * too high. It is too low by the keys that the filter took for known ones. Each of these was such a
 * mistake with the rate of the filter at that time, which follows from its plan and its count. So
 * the sum of the rates is how many to expect, and says how many there are at most. */
#include "distinct.h"

#include <math.h>

#include "term/message.h"

/* How often the rate is looked up: it changes little until so many keys have come. */
enum { STEP = 1 << 16 };

/* New filters have room for that many keys at least, and for half of those that came before at most
 * once more: a filter for each short interval must not cost more than what is in it. */
enum { KEYS_LEAST = 1024 };

static void plan_for(distinct *d, const tamis_spec *spec, uint64_t keys)
{
    tamis_spec wanted = *spec;

    wanted.keys = keys;
    tamis_status status = tamis_plan_kind(&d->plan, TAMIS_SCALABLE, &wanted);
    if (status)
        die(CODE_LIMIT, "flows: no filter has a false positive rate of %g", spec->fpr);
}

static void begin_filter(distinct *d)
{
    tamis_status status = tamis_new(&d->seen, &d->plan, NULL);

    if (status)
        die(CODE_MEMORY, "out of memory for a filter of %" PRIu64 " flows", d->plan.capacity);
    d->count = d->summed = 0;
    d->missed = 0;
}

void distinct_begin(distinct *d, const tamis_spec *spec)
{
    plan_for(d, spec, spec->keys);
    begin_filter(d);
}

void distinct_reset(distinct *d)
{
    if (d->count == 0)
        return;
    tamis_free(d->seen);
    if (d->count > d->plan.capacity || (d->count < d->plan.capacity / 8 && d->count > KEYS_LEAST)) {
        tamis_spec spec = TAMIS_SPEC(.fpr = d->plan.fpr, .hasher = d->plan.hasher);
        plan_for(d, &spec, d->count + d->count / 4);
    }
    begin_filter(d);
}

void distinct_end(distinct *d)
{
    tamis_free(d->seen);
}

/* The rate only rises: at the end of a step it is the highest. */
static void sum_missed(distinct *d)
{
    double rate = tamis_plan_rate(tamis_plan_of(d->seen), d->count);

    d->missed += (double)(d->count - d->summed) * rate / (1 - rate);
    d->summed = d->count;
}

enum { BATCH = 256, SLOTS = 2 * BATCH };

/* Keys of a batch that the filter does not hold, each once. */
typedef struct fresh_keys {
    uint64_t keys[BATCH];
    size_t n;
    uint16_t slots[SLOTS]; /* where a key is among them, from 1; 0: nowhere */
} fresh_keys;

static void note_fresh(fresh_keys *f, uint64_t key)
{
    size_t i = key % SLOTS;

    while (f->slots[i] && f->keys[f->slots[i] - 1] != key)
        i = (i + 1) % SLOTS;
    if (f->slots[i])
        return;
    f->keys[f->n++] = key;
    f->slots[i] = (uint16_t)f->n;
}

/* All keys are looked up together, and those that were not found added together. */
static size_t take_batch(distinct *d, const uint64_t *keys, size_t n)
{
    uint64_t hits[BATCH / 64];
    fresh_keys fresh = { .n = 0 };
    size_t added;

    if (tamis_has_many(d->seen, hits, keys, n) == n)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!(hits[i / 64] >> i % 64 & 1))
            note_fresh(&fresh, keys[i]);
    tamis_status status = tamis_add_many(d->seen, &added, fresh.keys, fresh.n);
    if (status)
        die_status("remember a flow in", "memory", status);
    d->count += fresh.n;
    if (d->count - d->summed >= STEP)
        sum_missed(d);
    return fresh.n;
}

size_t distinct_take(distinct *d, const uint64_t *keys, size_t n)
{
    size_t fresh = 0;

    for (size_t i = 0; i < n; i += BATCH)
        fresh += take_batch(d, keys + i, n - i < BATCH ? n - i : BATCH);
    return fresh;
}

/* Bernstein's inequality: a sum of independent events with mean m is above m + t with a probability
 * below exp(-t^2 / (2 m + 2 t / 3)). Solved for t at one in a thousand. */
distinct_bounds distinct_tell(distinct *d)
{
    double l = log(1000) / 3;

    sum_missed(d);
    double above = l + sqrt(l * l + 6 * l * d->missed);
    return (distinct_bounds){ d->count, d->count + (uint64_t)floor(d->missed + above),
                              (double)d->count + d->missed };
}
