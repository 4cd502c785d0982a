/* builder_finish.c - the end of a builder: a filter, or a file. Prefix: builder_. */
#include <errno.h>

#include "core/grow.h"
#include "core/memory.h"
#include "core/plan.h"
#include "os/builder.h"
#include "tamis_file.h"

/* ---- Kinds that adapt -------------------------------------------------------- */

/* One round over all excluded keys. */
static tamis_status builder_exclude_round(tamis_builder *b, tamis *f, uint64_t *buffer,
                                          bool *is_done)
{
    const make_list l = tamis__spill_list(&b->excluded);
    make_cursor c = { .end = SPILL_BUCKETS };
    tamis_status status = TAMIS_OK;
    uint64_t keys[MAKE_BUFFER];
    const uint64_t *items;
    size_t n;

    while (!status && (items = tamis__make_read(&l, &c, buffer, &n)))
        for (size_t at = 0, piece; at < n && !status; at += piece) {
            piece = n - at < MAKE_BUFFER ? n - at : MAKE_BUFFER;
            for (size_t i = 0; i < piece; i++)
                keys[i] = tamis__make_key(f, items[at + i]);
            status = tamis__exclude(f, keys, piece, is_done);
        }
    return c.has_failed ? TAMIS_IO : status;
}

static tamis_status builder_exclude(tamis_builder *b, tamis *f)
{
    size_t size = b->excluded.chunk * sizeof(uint64_t);
    tamis_status status = TAMIS_OK;
    bool is_done = false;
    uint64_t *buffer = tamis__scratch_new(&b->stub, size);

    if (!buffer)
        return TAMIS_NOMEM;
    for (int round = 0; round < EXCLUDE_ROUNDS && !status && !is_done; round++) {
        is_done = true;
        status = builder_exclude_round(b, f, buffer, &is_done);
    }
    b->error = status == TAMIS_IO ? errno : 0;
    tamis__scratch_free(&b->stub, buffer, size);
    return !status && !is_done ? TAMIS_FULL : status;
}

/* ---- Finishing --------------------------------------------------------- */

/* Kinds in order and kinds that are solved can be written straight into a file, unless other keys
 * have a say in what is in it. */
static bool builder_can_write(const tamis_builder *b)
{
    if (b->stub.ops.solve)
        return !builder_has(b, TAMIS_TRAIT_TAKES_EXCLUDED);
    return b->stub.ops.append && b->excluded.n == 0;
}

static tamis_status builder_fill(tamis_builder *b, tamis **out, const char *path)
{
    if (b->stub.ops.solve)
        return tamis__builder_fill_solved(b, out, path);
    if (builder_takes_items(b))
        return tamis__builder_fill_ordered(b, out, path);
    if (!b->filter)
        return tamis__builder_fill_given(b, out);
    *out = b->filter;
    b->filter = NULL;
    return TAMIS_OK;
}

/* Kinds that adapt do not take keys at once: after a failure, the keys still wait. */
static tamis_status builder_make_filter(tamis_builder *b, tamis **out)
{
    tamis *f;
    tamis_status status = builder_fill(b, &f, NULL);

    if (status)
        return status;
    if (b->stub.ops.adapt && b->excluded.n)
        status = builder_exclude(b, f);
    if (status)
        tamis_free(f);
    else
        *out = f;
    return status;
}

/* By way of memory. A filter that took keys at once stays if it cannot be saved. */
static tamis_status builder_save_filter(tamis_builder *b, const char *path)
{
    tamis *f = b->filter;
    tamis_status status = f ? TAMIS_OK : builder_make_filter(b, &f);

    if (!status)
        status = tamis_save(f, path);
    if (!status || status == TAMIS_UNSYNCED)
        b->stub.plan = f->plan;
    if (f != b->filter)
        tamis_free(f);
    return status;
}

static tamis_status builder_begin_end(tamis_builder *b)
{
    tamis_status status = b->broken ? tamis__builder_broken(b) : tamis__builder_join_lanes(b);

    if (!status)
        b->error = 0;
    return status;
}

/* Nothing is left in it after a success. Gives errno what the engine met, whatever was called
 * since.
 */
static tamis_status builder_end(tamis_builder *b, tamis_status status)
{
    if (!status || status == TAMIS_UNSYNCED) {
        tamis__spill_close(&b->given);
        tamis__spill_close(&b->keys);
        tamis__spill_close(&b->excluded);
        b->broken = TAMIS_CANNOT;
    }
    if (status == TAMIS_IO && b->error)
        errno = b->error;
    return status;
}

tamis_status tamis_builder_finish(tamis **out, tamis_builder *b)
{
    tamis_status status = builder_begin_end(b);

    return status ? status : builder_end(b, builder_make_filter(b, out));
}

tamis_status tamis_builder_save(tamis_builder *b, const char *path, tamis_plan *plan)
{
    tamis_status status = builder_begin_end(b);

    if (status)
        return status;
    status = builder_can_write(b) ? builder_fill(b, NULL, path) : builder_save_filter(b, path);
    if (plan && (!status || status == TAMIS_UNSYNCED))
        *plan = b->stub.plan;
    return builder_end(b, status);
}
