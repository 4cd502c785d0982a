/* cuckoo.c - cuckoo filter with windows: fingerprints that make room for each other.
 *
 * Slots form one array. A key has a fingerprint and two windows of two neighbouring slots each, and
 * its fingerprint is in one of these four places. If all are taken, one of those that are there
 * moves to another place of its own, and if these are taken too, so on: what moves where is found
 * out before anything moves. Windows start anywhere, so that neighbours overlap; that lets the
 * table be 95 % full where buckets of two would be full at 85 %.
 *
 *   first   = scale64(h, starts)                      starts = slots - 1
 *   print   = the next width - 2 bits of h * starts
 *   second  = first + step(print), around the end
 *
 *   slot:  print << 2 | place                         0: empty
 *
 * A slot tells which place of its key it is: 0 or 1, first window, 2 or 3, second. So the other
 * places are known from the slot alone, for any number of slots. And the two bits cost nothing,
 * since a stranger at one of its places is mistaken for what is there only if they agree too: a
 * key that is found has the windows and the fingerprint of one that is there,
 *
 *   1 - (1 - 1 / (starts * 2^(width - 2)))^n        about load * 2^(2 - width)
 *
 * The number of a key with fingerprint 0 at place 0 would be 0. Such keys have three places.
 *
 * Keys with the same windows and fingerprint are a class. As each copy has a slot, a class has
 * three of them at most, and stays for good when it has: who knows how many keys of it were not
 * counted?
 *
 * With as many bits that windows and fingerprint tell h itself, classes are keys, and no key can be
 * removed that is not there: TAMIS_CAN_EXACT_DELETE.
 *
 * Payload: plan.slots numbers of plan.width bits, one behind the other, up to a whole byte; then
 * the stash, a word that tells how many hashes follow, at most four. A hash goes there when no move
 * makes room, and back to the slots when a key was removed. It holds plans of few keys to their
 * promise, and is empty in others. Zeros are the empty filter.
 *
 * Fan, Andersen, Kaminsky, Mitzenmacher: Cuckoo Filter: Practically Better Than Bloom, 2014.
 * Lehman, Panigrahy: 3.5-Way Cuckoo Hashing for the Price of 2-and-a-Bit, 2009.
 * Schmitz, Zentgraf, Rahmann: Smaller and More Flexible Cuckoo Filters, 2025. */
#include "cuckoo/cuckoo.h"

#include <math.h>

#include "base/cpu.h"

/* ---- Sizing ------------------------------------------------------------ */

/* Searches of SEARCH_MOST slots begin to fail a hundredth above the highest, and take half as long
 * again there as at the other: docs/filters/cuckoo.md. */
static const double DEFAULT_LOAD = 0.94, HIGHEST_LOAD = 0.945;

/* As few bits as a slot can have will do for 2^19 slots, and each one more for 2^4.5 times as many.
 */
static const double NARROWEST_SLOTS_BITS = 19, SLOTS_BITS_PER_BIT = 4.5;

/* No two windows overlap in fewer. */
enum { FEWEST_SLOTS = 5 };

static const uint64_t MOST_SLOTS = UINT64_C(1) << 45;

/* The width with which h is told: keys of one start differ by 1 in h, and by `starts` in the lower
 * half of the product. */
static unsigned exact_width(uint64_t slots)
{
    return TAG_BITS + 1 + (unsigned)__builtin_clzll(slots - 1);
}

static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->width >= NARROWEST && p->width <= WIDEST && p->hashes == 0 && p->load == 0 &&
              p->slots >= FEWEST_SLOTS && p->slots <= MOST_SLOTS;

    if (!ok || p->flags & ~TAMIS_PLAN_EXACT_DELETE)
        return 0;
    if (p->flags & TAMIS_PLAN_EXACT_DELETE && p->width < exact_width(p->slots))
        return 0;
    return slots_bytes(p) + STASH_BYTES;
}

static double classes(const tamis_plan *p)
{
    return ldexp((double)(p->slots - 1), (int)p->width - TAG_BITS);
}

static double rate(const tamis_plan *p, double n)
{
    return p->width >= exact_width(p->slots) ? 0 : -expm1(n * log1p(-1 / classes(p)));
}

/* Few keys are spread less evenly than many. What they get beyond the load is five slots and 23
 * bytes, or 3.8 % from where that is more, or 60 slots. */
