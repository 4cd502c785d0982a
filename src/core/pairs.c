/* pairs.c - kinds that need more than keys: from keys and what belongs to them to a payload.
 *
 * Hashes with their values are dealt out to parts, and the kind's solver takes part after part. A
 * part that its geometry cannot hold makes the whole filter a step larger.
 *
 * Memory besides the payload: sixteen bytes for each pair, and for those of the largest part what
 * the solver needs. */
#include "core/pairs.h"

#include <string.h>

#include "base/hash.h"
#include "base/parts.h"
#include "base/sort.h"
#include "core/memory.h"
#include "core/parts.h"

/* ---- Distinct keys ----------------------------------------------------- */

static tamis_status count_distinct(size_t *distinct, const tamis *f, const uint64_t *keys, size_t n)
{
    size_t size = n * sizeof *keys + 1;
    uint64_t *copy = tamis__scratch_new(f, size);

    if (!copy)
        return TAMIS_NOMEM;
    for (size_t i = 0; i < n; i++)
        copy[i] = hash_key(keys[i], f->salt);
    *distinct = tamis__sort_unique(copy, n);
    tamis__scratch_free(f, copy, size);
    return TAMIS_OK;
}

/* More keys than planned are welcome as long as they are the same ones again. */
static tamis_status check_capacity(const tamis *f, const uint64_t *keys, size_t n)
{
    size_t distinct = n;
    tamis_status status = n > f->plan.capacity ? count_distinct(&distinct, f, keys, n) : TAMIS_OK;

    return !status && distinct > f->plan.capacity ? TAMIS_FULL : status;
}

/* ---- Dealing ----------------------------------------------------------- */

/* Pairs by part: first each part is counted, then it is dealt to, the last one first. */
typedef struct deal {
    const tamis *f;
    tamis_entry *pairs;
    size_t *starts, parts, n, size;
    unsigned part_bits;
} deal;

static tamis_status deal_open(deal *d, const tamis *f, size_t n)
{
    *d = (deal){ .f = f, .n = n, .part_bits = part_bits(f->plan.capacity) };
    d->parts = (size_t)1 << d->part_bits;
    d->size = n * sizeof *d->pairs + (d->parts + 1) * sizeof *d->starts;
    d->pairs = tamis__scratch_new(f, d->size);
    if (!d->pairs)
        return TAMIS_NOMEM;
    d->starts = (size_t *)(d->pairs + n);
    memset(d->starts, 0, (d->parts + 1) * sizeof *d->starts);
    return TAMIS_OK;
}

static void deal_close(const deal *d)
{
    tamis__scratch_free(d->f, d->pairs, d->size);
}

static void deal_count(const deal *d, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        d->starts[part_of(hash_key(keys[i], d->f->salt), d->part_bits)]++;
}

static void deal_counted(const deal *d)
{
    for (size_t i = 1; i <= d->parts; i++)
        d->starts[i] += d->starts[i - 1];
}

static void deal_out(const deal *d, uint64_t key, uint64_t value)
{
    uint64_t h = hash_key(key, d->f->salt);

    d->pairs[--d->starts[part_of(h, d->part_bits)]] = (tamis_entry){ h, value };
}

/* ---- Solving ----------------------------------------------------------- */

static size_t largest_part(const deal *d)
{
    size_t most = 0;

    for (size_t i = 0; i < d->parts; i++)
        if (d->starts[i + 1] - d->starts[i] > most)
            most = d->starts[i + 1] - d->starts[i];
    return most;
}

/* The pairs are in no order any more. */
static tamis_status solve_parts(size_t *distinct, const deal *d, const tamis_pair_solver *solver)
{
    const tamis_plan *plan = &d->f->plan;
    size_t size = solver->scratch(plan, largest_part(d)) + 1;
    void *scratch = tamis__scratch_new(d->f, size);
    tamis_status status = scratch ? TAMIS_OK : TAMIS_NOMEM;

    *distinct = 0;
    for (size_t i = 0; i < d->parts && !status; i++) {
        uint8_t *part = (uint8_t *)d->f->payload + i * (size_t)(plan->bytes >> d->part_bits);
        size_t n = d->starts[i + 1] - d->starts[i];
        status = solver->solve(plan, part, d->pairs + d->starts[i], &n, scratch);
        *distinct += n;
    }
    if (scratch)
        tamis__scratch_free(d->f, scratch, size);
    return status;
}

/* ---- Keys with values -------------------------------------------------- */

static tamis_status map_once(tamis *f, const uint64_t *keys, const uint64_t *values, size_t n)
{
    size_t distinct;
    deal d;
    tamis_status status = deal_open(&d, f, n);

    if (status)
        return status;
    deal_count(&d, keys, n);
    deal_counted(&d);
    for (size_t i = n; i-- > 0;)
        deal_out(&d, keys[i], values[i]);
    status = solve_parts(&distinct, &d, f->ops->mapper->solver);
    deal_close(&d);
    if (!status)
        f->count = distinct;
    return status;
}

tamis_status tamis__pairs_map(tamis *f, const uint64_t *keys, const uint64_t *values, size_t n)
{
    tamis_status status = check_capacity(f, keys, n);

    if (status)
        return status;
    while ((status = map_once(f, keys, values, n)) == TAMIS_FULL)
        if ((status = tamis__parts_grow(f, f->ops->mapper->enlarge)))
            return status;
    return status;
}

