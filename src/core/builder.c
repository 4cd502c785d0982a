/* builder.c - filters of sets whose size is unknown, or that do not fit in memory.
 *
 * Keys of static and of ordered kinds, and of those that build sets, wait as hashes, in buckets by
 * their leading bits, for solve.c, split.c and pour.c: with their values, or in two lists, if the
 * kind needs more than keys. Other kinds take keys at once if the size is known; if not, keys wait
 * in the order given.
 */
#include "core/builder.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "core/set.h"

/* With less, the buffers of the file would be more than a quarter of it. */
static const uint64_t MEMORY_MIN = 4 << 20;

/* ---- Life -------------------------------------------------------------- */

uint64_t tamis__memory_left(const tamis_builder *b, uint64_t taken)
{
    uint64_t memory = b->options.memory;

    if (memory == 0)
        return UINT64_MAX;
    return taken < memory ? memory - taken : 0;
}

bool tamis__is_wanted(const tamis_builder *b, uint64_t done, uint64_t total)
{
    return !b->options.progress || b->options.progress(b->options.ctx, done, total);
}

uint64_t tamis__items_in(const tamis_builder *b, size_t bucket)
{
    uint64_t n = tamis__spill_count(&b->spill, bucket);

    return b->ops->splitter ? n + tamis__spill_count(&b->others, bucket) : n;
}

static uint32_t bits_of(uint64_t x)
{
    return x ? 64 - (uint32_t)__builtin_clzll(x) : 0;
}

/* A value has a bit in any case, and there is a universe around the keys. */
tamis_spec tamis__builder_spec(const tamis_builder *b)
{
    tamis_spec spec = b->spec;

    if (b->ops->mapper && spec.value_bits == 0)
        spec.value_bits = bits_of(b->values | 1);
    if (b->ops->splitter && spec.universe == 0)
        spec.universe = spec.keys + 1;
    return spec;
}

static bool is_static(const tamis_builder *b)
{
    return b->ops->solver || b->ops->mapper || b->ops->splitter;
}

static tamis_status make_filter(const tamis_builder *b, tamis **out, uint64_t keys, uint64_t held)
{
    tamis_spec spec = b->spec;
    tamis_plan plan;

    spec.keys = keys;
    tamis_status status = tamis_plan_kind(&plan, b->kind, &spec);
    if (!status && plan.bytes > tamis__memory_left(b, held))
        status = TAMIS_NOMEM;
    return status ? status : tamis_new(out, &plan, NULL);
}

/* What no number of keys can change is refused before they come, and so is a number of them that
 * would not fit. */
static tamis_status check(const tamis_builder *b)
{
    uint64_t memory = b->options.memory;
    tamis_plan plan;

    if (!b->ops)
        return TAMIS_RANGE;
    if (!is_static(b) && !b->ops->add)
        return TAMIS_CANNOT;
    tamis_spec spec = tamis__builder_spec(b);
    tamis_status status = tamis_plan_kind(&plan, b->kind, &spec);
    if (status || memory == 0)
        return status;
    if (memory < MEMORY_MIN)
        return TAMIS_NOMEM;
    if (!is_static(b) || b->ops->splitter || spec.keys == 0)
        return TAMIS_OK;
    return tamis__solve_needs(b, &plan) > memory - memory / 8 ? TAMIS_NOMEM : TAMIS_OK;
}

static bool is_poured(const tamis_builder *b)
{
    return b->ops->ordered || b->ops->builds_sets;
}

static bool takes_hashes(const tamis_builder *b)
{
    return is_static(b) || is_poured(b);
}

static tamis_status open_spills(tamis_builder *b)
{
    const tamis_build_options *o = &b->options;
    uint64_t memory = b->ops->splitter ? o->memory / 2 : o->memory;
    tamis_status status =
        tamis__spill_open(&b->spill, memory, o->dir, b->ops->mapper ? 2 : 1, !takes_hashes(b));

    if (!status && b->ops->splitter)
        status = tamis__spill_open(&b->others, memory, o->dir, 1, false);
    return status;
}