static double slots_for(double n, double load, unsigned width)
{
    return floor(n / load + FEWEST_SLOTS + fmax(fmin(n / 25, 60), 184 / width));
}

/* Keys that share all their places, or nearly so, crowd them, and what is too much goes to the
 * stash: of 6 bits and a million slots, 0.4 entries; of 7 bits, 22 times fewer, as far as was
 * counted. If that holds for every bit, no plan expects more than 0.2 of the four there may be. */
static unsigned narrowest(double slots)
{
    double more = ceil((log2(slots) - NARROWEST_SLOTS_BITS) / SLOTS_BITS_PER_BIT);

    return NARROWEST + (unsigned)fmax(0, more);
}

/* Slots that n keys need for their rate. */
static double slots_at_width(double n, double fpr, unsigned width)
{
    return fmin(ceil(ldexp(-1 / expm1(log1p(-fpr) / n), TAG_BITS - (int)width)) + 2,
                (double)MOST_SLOTS);
}

/* Of narrow slots and many, and wider ones and fewer, those that take fewer bits. If a load is
 * asked for, no more slots than it takes. */
static tamis_status plan_smallest(tamis_plan *p, const tamis_spec *spec, double load)
{
    double n = (double)spec->keys, best = INFINITY;

    for (unsigned width = NARROWEST; width <= WIDEST; width++) {
        double least = slots_for(n, load, width);
        double slots = fmax(least, slots_at_width(fmax(1, n), spec->fpr, width));
        if (slots * width >= best || (spec->load > 0 && slots > least) || width < narrowest(slots))
            continue;
        best = slots * width;
        p->slots = (uint64_t)slots;
        p->width = width;
    }
    return isinf(best) ? TAMIS_RANGE : TAMIS_OK;
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double n = (double)spec->keys, load = spec->load > 0 ? spec->load : DEFAULT_LOAD;

    if (load > HIGHEST_LOAD || n / load > (double)MOST_SLOTS / 2)
        return TAMIS_RANGE;
    if (!(spec->can & TAMIS_CAN_EXACT_DELETE))
        return plan_smallest(p, spec, load);
    p->slots = (uint64_t)slots_for(n, load, WIDEST);
    p->width = exact_width(p->slots);
    p->flags |= TAMIS_PLAN_EXACT_DELETE;
    return TAMIS_OK;
}

static tamis_limits limits(const tamis_plan *p)
{
    (void)p;
    return (tamis_limits){ .ceiling = CEILING };
}

/* ---- The stash --------------------------------------------------------- */

static uint8_t *stash_at(const table *t, unsigned i)
{
    return t->stash + 8 + 8 * i;
}

static bool same_class(const entry *a, const entry *b)
{
    return a->first == b->first && a->print == b->print;
}

/* Copies that are there; *at tells where the last one is. */
static unsigned find_stashed(const table *t, const entry *e, unsigned *at)
{
    unsigned found = 0;

    for (unsigned i = 0; i < stash_size(t); i++) {
        entry other = entry_of(t, le64(stash_at(t, i)));
        if (same_class(&other, e)) {
            *at = i;
            found++;
        }
    }
    return found;
}

unsigned tamis__cuckoo_stashed(const table *t, const entry *e)
{
    unsigned at;

    return find_stashed(t, e, &at);
}

static bool put_in_stash(const table *t, uint64_t h)
{
    unsigned n = stash_size(t);

    if (n == STASH_MOST)
        return false;
    put_le64(stash_at(t, n), h);
    put_le64(t->stash, n + 1);
    return true;
}

/* The last one takes its place. */
static void take_from_stash(const table *t, unsigned at)
{
    unsigned last = stash_size(t) - 1;

    put_le64(stash_at(t, at), le64(stash_at(t, last)));
    put_le64(stash_at(t, last), 0);
    put_le64(t->stash, last);
}

/* ---- Lookups ----------------------------------------------------------- */

static inline void place_keys(group *g, const table *t, uint64_t salt, const uint64_t *keys)
{
    place_each(g, 0, t, salt, keys);
}

#include "cuckoo/cuckoo_many.h"

static uint64_t count(const tamis *f, uint64_t key)
{
    table t = table_of(f);
    entry e = entry_of(&t, hash_key(key, f->salt));

    return copies_of(&t, &e);
}

