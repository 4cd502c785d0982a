/* make.c - the engine: units of work, and solving part by part. See make.h.
 *
 * Memory besides the payload: if keys in an array make several parts, their items, by part; then,
 * for each worker, the items of the largest part and what solve() needs. */
#include "core/make.h"

#include <string.h>

#include "base/bits.h"
#include "base/parts.h"
#include "core/memory.h"
#include "core/plan.h"

/* ---- Units of work ----------------------------------------------------- */

static size_t make_buffer_size(const make_list *l)
{
    return (l->keys ? MAKE_BUFFER : l->chunk * l->words) * sizeof(uint64_t);
}

/* A worker has
 *
 *   | part, if it goes elsewhere | scratch | items | buffer to read to | starts of groups |  */
static void make_lay_out(make_work *w)
{
    size_t a = make_buffer_size(&w->m->keys), b = make_buffer_size(&w->m->excluded);
    uint64_t items = w->sizes.room * w->words * sizeof(uint64_t);

    w->scratch_at = round_up(w->sizes.part, 64);
    w->items_at = w->scratch_at + round_up(w->sizes.scratch, 64);
    w->buffer_at = w->items_at + round_up(items, 64);
    w->starts_at = w->buffer_at + round_up(a > b ? a : b, 64);
    w->needs = w->starts_at;
    if (w->has_groups)
        w->needs += (uint64_t)tamis__make_pieces(w->team) * sizeof(size_t)
                    << group_bits(w->sizes.room);
    w->needs = round_up(w->needs, 64) + 64;
}

/* As many workers as have something to do and fit in the memory that is left. */
static unsigned make_workers(make_work *w)
{
    const make *m = w->m;
    uint64_t left = m->host->memory ? m->host->memory(m) : UINT64_MAX;
    uint64_t payload = m->f->payload ? m->f->plan.bytes : 0;
    uint64_t n = w->most ? w->most : m->host->threads ? m->host->threads : 1;

    make_lay_out(w);
    left = left > payload ? left - payload : 0;
    left = left < SIZE_MAX / 2 ? left : SIZE_MAX / 2;
    n = n < w->units ? n : w->units;
    return (unsigned)(n < left / w->needs ? n : left / w->needs);
}

static unsigned make_workers_in_teams(make_work *w, unsigned team)
{
    w->team = team;
    w->sizes = w->size ? w->size(w) : (make_sizes){ 0 };
    return make_workers(w);
}

/* So few items that threads would take longer to start. */
enum { FEW_TO_SHARE = 1 << 16 };

static unsigned make_team(const make_work *w)
{
    bool is_alone = w->units > 1 || w->m->keys.n <= FEW_TO_SHARE || w->m->host->threads == 0;

    return is_alone ? 1 : w->m->host->threads;
}

/* A single unit is for all workers, if that much memory can be had. Lists go out of memory if there
 * is no room beside them. Then less room is often enough, as repeated items are dropped when it is
 * full, and most may be. */
static tamis_status make_find_room(make_work *w, unsigned *workers)
{
    make *m = w->m;
    unsigned n = make_workers_in_teams(w, make_team(w));

    if (n == 0 && w->team > 1)
        n = make_workers_in_teams(w, 1);
    if (n == 0 && m->host->unload && (m->keys.items || m->excluded.items)) {
        tamis_status status = m->host->unload(m);
        if (status)
            return status;
        n = make_workers_in_teams(w, 1);
    }
    while (n == 0 && m->keys.read && !w->keeps_repeats && w->sizes.room > m->keys.chunk) {
        w->sizes.room -= w->sizes.room / 16 + 1;
        n = make_workers(w);
    }
    *workers = n;
    return n ? TAMIS_OK : TAMIS_NOMEM;
}

tamis_status tamis__make_run(make_work *w)
{
    uint8_t *block = NULL;
    size_t size = 0;
    unsigned n;
    tamis_status status = make_find_room(w, &n);

    if (status)
        return status;
    for (; n > 0 && !block; n -= !block) {
        size = (size_t)w->needs * n + 63;
        block = tamis__scratch_new(w->m->f, size);
    }
    if (!block)
        return TAMIS_NOMEM;
    w->memory = block + (-(uintptr_t)block & 63);
    if (w->m->host->run)
        status = w->m->host->run(w, n);
    for (size_t i = 0; i < w->units && !status && !w->m->host->run; i++)
        status = w->do_unit(w, i, 0);
    tamis__scratch_free(w->m->f, block, size);
    return status;
}

