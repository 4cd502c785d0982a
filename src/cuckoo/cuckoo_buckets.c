/* cuckoo_buckets.c - cuckoo filter as it was published: buckets of four tags, two for each key.
 * Prefix: buckets_.
 *
 * A key has a bucket and a tag of plan.width bits. A tag is never 0, which is an empty slot. Bucket
 * and tag give the other bucket of the key, and that one and the tag give the first again. So a tag
 * can move between its two buckets without its key.
 *
 * A key goes to the emptier of its buckets. If both are full, tags there move (moves.h), so that
 * tables may be 95 % full. A lookup reads two lines, compares eight tags, and takes an absent key
 * for one that is there with probability
 *
 *   1 - (1 - 8 / (slots (2^w - 1)))^n,   about 8 load 2^-w
 *
 * Keys with the same tag and the same two buckets are a class. Of their eight slots it takes seven
 * at most: one is left to others. More is its surplus, which is counted apart (base/surplus.h).
 *
 * Payload: plan.slots / 4 buckets of four tags, those in use first; a stash of eight classes, for
 * what finds no room; the surplus. plan.hashes is 2. Zeros are the empty filter.
 *
 * A kind to study: tags are read and moved one by one, as in the paper, but for lookups.
 *
 * Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo Filter: Practically Better Than Bloom, 2014.
 * Breslow, Jayasena: Morton Filters, 2018. Wang, Zhou, Shi, Qian: Vacuum Filters, 2019. */
#include "cuckoo/cuckoo_buckets.h"

#include "base/ahead.h"
#include "base/collisions.h"
#include "base/many.h"
#include "cuckoo/moves.h"
#include "explain.h"

/* ---- Lookups ----------------------------------------------------------- */

/* A group is an array of keys. */
MANY_INLINE void buckets_prepare(const void *self, void *group, const uint64_t *keys, size_t n)
{
    const tamis *f = self;
    const buckets_table t = buckets_of(f);
    buckets_key *k = group;

    for (size_t i = 0; i < n; i++)
        k[i] = buckets_key_of(&t, hash_key(keys[i], f->salt));
}

MANY_INLINE void buckets_fetch(const void *self, const void *group, size_t i)
{
    const buckets_table t = buckets_of(self);
    const buckets_key *k = (const buckets_key *)group + i;

    ahead_read(t.at + k->first * BUCKETS_SLOTS * t.width / 8, false);
    ahead_read(t.at + k->second * BUCKETS_SLOTS * t.width / 8, false);
}

MANY_INLINE uint64_t buckets_look(void *self, void *group, size_t i)
{
    const buckets_table t = buckets_of(self);
    const buckets_key *k = (const buckets_key *)group + i;

    return buckets_hold(&t, k) || buckets_stashed(&t, k);
}

static bool buckets_has(const tamis *f, uint64_t key)
{
    buckets_key k;

    buckets_prepare(f, &k, &key, 1);
    return buckets_look(many_self(f), &k, 0);
}

static size_t buckets_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    buckets_key groups[2][MANY];

    return many_lookups(f, hits, keys, n, groups[0], groups[1], buckets_prepare, buckets_fetch,
                        buckets_look, NULL);
}

static unsigned buckets_count_of(const buckets_table *t, const buckets_key *k)
{
    unsigned copies = buckets_copies(t, k);

    return copies < BUCKETS_CEILING ? copies : BUCKETS_CEILING;
}

static uint64_t buckets_count(const tamis *f, uint64_t key)
{
    const buckets_table t = buckets_of(f);
    buckets_key k = buckets_key_of(&t, hash_key(key, f->salt));

    return buckets_count_of(&t, &k);
}

/* ---- Adding ------------------------------------------------------------ */

/* Buckets that a search looks at, which five moves reach: 2 + 8 + 32 + 128 + 512 + 2048. At 95 %,
 * few searches need some hundred; more do with tags of four bits, where many are met again. */
enum { BUCKETS_SEARCH = 2048, BUCKETS_MOVES = 5 };

/* A key that comes, and where its moves are noted. */
typedef struct buckets_arrival {
    const buckets_table *t;
    const buckets_key *k;
    moves_journal *j;
} buckets_arrival;

static void buckets_put(const buckets_table *t, uint64_t i, unsigned slot, uint32_t tag,
                        moves_journal *j)
{
    uint64_t at = BUCKETS_SLOTS * i + slot;

    moves_note(j, t->at + packed_byte(at, t->width), 8);
    packed_put_odd(t->at, at, t->width, tag);
}

/* The others of the four tags of a bucket, by their slots. Which were met before is not asked: what
 * follows the second time followed the first time too, and was found earlier. */
