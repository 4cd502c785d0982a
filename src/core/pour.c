/* pour.c - ordered kinds: from hashes that wait in buckets to a filter, from the lowest up.
 *
 * Buckets are cut by leading bits, and fingerprints ascend with hashes: bucket by bucket, sorted,
 * everything is appended to a filter in memory or to a draft of it in its file. Kinds that build
 * sets are added to instead, bucket by bucket. */
#include <errno.h>

#include "base/bits.h"
#include "base/pages.h"
#include "base/sort.h"
#include "core/builder.h"
#include "core/draft.h"
#include "core/ordered.h"
#include "core/set.h"

typedef struct pouring {
    tamis_builder *b;
    tamis_plan plan;
    tamis_writer writer; /* into memory, */
    draft *draft;        /* unless it is this */
    uint64_t *hashes;    /* of a bucket */
    size_t room;
    uint64_t done;
} pouring;

static size_t largest_bucket(const spill *s)
{
    uint64_t most = 1;

    for (size_t i = 0; i < BUCKETS; i++) {
        uint64_t n = tamis__spill_count(s, i);
        most = n > most ? n : most;
    }
    return (size_t)most;
}

/* ---- One bucket -------------------------------------------------------- */

static tamis_status read_bucket(pouring *p, size_t bucket)
{
    const spill *s = &p->b->spill;
    uint64_t *to = p->hashes;

    for (spill_cursor c = tamis__spill_start(s, bucket); c.left > 0;) {
        size_t piece = c.piece;
        if (!tamis__spill_read(s, &c, to))
            return TAMIS_IO;
        to += piece;
    }
    return TAMIS_OK;
}

static tamis_status append(pouring *p, uint64_t print, uint64_t count)
{
    if (p->draft)
        return tamis__draft_append(p->draft, print, count);
    return p->b->ops->ordered->append(&p->writer, print, count);
}

/* Several hashes may have one fingerprint; buckets have none in common, or the last of one is the
 * first of the next, and *held takes it over. */
static tamis_status pour_bucket(pouring *p, size_t n, uint64_t *print, uint64_t *held)
{
    uint64_t range = p->plan.slots << p->plan.width;
    tamis_status status = TAMIS_OK;

    tamis__sort(p->hashes, n);
    for (size_t i = 0; i < n && !status; i++) {
        uint64_t next = scale64(p->hashes[i], range);
        if (*held && next != *print) {
            status = append(p, *print, *held);
            *held = 0;
        }
        *print = next;
        ++*held;
    }
    return status;
}

/* ---- All of them ------------------------------------------------------- */

static tamis_status pour_all(pouring *p)
{
    const spill *s = &p->b->spill;
    uint64_t print = 0, held = 0;
    tamis_status status = TAMIS_OK;

    for (size_t i = 0; i < BUCKETS && !status; i++) {
        size_t n = (size_t)tamis__spill_count(s, i);
        status = read_bucket(p, i);
        if (!status)
            status = p->b->ops->ordered ? pour_bucket(p, n, &print, &held)
                                        : tamis__set_add(p->writer.f, p->hashes, n);
        p->done += n;
        if (!status && n && !tamis__is_wanted(p->b, p->done, s->n))
            status = TAMIS_STOPPED;
    }
    return status || !held ? status : append(p, print, held);
}

static tamis_status pour_into_memory(pouring *p, tamis **out)
{
    tamis *f;
    tamis_status status = tamis_new(&f, &p->plan, NULL);

    if (status)
        return status;
    p->writer = (tamis_writer){ .f = f };
    status = pour_all(p);
    if (f->ops->ordered)
        f->ops->ordered->finish(&p->writer);
    if (status)
        tamis_free(f);
    else
        *out = f;
    return status;
}

static tamis_status pour_into_file(pouring *p, const char *path)
{
    draft d;
    tamis_status status = tamis__draft_begin(&d, path, &p->plan);

    if (status)
        return status;
    p->draft = &d;
    return tamis__save_end(&d.save, tamis__draft_complete(&d, pour_all(p)));
}

/* Bytes taken beside the filter. Words go to the file if there is no room beside them. */
static tamis_status make_room(pouring *p, uint64_t payload)
{
    spill *s = &p->b->spill;
    uint64_t needed = payload + largest_bucket(s) * sizeof *p->hashes;

    if (needed > tamis__memory_left(p->b, tamis__spill_held(s)) && s->words) {
        tamis_status status = tamis__spill_to_file(s);
        if (status)
            return status;
    }
    if (needed > tamis__memory_left(p->b, tamis__spill_held(s)))
        return TAMIS_NOMEM;
    p->room = largest_bucket(s) * sizeof *p->hashes;
    p->hashes = tamis__pages_new(p->room);
    return p->hashes ? TAMIS_OK : TAMIS_NOMEM;
}

/* Fingerprints of a larger filter are the same, so that growing is starting again. */
static tamis_status pour_once(pouring *p, tamis **out, const char *path)
{
    tamis_status status = make_room(p, path ? 0 : p->plan.bytes);

    if (status)
        return status;
    p->done = 0;
    status = path ? pour_into_file(p, path) : pour_into_memory(p, out);
    int error = errno;
    tamis__pages_free(p->hashes, p->room);
    errno = error;
    return status;
}

tamis_status tamis__pour(tamis **out, tamis_builder *b, const char *path)
{
    pouring p = { .b = b };
    tamis_spec spec = b->spec;

    if (spec.keys == 0)
        spec.keys = b->spill.n ? b->spill.n : 1;
    tamis_status status = tamis_plan_kind(&p.plan, b->kind, &spec);
    if (!status && b->spill.words)
        tamis__spill_group(&b->spill);
    while (!status) {
        status = pour_once(&p, out, path);
        if (status != TAMIS_FULL || !b->ops->ordered || !b->ops->ordered->grows(&p.plan))
            break;
        status = tamis__plan_doubled(&p.plan);
    }
    return status;
}
