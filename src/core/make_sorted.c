/* make_sorted.c - the engine for kinds that take keys in an order. See make.h.
 *
 * Buckets are cut by leading bits, and fingerprints ascend with hashes: bucket by bucket, sorted,
 * kinds in order are written from the lowest fingerprint to the highest. A bucket that does not fit
 * in memory is read as pairs of a hash and its count, so that repeats take no room; if the distinct
 * hashes alone are too many, it is read in halves, quarters and so on.
 *
 * Kinds that build sets are added to instead. Every copy of a key would take a slot, and has few
 * places to be: a list with repeats would fill a table early. Whether a key has come before is not
 * to be asked of the filter: it would take a stranger for it, and lose that when it is removed. */
#include "base/bits.h"
#include "base/parts.h"
#include "base/sort.h"
#include "core/make.h"

/* What is written, and the last fingerprint, which may come again. count is 0 before the first. */
typedef struct make_writing {
    make_append *append;
    void *ctx;
    uint64_t fingerprint, count;
} make_writing;

/* Of hashes, or of pairs of a hash and its count. */
static tamis_status make_append_sorted(make_writing *to, const tamis_plan *plan,
                                       const uint64_t *items, size_t n, unsigned words)
{
    const bool is_whole = ops_have_whole_hashes(tamis__ops(plan->kind));
    uint64_t range = plan->slots << plan->width;
    tamis_status status = TAMIS_OK;

    for (const uint64_t *end = items + n * words; items < end && !status; items += words) {
        uint64_t next = is_whole ? *items : scale64(*items, range);
        if (to->count && next != to->fingerprint) {
            status = to->append(to->ctx, to->fingerprint, to->count);
            to->count = 0;
        }
        to->fingerprint = next;
        to->count += words == 2 ? items[1] : 1;
    }
    return status;
}

/* Sorted; equal hashes are pairs of which the counts were added. */
static tamis_status make_read_part(make_part *p)
{
    tamis_status status;

    p->value = 1;
    status = tamis__make_collect(p, &p->w->m->keys);
    if (!status && p->w->words == 2)
        return tamis__make_unique(p);
    tamis__sort(p->items, status ? 0 : p->n);
    return status;
}

/* Instead of a part that does not fit, its first half is read; after a second half comes what
 * follows the whole. */
static tamis_status make_write_bucket(const make_work *w, size_t bucket, unsigned worker)
{
    const unsigned whole = w->m->keys.bits;
    uint64_t number = bucket;

    for (unsigned bits = whole;;) {
        make_part p = tamis__make_part(w, worker, number, bits);
        tamis_status status = make_read_part(&p);
        if (status == TAMIS_NOMEM && bits < 64) {
            number *= 2;
            bits++;
            continue;
        }
        if (!status)
            status = make_append_sorted(w->ctx, &w->m->f->plan, p.items, p.n, w->words);
        for (; bits > whole && number % 2; bits--)
            number /= 2;
        if (status || bits == whole)
            return status;
        number++;
    }
}

/* From ascending hashes to distinct keys; returns how many there are. */
static size_t make_keys_of(const tamis *f, uint64_t *items, size_t n)
{
    uint64_t last = n ? ~items[0] : 0;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t hash = items[i];
        items[kept] = tamis__make_key(f, hash);
        kept += hash != last;
        last = hash;
    }
    return kept;
}

/* All in one batch: what a kind makes of its keys may depend on which came together. */
static tamis_status make_add_bucket(const make_work *w, size_t bucket, unsigned worker)
{
    make_part p = tamis__make_part(w, worker, bucket, w->m->keys.bits);
    tamis_status status = tamis__make_load(&p, &w->m->keys);
    uint64_t *spare = (uint64_t *)(p.memory + w->scratch_at);
    size_t added;

    if (status)
        return status;
    tamis__sort_groups(p.items, p.n, p.bits + group_bits(p.n), spare,
                       (size_t)(w->sizes.scratch / sizeof *spare));
    return tamis_add_many(w->m->f, &added, p.items, make_keys_of(w->m->f, p.items, p.n));
}

static make_sizes make_size_bucket(const make_work *w)
{
    return (make_sizes){ .room = tamis__make_largest(&w->m->keys, NULL, NULL, w->units) };
}

/* Groups of hashes are of nearly one size. */
static make_sizes make_size_set(const make_work *w)
{
    make_sizes s = make_size_bucket(w);

    s.scratch = (2 * (s.room >> group_bits(s.room)) + 64) * sizeof(uint64_t);
    return s;
}

static make_work make_in_order(make *m)
{
    return (make_work){
        .m = m, .size = make_size_bucket, .units = (size_t)1 << m->keys.bits, .most = 1, .words = 1
    };
}

tamis_status tamis__make_ordered(make *m, make_append *append, void *ctx)
{
    make_writing to = { .append = append, .ctx = ctx };
    make_work w = make_in_order(m);

    w.do_unit = make_write_bucket;
    w.ctx = &to;
    w.keeps_repeats = true;
    tamis_status status = tamis__make_run(&w);
    if (status == TAMIS_NOMEM && !to.count) {
        w.keeps_repeats = false;
        w.words = 2;
        status = tamis__make_run(&w);
    }
    return status || !to.count ? status : append(ctx, to.fingerprint, to.count);
}

tamis_status tamis__make_set(make *m)
{
    make_work w = make_in_order(m);

    w.do_unit = make_add_bucket;
    w.size = make_size_set;
    w.has_groups = true;
    return tamis__make_run(&w);
}
