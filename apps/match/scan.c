/* scan.c - from windows to matches.
 *
 * A window of eight bytes is read by one load, so that there is nothing to roll: one product is its
 * hash, at each position anew. From there on it is a sieve of four meshes, each finer and slower
 * than the one before, and each for all positions of a block together, so that what the next one
 * reads is on its way to the cache:
 *
 *   bits      a bitmap of the hashes, a single load: what the loop over all positions can afford
 *   filter    a blocked Bloom filter
 *   slots     the table of groups: the window is there, at a known offset of some patterns
 *   patterns  the bytes themselves
 *
 * Measured on 100 MB of sources and manuals, with a million patterns of 8 to 40 bytes cut from them
 * and put together anew, in ns for each position of the text on one core:
 *
 *   bitmap of 4 bits a window, then the filter    1.8    of which the bitmap takes 1.1
 *   bitmap of 16 bits a window, then the filter   2.1
 *   filter alone, tamis_has_many()                2.5
 *
 * Windows of 7 bytes at every second position, or of 6 at every third, would save half of that or
 * more, and let as many pass; but each pattern would need two or three of them, in two or three
 * times the memory, and what is left to compare takes longer than the filters.
 *
 * Which window a pattern is looked for by matters more. By its first eight bytes, 49 of 100
 * positions pass all filters and are compared; by the rarest, 10. Windows of 16 bytes for longer
 * patterns leave as many, since most are let through by shorter ones, and take longer. */
#include "scan.h"

/* What is left of a block. */
typedef struct sieve {
    size_t n;
    size_t at[SCAN_BLOCK]; /* positions whose window may be that of a pattern */
    uint64_t hashes[SCAN_BLOCK];
    size_t n_candidates;
    struct {
        const group *group; /* some of its patterns may begin at `place` */
        size_t place;
    } candidates[SCAN_BLOCK];
} sieve;

static void pass_bits(const scan *s, const window_class *c, sieve *left, size_t at, size_t to)
{
    const uint64_t *bits = c->bits, factor = s->index->factor;
    const unsigned shift = c->bit_shift;
    size_t n = 0;

    for (; at < to; at++) {
        uint64_t hash = window_hash(c, factor, s->text + at), bit = hash >> shift;

        left->at[n] = at;
        left->hashes[n] = hash;
        n += bits[bit / 64] >> bit % 64 & 1;
    }
    left->n = n;
}

static void pass_filter(const window_class *c, sieve *left)
{
    uint64_t hits[SCAN_BLOCK / 64];
    size_t n = 0;

    tamis_has_many(c->filter, hits, left->hashes, left->n);
    for (size_t i = 0; i < left->n; i++) {
        left->at[n] = left->at[i];
        left->hashes[n] = left->hashes[i];
        n += hits[i / 64] >> i % 64 & 1;
    }
    left->n = n;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&c->slots[left->hashes[i] >> c->slot_shift]);
}

static bool is_wanted(const scan *s, size_t place)
{
    return place >= s->from && place < s->to && (place < s->done_from || place >= s->done_to);
}

static void compare_candidates(scan *s, sieve *left)
{
    const match_index *x = s->index;

    for (size_t i = 0; i < left->n_candidates; i++)
        __builtin_prefetch(x->bytes + x->patterns[left->candidates[i].group->first].at);
    for (size_t i = 0; i < left->n_candidates; i++) {
        size_t place = left->candidates[i].place;

        if (!is_wanted(s, place))
            continue;
        uint32_t found =
            index_find(x, left->candidates[i].group, s->text + place, s->text + s->size);
        if (found != NO_PATTERN)
            s->take(s, place, found);
    }
    left->n_candidates = 0;
}

static void take_candidate(scan *s, sieve *left, const group *g, size_t at)
{
    size_t place = at - g->offset;

    if (at < g->offset || !is_wanted(s, place))
        return;
    __builtin_prefetch(&s->index->patterns[g->first]);
    left->candidates[left->n_candidates].group = g;
    left->candidates[left->n_candidates++].place = place;
    if (left->n_candidates == SCAN_BLOCK)
        compare_candidates(s, left);
}

static void find_groups(scan *s, const window_class *c, sieve *left)
{
    left->n_candidates = 0;
    for (size_t i = 0; i < left->n; i++) {
        uint64_t hash = left->hashes[i];
        size_t slot = (size_t)(hash >> c->slot_shift);

        for (; c->slots[slot].n > 0; slot = (slot + 1) & (c->n_slots - 1))
            if (c->slots[slot].hash == hash)
                take_candidate(s, left, &c->slots[slot], left->at[i]);
    }
    compare_candidates(s, left);
}

void scan_run(scan *s)
{
    /* The window of a pattern that begins before `to` begins before this. */
    size_t end = s->size - s->to > OFFSET_MAX ? s->to + OFFSET_MAX : s->size;
    sieve left;

    for (size_t at = s->from, to; at<end; at = to> s->done_to ? to : s->done_to) {
        to = end - at > SCAN_BLOCK ? at + SCAN_BLOCK : end;
        for (unsigned i = 0; i < s->index->n_classes; i++) {
            pass_bits(s, &s->index->classes[i], &left, at, to);
            pass_filter(&s->index->classes[i], &left);
            find_groups(s, &s->index->classes[i], &left);
        }
    }
}
