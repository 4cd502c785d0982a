/* scalable_many.h - lookups, a template for the kernels of the scalable filter.
 *
 * A kernel defines block_has() for its instruction set, then includes this. Keys go through in
 * groups of 64: all are looked for in the newest stage, which has about half of the keys, those
 * that are not there in the one before it, and so on; while one stage is looked at, the lines of
 * the next are on their way. */
#include "bloom/scalable.h"

static inline bool stage_has(const stage *s, uint64_t h)
{
    for (unsigned i = 0; i < s->probes; i++) {
        uint64_t probed = probe(h, i);
        if (!block_has(block_for(s, probed), (uint32_t)probed))
            return false;
    }
    return true;
}

static bool has(const tamis *f, uint64_t key)
{
    uint64_t h = hash_key(key, f->salt);

    for (unsigned j = f->plan.hashes; j-- > 0;) {
        stage s = stage_of(f, j);
        if (stage_has(&s, h))
            return true;
    }
    return false;
}

__attribute__((always_inline)) static inline void fetch(const stage *s, uint64_t h)
{
    __builtin_prefetch(block_for(s, h), 0, 3);
}

/* The keys of h[] that are looked for, and where they stand in the group. */
typedef struct {
    uint64_t h[GROUP];
    uint8_t at[GROUP];
    unsigned n;
} searched;

/* Drops those that the stage has, and returns them as bits. */
static inline uint64_t search_stage(searched *g, const stage *s, const stage *next)
{
    uint64_t found = 0;
    unsigned left = 0;

    for (unsigned i = 0; i < g->n; i++) {
        uint64_t h = g->h[i];
        bool hit = stage_has(s, h);
        if (next)
            fetch(next, h);
        found |= (uint64_t)hit << g->at[i];
        g->h[left] = h;
        g->at[left] = g->at[i];
        left += !hit;
    }
    g->n = left;
    return found;
}

static inline uint64_t search_group(const tamis *f, const uint64_t *keys, unsigned n)
{
    searched g = { .n = n };
    stage s = stage_of(f, f->plan.hashes - 1);
    uint64_t found = 0;

    for (unsigned i = 0; i < n; i++) {
        g.h[i] = hash_key(keys[i], f->salt);
        g.at[i] = (uint8_t)i;
        fetch(&s, g.h[i]);
    }
    for (unsigned j = f->plan.hashes; j-- > 0;) {
        stage before = stage_of(f, j ? j - 1 : 0);
        found |= search_stage(&g, &s, j ? &before : NULL);
        s = before;
    }
    return found;
}

static size_t has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    size_t found = 0;

    for (size_t from = 0; from < n; from += GROUP) {
        uint64_t word =
            search_group(f, keys + from, n - from < GROUP ? (unsigned)(n - from) : GROUP);
        hits[from / GROUP] = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

static void stage_add(const stage *s, uint64_t h)
{
    for (unsigned i = 0; i < s->probes; i++) {
        uint64_t probed = probe(h, i);
        block_add(block_for(s, probed), (uint32_t)probed);
    }
}

/* What is found would set no bit of the stage that has it, and is not to be in another. */
static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    header *top = f->payload;
    uint64_t held = le64(&top->held);

    (void)times;
    if (!has(f, key)) {
        stage newest = stage_of(f, f->plan.hashes - 1);
        if (held >= f->plan.capacity)
            return TAMIS_FULL;
        stage_add(&newest, hash_key(key, f->salt));
        put_le64(&top->held, held + 1);
    }
    f->count++;
    return TAMIS_OK;
}

/* What is found counts as it is; the others are looked for again, since some may be twice among
 * them, but their lines are near by now. */
static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    tamis_status status = TAMIS_OK;

    for (*added = 0; *added < n && !status;) {
        size_t from = *added, end = n - from < GROUP ? n : from + GROUP;
        uint64_t found = search_group(f, keys + from, (unsigned)(end - from));
        for (; *added < end && !status; *added += !status)
            if (found >> (*added - from) & 1)
                f->count++;
            else
                status = add(f, keys[*added], 1);
    }
    return status;
}
