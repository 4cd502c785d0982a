/* make_arrays.c - the engine for keys that are in an array. See make.h. */
#include "core/make.h"
#include "core/memory.h"

/* ---- Keys in an array -------------------------------------------------- */

/* More keys than planned are welcome as long as they are the same ones again. */
static tamis_status make_solve_lists(make *m)
{
    uint64_t keys = 0, excluded;
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < (size_t)1 << m->keys.bits; i++)
        m->both[i] = make_between(&m->keys, i, i + 1) + make_between(&m->excluded, i, i + 1);
    if (make_excludes(m) || m->keys.n > m->f->plan.capacity)
        status = tamis__make_count(m, false, &keys, &excluded);
    if (!status && keys > m->f->plan.capacity)
        status = TAMIS_FULL;
    return status ? status : tamis__make_solve(m);
}

/* The items of several parts are put in buckets first, one for each part. */
static tamis_status make_solve_arrays(make *m)
{
    unsigned bits = tamis__make_part_bits(&m->f->plan);
    const tamis_team team = { m->host->threads, m, tamis__make_share };
    uint64_t parts = UINT64_C(1) << bits, keys = bits ? m->keys.n * m->keys.words : 0;
    uint64_t excluded = bits ? m->excluded.n : 0;
    /* Counts; starts and ends; items; counts of pieces. */
    uint64_t size = (3 * parts + 2 * (parts + 1) + keys + excluded) * sizeof(uint64_t) +
                    tamis__make_pieces(team.workers) * parts * sizeof(size_t);
    uint64_t *block = tamis__scratch_new(m->f, size);

    if (!block)
        return TAMIS_NOMEM;
    m->distinct = block;
    m->both = block + parts;
    m->rest = block + 2 * parts;
    if (bits) {
        uint64_t *starts = block + 3 * parts, *items = starts + 2 * (parts + 1);
        size_t *counts = (size_t *)(items + keys + excluded);
        tamis__make_deal(&team, &m->keys, bits, items, starts, counts);
        tamis__make_deal(&team, &m->excluded, bits, items + keys, starts + parts + 1, counts);
    }
    tamis_status status = make_solve_lists(m);
    tamis__scratch_free(m->f, block, size);
    return status;
}

static tamis_status make_fill(tamis *f, const make_keys *k)
{
    static const make_host NONE = { 0 };
    const uint64_t keys[] = { 0, k->n }, excluded[] = { 0, k->m };
    make m = { .f = f, .host = k->host ? k->host : &NONE };
    size_t added;

    m.keys = (make_list){ .words = k->values ? 2 : 1,
                          .n = k->n,
                          .starts = keys,
                          .keys = k->keys,
                          .values = k->values,
                          .ctx = f };
    m.excluded =
        (make_list){ .words = 1, .n = k->m, .starts = excluded, .keys = k->excluded, .ctx = f };
    if (f->ops.traits & TAMIS_TRAIT_BUILDS_SETS)
        return tamis__make_set(&m);
    if (ops_put(&f->ops))
        return tamis_put_many(f, &added, k->keys, k->values, k->n);
    if (!f->ops.solve)
        return tamis_add_many(f, &added, k->keys, k->n);
    return make_solve_arrays(&m);
}

tamis_status tamis__make(tamis **out, const tamis_plan *plan, const make_keys *k, unsigned with,
                         const tamis_allocator *a)
{
    const unsigned EXTRAS = TAMIS_TRAIT_TAKES_VALUES | TAMIS_TRAIT_TAKES_EXCLUDED;
    tamis *f;
    tamis_status status = tamis_new(&f, plan, a);

    if (status)
        return status;
    status = (f->ops.traits & EXTRAS) == with ? make_fill(f, k) : TAMIS_CANNOT;
    if (status)
        tamis_free(f);
    else
        *out = f;
    return status;
}