typedef struct make_sharing {
    tamis_piece *do_piece;
    void *ctx;
} make_sharing;

static tamis_status make_do_piece(const make_work *w, size_t piece, unsigned worker)
{
    const make_sharing *s = w->ctx;

    s->do_piece(s->ctx, piece, worker);
    return TAMIS_OK;
}

void tamis__make_share(const tamis_team *t, tamis_piece *do_piece, void *ctx, size_t pieces)
{
    make *m = t->ctx;
    make_sharing s = { do_piece, ctx };
    make_work w = {
        .m = m, .do_unit = make_do_piece, .units = pieces, .is_shared = true, .ctx = &s
    };

    if (t->workers > 1 && m->host->run)
        (void)m->host->run(&w, t->workers);
    else
        for (size_t i = 0; i < pieces; i++)
            do_piece(ctx, i, 0);
}

uint64_t tamis__make_weight(const make_work *w, size_t unit)
{
    size_t n = ((size_t)1 << w->m->keys.bits) / w->units, from = unit * n;

    return make_between(&w->m->keys, from, from + n) +
           make_between(&w->m->excluded, from, from + n);
}

uint64_t tamis__make_largest(const make_list *a, const make_list *b, const uint64_t *counts,
                             size_t units)
{
    size_t n = ((size_t)1 << a->bits) / units;
    uint64_t most = 0;

    for (size_t from = 0; from < units * n; from += n) {
        uint64_t sum =
            counts ? 0 : make_between(a, from, from + n) + make_between(b, from, from + n);
        for (size_t i = from; i < from + n && counts; i++)
            sum += counts[i];
        most = sum > most ? sum : most;
    }
    return most;
}

uint64_t tamis__make_room(const make_list *l, uint64_t all, uint64_t distinct)
{
    uint64_t ample = distinct + distinct / 4 + l->chunk + 64;

    return ample < all ? ample : all;
}

/* ---- Counting ---------------------------------------------------------- */

static tamis_status make_count_bucket(const make_work *w, size_t bucket, unsigned worker)
{
    make *m = w->m;
    make_part p = tamis__make_part(w, worker, bucket, m->keys.bits);
    tamis_status status = tamis__make_collect(&p, &m->keys);

    if (!status)
        status = tamis__make_unique(&p);
    m->distinct[bucket] = p.n;
    if (status || !w->ctx)
        return status;
    status = tamis__make_collect(&p, w->ctx);
    (void)tamis__make_unique(&p);
    m->both[bucket] = p.n;
    return status;
}

static make_sizes make_size_count(const make_work *w)
{
    return (make_sizes){ .room = tamis__make_largest(&w->m->keys, w->ctx, NULL, w->units) };
}

tamis_status tamis__make_count(make *m, bool with_excluded, uint64_t *keys, uint64_t *excluded)
{
    make_work w = { .m = m,
                    .do_unit = make_count_bucket,
                    .size = make_size_count,
                    .units = (size_t)1 << m->keys.bits,
                    .words = m->keys.words,
                    .ctx = with_excluded ? &m->excluded : NULL };
    tamis_status status = tamis__make_run(&w);

    m->is_counted = !status;
    *keys = *excluded = 0;
    for (size_t i = 0; i < w.units && !status; i++) {
        *keys += m->distinct[i];
        *excluded += with_excluded ? m->both[i] - m->distinct[i] : 0;
    }
    return status;
}

/* ---- Solving ----------------------------------------------------------- */

unsigned tamis__make_part_bits(const tamis_plan *p)
{
    bool is_one = tamis__ops(p->kind)->traits & TAMIS_TRAIT_ONE_PART;

    return is_one ? 0 : part_bits(p->capacity);
}

uint64_t tamis__make_part_room(const tamis_plan *p)
{
    bool is_one = tamis__ops(p->kind)->traits & TAMIS_TRAIT_ONE_PART;

    return is_one ? p->capacity : part_room(p->capacity);
}

