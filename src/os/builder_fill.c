/* builder_fill.c - from what came to a filter, in memory or in a file. Prefix: builder_. */
#include <errno.h>

#include "core/memory.h"
#include "core/plan.h"
#include "os/builder.h"
#include "os/ordered_file.h"

/* ---- Kinds that add ---------------------------------------------------------- */

/* Some of what was given: keys, and their values if they have any. */
typedef tamis_status builder_take(tamis_builder *b, tamis *f, const uint64_t *keys,
                                  const uint64_t *values, size_t n);

static tamis_status builder_take_into_filter(tamis_builder *b, tamis *f, const uint64_t *keys,
                                             const uint64_t *values, size_t n)
{
    size_t done;

    (void)b;
    return values ? tamis_put_many(f, &done, keys, values, n) : tamis_add_many(f, &done, keys, n);
}

static tamis_status builder_take_as_items(tamis_builder *b, tamis *f, const uint64_t *keys,
                                          const uint64_t *values, size_t n)
{
    (void)f;
    (void)values;
    return tamis__builder_take_items(b, &b->keys, keys, NULL, n);
}

/* Pairs, as keys and values. */
static tamis_status builder_take_pairs(tamis_builder *b, tamis *f, builder_take *take,
                                       const uint64_t *pairs, size_t n)
{
    uint64_t keys[MAKE_BUFFER / 2], values[MAKE_BUFFER / 2];
    tamis_status status = TAMIS_OK;

    for (size_t at = 0, piece; at < n && !status; at += piece) {
        piece = n - at < MAKE_BUFFER / 2 ? n - at : MAKE_BUFFER / 2;
        for (size_t i = 0; i < piece; i++) {
            keys[i] = pairs[2 * (at + i)];
            values[i] = pairs[2 * (at + i) + 1];
        }
        status = take(b, f, keys, values, piece);
    }
    return status;
}

/* So many items of what was given. */
static tamis_status builder_take_given(tamis_builder *b, tamis *f, builder_take *take,
                                       const uint64_t *items, size_t n)
{
    return b->given.words == 2 ? builder_take_pairs(b, f, take, items, n)
                               : take(b, f, items, NULL, n);
}

/* What was given, in its order and in pieces. `before` and what follows is what progress is told
 * of. */
static tamis_status builder_for_all(tamis_builder *b, tamis *f, builder_take *take, uint64_t before,
                                    uint64_t total)
{
    const tamis_build_options *o = &b->options;
    size_t size = b->given.chunk * b->given.words * sizeof(uint64_t), n;
    const make_list l = tamis__spill_list(&b->given);
    make_cursor c = { .end = 1 };
    tamis_status status = TAMIS_OK;
    const uint64_t *items;
    uint64_t *buffer = tamis__scratch_new(&b->stub, size);

    if (!buffer)
        return TAMIS_NOMEM;
    while (!status && (items = tamis__make_read(&l, &c, buffer, &n)))
        for (size_t at = 0, piece; at < n && !status; at += piece) {
            piece = n - at < b->given.chunk ? n - at : b->given.chunk;
            before += piece;
            status = o->progress && !o->progress(o->ctx, before, total)
                         ? TAMIS_STOPPED
                         : builder_take_given(b, f, take, items + at * l.words, piece);
        }
    status = c.has_failed ? TAMIS_IO : status;
    b->error = status == TAMIS_IO ? errno : 0;
    tamis__scratch_free(&b->stub, buffer, size);
    return status;
}

/* Each key goes through three times: as an item, counted, and into the filter. */
static tamis_status builder_count_given(tamis_builder *b, uint64_t *distinct)
{
    uint64_t n = b->given.n, excluded;
    tamis_status status = builder_for_all(b, NULL, builder_take_as_items, 0, 3 * n);

    if (!status) {
        make m = tamis__builder_make(b);
        m.done = n;
        m.total = 3 * n;
        status = tamis__make_count(&m, false, distinct, &excluded);
    }
    tamis__spill_close(&b->keys);
    tamis__builder_open_keys(b);
    b->broken = TAMIS_OK; /* the keys that were given are all there */
    return status;
}

/* How many keys to plan for: those announced, or those that came. */
static tamis_status builder_size_given(tamis_builder *b, uint64_t *keys)
{
    if (*keys)
        return TAMIS_OK;
    if (b->stub.ops.item && b->largest == UINT64_MAX)
        return TAMIS_RANGE;
    *keys = b->stub.ops.item && b->given.n ? b->largest + 1 : b->given.n;
    if (b->stub.ops.item || builder_has(b, TAMIS_TRAIT_KEEPS_COPIES) || b->given.n < 2)
        return TAMIS_OK;
    return builder_count_given(b, keys);
}