static tamis_status prepare(tamis_builder *b)
{
    tamis_status status = check(b);

    if (status)
        return status;
    if (b->ops->builds_sets)
        b->salt = tamis__set_salt(b->salt);
    if (!takes_hashes(b) && (b->spec.keys || b->spec.error > 0))
        return make_filter(b, &b->filter, b->spec.keys, 0);
    return open_spills(b);
}

tamis_status tamis_builder_new(tamis_builder **out, tamis_kind kind, const tamis_spec *spec,
                               const tamis_build_options *o)
{
    tamis_builder *b = malloc(sizeof *b);

    if (!b)
        return TAMIS_NOMEM;
    *b = (tamis_builder){ .kind = kind,
                          .ops = tamis__ops(kind),
                          .spec = *spec,
                          .salt = salt_of_seed(spec->hasher.seed),
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .spill = { .fd = -1 },
                          .others = { .fd = -1 } };
    if (o)
        b->options = *o;
    tamis_status status = prepare(b);
    if (status)
        tamis_builder_free(b);
    else
        *out = b;
    return status;
}

void tamis_builder_free(tamis_builder *b)
{
    if (!b)
        return;
    tamis__spill_close(&b->spill);
    tamis__spill_close(&b->others);
    tamis_free(b->filter);
    free(b);
}

/* There is nothing left in it. */
static void spend(tamis_builder *b)
{
    tamis__spill_close(&b->spill);
    tamis__spill_close(&b->others);
    b->broken = TAMIS_CANNOT;
}

/* ---- Adding ------------------------------------------------------------ */

static tamis_status add_hashes(const tamis_builder *b, spill *to, const uint64_t *keys, size_t n)
{
    uint64_t hashes[512];
    tamis_status status = TAMIS_OK;

    while (n > 0 && !status) {
        size_t piece = n < 512 ? n : 512;
        for (size_t i = 0; i < piece; i++)
            hashes[i] = hash_key(keys[i], b->salt);
        status = tamis__spill_add(to, hashes, piece);
        keys += piece;
        n -= piece;
    }
    return status;
}

static tamis_status add_pairs(tamis_builder *b, const uint64_t *keys, const uint64_t *values,
                              size_t n)
{
    uint64_t pairs[512];
    tamis_status status = TAMIS_OK;

    for (size_t at = 0, piece; at < n && !status; at += piece) {
        piece = n - at < 256 ? n - at : 256;
        for (size_t i = 0; i < piece; i++) {
            pairs[2 * i] = hash_key(keys[at + i], b->salt);
            pairs[2 * i + 1] = values[at + i];
            b->values |= values[at + i];
        }
        status = tamis__spill_add(&b->spill, pairs, piece);
    }
    return status;
}

static tamis_status add_keys(tamis_builder *b, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        b->largest = keys[i] > b->largest ? keys[i] : b->largest;
    return tamis__spill_add(&b->spill, keys, n);
}

static tamis_status add(tamis_builder *b, const uint64_t *keys, size_t n)
{
    size_t added;

    if (b->broken)
        return b->broken;
    if (b->filter)
        return tamis_add_many(b->filter, &added, keys, n);
    return takes_hashes(b) ? add_hashes(b, &b->spill, keys, n) : add_keys(b, keys, n);
}

tamis_status tamis_builder_add_many(tamis_builder *b, const uint64_t *keys, size_t n)
{
    if (b->ops->mapper)
        return TAMIS_CANNOT;
    pthread_mutex_lock(&b->lock);
    tamis_status status = add(b, keys, n);
    b->broken = status;
    pthread_mutex_unlock(&b->lock);
    return status;
}

/* Values are checked before any is taken: what was refused can be left out. */
static bool values_fit(const tamis_builder *b, const uint64_t *values, size_t n)
{
    uint32_t bits = b->spec.value_bits ? b->spec.value_bits : 32;
    uint64_t all = 0;

    for (size_t i = 0; i < n; i++)
        all |= values[i];
    return bits_of(all) <= bits;
}

