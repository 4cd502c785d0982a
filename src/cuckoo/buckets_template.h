/* buckets_template.h - TEMPLATE, compiled once for each CPU: adding, removing, and keys in batches.
 * The file that includes it has defined cuckoo_buckets_hash_group(), cuckoo_buckets_hold() as
 * buckets_each_holds() is, and cuckoo_buckets_bytes_hold(), buckets_either_holds() of LOOK_BYTES.
 *
 * A key goes to the emptier of its buckets. If both are full, one of the eight tags there moves to
 * its other bucket, where perhaps one of four has to move in turn. Breadth-first search finds the
 * fewest moves. Only then are they made, so that a search that fails changes nothing. */
#include "cuckoo/buckets.h"

/* ---- Changes that can be undone ---------------------------------------- */

/* Buckets that a search looks at. At 95 %, few searches need more than some hundred. With tags of
 * four bits they do: each bucket has only fifteen others, and many are met again. Five moves reach
 * 2 + 8 + 32 + 128 + 512 + 2048. A first search, which goes beyond three moves, is on the stack. */
enum { SEARCH_FEW = 256, SEARCH_MOST = 2048, LONGEST = 6 };

/* Slots as they were before each change, and the stash. */
typedef struct buckets_journal {
    size_t n;
    struct {
        uint64_t slot;
        uint32_t tag;
    } was[CEILING * LONGEST];
    uint8_t stash[1 + CLASS_BITS];
} buckets_journal;

static inline void buckets_journal_begin(buckets_journal *j, const buckets_table *t)
{
    j->n = 0;
    memcpy(j->stash, t->stash, 1 + t->class_bits);
}

static inline void buckets_undo(const buckets_journal *j, const buckets_table *t)
{
    for (size_t i = j->n; i-- > 0;)
        packed_put_odd(t->at, j->was[i].slot, t->width, j->was[i].tag);
    memcpy(t->stash, j->stash, 1 + t->class_bits);
}

/* A tag goes into a slot of bucket i, which is b. The journal may be NULL. */
static inline void buckets_put(const buckets_table *t, uint64_t i, const buckets_bucket *b,
                               unsigned slot, uint32_t tag, buckets_journal *j)
{
    if (j) {
        j->was[j->n].slot = SLOTS * i + slot;
        j->was[j->n++].tag = b->tag[slot];
    }
    packed_put_odd(t->at, SLOTS * i + slot, t->width, tag);
}

/* There is room. */
static inline void buckets_put_free(const buckets_table *t, uint64_t i, const buckets_bucket *b,
                                    uint32_t tag, buckets_journal *j)
{
    buckets_put(t, i, b, buckets_slot_of(b, 0), tag, j);
}

/* ---- Making room ------------------------------------------------------- */

/* A search is a row of buckets: the two of a key, then for each, in order, the others of its four
 * tags. So those of the bucket at k are at 4 k + 2 and behind:
 *
 *   row   0  1 | 2  3  4  5 | 6  7  8  9 | 10 11 12 13 | ...
 *              | others of 0| others of 1| others of 2 | */

/* Moves all tags on the way from one of the key's buckets to the one at k, and puts the key's tag.
 */
static inline void buckets_move_along(const buckets_table *t, const uint64_t *row, unsigned k,
                                      uint32_t tag, buckets_journal *j)
{
    unsigned way[LONGEST], n = 0;

    for (way[n++] = k; k >= 2; way[n++] = k)
        k = (k - 2) / SLOTS;
    while (n-- > 1) {
        unsigned slot = (way[n - 1] - 2) % SLOTS;
        buckets_bucket b = buckets_read(t, row[way[n]]);
        buckets_put(t, row[way[n]], &b, slot, tag, j);
        tag = b.tag[slot];
    }
    buckets_bucket last = buckets_read(t, row[way[0]]);
    buckets_put_free(t, row[way[0]], &last, tag, j);
}

/* Adds the others of the four tags at k, as far as there is room for them. */
static inline void buckets_lengthen(const buckets_table *t, uint64_t *row, unsigned k,
                                    unsigned most)
{
    buckets_bucket b = buckets_read(t, row[k]);

    for (unsigned slot = 0, n = SLOTS * k + 2; slot < SLOTS && n < most; slot++, n++) {
        row[n] = buckets_other(t, row[k], b.tag[slot]);
        cuckoo_group_ask(t->at + row[n] * t->bits / 8, false, t->is_far);
    }
}