/* Keys go to the file if there is no room for the filter beside them. */
tamis_status tamis__builder_fill_given(tamis_builder *b, tamis **out)
{
    tamis_spec spec = b->spec;
    tamis_plan plan;
    tamis *f;
    tamis_status status = builder_size_given(b, &spec.keys);

    if (status)
        return status;
    status = tamis__builder_plan_for(b, &plan, &spec);
    if (!status && b->given.items && plan.bytes > builder_memory_left(b, builder_held(b)))
        status = tamis__spill_to_file(&b->given);
    if (!status)
        status = tamis__builder_new_filter(b, &f, &plan, builder_held(b));
    if (status)
        return status;
    status = builder_for_all(b, f, builder_take_into_filter, 2 * b->given.n, 3 * b->given.n);
    if (status)
        tamis_free(f);
    else
        *out = f;
    return status;
}

/* ---- Kinds that are solved --------------------------------------------------- */

static tamis_status builder_put(const make *m, uint64_t offset, const void *part, size_t size)
{
    const tamis_builder *b = m->host->ctx;

    offset += tamis__image_offset(&m->f->plan);
    return tamis__file_write(b->save->fd, offset, part, size) ? TAMIS_OK : TAMIS_IO;
}

/* To a new filter; or to a file: then the stub takes the plan, and parts go there. */
static tamis_status builder_solve(tamis_builder *b, tamis **out, file_save *save)
{
    make m = tamis__builder_make(b);
    tamis_plan plan;
    tamis_status status = tamis__builder_plan_solved(b, &m, &plan);

    if (!status && !save)
        status = tamis__builder_new_filter(b, &m.f, &plan, 0);
    if (status)
        return status;
    if (save)
        tamis__builder_set_plan(b, &plan);
    b->save = save;
    b->host.put = save ? builder_put : NULL;
    status = tamis__make_solve(&m);
    b->host.put = NULL;
    if (save)
        return status ? status : tamis__save_seal(save, m.f);
    if (status)
        tamis_free(m.f);
    else
        *out = m.f;
    return status;
}

static tamis_status builder_solve_file(tamis_builder *b, const char *path)
{
    file_save *save = tamis__scratch_new(&b->stub, sizeof *save);

    if (!save)
        return TAMIS_NOMEM;
    tamis_status status = tamis__save_begin(save, path, b->spec.hasher.hash == TAMIS_KEYED);
    if (!status)
        status = tamis__save_end(save, builder_solve(b, NULL, save));
    tamis__scratch_free(&b->stub, save, sizeof *save);
    return status;
}

tamis_status tamis__builder_fill_solved(tamis_builder *b, tamis **out, const char *path)
{
    return path ? builder_solve_file(b, path) : builder_solve(b, out, NULL);
}

/* ---- Kinds in order, and kinds that build sets ------------------------------- */

static tamis_status builder_append(void *ctx, uint64_t fingerprint, uint64_t count)
{
    tamis_writer *w = ctx;

    return w->f->ops.append(w, fingerprint, count);
}

static tamis_status builder_write(make *m, tamis **out, const tamis_plan *plan)
{
    tamis_builder *b = m->host->ctx;
    tamis_writer w = { 0 };
    tamis_status status = tamis__builder_new_filter(b, &m->f, plan, 0);

    if (status)
        return status;
    w.f = m->f;
    if (builder_has(b, TAMIS_TRAIT_BUILDS_SETS)) {
        status = tamis__make_set(m);
    } else {
        status = tamis__make_ordered(m, builder_append, &w);
        (void)w.f->ops.append(&w, 0, 0);
    }
    if (status)
        tamis_free(m->f);
    else
        *out = m->f;
    return status;
}

static tamis_status builder_append_to_file(void *ctx, uint64_t fingerprint, uint64_t count)
{
    return tamis__ordered_file_append(ctx, fingerprint, count);
}

static tamis_status builder_write_file(make *m, const char *path, const tamis_plan *plan)
{
    tamis_builder *b = m->host->ctx;
    ordered_file *o = tamis__scratch_new(&b->stub, sizeof *o);

    if (!o)
        return TAMIS_NOMEM;
    tamis__builder_set_plan(b, plan);
    m->f = &b->stub;
    tamis_status status = tamis__ordered_file_begin(o, path, plan);
    if (!status) {
        status = tamis__make_ordered(m, builder_append_to_file, o);
        status = tamis__save_end(&o->save, tamis__ordered_file_complete(o, status));
    }
    tamis__scratch_free(&b->stub, o, sizeof *o);
    return status;
}

/* Fingerprints of a larger filter are the same, so that growing is starting again: what was done in
 * vain is more work in all. */
tamis_status tamis__builder_fill_ordered(tamis_builder *b, tamis **out, const char *path)
{
    make m = tamis__builder_make(b);
    tamis_spec spec = b->spec;
    tamis_plan plan;
    tamis_status status = tamis__builder_size_items(b, &m, &spec.keys);

    if (status)
        return status;
    status = tamis__builder_plan_for(b, &plan, &spec);
    while (!status) {
        const uint64_t done = m.done;
        status = path ? builder_write_file(&m, path, &plan) : builder_write(&m, out, &plan);
        if (status != TAMIS_FULL || !b->stub.ops.append)
            break;
        m.total += m.done - done;
        status = tamis__builder_enlarge(b, &plan, &spec);
    }
    return status;
}
