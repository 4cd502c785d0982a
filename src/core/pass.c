#include "core/pass.h"

#include <errno.h>

#include "base/bits.h"
#include "base/pages.h"

/* ---- Units ------------------------------------------------------------- */

static bool take_unit(pass *p, size_t *unit)
{
    pthread_mutex_lock(&p->lock);
    bool more = !p->status && p->next < p->units;
    *unit = p->next;
    p->next += more;
    pthread_mutex_unlock(&p->lock);
    return more;
}

static void end_unit(pass *p, size_t unit, tamis_status status)
{
    size_t buckets = BUCKETS / p->units;
    int error = errno;

    pthread_mutex_lock(&p->lock);
    for (size_t i = unit * buckets; i < (unit + 1) * buckets; i++)
        p->done += tamis__items_in(p->b, i);
    if (!status && !tamis__is_wanted(p->b, p->done, p->total))
        status = TAMIS_STOPPED;
    if (!p->status) {
        p->status = status;
        p->error = error;
    }
    pthread_mutex_unlock(&p->lock);
}

static void work(void *ctx, unsigned worker)
{
    pass *p = ctx;
    size_t unit;

    while (take_unit(p, &unit))
        end_unit(p, unit, p->do_unit(p, unit, worker));
}

/* ---- Memory ------------------------------------------------------------ */

/* The three uses of a worker's block, the widest alignment first. */
void *tamis__pass_part(const pass *p, unsigned worker)
{
    return p->block[worker];
}

void *tamis__pass_scratch(const pass *p, unsigned worker)
{
    return p->block[worker] + p->part;
}

void *tamis__pass_items(const pass *p, unsigned worker)
{
    return p->block[worker] + p->part + round_up(p->scratch, 64);
}

uint64_t tamis__pass_needs(const pass *p)
{
    return p->part + round_up(p->scratch, 64) + p->room * p->stride * sizeof(uint64_t) + 64;
}

/* As many as have something to do and fit in the memory that is left. */
unsigned tamis__pass_workers(const pass *p, uint64_t held)
{
    uint64_t n = p->b->options.threads ? p->b->options.threads : 1;
    uint64_t fit = tamis__memory_left(p->b, held) / tamis__pass_needs(p);

    n = n < WORKERS_MAX ? n : WORKERS_MAX;
    n = n < p->units ? n : p->units;
    return (unsigned)(n < fit ? n : fit);
}

size_t tamis__buckets_per_unit(unsigned part_bits)
{
    return part_bits < BUCKET_BITS ? (size_t)BUCKETS >> part_bits : 1;
}

uint64_t tamis__largest_group(const uint64_t n[BUCKETS], size_t buckets)
{
    uint64_t most = 0;

    for (size_t first = 0; first < BUCKETS; first += buckets) {
        uint64_t sum = 0;
        for (size_t i = first; i < first + buckets; i++)
            sum += n[i];
        most = sum > most ? sum : most;
    }
    return most;
}

size_t tamis__room_for(const spill *s, uint64_t all, uint64_t distinct)
{
    uint64_t ample = distinct + distinct / 4 + s->chunk;

    return (size_t)(ample < all ? ample : all);
}

/* ---- Running ----------------------------------------------------------- */

tamis_status tamis__pass_run(pass *p, uint64_t held)
{
    unsigned wanted = tamis__pass_workers(p, held), n = 0;
    size_t size = (size_t)tamis__pass_needs(p);

    pthread_mutex_init(&p->lock, NULL);
    for (; n < wanted; n++)
        if (!(p->block[n] = tamis__pages_new(size)))
            break;
    if (n > 0)
        tamis__work(work, p, n);
    else
        p->status = TAMIS_NOMEM;
    while (n-- > 0)
        tamis__pages_free(p->block[n], size);
    pthread_mutex_destroy(&p->lock);
    errno = p->error;
    return p->status;
}
