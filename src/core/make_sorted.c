/* make_sorted.c - the engine for kinds that take keys in an order. See make.h.
 *
 * Buckets are cut by leading bits, and fingerprints ascend with hashes: bucket by bucket, sorted,
 * kinds in order are written from the lowest fingerprint to the highest.
 *
 * Kinds that build sets are added to instead. Every copy of a key would take a slot, and has few
 * places to be: a list with repeats would fill a table early. Whether a key has come before is not
 * to be asked of the filter: it would take a stranger for it, and lose that when it is removed. */
#include "base/bits.h"
#include "base/sort.h"
#include "core/make.h"

/* What is written, and the last fingerprint, which may come again. */
typedef struct make_writing {
    make_append *append;
    void *ctx;
    uint64_t fingerprint, count;
} make_writing;

static tamis_status make_append_sorted(make_writing *to, const tamis_plan *plan,
                                       const uint64_t *hashes, size_t n)
{
    const bool is_whole = tamis__ops(plan->kind)->traits & TAMIS_TRAIT_WHOLE_HASHES;
    uint64_t range = plan->slots << plan->width;
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < n && !status; i++) {
        uint64_t next = is_whole ? hashes[i] : scale64(hashes[i], range);
        if (to->count && next != to->fingerprint) {
            status = to->append(to->ctx, to->fingerprint, to->count);
            to->count = 0;
        }
        to->fingerprint = next;
        to->count++;
    }
    return status;
}

static tamis_status make_write_bucket(const make_work *w, size_t bucket, unsigned worker)
{
    make_part p = tamis__make_part(w, worker, bucket, w->m->keys.bits);
    tamis_status status = tamis__make_collect(&p, &w->m->keys);

    if (status)
        return status;
    tamis__sort(p.items, p.n);
    return make_append_sorted(w->ctx, &w->m->f->plan, p.items, p.n);
}

static tamis_status make_add_bucket(const make_work *w, size_t bucket, unsigned worker)
{
    tamis *f = w->m->f;
    make_part p = tamis__make_part(w, worker, bucket, w->m->keys.bits);
    tamis_status status = tamis__make_collect(&p, &w->m->keys);
    size_t n = tamis__sort_unique(p.items, p.n), added;

    for (size_t i = 0; i < n; i++)
        p.items[i] = tamis__make_key(f, p.items[i]);
    return status ? status : tamis_add_many(f, &added, p.items, n);
}

static void make_size_bucket(make_work *w)
{
    w->room = (size_t)tamis__make_largest(&w->m->keys, NULL, NULL, w->units);
}

static make_work make_in_order(make *m)
{
    return (make_work){ .m = m,
                        .set_sizes = make_size_bucket,
                        .units = (size_t)1 << m->keys.bits,
                        .most = 1,
                        .words = 1,
                        .keeps_repeats = true };
}

tamis_status tamis__make_ordered(make *m, make_append *append, void *ctx)
{
    make_writing to = { .append = append, .ctx = ctx };
    make_work w = make_in_order(m);

    w.do_unit = make_write_bucket;
    w.ctx = &to;
    tamis_status status = tamis__make_run(&w);
    return status || !to.count ? status : append(ctx, to.fingerprint, to.count);
}

tamis_status tamis__make_set(make *m)
{
    make_work w = make_in_order(m);

    w.do_unit = make_add_bucket;
    return tamis__make_run(&w);
}