tamis_status tamis_builder_add_map(tamis_builder *b, const uint64_t *keys, const uint64_t *values,
                                   size_t n)
{
    if (!b->ops->mapper)
        return TAMIS_CANNOT;
    if (!values_fit(b, values, n))
        return TAMIS_RANGE;
    pthread_mutex_lock(&b->lock);
    tamis_status status = b->broken ? b->broken : add_pairs(b, keys, values, n);
    b->broken = status;
    pthread_mutex_unlock(&b->lock);
    return status;
}

tamis_status tamis_builder_add_excluded(tamis_builder *b, const uint64_t *others, size_t n)
{
    if (!b->ops->splitter)
        return TAMIS_CANNOT;
    pthread_mutex_lock(&b->lock);
    tamis_status status = b->broken ? b->broken : add_hashes(b, &b->others, others, n);
    b->broken = status;
    pthread_mutex_unlock(&b->lock);
    return status;
}

/* ---- Kinds that add ---------------------------------------------------- */

static tamis_status add_pieces(const tamis_builder *b, tamis *f)
{
    const spill *s = &b->spill;
    uint64_t *keys = malloc(s->chunk * sizeof *keys);
    tamis_status status = keys ? TAMIS_OK : TAMIS_NOMEM;
    size_t added;

    for (spill_cursor c = tamis__spill_start(s, 0); c.left > 0 && !status;) {
        size_t n = c.piece;
        if (!tamis__spill_read(s, &c, keys))
            status = TAMIS_IO;
        else if (!tamis__is_wanted(b, s->n - c.left, s->n))
            status = TAMIS_STOPPED;
        else
            status = tamis_add_many(f, &added, keys, n);
    }
    int error = errno;
    free(keys);
    errno = error;
    return status;
}

static tamis_status add_all(tamis_builder *b, tamis **out)
{
    spill *s = &b->spill;
    uint64_t keys = b->ops->indexed && s->n ? b->largest + 1 : s->n;
    tamis *f;

    if (b->ops->indexed && b->largest == UINT64_MAX)
        return TAMIS_RANGE;
    keys = keys ? keys : 1;
    tamis_status status = make_filter(b, &f, keys, tamis__spill_held(s));
    if (status == TAMIS_NOMEM && s->words) {
        status = tamis__spill_to_file(s);
        if (!status)
            status = make_filter(b, &f, keys, tamis__spill_held(s));
    }
    if (status)
        return status;
    status = add_pieces(b, f);
    if (status)
        tamis_free(f);
    else
        *out = f;
    return status;
}

/* ---- Finishing --------------------------------------------------------- */

/* In memory, as there was none yet. */
static tamis_status make_whole(tamis_builder *b, tamis **out)
{
    if (is_poured(b))
        return tamis__pour(out, b, NULL);
    return b->ops->splitter ? tamis__split(out, b) : add_all(b, out);
}

static tamis_status finish(tamis_builder *b, tamis **out)
{
    if (is_static(b) && !b->ops->splitter)
        return tamis__solve(out, b);
    if (!b->filter)
        return make_whole(b, out);
    *out = b->filter;
    b->filter = NULL;
    return TAMIS_OK;
}

tamis_status tamis_builder_finish(tamis **out, tamis_builder *b)
{
    tamis_status status = b->broken ? b->broken : finish(b, out);

    if (!status)
        spend(b);
    return status;
}

static tamis_status save_filter(tamis_builder *b, const char *path)
{
    tamis *f = b->filter;
    tamis_status status = f ? TAMIS_OK : make_whole(b, &f);

    if (!status)
        status = tamis_save(f, path);
    if (f != b->filter)
        tamis_free(f);
    return status;
}

tamis_status tamis_builder_save(tamis_builder *b, const char *path)
{
    if (b->broken)
        return b->broken;
    bool by_parts = is_static(b) && !b->ops->splitter;
    tamis_status status = by_parts          ? tamis__solve_to_file(b, path)
                          : b->ops->ordered ? tamis__pour(NULL, b, path)
                                            : save_filter(b, path);
    if (!status || status == TAMIS_UNSYNCED)
        spend(b);
    return status;
}
