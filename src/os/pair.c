/* pair.c - a filter that counts, with its plain filter beside it.
 *
 * Whatever changes the one goes on to the other, a few keys at a time, so that the counters are in
 * the cache when their bits are looked after. Of the plain filter, bits are set after counters have
 * been raised, and cleared once theirs are 0: the bits of a key that stays are never clear, whoever
 * comes and goes beside it. There is one writer; each of its stores is atomic. */
#include "tamis_pair.h"

#include "filter.h"

struct tamis_pair {
    const tamis_conversion *conversion; /* from one to the other */
    tamis *counting, *plain;
};

enum { STEP = 64 };

static size_t pair_step_from(size_t done, size_t n)
{
    return n - done < STEP ? n - done : STEP;
}

/* Takes `counting`, also on failure. */
static tamis_status pair_with_plain(tamis_pair **out, tamis *counting, const tamis_allocator *fast)
{
    const tamis_conversion *conversion = tamis__plain_conversion(counting->plan.kind);
    tamis *plain;
    tamis_status status =
        conversion ? tamis_convert(&plain, conversion->to, counting, fast) : TAMIS_CANNOT;

    if (status) {
        tamis_free(counting);
        return status;
    }
    tamis_pair *p = tamis__scratch_new(counting, sizeof *p);
    if (!p) {
        tamis_free(plain);
        tamis_free(counting);
        return TAMIS_NOMEM;
    }
    *p = (tamis_pair){ conversion, counting, plain };
    *out = p;
    return TAMIS_OK;
}

tamis_status tamis_pair_new(tamis_pair **out, const tamis_plan *plan, const tamis_allocator *slow,
                            const tamis_allocator *fast)
{
    tamis *counting;
    tamis_status status = tamis_new(&counting, plan, slow);

    return status ? status : pair_with_plain(out, counting, fast);
}

tamis_status tamis_pair_open(tamis_pair **out, const char *path, const tamis_allocator *slow,
                             const tamis_allocator *fast)
{
    tamis *counting;
    tamis_status status = tamis_load(&counting, path, slow);

    return status ? status : pair_with_plain(out, counting, fast);
}

static void pair_follow(tamis_pair *p, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p->conversion->follow(p->plain, p->counting, keys[i]);
    __atomic_store_n(&p->plain->count, p->counting->count, __ATOMIC_RELAXED);
}

tamis_status tamis_pair_add_many(tamis_pair *p, size_t *added, const uint64_t *keys, size_t n)
{
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n && !status;) {
        size_t done;
        status = tamis_add_many(p->counting, &done, keys + *added, pair_step_from(*added, n));
        pair_follow(p, keys + *added, done);
        *added += done;
    }
    return status;
}

tamis_status tamis_pair_remove_many(tamis_pair *p, size_t *removed, const uint64_t *keys, size_t n)
{
    *removed = 0;
    for (size_t at = 0; at < n; at += STEP) {
        size_t done, here = pair_step_from(at, n);
        tamis_status status = tamis_remove_many(p->counting, &done, keys + at, here);
        if (status && status != TAMIS_ABSENT)
            return status;
        pair_follow(p, keys + at, here);
        *removed += done;
    }
    return *removed == n ? TAMIS_OK : TAMIS_ABSENT;
}

const tamis *tamis_pair_plain(const tamis_pair *p)
{
    return p->plain;
}

const tamis *tamis_pair_counting(const tamis_pair *p)
{
    return p->counting;
}

tamis_status tamis_pair_save(const tamis_pair *p, const char *path)
{
    return tamis_save(p->counting, path);
}

void tamis_pair_free(tamis_pair *p)
{
    if (!p)
        return;
    tamis *counting = p->counting;
    tamis_free(p->plain);
    tamis__scratch_free(counting, p, sizeof *p);
    tamis_free(counting);
}