static void touch(const tamis *f, uint64_t key)
{
    table t = table_of(f);
    entry e = entry_of(&t, hash_key(key, f->salt));

    fetch_window(&t, e.first, false);
    fetch_window(&t, e.second, false);
}

/* ---- Slots ------------------------------------------------------------- */

static void put_slot(const table *t, uint64_t slot, uint64_t value)
{
    put_at(t, slot * t->width, value);
}

/* Neither the first slot nor the last has two windows. */
static bool is_sound(const table *t, uint64_t slot, uint64_t value)
{
    return slot - (value & 1) < t->starts;
}

/* ---- Making room ------------------------------------------------------- */

/* Breadth first: moves are few if they are many ways to go. A first search of a few slots is nearly
 * always enough; if not, one of many decides. Nodes are slots in use, each with the node whose
 * entry could move there and the place that this would be for it. Nodes 0 .. roots - 1 are the
 * places of the new entry itself. No slot comes twice, or nearly so: `seen` has a bit for each,
 * which some share; those are passed over. */
enum { SEARCH_FEW = 32, SEARCH_MOST = 4096, NODE_BITS = 12, SEEN_PER_NODE = 8, LONGEST_PATH = 64 };

/* Nodes whose windows are on their way from memory. Of all that are found, two thirds are never
 * looked at: to ask for them at once would be more work than to look. */
enum { FETCH_AHEAD = 12 };

typedef struct search {
    const table *t;
    uint64_t *nodes, *seen;
    size_t n, most, roots, fetched;
} search;

static uint64_t node_of(uint64_t slot, size_t parent, unsigned place)
{
    return (slot << NODE_BITS | parent) << TAG_BITS | place;
}

static uint64_t node_slot(uint64_t node)
{
    return node >> (NODE_BITS + TAG_BITS);
}

static size_t node_parent(uint64_t node)
{
    return node >> TAG_BITS & ((1u << NODE_BITS) - 1);
}

static bool is_seen(search *s, uint64_t slot)
{
    uint64_t bit = scale64(slot * HASH_GOLDEN, s->most * SEEN_PER_NODE);
    uint64_t mask = UINT64_C(1) << bit % 64, word = s->seen[bit / 64];

    s->seen[bit / 64] = word | mask;
    return word & mask;
}

/* Adds places of an entry, all of them taken. */
static void add_nodes(search *s, const entry *e, size_t parent)
{
    for (unsigned i = e->print == 0; i < PLACES && s->n < s->most; i++) {
        uint64_t slot = slot_of(e, i);
        if (!is_seen(s, slot))
            s->nodes[s->n++] = node_of(slot, parent, i);
    }
}

/* Asks for the windows where those could go who are in the nodes up to `end`. */
__attribute__((always_inline)) static inline void fetch_nodes(search *s, size_t end)
{
    for (; s->fetched < s->n && s->fetched < end; s->fetched++) {
        uint64_t slot = node_slot(s->nodes[s->fetched]);
        fetch_window(s->t, other_start(s->t, slot, slot_at(s->t, slot)), true);
    }
}

/* What has to change so that an entry is in: distinct slots, with what they will hold. */
typedef struct path {
    size_t n;
    struct {
        uint64_t slot, value;
    } at[LONGEST_PATH];
} path;

static bool lengthen(path *p, uint64_t slot, uint64_t value)
{
    if (p->n == LONGEST_PATH)
        return false;
    p->at[p->n].slot = slot;
    p->at[p->n++].value = value;
    return true;
}

/* From a node, whose entry may move to a free slot, back to a root: each moves to where the one
 * before it was. */
static bool trace(path *p, const search *s, const entry *e, size_t i, uint64_t free, unsigned place)
{
    for (p->n = 0;; i = node_parent(s->nodes[i])) {
        uint64_t slot = node_slot(s->nodes[i]), value = slot_at(s->t, slot);
        if (!lengthen(p, free, (value & ~(uint64_t)TAG_MASK) | place))
            return false;
        free = slot;
        place = s->nodes[i] & TAG_MASK;
        if (i < s->roots)
            return lengthen(p, free, value_at(e, place));
    }
}

