/* make_excluding.c - the engine for kinds that tell their keys from excluded ones. See make.h.
 *
 * Both lists are gone through three times. Of a part, no more is in memory than its keys and those
 * of the excluded keys that pass its sieve, about as many, however many of these there are:
 *
 *   sieve    of the keys; if the plan is inverted, of the excluded keys
 *   tell     how many of the other list pass it, so that no more room is taken than they need
 *   rest     of the list that the sieve is of, and what passes it of the other
 *
 * A key that is among the excluded keys, too, is a key. In clean lists it is found by sorting;
 * inverted plans need both lists for that, in the sieve as in the rest. */
#include <string.h>

#include "core/make.h"

/* The list that the sieve is made of. */
static const make_list *make_sieved(const make *m)
{
    return m->f->plan.flags & TAMIS_PLAN_INVERTED ? &m->excluded : &m->keys;
}

/* The list that is tried on it. */
static const make_list *make_tried(const make *m)
{
    return m->f->plan.flags & TAMIS_PLAN_INVERTED ? &m->keys : &m->excluded;
}

/* Whether keys among the excluded keys must be dropped from the sieve. */
static bool make_drops_keys(const make *m)
{
    return m->is_clean && m->f->plan.flags & TAMIS_PLAN_INVERTED;
}

/* Of an inverted plan: all keys, in the rest those that fail the sieve, which tells them. */
static void make_drop_keys(make_part *p)
{
    const bool is_rest = p->w->stage == TAMIS_STAGE_REST;
    tamis_entry *e = (tamis_entry *)p->items;
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++)
        if (e[i].value == 0 || (is_rest && tamis__make_passes(p->w->m->f, e[i].hash)))
            e[kept++] = e[i];
    p->n = kept;
}

tamis_status tamis__make_load_both(make_part *p)
{
    const make *m = p->w->m;
    const bool drops_keys = make_drops_keys(m);

    p->value = make_sieved(m) == &m->keys;
    tamis_status status = tamis__make_collect(p, make_sieved(m));
    if (!status && (drops_keys || p->w->stage == TAMIS_STAGE_REST)) {
        p->value = !p->value;
        p->is_sieved = !drops_keys;
        status = tamis__make_collect(p, make_tried(m));
    }
    if (!status && m->is_clean)
        status = tamis__make_unique(p);
    else if (!status && p->w->has_groups)
        tamis__make_group(p);
    if (!status && drops_keys)
        make_drop_keys(p);
    return status;
}

static make_sizes make_size_stage(const make_work *w)
{
    const make *m = w->m;
    const bool is_rest = w->stage == TAMIS_STAGE_REST, takes_both = is_rest || make_drops_keys(m);
    const uint64_t *counts = is_rest ? m->rest : takes_both ? m->both : m->distinct;
    uint64_t all =
        tamis__make_largest(make_sieved(m), takes_both ? make_tried(m) : NULL, NULL, w->units);
    uint64_t most =
        is_rest || m->is_clean ? tamis__make_largest(&m->keys, NULL, counts, w->units) : all;

    return (make_sizes){ .room = m->is_clean ? tamis__make_room(&m->keys, all, most) : most,
                         .scratch = m->f->ops.scratch(&m->f->plan, w->stage, most, w->team) };
}

/* ---- What passes the sieve --------------------------------------------- */

/* In an array, repeated ones are counted as often as they come. */
static tamis_status make_tell_bucket(const make_work *w, size_t bucket, unsigned worker)
{
    make *m = w->m;
    make_part p = tamis__make_part(w, worker, bucket, m->keys.bits);
    make_cursor c = tamis__make_start(&p, &m->keys);
    tamis_status status = TAMIS_OK;
    const uint64_t *items;
    size_t n;

    if (m->host->unload) {
        status = tamis__make_load_both(&p);
    } else {
        p.n = (size_t)(make_sieved(m)->starts[c.end] - make_sieved(m)->starts[c.next]);
        while ((items = tamis__make_read(make_tried(m), &c, p.buffer, &n)))
            for (size_t i = 0; i < n; i++)
                p.n += tamis__make_passes(m->f, items[i]);
    }
    m->rest[bucket] = p.n;
    return status;
}

static make_sizes make_size_tell(const make_work *w)
{
    const make *m = w->m;
    uint64_t all = tamis__make_largest(&m->keys, &m->excluded, NULL, w->units);
    uint64_t distinct = tamis__make_largest(&m->keys, NULL, m->both, w->units);

    return (make_sizes){ .room = m->host->unload ? tamis__make_room(&m->keys, all, distinct) : 0 };
}

/* Where keys are dropped, all items of both lists are looked at whether they pass or not. */
static tamis_status make_tell(make *m)
{
    make_work w = { .m = m,
                    .do_unit = make_tell_bucket,
                    .size = make_size_tell,
                    .units = (size_t)1 << m->keys.bits,
                    .words = 2,
                    .stage = TAMIS_STAGE_REST };

    if (!make_drops_keys(m))
        return tamis__make_run(&w);
    memcpy(m->rest, m->both, w.units * sizeof *m->rest);
    m->done += m->keys.n + m->excluded.n;
    return TAMIS_OK;
}

tamis_status tamis__make_excluding(make *m)
{
    tamis_status status = tamis__make_solve_stage(m, TAMIS_STAGE_SIEVE, 2, make_size_stage);

    if (!status)
        status = make_tell(m);
    if (!status)
        status = tamis__make_solve_stage(m, TAMIS_STAGE_REST, 2, make_size_stage);
    m->count = 0;
    for (size_t i = 0; i < (size_t)1 << m->keys.bits; i++)
        m->count += m->distinct[i];
    return status;
}
