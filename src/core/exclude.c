/* exclude.c - the engine for kinds that tell their keys from certain others. See make.h.
 *
 * Both lists are gone through three times. Of a part, no more is in memory than its keys and those
 * of the others that pass its sieve, about as many, however many others there are:
 *
 *   sieve    of the keys; if the plan is inverted, of the others
 *   tell     how many of the other list pass it, so that no more room is taken than they need
 *   rest     of the keys and the others that pass
 *
 * A key that is among the others, too, is a key. In clean lists it is found by sorting: of an
 * inverted plan, that needs both lists in either stage. */
#include <string.h>

#include "base/sort.h"
#include "core/make.h"

static bool exclude_is_inverted(const make *m)
{
    return m->f->plan.flags & TAMIS_PLAN_INVERTED;
}

/* ---- Items of a part --------------------------------------------------- */

/* Keys that are none of the others; of them, in the rest, only those that pass the sieve, as it
 * tells what fails. */
static void exclude_drop(make_part *p)
{
    tamis_entry *e = (tamis_entry *)p->items;
    const bool is_rest = p->w->stage == TAMIS_STAGE_REST;
    size_t kept = 0;

    for (size_t i = 0; i < p->n; i++)
        if (e[i].value == 0 || (is_rest && tamis__make_passes(p->w->m, e[i].hash)))
            e[kept++] = e[i];
    p->n = kept;
}

static tamis_status exclude_collect(make_part *p)
{
    const make *m = p->w->m;
    const bool is_inverted = exclude_is_inverted(m), takes_all = is_inverted && m->is_clean;
    tamis_status status;

    p->value = !is_inverted;
    status = tamis__make_collect(p, is_inverted ? &m->others : &m->keys);
    if (!status && (takes_all || p->w->stage == TAMIS_STAGE_REST)) {
        p->value = is_inverted;
        p->is_sieved = !takes_all;
        status = tamis__make_collect(p, is_inverted ? &m->keys : &m->others);
    }
    if (!status && m->is_clean)
        status = tamis__make_unique(p);
    if (!status && takes_all)
        exclude_drop(p);
    return status;
}

/* ---- Stages ------------------------------------------------------------ */

static tamis_status exclude_solve_unit(const make_work *w, size_t unit, unsigned worker)
{
    unsigned bits = tamis__make_part_bits(&w->m->f->plan);
    size_t parts = ((size_t)1 << bits) / w->units;
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < parts && !status; i++) {
        make_part p = tamis__make_part(w, worker, unit * parts + i, bits);
        status = exclude_collect(&p);
        if (!status && !w->m->is_clean)
            tamis__make_group(&p);
        if (!status)
            status = tamis__make_solve_part(&p);
    }
    return status;
}

static void exclude_size_solve(make_work *w)
{
    const make *m = w->m;
    const bool is_inverted = exclude_is_inverted(m), is_rest = w->stage == TAMIS_STAGE_REST;
    const make_list *kept = is_inverted ? &m->others : &m->keys;
    const make_list *tried = is_inverted ? &m->keys : &m->others;
    const uint64_t *counts = is_rest ? m->rest : is_inverted ? m->both : m->distinct;
    const bool takes_all = is_rest || (is_inverted && m->is_clean);
    uint64_t all = tamis__make_largest(kept, takes_all ? tried : NULL, NULL, w->units);
    uint64_t most =
        is_rest || m->is_clean ? tamis__make_largest(kept, NULL, counts, w->units) : all;

    w->words = 2;
    w->room = m->is_clean ? tamis__make_room(tried, all, most) : (size_t)most;
    w->scratch = m->f->ops.scratch(&m->f->plan, w->stage, (size_t)most);
}

static tamis_status exclude_solve(make *m, enum tamis_stage stage)
{
    make_work w = { .m = m,
                    .do_unit = exclude_solve_unit,
                    .set_sizes = exclude_size_solve,
                    .units = tamis__make_units(m),
                    .groups = !m->is_clean,
                    .stage = stage };

    return tamis__make_run(&w);
}

/* ---- What passes the sieve --------------------------------------------- */

/* In an array, repeated ones are counted as often as they come. */
static uint64_t exclude_count_passing(const make_part *p, const make_list *l)
{
    make_cursor c = { .next = (size_t)p->number, .end = (size_t)p->number + 1 };
    const uint64_t *items;
    uint64_t passing = 0;
    size_t n;

    while ((items = tamis__make_read(l, &c, tamis__make_buffer(p), &n)))
        for (size_t i = 0; i < n; i++)
            passing += tamis__make_passes(p->w->m, items[i]);
    return passing;
}

static tamis_status exclude_tell_bucket(const make_work *w, size_t bucket, unsigned worker)
{
    make *m = w->m;
    const make_list *kept = exclude_is_inverted(m) ? &m->others : &m->keys;
    const make_list *tried = exclude_is_inverted(m) ? &m->keys : &m->others;
    make_part p = tamis__make_part(w, worker, bucket, kept->bits);
    tamis_status status = TAMIS_OK;

    if (m->host->unload)
        status = exclude_collect(&p);
    else
        p.n = (size_t)(kept->starts[bucket + 1] - kept->starts[bucket] +
                       exclude_count_passing(&p, tried));
    m->rest[bucket] = p.n;
    return status;
}

static void exclude_size_tell(make_work *w)
{
    const make *m = w->m;
    uint64_t all = tamis__make_largest(&m->keys, &m->others, NULL, w->units);

    w->words = 2;
    if (m->host->unload)
        w->room = tamis__make_room(&m->others, all,
                                   tamis__make_largest(&m->keys, NULL, m->both, w->units));
}

/* Of clean lists, an inverted plan takes all items whether they pass or not. */
static tamis_status exclude_tell(make *m)
{
    make_work w = { .m = m,
                    .do_unit = exclude_tell_bucket,
                    .set_sizes = exclude_size_tell,
                    .units = (size_t)1 << m->keys.bits,
                    .stage = TAMIS_STAGE_REST };

    if (!exclude_is_inverted(m) || !m->is_clean)
        return tamis__make_run(&w);
    memcpy(m->rest, m->both, w.units * sizeof *m->rest);
    m->done += m->keys.n + m->others.n;
    return TAMIS_OK;
}

tamis_status tamis__make_excluding(make *m)
{
    tamis_status status = exclude_solve(m, TAMIS_STAGE_SIEVE);

    if (!status)
        status = exclude_tell(m);
    return status ? status : exclude_solve(m, TAMIS_STAGE_REST);
}