static bool find_path(path *p, search *s, const entry *e)
{
    add_nodes(s, e, 0);
    s->roots = s->n;
    for (size_t i = 0; i < s->n; i++) {
        uint64_t slot = node_slot(s->nodes[i]);
        fetch_nodes(s, i + FETCH_AHEAD);
        entry other = entry_at(s->t, slot, slot_at(s->t, slot));
        unsigned free = vacant(s->t, &other);
        if (free) {
            unsigned place = (unsigned)__builtin_ctz(free);
            return trace(p, s, e, i, slot_of(&other, place), place);
        }
        add_nodes(s, &other, i);
    }
    return false;
}

static bool search_few(path *p, const table *t, const entry *e)
{
    uint64_t nodes[SEARCH_FEW], seen[SEARCH_FEW * SEEN_PER_NODE / 64] = { 0 };
    search s = { .t = t, .nodes = nodes, .seen = seen, .most = SEARCH_FEW };

    return find_path(p, &s, e);
}

static bool search_many(path *p, const table *t, const entry *e)
{
    uint64_t nodes[SEARCH_MOST], seen[SEARCH_MOST * SEEN_PER_NODE / 64] = { 0 };
    search s = { .t = t, .nodes = nodes, .seen = seen, .most = SEARCH_MOST };

    return find_path(p, &s, e);
}

static bool find_room(path *p, const table *t, const entry *e)
{
    unsigned free = vacant(t, e);

    if (!free)
        return search_few(p, t, e) || search_many(p, t, e);
    unsigned place = (unsigned)__builtin_ctz(free);
    p->n = 0;
    return lengthen(p, slot_of(e, place), value_at(e, place));
}

/* Slots and path trade what they hold: the second time, everything is as it was. */
static void trade(const table *t, path *p)
{
    for (size_t i = 0; i < p->n; i++) {
        uint64_t value = slot_at(t, p->at[i].slot);
        put_slot(t, p->at[i].slot, p->at[i].value);
        p->at[i].value = value;
    }
}

/* ---- Adding ------------------------------------------------------------ */

/* In the slots or in the stash, whose path is empty. */
static bool insert(path *p, const table *t, uint64_t h, const entry *e)
{
    if (!find_room(p, t, e)) {
        p->n = 0;
        return put_in_stash(t, h);
    }
    trade(t, p);
    return true;
}

static void take_back(const table *t, path *p)
{
    if (p->n == 0)
        take_from_stash(t, stash_size(t) - 1);
    trade(t, p);
}

tamis_status tamis__cuckoo_add(tamis *f, uint64_t h, const entry *e)
{
    table t = table_of(f);
    path p;

    if (copies_of(&t, e) == CEILING)
        return TAMIS_OK;
    if (!insert(&p, &t, h, e))
        return TAMIS_FULL;
    f->count++;
    return TAMIS_OK;
}

static tamis_status add_times(tamis *f, uint64_t h, const entry *e, uint64_t times)
{
    table t = table_of(f);
    unsigned room = CEILING - copies_of(&t, e), wanted = times < room ? (unsigned)times : room;
    path paths[CEILING];

    for (unsigned i = 0; i < wanted; i++)
        if (!insert(&paths[i], &t, h, e)) {
            while (i-- > 0)
                take_back(&t, &paths[i]);
            return TAMIS_FULL;
        }
    f->count += wanted;
    return TAMIS_OK;
}

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    table t = table_of(f);
    uint64_t h = hash_key(key, f->salt);
    entry e = entry_of(&t, h);

    return times > 1 ? add_times(f, h, &e, times) : tamis__cuckoo_add(f, h, &e);
}

/* ---- Removing ---------------------------------------------------------- */

static void take_out(const table *t, const entry *e)
{
    unsigned at, held = holding(t, e);

    if (stashed(t, e) && find_stashed(t, e, &at))
        take_from_stash(t, at);
    else
        put_slot(t, slot_of(e, 31 - (unsigned)__builtin_clz(held)), 0);
}

/* What found no room before may find some now. Who is not helped by one free slot is not helped by
 * the moves of another either: each is tried once. */
static void empty_stash(const table *t)
{
    for (unsigned i = stash_size(t); i-- > 0;) {
        entry e = entry_of(t, le64(stash_at(t, i)));
        path p;

        if (!find_room(&p, t, &e))
            continue;
        trade(t, &p);
        take_from_stash(t, i);
    }
}

tamis_status tamis__cuckoo_remove(tamis *f, const entry *e, uint64_t times)
{
    table t = table_of(f);
    unsigned copies = copies_of(&t, e);

    if (copies == CEILING)
        return TAMIS_OK;
    if (copies < times)
        return TAMIS_ABSENT;
    for (uint64_t i = 0; i < times; i++)
        take_out(&t, e);
    f->count -= times;
    if (stash_size(&t))
        empty_stash(&t);
    return TAMIS_OK;
}