static bool buckets_look_from(moves *m, void *self, unsigned from)
{
    const buckets_arrival *a = self;
    uint64_t i = m->nodes[from].place;

    for (uint8_t slot = 0; slot < BUCKETS_SLOTS && m->n < m->most; slot++) {
        uint64_t to = buckets_other(a->t, i, buckets_get(a->t, i, slot));
        if (moves_add_place(m, from, to, slot, buckets_used(a->t, to) < BUCKETS_SLOTS))
            return true;
    }
    return false;
}

static bool buckets_put_by_moves(moves *m, void *self)
{
    const buckets_arrival *a = self;

    moves_add_root(m, a->k->first, 0);
    moves_add_root(m, a->k->second, 0);
    const moves_node *x = moves_search(m, self, buckets_look_from);
    if (!x)
        return false;
    unsigned slot = buckets_slot_of(a->t, x->place, 0);
    for (; !moves_is_root(m, x); slot = x->by, x = moves_before(m, x)) {
        uint32_t tag = buckets_get(a->t, moves_before(m, x)->place, x->by);
        buckets_put(a->t, x->place, slot, tag, a->j);
    }
    buckets_put(a->t, x->place, slot, a->k->tag, a->j);
    return true;
}

/* Not in the stash. */
static tamis_status buckets_put_inside(const tamis *f, const buckets_table *t, const buckets_key *k,
                                       moves_journal *j)
{
    unsigned first = buckets_used(t, k->first), second = buckets_used(t, k->second);
    buckets_arrival a = { t, k, j };

    if (first == BUCKETS_SLOTS && second == BUCKETS_SLOTS)
        return moves_make_room(f, (moves){ .most = BUCKETS_SEARCH, .deepest = BUCKETS_MOVES },
                               false, buckets_put_by_moves, &a);
    uint64_t emptier = first <= second ? k->first : k->second;
    buckets_put(t, emptier, buckets_slot_of(t, emptier, 0), k->tag, j);
    return TAMIS_OK;
}

/* All of them or none. Once a copy is in the stash, no other moves any more. */
static tamis_status buckets_add(tamis *f, uint64_t key, uint64_t times)
{
    const buckets_table t = buckets_of(f);
    const surplus s = buckets_surplus_of(&t);
    buckets_key k = buckets_key_of(&t, hash_key(key, f->salt));
    unsigned room = BUCKETS_CEILING - buckets_count_of(&t, &k);
    unsigned n = times < room ? (unsigned)times : room;
    unsigned stashed = t.stash.at[0];
    moves_word words[BUCKETS_CEILING * (BUCKETS_MOVES + 1)];
    moves_journal j = { words, 0 };

    for (unsigned i = 0; i < n; i++) {
        tamis_status status = buckets_put_inside(f, &t, &k, &j);
        if (!status || (status == TAMIS_FULL && stash_replace(&t.stash, 0, buckets_entry(&t, &k))))
            continue;
        stash_keep(&t.stash, stashed);
        moves_undo(&j, 0);
        return status;
    }
    f->count += n;
    if (times > n)
        tamis__surplus_add(&s, buckets_class(&t, &k), times - n);
    return TAMIS_OK;
}

/* ---- Removing ---------------------------------------------------------- */

/* There is one. The last one in use goes where it was. */
static void buckets_drop_copy(const buckets_table *t, const buckets_key *k)
{
    if (stash_replace(&t->stash, buckets_entry(t, k), 0))
        return;
    uint64_t i = buckets_copies_in(t, k->first, k->tag) ? k->first : k->second;
    unsigned last = buckets_used(t, i) - 1;
    buckets_put(t, i, buckets_slot_of(t, i, k->tag), buckets_get(t, i, last), NULL);
    buckets_put(t, i, last, 0, NULL);
}

static tamis_status buckets_remove(tamis *f, uint64_t key, uint64_t times)
{
    const buckets_table t = buckets_of(f);
    const surplus s = buckets_surplus_of(&t);
    buckets_key k = buckets_key_of(&t, hash_key(key, f->salt));

    if (!tamis__surplus_remove(&s, buckets_class(&t, &k), buckets_count_of(&t, &k), BUCKETS_CEILING,
                               &times))
        return TAMIS_ABSENT;
    for (uint64_t i = 0; i < times; i++)
        buckets_drop_copy(&t, &k);
    f->count -= times;
    if (!t.stash.at[0])
        return TAMIS_OK;
    /* What waits there may find room now; if there is no memory to search, it stays. */
    unsigned e = (unsigned)__builtin_ctz(t.stash.at[0]);
    buckets_key_of_class(&t, stash_get(&t.stash, e) >> 1, &k);
    if (buckets_put_inside(f, &t, &k, NULL) == TAMIS_OK)
        stash_put(&t.stash, e, 0);
    return TAMIS_OK;
}

/* ---- Sizing ------------------------------------------------------------ */