/* ---- Keys and others --------------------------------------------------- */

/* What the sieve is made of, and what it is tried on. */
typedef struct sides {
    const uint64_t *kept, *tried;
    size_t n_kept, n_tried;
    uint64_t kept_value;
} sides;

static sides sides_of(const tamis *f, const uint64_t *keys, size_t n, const uint64_t *others,
                      size_t m)
{
    if (f->ops->splitter->is_inverted(&f->plan))
        return (sides){ others, keys, m, n, 0 };
    return (sides){ keys, others, n, m, 1 };
}

static tamis_status make_sieve(tamis *f, const sides *s)
{
    size_t distinct;
    deal d;
    tamis_status status = deal_open(&d, f, s->n_kept);

    if (status)
        return status;
    deal_count(&d, s->kept, s->n_kept);
    deal_counted(&d);
    for (size_t i = s->n_kept; i-- > 0;)
        deal_out(&d, s->kept[i], 0);
    status = solve_parts(&distinct, &d, f->ops->splitter->sieve);
    deal_close(&d);
    return status;
}

static void deal_rest(deal *d, const sides *s, bool (*passes)(const tamis *f, uint64_t key))
{
    for (size_t i = 0; i < s->n_tried; i++)
        if (passes(d->f, s->tried[i]))
            deal_count(d, &s->tried[i], 1);
    deal_count(d, s->kept, s->n_kept);
    deal_counted(d);
    for (size_t i = 0; i < s->n_tried; i++)
        if (passes(d->f, s->tried[i]))
            deal_out(d, s->tried[i], !s->kept_value);
    for (size_t i = 0; i < s->n_kept; i++)
        deal_out(d, s->kept[i], s->kept_value);
}

static size_t count_passing(const tamis *f, const sides *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_tried; i++)
        n += f->ops->splitter->passes(f, s->tried[i]);
    return n;
}

static tamis_status make_rest(tamis *f, const sides *s)
{
    const tamis_splitter *splitter = f->ops->splitter;
    size_t distinct;
    deal d;
    tamis_status status = deal_open(&d, f, s->n_kept + count_passing(f, s));

    if (status)
        return status;
    deal_rest(&d, s, splitter->passes);
    status = solve_parts(&distinct, &d, splitter->rest);
    deal_close(&d);
    return status;
}

static tamis_status split_once(tamis *f, const uint64_t *keys, size_t n, const uint64_t *others,
                               size_t m)
{
    sides s = sides_of(f, keys, n, others, m);
    tamis_status status = make_sieve(f, &s);

    return status ? status : make_rest(f, &s);
}

static tamis_status split_until_it_fits(tamis *f, const uint64_t *keys, size_t n,
                                        const uint64_t *others, size_t m)
{
    tamis_status status;

    while ((status = split_once(f, keys, n, others, m)) == TAMIS_FULL)
        if ((status = tamis__parts_grow(f, f->ops->splitter->enlarge)))
            return status;
    return status;
}

static bool is_among(const uint64_t *sorted, size_t n, uint64_t hash)
{
    size_t low = 0;

    for (size_t high = n; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && sorted[low] == hash;
}

/* The others that are not among the keys, into `clean`; returns how many. `hashes` has room for
 * those of the keys. */
static size_t drop_keys(uint64_t *clean, uint64_t *hashes, const tamis *f, const uint64_t *keys,
                        size_t n, const uint64_t *others, size_t m)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        hashes[i] = hash_key(keys[i], f->salt);
    n = tamis__sort_unique(hashes, n);
    for (size_t i = 0; i < m; i++)
        if (!is_among(hashes, n, hash_key(others[i], f->salt)))
            clean[kept++] = others[i];
    return kept;
}

/* As if no key were among the others. */
static tamis_status split_cleanly(tamis *f, const uint64_t *keys, size_t n, const uint64_t *others,
                                  size_t m)
{
    size_t size = (n + m) * sizeof *keys + 1;
    uint64_t *clean = tamis__scratch_new(f, size);

    if (!clean)
        return TAMIS_NOMEM;
    m = drop_keys(clean, clean + m, f, keys, n, others, m);
    memset(f->payload, 0, (size_t)f->plan.bytes);
    tamis_status status = split_until_it_fits(f, keys, n, clean, m);
    tamis__scratch_free(f, clean, size);
    return status;
}

/* That a key is in both lists is found out while solving, if only because there is no room for it:
 * the lists are cleaned when one is, not before. */
tamis_status tamis__pairs_split(tamis *f, const uint64_t *keys, size_t n, const uint64_t *others,
                                size_t m)
{
    size_t distinct;
    tamis_status status = count_distinct(&distinct, f, keys, n);

    if (!status && distinct > f->plan.capacity)
        return TAMIS_FULL;
    if (!status)
        status = split_once(f, keys, n, others, m);
    if (status == TAMIS_CONFLICT || status == TAMIS_FULL)
        status = split_cleanly(f, keys, n, others, m);
    if (!status)
        f->count = distinct;
    return status;
}