/* Both buckets are full. Most ways end among the first eight others. So the row is lengthened only
 * when few are left to look at: a line that nobody needs costs as much as another. No way has a
 * bucket twice: what follows the second time followed the first time too, and was found earlier. */
static bool buckets_search(const buckets_table *t, const buckets_key *key, buckets_journal *j,
                           uint64_t *row, unsigned most)
{
    unsigned from = 2;

    row[0] = key->first;
    row[1] = key->second;
    buckets_lengthen(t, row, 0, most);
    buckets_lengthen(t, row, 1, most);
    for (unsigned k = 2; k < most; k++) {
        if (buckets_has_room(t, row[k])) {
            buckets_move_along(t, row, k, key->tag, j);
            return true;
        }
        if (SLOTS * from + 2 < k + 1 + 3 * SLOTS)
            buckets_lengthen(t, row, from++, most);
    }
    return false;
}

__attribute__((noinline)) static tamis_status buckets_put_by_moves(const tamis *f,
                                                                   const buckets_table *t,
                                                                   const buckets_key *k,
                                                                   buckets_journal *j)
{
    const size_t size = SEARCH_MOST * sizeof(uint64_t);
    uint64_t few[SEARCH_FEW];

    if (buckets_search(t, k, j, few, SEARCH_FEW))
        return TAMIS_OK;
    uint64_t *many = tamis__scratch_new(f, size);
    if (!many)
        return TAMIS_NOMEM;
    bool found = buckets_search(t, k, j, many, SEARCH_MOST);
    tamis__scratch_free(f, many, size);
    return found ? TAMIS_OK : TAMIS_FULL;
}

/* Not in the stash. */
static inline tamis_status buckets_put_inside(const tamis *f, const buckets_table *t,
                                              const buckets_key *k, const buckets_pair *p,
                                              buckets_journal *j)
{
    unsigned first = buckets_used(&p->first), second = buckets_used(&p->second);

    if (first == SLOTS && second == SLOTS)
        return buckets_put_by_moves(f, t, k, j);
    if (first <= second)
        buckets_put_free(t, k->first, &p->first, k->tag, j);
    else
        buckets_put_free(t, k->second, &p->second, k->tag, j);
    return TAMIS_OK;
}

static inline tamis_status buckets_put_copy(const tamis *f, const buckets_table *t,
                                            const buckets_key *k, const buckets_pair *p,
                                            buckets_journal *j)
{
    tamis_status status = buckets_put_inside(f, t, k, p, j);

    if (status == TAMIS_FULL && buckets_stash_put(t, buckets_class(t, k)))
        return TAMIS_OK;
    return status;
}

/* ---- Short ways -------------------------------------------------------- */

/* What most keys need: copies in one bucket at most, and nothing in the stash. No branch depends on
 * which of the two buckets it is, which is unpredictable. False: nothing was done. */

/* a if `so`, else b. Compilers would branch. */
static inline uint64_t buckets_choose(bool so, uint64_t a, uint64_t b)
{
    return b ^ ((a ^ b) & (0 - (uint64_t)so));
}

/* The lowest bit of the lane with that highest bit. */
static inline unsigned buckets_lane_at(const buckets_table *t, uint64_t top)
{
    return (unsigned)__builtin_ctzll(top) - (t->width - 1);
}

/* The more slots are empty, the more bits are set in `room`, from the highest lane down: the
 * greater is the number. */
static inline bool buckets_put_shortly(const buckets_table *t, const buckets_key *k)
{
    if (buckets_are_wide(t) || buckets_have_stash(t))
        return false;
    uint64_t first = buckets_narrow(t, k->first * t->bits);
    uint64_t second = buckets_narrow(t, k->second * t->bits);
    uint64_t room = buckets_equal(t, first, 0), room_there = buckets_equal(t, second, 0);
    bool has_copies = buckets_equal(t, first, k->tag) && buckets_equal(t, second, k->tag);
    if (has_copies || !(room | room_there))
        return false;
    bool is_second = room_there > room;
    uint64_t bit = buckets_choose(is_second, k->second, k->first) * t->bits;
    uint64_t lane = buckets_lane_at(t, buckets_choose(is_second, room_there, room)) + bit % 8;
    put_le64(t->at + bit / 8, le64(t->at + bit / 8) | (uint64_t)k->tag << lane);
    return true;
}

