/* sorted.c - the engine for kinds that take keys in an order, bucket after bucket. See make.h.
 *
 * Buckets are cut by leading bits, and fingerprints ascend with hashes: bucket by bucket, sorted,
 * kinds in order are written from the lowest fingerprint to the highest.
 *
 * Kinds that build sets are added to instead. Every copy of a key would take a slot, and has few
 * places to be: a list with repeats would fill a table early. Whether a key has come before is not
 * to be asked of the filter, which would take a stranger for it and lose it when that is removed.
 */
#include "base/bits.h"
#include "base/sort.h"
#include "core/make.h"

typedef struct sorted_writing {
    make_append *append;
    void *ctx;
    uint64_t fingerprint, count; /* the last one, which may come again */
} sorted_writing;

static tamis_status sorted_append(sorted_writing *s, const tamis_plan *plan, const uint64_t *hashes,
                                  size_t n)
{
    uint64_t range = plan->slots << plan->width;
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < n && !status; i++) {
        uint64_t next = scale64(hashes[i], range);
        if (s->count && next != s->fingerprint) {
            status = s->append(s->ctx, s->fingerprint, s->count);
            s->count = 0;
        }
        s->fingerprint = next;
        s->count++;
    }
    return status;
}

static tamis_status sorted_add(tamis *f, uint64_t *hashes, size_t n)
{
    size_t added;

    for (size_t i = 0; i < n; i++)
        hashes[i] = tamis__make_key(f, hashes[i]);
    return tamis_add_many(f, &added, hashes, n);
}

static tamis_status sorted_bucket(const make_work *w, size_t bucket, unsigned worker)
{
    make_part p = tamis__make_part(w, worker, bucket, w->m->keys.bits);
    tamis_status status = tamis__make_collect(&p, &w->m->keys);

    if (status)
        return status;
    if (w->ctx) {
        tamis__sort(p.items, p.n);
        return sorted_append(w->ctx, &w->m->f->plan, p.items, p.n);
    }
    p.n = tamis__sort_unique(p.items, p.n);
    return sorted_add(w->m->f, p.items, p.n);
}

static void sorted_size(make_work *w)
{
    w->words = 1;
    w->room = (size_t)tamis__make_largest(&w->m->keys, NULL, NULL, w->units);
}

static tamis_status sorted_run(make *m, sorted_writing *s)
{
    make_work w = { .m = m,
                    .do_unit = sorted_bucket,
                    .set_sizes = sorted_size,
                    .units = (size_t)1 << m->keys.bits,
                    .most = 1,
                    .keeps_repeats = true,
                    .ctx = s };

    return tamis__make_run(&w);
}

tamis_status tamis__make_ordered(make *m, make_append *append, void *ctx)
{
    sorted_writing s = { .append = append, .ctx = ctx };
    tamis_status status = sorted_run(m, &s);

    return status || !s.count ? status : append(ctx, s.fingerprint, s.count);
}

tamis_status tamis__make_set(make *m)
{
    return sorted_run(m, NULL);
}