static const double BUCKETS_LOAD = 0.95;

static uint64_t buckets_bytes(const tamis_plan *p)
{
    bool ok = p->slots > 0 && p->slots % BUCKETS_STEP == 0 && p->slots <= BUCKETS_MOST_SLOTS &&
              p->width >= BUCKETS_MIN_TAG && p->width <= BUCKETS_MAX_TAG &&
              p->hashes == BUCKETS_OF_KEY && p->flags == 0 && p->load == 0 &&
              p->capacity <= p->slots &&
              p->slots / BUCKETS_STEP <= UINT64_C(1) << (STASH_MOST_BITS - p->width);

    if (!ok)
        return 0;
    const buckets_table t = buckets_of_plan(p);
    return t.stash_at + stash_bytes(t.stash.bits) + surplus_bytes(buckets_surplus_entries(&t));
}

/* A key has each with the same probability, whatever the load. */
static double buckets_classes(const tamis_plan *p)
{
    return (double)(p->slots / BUCKETS_STEP) * packed_mask(p->width);
}

static double buckets_rate(const tamis_plan *p, double n)
{
    return collisions_rate(n, buckets_classes(p));
}

static tamis_status buckets_plan(tamis_plan *p, const tamis_spec *spec)
{
    if (spec->keys > BUCKETS_MOST_SLOTS / 2)
        return TAMIS_RANGE;
    p->hashes = BUCKETS_OF_KEY;
    for (p->width = BUCKETS_MIN_TAG; p->width <= BUCKETS_MAX_TAG; p->width++) {
        bool is_asked = !spec->tag_bits || p->width == spec->tag_bits;
        /* A step beyond the load, where it is cheap: tables of few buckets are less even. */
        double spare = p->width <= BUCKETS_NARROW_TAG ? BUCKETS_STEP : 0;
        double least = ceil((double)p->capacity / BUCKETS_LOAD + spare);
        p->slots = round_up((uint64_t)fmax(1, least), BUCKETS_STEP);
        if (is_asked && buckets_rate(p, (double)p->capacity) <= spec->fpr)
            return TAMIS_OK;
    }
    return TAMIS_RANGE;
}

/* ---- The whole filter -------------------------------------------------- */

/* Distinct tags of a bucket; of an odd one those that their even bucket does not hold as well. */
static unsigned buckets_classes_in(const buckets_table *t, uint64_t i)
{
    unsigned n = 0;

    for (unsigned slot = 0; slot < BUCKETS_SLOTS; slot++) {
        uint32_t tag = buckets_get(t, i, slot);
        if (tag && buckets_slot_of(t, i, tag) == slot)
            n += !(i & 1) || !buckets_holds(t, buckets_other(t, i, tag), tag);
    }
    return n;
}

/* Entries of the stash that are neither in their buckets nor among the entries before. */
static unsigned buckets_classes_in_stash(const buckets_table *t)
{
    unsigned n = 0;

    for (unsigned e = 0; e < STASH_ENTRIES; e++) {
        uint64_t entry = stash_get(&t->stash, e);
        buckets_key k;
        if (entry && buckets_key_of_class(t, entry >> 1, &k) && !buckets_hold(t, &k))
            n += !(stash_find(&t->stash, entry) & ((1u << e) - 1));
    }
    return n;
}

static void buckets_measure(const tamis *f, tamis_info *info)
{
    const buckets_table t = buckets_of(f);
    double all = buckets_classes(&f->plan), distinct = buckets_classes_in_stash(&t);

    for (uint64_t i = 0; i < t.buckets; i++)
        distinct += buckets_classes_in(&t, i);
    info->fill = (double)f->count / (double)f->plan.slots;
    info->fpr = fmin(1, distinct / all);
    info->cardinality = collisions_keys(distinct, all);
}

/* Only a bucket of four copies can have a class that is there too often. */
static const char *buckets_check_bucket(const buckets_table *t, uint64_t i, uint64_t *used)
{
    uint32_t tag = buckets_get(t, i, 0);

    for (unsigned slot = 1; slot < BUCKETS_SLOTS; slot++)
        if (buckets_get(t, i, slot) && !buckets_get(t, i, slot - 1))
            return "an empty slot comes before one in use";
    *used += buckets_used(t, i);
    if (tag == 0 || buckets_copies_in(t, i, tag) < BUCKETS_SLOTS)
        return NULL;
    buckets_key k = { i, buckets_other(t, i, tag), tag };
    return buckets_copies(t, &k) > BUCKETS_CEILING ? "a key is held too often" : NULL;
}

/* One that is not in use has no other bit. */
static bool buckets_is_entry(const buckets_table *t, uint64_t entry)
{
    buckets_key k;

    return !entry || (entry & 1 && buckets_key_of_class(t, entry >> 1, &k));
}