static tamis_status remove_key(tamis *f, uint64_t key, uint64_t times)
{
    table t = table_of(f);
    entry e = entry_of(&t, hash_key(key, f->salt));

    return tamis__cuckoo_remove(f, &e, times);
}

/* ---- The whole table --------------------------------------------------- */

/* Of the entries of a class, that at the lowest place counts. */
static bool is_first_of_class(const table *t, uint64_t slot, uint64_t value)
{
    entry e = entry_at(t, slot, value);
    unsigned below = (1u << (value & TAG_MASK)) - 1;

    return !(holding(t, &e) & below);
}

static void measure(const tamis *f, tamis_info *info)
{
    table t = table_of(f);
    double used = 0, distinct = 0, all = classes(&f->plan);

    for (uint64_t slot = 0; slot <= t.starts; slot++) {
        uint64_t value = slot_at(&t, slot);
        used += value != 0;
        distinct += value && is_sound(&t, slot, value) && is_first_of_class(&t, slot, value);
    }
    for (unsigned i = 0; i < stash_size(&t); i++) {
        entry e = entry_of(&t, le64(stash_at(&t, i)));
        distinct += !holding(&t, &e);
    }
    info->fill = used / (double)f->plan.slots;
    info->cardinality = distinct;
    info->fpr = 0;
    if (f->plan.width >= exact_width(f->plan.slots))
        return;
    info->cardinality = log1p(-fmin(distinct, all - 1) / all) / log1p(-1 / all);
    info->fpr = fmin(1, distinct / all);
}

/* Only what has all four places has too many; who is at place 0 has a neighbour at place 1 then. */
static bool is_crowded(const table *t, uint64_t slot, uint64_t value)
{
    if (value & TAG_MASK || slot == t->starts || slot_at(t, slot + 1) != value + 1)
        return false;
    entry e = entry_at(t, slot, value);
    return __builtin_popcount(holding(t, &e)) > CEILING;
}

static const char *verify_slots(const table *t, uint64_t *used)
{
    for (uint64_t slot = 0; slot <= t->starts; slot++) {
        uint64_t value = slot_at(t, slot);
        *used += value != 0;
        if (value && !is_sound(t, slot, value))
            return "a slot is in no window";
        if (value && is_crowded(t, slot, value))
            return "a key is there too often";
    }
    unsigned end = (unsigned)((t->starts + 1) * t->width % 8);
    return end && t->stash[-1] >> end ? "bits past the end are set" : NULL;
}

static const char *verify_stash(const table *t)
{
    uint64_t n = le64(t->stash);

    if (n > STASH_MOST)
        return "the stash is longer than it can be";
    for (unsigned i = 0; i < STASH_MOST; i++) {
        entry e = entry_of(t, le64(stash_at(t, i)));
        if (i >= n && le64(stash_at(t, i)))
            return "an empty place of the stash is in use";
        if (i < n && (unsigned)__builtin_popcount(holding(t, &e)) + stashed(t, &e) > CEILING)
            return "a key is there too often";
    }
    return NULL;
}

static const char *verify(const tamis *f)
{
    table t = table_of(f);
    uint64_t used = 0;
    const char *why = verify_slots(&t, &used);

    if (!why)
        why = verify_stash(&t);
    if (why)
        return why;
    return used + stash_size(&t) == f->count ? NULL : "the count is wrong";
}

static void for_cpu(tamis *f, unsigned cpu)
{
#if defined(__x86_64__)
    if (cpu & TAMIS_CPU_AVX2)
        tamis__cuckoo_use_avx2(&f->ops);
#endif
    (void)f;
    (void)cpu;
}

const tamis_ops tamis__cuckoo = {
    .traits = TAMIS_TRAIT_BUILDS_SETS | TAMIS_TRAIT_CAN_DELETE_EXACTLY,
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .limits = limits,
    .for_cpu = for_cpu,
    .verify = verify,
    .measure = measure,
    .has = has,
    .count = count,
    .add = add,
    .remove = remove_key,
    .touch = touch,
    .has_many = has_many,
    .count_many = count_many,
    .add_many = add_many,
    .remove_many = remove_many,
};