/* Puts the part in its place. */
static tamis_status make_solve_part(make_part *p)
{
    const make *m = p->w->m;
    size_t size = (size_t)(m->f->plan.bytes >> p->bits);
    uint8_t *at = m->host->put ? p->memory : (uint8_t *)m->f->payload + p->number * size;

    if (m->host->put)
        memset(at, 0, size);
    tamis_status status =
        m->f->ops.solve(m->f, p->w->stage, at, p->items, &p->n, p->memory + p->w->scratch_at,
                        p->w->team > 1 ? &p->team : NULL);
    return status || !m->host->put ? status : m->host->put(m, p->number * size, at, size);
}

static tamis_status make_solve_unit(const make_work *w, size_t unit, unsigned worker)
{
    make *m = w->m;
    unsigned bits = tamis__make_part_bits(&m->f->plan);
    size_t parts = ((size_t)1 << bits) / w->units;
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < parts && !status; i++) {
        make_part p = tamis__make_part(w, worker, unit * parts + i, bits);
        status = make_excludes(m) ? tamis__make_load_both(&p) : tamis__make_load(&p, &m->keys);
        if (!status)
            status = make_solve_part(&p);
        __atomic_fetch_add(&m->count, p.n, __ATOMIC_RELAXED);
    }
    return status;
}

static make_sizes make_size_solve(const make_work *w)
{
    const make *m = w->m;
    const tamis_plan *plan = &m->f->plan;
    uint64_t all = tamis__make_largest(&m->keys, NULL, NULL, w->units), distinct = all;

    if (m->is_counted && m->keys.read)
        distinct = tamis__make_largest(&m->keys, NULL, m->distinct, w->units);
    uint64_t room = tamis__make_room(&m->keys, all, distinct);
    return (make_sizes){ .room = room,
                         .scratch = m->f->ops.scratch(plan, w->stage, room, w->team),
                         .part = m->host->put ? plan->bytes >> tamis__make_part_bits(plan) : 0 };
}

uint64_t tamis__make_needs(const tamis_plan *p)
{
    const tamis_ops *ops = tamis__ops(p->kind);
    make none = { 0 };
    uint64_t room = tamis__make_part_room(p);
    make_work w = { .m = &none,
                    .words = ops->traits & TAMIS_TRAIT_TAKES_VALUES ? 2 : 1,
                    .has_groups = true,
                    .team = 1,
                    .sizes = { .room = room,
                               .scratch = ops->scratch(p, TAMIS_STAGE_SIEVE, room, 1),
                               .part = p->bytes >> tamis__make_part_bits(p) } };

    make_lay_out(&w);
    return w.needs;
}

tamis_status tamis__make_solve_stage(make *m, enum tamis_stage stage, unsigned words,
                                     make_size *size)
{
    unsigned bits = tamis__make_part_bits(&m->f->plan);
    make_work w = { .m = m,
                    .do_unit = make_solve_unit,
                    .size = size,
                    .units = (size_t)1 << (bits < m->keys.bits ? bits : m->keys.bits),
                    .words = words,
                    .has_groups = true,
                    .stage = stage };

    return tamis__make_run(&w);
}

/* How often keys may not fit before they are taken for chosen ones, of which no filter of a
 * reasonable size can be made. Each step adds a sixteenth: eight make 1.63 times the planned size,
 * more than any set needs but by choice. */
enum { MOST_LARGER = 8 };

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

/* That a key is among the excluded keys, too, is found while solving, if only because there is no
 * room for it: both lists are cleaned when one is, not before. What was done in vain is more work
 * in all. */
tamis_status tamis__make_solve(make *m)
{
    unsigned steps = 0;

    for (uint64_t done = m->done;; m->total += m->done - done, done = m->done) {
        m->count = 0;
        tamis_status status =
            make_excludes(m)
                ? tamis__make_excluding(m)
                : tamis__make_solve_stage(m, TAMIS_STAGE_SIEVE, m->keys.words, make_size_solve);
        bool is_unclean = make_excludes(m) && !m->is_clean;
        if (is_unclean && (status == TAMIS_FULL || status == TAMIS_CONFLICT)) {
            m->is_clean = true;
            tamis__payload_clear(m->f);
        } else if (status == TAMIS_FULL) {
            status = steps++ < MOST_LARGER ? make_enlarge(m) : TAMIS_FULL;
            if (status)
                return status;
        } else {
            m->f->count = m->count;
            tamis__use_cpu(m->f, m->f->cpu);
            return status;
        }
    }
}