/* The last one in use goes where the removed one was; if it is the same, it is cleared. */
static inline bool buckets_drop_shortly(const buckets_table *t, const buckets_key *k)
{
    if (buckets_are_wide(t) || buckets_have_stash(t))
        return false;
    uint64_t first = buckets_narrow(t, k->first * t->bits);
    uint64_t second = buckets_narrow(t, k->second * t->bits);
    uint64_t here = buckets_equal(t, first, k->tag), there = buckets_equal(t, second, k->tag);
    bool is_in_one = (here != 0) != (there != 0);
    if (!is_in_one)
        return false;
    uint64_t bit = buckets_choose(here != 0, k->first, k->second) * t->bits;
    uint64_t lanes = buckets_choose(here != 0, first, second);
    unsigned used = SLOTS - (unsigned)__builtin_popcountll(buckets_equal(t, lanes, 0));
    unsigned at = buckets_lane_at(t, here | there), last = (used - 1) * t->width;
    uint64_t moved = lanes >> last & t->tags;
    uint64_t changes = moved << last ^ (moved ^ k->tag) << at;
    put_le64(t->at + bit / 8, le64(t->at + bit / 8) ^ changes << bit % 8);
    return true;
}

/* ---- One key ----------------------------------------------------------- */

__attribute__((noinline)) static bool buckets_has_slowly(const tamis *f, uint64_t key)
{
    const buckets_table t = buckets_of(f);
    buckets_key k = buckets_key_of(&t, hash_key(key, t.salt));

    return buckets_count(&t, &k) != 0;
}

/* The stash, which is empty in nearly all filters, is asked first: then nothing of the key is kept
 * for later. */
CUCKOO_GROUP_INLINE bool buckets_has_as(const tamis *f, uint64_t key, unsigned how)
{
    const buckets_table t = buckets_of(f);

    if (buckets_have_stash(&t))
        return buckets_has_slowly(f, key);
    buckets_key k = buckets_key_of(&t, hash_key(key, t.salt));
    return cuckoo_group_guess(how == LOOK_BYTES ? cuckoo_buckets_bytes_hold(&t, &k)
                                                : buckets_either_holds(&t, &k, how));
}

static bool buckets_has_bytes(const tamis *f, uint64_t key)
{
    return buckets_has_as(f, key, LOOK_BYTES);
}

static bool buckets_has_narrow(const tamis *f, uint64_t key)
{
    return buckets_has_as(f, key, LOOK_NARROW);
}

static bool buckets_has_wide(const tamis *f, uint64_t key)
{
    return buckets_has_as(f, key, LOOK_WIDE);
}

static uint64_t buckets_count_one(const tamis *f, uint64_t key)
{
    const buckets_table t = buckets_of(f);
    buckets_key k = buckets_key_of(&t, hash_key(key, t.salt));

    return buckets_count(&t, &k);
}

/* All of them or none. */
__attribute__((noinline)) static tamis_status
buckets_add_slowly(tamis *f, const buckets_table *t, const buckets_key *k, uint64_t times)
{
    unsigned room = CEILING - buckets_count(t, k), n = times < room ? (unsigned)times : room;
    buckets_journal j, *kept = n > 1 ? &j : NULL;

    if (kept)
        buckets_journal_begin(kept, t);
    for (unsigned i = 0; i < n; i++) {
        buckets_pair p = buckets_read_pair(t, k);
        tamis_status status = buckets_put_copy(f, t, k, &p, kept);
        if (status && kept)
            buckets_undo(kept, t);
        if (status)
            return status;
    }
    f->count += n;
    const surplus s = buckets_surplus_of(t);
    if (times > n)
        tamis__surplus_add(&s, buckets_class(t, k), times - n);
    return TAMIS_OK;
}

static inline tamis_status buckets_add(tamis *f, const buckets_table *t, const buckets_key *k,
                                       uint64_t times)
{
    if (times > 1 || !buckets_put_shortly(t, k))
        return buckets_add_slowly(f, t, k, times);
    f->count++;
    return TAMIS_OK;
}

/* The last one in use goes where the removed one was. */
static inline void buckets_drop_from(const buckets_table *t, uint64_t i, const buckets_bucket *b,
                                     uint32_t tag)
{
    unsigned last = buckets_used(b) - 1;

    buckets_put(t, i, b, buckets_slot_of(b, tag), b->tag[last], NULL);
    buckets_put(t, i, b, last, 0, NULL);
}

/* There is one. */
static inline void buckets_drop_copy(const buckets_table *t, const buckets_key *k)
{
    unsigned stashed = buckets_have_stash(t) ? buckets_stash_find(t, buckets_class(t, k)) : 0;
    buckets_pair p = buckets_read_pair(t, k);

    if (stashed)
        buckets_stash_drop(t, (unsigned)__builtin_ctz(stashed));
    else if (buckets_copies_in(&p.first, k->tag))
        buckets_drop_from(t, k->first, &p.first, k->tag);
    else
        buckets_drop_from(t, k->second, &p.second, k->tag);
}