static bool buckets_is_at_ceiling(const void *table, uint64_t class)
{
    buckets_key k;

    return buckets_key_of_class(table, class, &k) && buckets_count_of(table, &k) == BUCKETS_CEILING;
}

static const char *buckets_verify(const tamis *f)
{
    const buckets_table t = buckets_of(f);
    const surplus s = buckets_surplus_of(&t);
    uint64_t used = (unsigned)__builtin_popcount(t.stash.at[0]);
    const char *why = NULL;

    if (f->plan.slots * t.width % 8 && t.stash.at[-1] >> 4)
        return "unused bits are set";
    for (unsigned e = 0; e < STASH_ENTRIES; e++)
        if (!buckets_is_entry(&t, stash_get(&t.stash, e)))
            return "an entry of the stash is no key";
    for (uint64_t i = 0; i < t.buckets && !why; i++)
        why = buckets_check_bucket(&t, i, &used);
    if (!why)
        why = tamis__surplus_verify(&s, buckets_is_at_ceiling, &t);
    return !why && used != f->count ? "the number of keys is wrong" : why;
}

/* ---- Explained --------------------------------------------------------- */

static tamis_cell buckets_cell(const buckets_table *t, uint64_t bucket, unsigned slot)
{
    uint32_t tag = buckets_get(t, bucket, slot);

    return (tamis_cell){ .array = "bucket",
                         .number = bucket,
                         .index = slot,
                         .value = tag,
                         .bits = t->width,
                         .marks = tag ? 0 : TAMIS_MARK_EMPTY };
}

static tamis_cell buckets_stash_cell(const buckets_table *t, unsigned e)
{
    uint64_t entry = stash_get(&t->stash, e);

    return (tamis_cell){ .array = "stash",
                         .index = e,
                         .value = entry >> 1 & UINT64_MAX >> (64 - t->stash.bits),
                         .bits = t->stash.bits,
                         .marks = entry & 1 ? 0 : TAMIS_MARK_EMPTY };
}

static void buckets_cells(const tamis *f, tamis_telling *to)
{
    const buckets_table t = buckets_of(f);
    const surplus s = buckets_surplus_of(&t);

    for (uint64_t i = 0; i < f->plan.slots && !to->has_ended; i++)
        tamis__tell_cell(to, buckets_cell(&t, i / BUCKETS_SLOTS, i % BUCKETS_SLOTS));
    for (unsigned e = 0; e < STASH_ENTRIES; e++)
        tamis__tell_cell(to, buckets_stash_cell(&t, e));
    tamis__tell_surplus(to, &s);
}

static bool buckets_explain(const tamis *f, uint64_t key, tamis_telling *to)
{
    const buckets_table t = buckets_of(f);
    buckets_key k = buckets_key_of(&t, hash_key(key, f->salt));
    bool is_held = buckets_hold(&t, &k), found = is_held || buckets_stashed(&t, &k);

    tamis__tell_number(to, "tag", k.tag);
    tamis__tell_number(to, "bucket", k.first);
    tamis__tell_number(to, "other bucket", k.second);
    for (unsigned i = 0; i < BUCKETS_STEP; i++) {
        bool is_first = i < BUCKETS_SLOTS;
        tamis_cell cell = buckets_cell(&t, is_first ? k.first : k.second, i % BUCKETS_SLOTS);
        tamis__tell_read(to, is_first ? "tag in the bucket" : "tag in the other bucket", cell,
                         cell.value == k.tag);
    }
    if (t.stash.at[0])
        tamis__tell_number(to, "class", buckets_class(&t, &k));
    for (unsigned e = 0; e < STASH_ENTRIES; e++)
        if (stash_get(&t.stash, e))
            tamis__tell_read(to, "class in the stash", buckets_stash_cell(&t, e),
                             stash_get(&t.stash, e) == buckets_entry(&t, &k));
    tamis__tell_number(to, "count", buckets_count_of(&t, &k));
    return tamis__tell_answer(to, found,
                              is_held ? "one of its buckets has its tag"
                              : found ? "the stash has its tag and buckets"
                                      : "neither of its buckets has its tag");
}

const tamis_ops tamis__cuckoo_buckets = {
    .traits = TAMIS_TRAIT_BUILDS_SETS | TAMIS_TRAIT_TAG_BITS | TAMIS_TRAIT_TO_STUDY,
    .limits = { .ceiling = BUCKETS_CEILING },
    .plan = buckets_plan,
    .bytes = buckets_bytes,
    .rate = buckets_rate,
    .verify = buckets_verify,
    .measure = buckets_measure,
    .has = buckets_has,
    .count = buckets_count,
    .add = buckets_add,
    .remove = buckets_remove,
    .has_many = buckets_has_many,
    .cells = buckets_cells,
    .explain = buckets_explain,
};
