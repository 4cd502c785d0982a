/* builder_take.c - keys, pairs and excluded keys on their way in. Prefix: builder_. */
#include <errno.h>

#include "os/builder.h"

/* ---- Waiting ----------------------------------------------------------------- */

/* What broke it is what every later call fails by. */
static tamis_status builder_break(tamis_builder *b, tamis_status status)
{
    if (!b->broken && status) {
        b->broken = status;
        b->error = errno;
    }
    return status;
}

tamis_status tamis__builder_broken(const tamis_builder *b)
{
    if (b->broken == TAMIS_IO)
        errno = b->error;
    return b->broken;
}

/* Keys become items before the lock is taken: threads wait for each other only while items are
 * copied. */
tamis_status tamis__builder_take_items(tamis_builder *b, spill *to, const uint64_t *keys,
                                       const uint64_t *values, size_t n)
{
    uint64_t items[MAKE_BUFFER];
    size_t at = 0, most = MAKE_BUFFER / to->words;
    tamis_status status;

    do {
        size_t piece = n - at < most ? n - at : most;
        tamis__make_items(items, &b->stub, keys + at, values ? values + at : NULL, piece);
        pthread_mutex_lock(&b->lock);
        status = b->broken ? tamis__builder_broken(b) : tamis__spill_add(to, items, piece);
        status = builder_break(b, status);
        pthread_mutex_unlock(&b->lock);
        at += piece;
    } while (at < n && !status);
    return status;
}

/* Where they wait in the order given. */
static tamis_status builder_keep_keys(tamis_builder *b, const uint64_t *keys, size_t n)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < n; i++)
        largest = keys[i] > largest ? keys[i] : largest;
    pthread_mutex_lock(&b->lock);
    b->largest = largest > b->largest ? largest : b->largest;
    tamis_status status =
        b->broken ? tamis__builder_broken(b) : tamis__spill_add(&b->given, keys, n);
    status = builder_break(b, status);
    pthread_mutex_unlock(&b->lock);
    return status;
}

/* ---- Adding at once ---------------------------------------------------------- */

/* Threads that would wait for each other get filters of their own, if the kind only sets bits: all
 * are merged in the end, and it does not matter which one had a key. NULL: there can be no more. */
static builder_lane *builder_new_lane(tamis_builder *b)
{
    const tamis_plan *plan = &b->filter->plan;
    builder_lane *lane = &b->lanes[b->n_lanes];

    if (!builder_has(b, TAMIS_TRAIT_ONLY_SETS_BITS) || b->n_lanes >= b->host.threads ||
        tamis__builder_new_filter(b, &lane->f, plan, b->n_lanes * plan->bytes))
        return NULL;
    b->n_lanes++;
    return lane;
}

static builder_lane *builder_take_lane(tamis_builder *b)
{
    builder_lane *lane;

    for (;;) {
        for (lane = b->lanes; lane < b->lanes + b->n_lanes && lane->is_taken; lane++)
            ;
        if (lane == b->lanes + b->n_lanes)
            lane = builder_new_lane(b);
        if (lane)
            break;
        pthread_cond_wait(&b->freed, &b->lock);
    }
    lane->is_taken = true;
    return lane;
}

static tamis_status builder_add_at_once(tamis_builder *b, const uint64_t *keys, size_t n)
{
    size_t added;

    pthread_mutex_lock(&b->lock);
    tamis_status status = tamis__builder_broken(b);
    if (!status) {
        builder_lane *lane = builder_take_lane(b);
        pthread_mutex_unlock(&b->lock);
        status = tamis_add_many(lane->f, &added, keys, n);
        pthread_mutex_lock(&b->lock);
        lane->is_taken = false;
        pthread_cond_signal(&b->freed);
        status = builder_break(b, status);
    }
    pthread_mutex_unlock(&b->lock);
    return status;
}

/* Into the first filter, all that the others hold. */
tamis_status tamis__builder_join_lanes(tamis_builder *b)
{
    tamis_status status = TAMIS_OK;

    while (b->n_lanes > 1 && !status) {
        tamis *f = b->lanes[b->n_lanes - 1].f;
        status = tamis_combine(b->filter, TAMIS_MERGE, f);
        if (!status) {
            tamis_free(f);
            b->n_lanes--;
        }
    }
    return status;
}

tamis_status tamis_builder_add_many(tamis_builder *b, const uint64_t *keys, size_t n)
{
    if (builder_has(b, TAMIS_TRAIT_TAKES_VALUES))
        return TAMIS_CANNOT;
    if (builder_takes_items(b))
        return tamis__builder_take_items(b, &b->keys, keys, NULL, n);
    return b->filter ? builder_add_at_once(b, keys, n) : builder_keep_keys(b, keys, n);
}

/* The same for pairs, each a key and its value. */
static tamis_status builder_add_pairs(tamis_builder *b, const uint64_t *keys,
                                      const uint64_t *values, size_t n)
{
    uint64_t pairs[MAKE_BUFFER];
    tamis_status status = TAMIS_OK;
    size_t done, piece;

    pthread_mutex_lock(&b->lock);
    for (size_t at = 0; at < n && !status; at += piece) {
        piece = n - at < MAKE_BUFFER / 2 ? n - at : MAKE_BUFFER / 2;
        for (size_t i = 0; i < piece && !b->filter; i++) {
            pairs[2 * i] = keys[at + i];
            pairs[2 * i + 1] = values[at + i];
        }
        status = b->broken   ? tamis__builder_broken(b)
                 : b->filter ? tamis_put_many(b->filter, &done, keys + at, values + at, piece)
                             : tamis__spill_add(&b->given, pairs, piece);
        status = builder_break(b, status);
    }
    pthread_mutex_unlock(&b->lock);
    return status;
}

/* Values are checked before any is taken: what was refused can be left out. */
tamis_status tamis_builder_add_map(tamis_builder *b, const uint64_t *keys, const uint64_t *values,
                                   size_t n)
{
    uint64_t all = 0;

    if (!builder_has(b, TAMIS_TRAIT_TAKES_VALUES))
        return TAMIS_CANNOT;
    if (ops_put(&b->stub.ops))
        return builder_add_pairs(b, keys, values, n);
    for (size_t i = 0; i < n; i++)
        all |= values[i];
    if (builder_bits(all) > (b->spec.value_bits ? b->spec.value_bits : 32))
        return TAMIS_RANGE;
    pthread_mutex_lock(&b->lock);
    b->values |= all;
    pthread_mutex_unlock(&b->lock);
    return tamis__builder_take_items(b, &b->keys, keys, values, n);
}

tamis_status tamis_builder_add_excluded(tamis_builder *b, const uint64_t *excluded, size_t n)
{
    if (!builder_takes_excluded(b))
        return TAMIS_CANNOT;
    return tamis__builder_take_items(b, &b->excluded, excluded, NULL, n);
}