/* What waits in the stash may find room now; if there is no memory to search, it stays. */
static inline void buckets_unstash(const tamis *f, const buckets_table *t)
{
    if (!buckets_have_stash(t))
        return;
    unsigned entry = (unsigned)__builtin_ctz(t->stash[0]);
    buckets_key k = buckets_key_of_class(t, buckets_stash_get(t, entry));
    buckets_pair p = buckets_read_pair(t, &k);
    if (buckets_put_inside(f, t, &k, &p, NULL) == TAMIS_OK)
        buckets_stash_drop(t, entry);
}

__attribute__((noinline)) static tamis_status
buckets_remove_slowly(tamis *f, const buckets_table *t, const buckets_key *k, uint64_t times)
{
    const surplus s = buckets_surplus_of(t);
    unsigned copies = buckets_count(t, k);
    bool is_there = copies >= times;

    if (copies == CEILING)
        is_there = tamis__surplus_remove(&s, buckets_class(t, k), CEILING, &times);
    if (!is_there)
        return TAMIS_ABSENT;
    for (uint64_t i = 0; i < times; i++)
        buckets_drop_copy(t, k);
    f->count -= times;
    buckets_unstash(f, t);
    return TAMIS_OK;
}

static inline tamis_status buckets_remove(tamis *f, const buckets_table *t, const buckets_key *k,
                                          uint64_t times)
{
    if (times > 1 || !buckets_drop_shortly(t, k))
        return buckets_remove_slowly(f, t, k, times);
    f->count--;
    return TAMIS_OK;
}

static tamis_status buckets_add_one(tamis *f, uint64_t key, uint64_t times)
{
    const buckets_table t = buckets_of(f);
    buckets_key k = buckets_key_of(&t, hash_key(key, t.salt));

    return buckets_add(f, &t, &k, times);
}

static tamis_status buckets_remove_one(tamis *f, uint64_t key, uint64_t times)
{
    const buckets_table t = buckets_of(f);
    buckets_key k = buckets_key_of(&t, hash_key(key, t.salt));

    return buckets_remove(f, &t, &k, times);
}

/* ---- Many keys --------------------------------------------------------- */

typedef struct buckets_batch {
    const buckets_table *t;
    tamis *f;      /* when keys are added or removed */
    uint64_t *out; /* answers or counts */
    uint64_t word; /* answers of this group */
    size_t n;      /* keys found, added or removed */
    tamis_status status;
} buckets_batch;

CUCKOO_GROUP_INLINE bool buckets_visit_has(void *self, const cuckoo_group *g, size_t i, size_t end,
                                           unsigned how)
{
    buckets_batch *b = self;

    b->word |= cuckoo_buckets_hold(b->t, g, i, end, how) << i;
    return true;
}

/* Those of a group that are in the stash. */
__attribute__((noinline)) static uint64_t buckets_stash_hits(const buckets_table *t,
                                                             const cuckoo_group *g)
{
    uint64_t word = 0;

    for (size_t i = 0; i < g->n; i++) {
        buckets_key k = buckets_key_in(g, i);
        word |= (uint64_t)(buckets_stashed(t, &k) != 0) << i;
    }
    return word;
}

CUCKOO_GROUP_INLINE void buckets_end_has(void *self, const cuckoo_group *g)
{
    buckets_batch *b = self;
    uint64_t hits = buckets_have_stash(b->t) ? b->word | buckets_stash_hits(b->t, g) : b->word;

    *b->out++ = hits;
    b->n += (size_t)__builtin_popcountll(hits);
    b->word = 0;
}

static size_t buckets_has_many(const tamis *f, uint64_t *hits, const uint64_t *keys, size_t n)
{
    const buckets_table t = buckets_of(f);
    cuckoo_group groups[2];
    const cuckoo_group_batch all = { &t, t.at, keys, n, groups, t.is_far };
    buckets_batch b = { .t = &t, .out = hits };

    if (buckets_look(&t) == LOOK_BYTES)
        cuckoo_group_run(&all, false, LOOK_BYTES, cuckoo_buckets_hash_group, cuckoo_group_wait,
                         buckets_visit_has, buckets_end_has, &b);
    else if (buckets_look(&t) == LOOK_NARROW)
        cuckoo_group_run(&all, false, LOOK_NARROW, cuckoo_buckets_hash_group, cuckoo_group_wait,
                         buckets_visit_has, buckets_end_has, &b);
    else
        cuckoo_group_run(&all, false, LOOK_WIDE, cuckoo_buckets_hash_group, cuckoo_group_wait,
                         buckets_visit_has, buckets_end_has, &b);
    return b.n;
}

/* What is done to each key in order, whatever the width. */
CUCKOO_GROUP_INLINE void buckets_each(buckets_batch *b, const uint64_t *keys, size_t n,
                                      cuckoo_group_prepare *prepare, cuckoo_group_visit *visit)
{
    cuckoo_group groups[2];
    const cuckoo_group_batch all = { b->t, b->t->at, keys, n, groups, b->t->is_far };

    cuckoo_group_run(&all, false, 0, cuckoo_buckets_hash_group, prepare, visit, cuckoo_group_go_on,
                     b);
}

CUCKOO_GROUP_INLINE bool buckets_visit_count(void *self, const cuckoo_group *g, size_t i,
                                             size_t end, unsigned how)
{
    buckets_batch *b = self;

    (void)how;
    for (; i < end; i++) {
        buckets_key k = buckets_key_in(g, i);
        *b->out++ = buckets_count(b->t, &k);
    }
    return true;
}

static void buckets_count_many(const tamis *f, uint64_t *counts, const uint64_t *keys, size_t n)
{
    const buckets_table t = buckets_of(f);
    buckets_batch b = { .t = &t, .out = counts };

    buckets_each(&b, keys, n, cuckoo_group_wait, buckets_visit_count);
}

static inline void buckets_fetch_others(const buckets_table *t, uint64_t i)
{
    buckets_bucket b = buckets_read(t, i);

    for (unsigned s = 0; s < SLOTS; s++)
        cuckoo_group_ask(t->at + buckets_other(t, i, b.tag[s]) * t->bits / 8, false, t->is_far);
}

/* Keys whose buckets are full will look for room in those that the tags there may move to. */
CUCKOO_GROUP_INLINE void buckets_prepare_add(void *self, const cuckoo_group *g, size_t i,
                                             size_t end)
{
    const buckets_batch *b = self;

    if (b->f->count < b->f->plan.slots / 2)
        return;
    for (; i < end; i++) {
        if (buckets_has_room(b->t, g->start[0][i]) || buckets_has_room(b->t, g->start[1][i]))
            continue;
        buckets_fetch_others(b->t, g->start[0][i]);
        buckets_fetch_others(b->t, g->start[1][i]);
    }
}

CUCKOO_GROUP_INLINE bool buckets_visit_add(void *self, const cuckoo_group *g, size_t i, size_t end,
                                           unsigned how)
{
    buckets_batch *b = self;

    (void)how;
    for (; i < end && !b->status; i++) {
        buckets_key k = buckets_key_in(g, i);
        b->status = buckets_add(b->f, b->t, &k, 1);
        b->n += !b->status;
    }
    return !b->status;
}

static tamis_status buckets_add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    const buckets_table t = buckets_of(f);
    buckets_batch b = { .t = &t, .f = f };

    buckets_each(&b, keys, n, buckets_prepare_add, buckets_visit_add);
    *added = b.n;
    return b.status;
}

CUCKOO_GROUP_INLINE bool buckets_visit_remove(void *self, const cuckoo_group *g, size_t i,
                                              size_t end, unsigned how)
{
    buckets_batch *b = self;

    (void)how;
    for (; i < end; i++) {
        buckets_key k = buckets_key_in(g, i);
        b->n += !buckets_remove(b->f, b->t, &k, 1);
    }
    return true;
}

static size_t buckets_remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    const buckets_table t = buckets_of(f);
    buckets_batch b = { .t = &t, .f = f };

    buckets_each(&b, keys, n, cuckoo_group_wait, buckets_visit_remove);
    return b.n;
}

/* ---- The functions of a filter ----------------------------------------- */

static void buckets_use(tamis *f)
{
    static bool (*const HAS[])(const tamis *, uint64_t) = { buckets_has_bytes, buckets_has_narrow,
                                                            buckets_has_wide };
    const buckets_table t = buckets_of_plan(&f->plan);

    f->ops.has = HAS[buckets_look(&t)];
    f->ops.count = buckets_count_one;
    f->ops.add = buckets_add_one;
    f->ops.remove = buckets_remove_one;
    f->ops.has_many = buckets_has_many;
    f->ops.count_many = buckets_count_many;
    f->ops.add_many = buckets_add_many;
    f->ops.remove_many = buckets_remove_many;
}
