/* quotient.c - quotient filter: a sorted hash table that keeps only what the place does not tell.
 *
 * The fingerprint of a key is a number below slots * 2^r. Its quotient, fingerprint / 2^r, is the
 * slot where the key is at home; its remainder, the other r bits, is what is stored. Keys of one
 * quotient stand side by side, sorted: a run. Runs stand in order of their quotients; one that
 * finds its slot taken is shifted up, and the last slots are followed by the first. Runs without
 * an empty slot or a run at home between them are a cluster. Three bits of each slot tell runs
 * apart:
 *
 *   occupied    of the slot itself: some key has this quotient, wherever it is
 *   continued   of what lies there: the same run as in the slot before
 *   shifted     of what lies there: not at home
 *
 *   quotient    remainders              slot   0    1    2    3    4    5    6    7
 *       1       a c                occupied    0    1    1    0    1    0    0    0
 *       2       5                 continued    0    0    1    0    0    0    0    0
 *       4       9                   shifted    0    0    1    1    0    0    0    0
 *                                 remainder         a    c    5    9
 *
 * The run of an occupied quotient is found from the start of its cluster, the next slot below that
 * is not shifted: skip as many runs as there are occupied quotients between. No fingerprint is
 * lost, so that the filter can forget a key, be listed in order, merged in one pass, and doubled:
 * one bit of each remainder becomes the last of the quotient. A stranger is taken for one of n keys
 * only if it has the fingerprint of one:
 *
 *   1 - (1 - 1 / (slots * 2^r))^n        about load * 2^-r
 *
 * Each copy of a key has a slot. What is stored depends on the fingerprints alone, in no way on
 * the order in which they came.
 *
 * Payload: blocks of 64 slots, then 8 zero bytes. A block is three words, one for each kind of
 * bit, and 64 remainders of plan.width = r bits: cluster and run are found by arithmetic on words.
 * Zeros are the empty filter.
 *
 * Bender, Farach-Colton, Johnson, Kraner, Kuszmaul, Medjedovic, Montes, Shetty, Spillane, Zadok:
 * Don't Thrash: How to Cache Your Hash on Flash, 2012. */
#include <math.h>

#include "base/cpu.h"
#include "base/radix.h"
#include "base/sort.h"
#include "quotient/narrow.h"
#include "quotient/quotient.h"

/* ---- Sizing ------------------------------------------------------------ */

enum { WIDEST = PACKED_WIDEST };

/* Above it, clusters have thousands of slots. */
static const double DEFAULT_LOAD = 0.75, HIGHEST_LOAD = 0.95;

/* One slot stays empty: it ends every walk. */
static uint64_t bytes(const tamis_plan *p)
{
    bool ok = p->width >= 1 && p->width <= WIDEST && p->hashes == 0 && p->load == 0 &&
              (p->flags & ~TAMIS_PLAN_GROWS) == 0 && p->capacity < p->slots &&
              p->slots < UINT64_C(1) << (63 - p->width);

    return ok ? ((p->slots - 1) / BLOCK_SLOTS + 1) * (REMAINDERS + 8 * p->width) + SLACK : 0;
}

static double prints(const tamis_plan *p)
{
    return ldexp((double)p->slots, (int)p->width);
}

static double rate(const tamis_plan *p, double n)
{
    return -expm1(n * log1p(-1 / prints(p)));
}

/* A filter can be halved as often as its slots can: rounding to ten bits costs 0.2 % at most. */
static uint64_t round_slots(uint64_t slots)
{
    uint64_t step = 1;

    while (slots / step >= 1024)
        step *= 2;
    return round_up(slots, step);
}

static tamis_status plan(tamis_plan *p, const tamis_spec *spec)
{
    double load = spec->load > 0 ? spec->load : DEFAULT_LOAD;
    double slots = ((double)spec->keys + 1) / load + 1;

    if (load > HIGHEST_LOAD || slots >= 0x1p48)
        return TAMIS_RANGE;
    p->slots = round_slots((uint64_t)slots);
    p->flags = spec->can & TAMIS_CAN_GROW ? TAMIS_PLAN_GROWS : 0;
    for (p->width = 1; p->width <= WIDEST; p->width++)
        if (rate(p, fmax(1, (double)spec->keys)) <= spec->fpr)
            return bytes(p) ? TAMIS_OK : TAMIS_RANGE;
    return TAMIS_RANGE;
}

/* ---- Search ------------------------------------------------------------ */

static inline unsigned select_in(uint64_t word, unsigned i)
{
    for (; i && word; i--)
        word &= word - 1;
    return word ? lowest(word) : BLOCK_SLOTS;
}

#include "quotient/quotient_many.h"

static uint64_t next_block(const table *t, uint64_t block)
{
    return block < t->last ? block + 1 : 0;
}

static uint64_t block_before(const table *t, uint64_t block)
{
    return block ? block - 1 : t->last;
}

/* Goes down, from the first block on to the last, to the start of the cluster, and counts the runs
 * from there to that of the quotient. If its block comes twice, the start lies above the quotient,
 * and the second time only what is above the start counts. */
static uint64_t cluster_of(const table *t, uint64_t quotient, uint64_t *runs)
{
    uint64_t block = quotient / BLOCK_SLOTS, mask = bits_to((unsigned)(quotient % BLOCK_SLOTS));

    *runs = !bit_of(t, OCCUPIED, quotient);
    for (uint64_t steps = 0; steps <= t->last + 1; steps++) {
        const uint8_t *at = block_at(t, block);
        uint64_t at_home = ~plane(at, SHIFTED) & mask, occupied = plane(at, OCCUPIED) & mask;
        if (at_home) {
            *runs += ones(occupied & bits_from(highest(at_home)));
            return block * BLOCK_SLOTS + highest(at_home);
        }
        *runs += ones(occupied);
        block = block_before(t, block);
        mask = bits_of_slots(t, block);
    }
    return t->slots;
}

/* The run of a quotient, wherever it is, or where it would be; plan.slots if no slot is at home, as
 * in a damaged table. */
static uint64_t run_far_away(const table *t, uint64_t quotient)
{
    uint64_t runs, cluster = cluster_of(t, quotient, &runs);

    if (cluster == t->slots)
        return t->slots;
    uint64_t block = cluster / BLOCK_SLOTS, mask = bits_from((unsigned)(cluster % BLOCK_SLOTS));
    for (uint64_t steps = 0; steps <= t->last + 1; steps++) {
        uint64_t heads = ~plane(block_at(t, block), CONTINUED) & bits_of_slots(t, block) & mask;
        if (runs <= ones(heads))
            return block * BLOCK_SLOTS + select_in(heads, (unsigned)runs - 1);
        runs -= ones(heads);
        block = next_block(t, block);
        mask = UINT64_MAX;
    }
    return t->slots;
}

static uint64_t run_of(const table *t, uint64_t quotient)
{
    uint64_t start;

    if (run_is_near(t, quotient, &start, select_in) ||
        run_is_next_door(t, quotient, &start, select_in))
        return start;
    return run_far_away(t, quotient);
}

/* Slots of a run. */
static uint64_t run_length(const table *t, uint64_t start)
{
    uint64_t length = 1;

    while (length < t->slots) {
        uint64_t slot = wrap(t, start + length), block = slot / BLOCK_SLOTS;
        unsigned i = (unsigned)(slot % BLOCK_SLOTS);
        uint64_t mask = bits_of_slots(t, block) & bits_from(i);
        uint64_t ends = ~plane(block_at(t, block), CONTINUED) & mask;
        if (ends)
            return length + lowest(ends) - i;
        length += ones(mask);
    }
    return t->slots;
}

/* The run of a fingerprint's quotient, and its copies in there. */
typedef struct found {
    uint64_t quotient, start, length; /* of the run; without one, 0 slots and where it would be */
    uint64_t before, copies;          /* slots of the run that hold less, and the same */
    uint32_t remainder;
} found;

static void count_each(found *r, const table *t)
{
    for (uint64_t i = 0; i < r->length; i++) {
        uint32_t remainder = remainder_at(t, wrap(t, r->start + i));
        r->before += remainder < r->remainder;
        r->copies += remainder == r->remainder;
    }
}

/* How many slots of a run hold less than x. */
static uint64_t count_below(const found *r, const table *t, uint64_t x)
{
    uint64_t low = 0, high = r->length;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (remainder_at(t, wrap(t, r->start + middle)) < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Runs are of a slot or two, but for those of keys that came thousands of times. */
static found find(const table *t, uint64_t print)
{
    found r = { .quotient = print >> t->width,
                .remainder = (uint32_t)print & packed_mask(t->width) };

    r.start = run_of(t, r.quotient);
    if (r.start == t->slots || !bit_of(t, OCCUPIED, r.quotient))
        return r;
    r.length = run_length(t, r.start);
    if (r.length <= BLOCK_SLOTS) {
        count_each(&r, t);
    } else {
        r.before = count_below(&r, t, r.remainder);
        r.copies = count_below(&r, t, (uint64_t)r.remainder + 1) - r.before;
    }
    return r;
}

bool tamis__quotient_has_far(const table *t, uint64_t print)
{
    return find(t, print).copies != 0;
}

static uint64_t count(const tamis *f, uint64_t key)
{
    table t = table_of(f);

    return find(&t, print_of(f, key)).copies;
}

/* ---- Slots ------------------------------------------------------------- */

static void put_bit(const table *t, int which, uint64_t slot, bool bit)
{
    uint8_t *block = block_of(t, slot);
    uint64_t mask = UINT64_C(1) << slot % BLOCK_SLOTS, word = plane(block, which) & ~mask;

    put_le64(block + which, bit ? word | mask : word);
}

/* All of a slot but whether it is occupied, which is not about what lies there. */
static void put_slot(const table *t, uint64_t slot, uint32_t remainder, bool continued,
                     bool shifted)
{
    packed_put(block_of(t, slot) + REMAINDERS, slot % BLOCK_SLOTS, t->width, remainder);
    put_bit(t, CONTINUED, slot, continued);
    put_bit(t, SHIFTED, slot, shifted);
}

static void move_slot(const table *t, uint64_t to, uint64_t from, bool shifted)
{
    put_slot(t, to, remainder_at(t, from), bit_of(t, CONTINUED, from), shifted);
}

/* What is occupied and nothing else holds the first of its run. */
static uint64_t used_slots(const uint8_t *block)
{
    return plane(block, OCCUPIED) | plane(block, CONTINUED) | plane(block, SHIFTED);
}

static bool is_empty(const table *t, uint64_t slot)
{
    return !(used_slots(block_of(t, slot)) >> slot % BLOCK_SLOTS & 1);
}

/* The first occupied quotient from `from` on; plan.slots if there is none. */
static uint64_t next_occupied(const table *t, uint64_t from)
{
    for (uint64_t block = from / BLOCK_SLOTS; block <= t->last; block++) {
        uint64_t word = plane(block_at(t, block), OCCUPIED) & bits_of_slots(t, block);
        if (block == from / BLOCK_SLOTS)
            word &= bits_from((unsigned)(from % BLOCK_SLOTS));
        if (word)
            return block * BLOCK_SLOTS + lowest(word);
    }
    return t->slots;
}

/* ---- Moving by one slot ------------------------------------------------ */

/* Bits from .. to - 1 of those that word i of an array has. */
static uint64_t bits_between(unsigned i, unsigned from, unsigned to)
{
    uint64_t low = from > 64 * i ? bits_from(from - 64 * i) : UINT64_MAX;

    return to < 64 * i + 64 ? low & bits_to(to - 64 * i - 1) : low;
}

/* Slots from .. to - 1 of a block move up by one, over the one at `to`. */
static void move_up_in_block(uint8_t *block, unsigned from, unsigned to, unsigned width)
{
    if (from == to)
        return;
    uint64_t mask = bits_from(from + 1) & bits_to(to), continued = plane(block, CONTINUED);
    put_le64(block + CONTINUED, (continued & ~mask) | (continued << 1 & mask));
    put_le64(block + SHIFTED, plane(block, SHIFTED) | mask);
    unsigned low = (from + 1) * width, high = (to + 1) * width;
    for (unsigned i = (high - 1) / 64 + 1; i-- > low / 64;) {
        uint8_t *at = block + REMAINDERS + 8 * i;
        uint64_t moved = le64(at) << width | (i ? le64(at - 8) >> (64 - width) : 0);
        mask = bits_between(i, low, high);
        put_le64(at, (le64(at) & ~mask) | (moved & mask));
    }
}

/* Slots from + 1 .. to of a block move down by one; who is shifted is not touched. The word after
 * the last one is read, and nothing of it is kept. */
static void move_down_in_block(uint8_t *block, unsigned from, unsigned to, unsigned width)
{
    if (from == to)
        return;
    uint64_t mask = bits_from(from) & bits_to(to - 1), continued = plane(block, CONTINUED);
    put_le64(block + CONTINUED, (continued & ~mask) | (continued >> 1 & mask));
    unsigned low = from * width, high = to * width;
    for (unsigned i = low / 64; i <= (high - 1) / 64; i++) {
        uint8_t *at = block + REMAINDERS + 8 * i;
        uint64_t moved = le64(at) >> width | le64(at + 8) << (64 - width);
        mask = bits_between(i, low, high);
        put_le64(at, (le64(at) & ~mask) | (moved & mask));
    }
}

/* Everything from `at` up to the slot before an empty one, around the end. */
static void move_up(const table *t, uint64_t at, uint64_t empty)
{
    for (;;) {
        uint64_t first = empty - empty % BLOCK_SLOTS, before = (first ? first : t->slots) - 1;
        bool is_here = at >= first && at <= empty;
        move_up_in_block(block_of(t, empty), is_here ? (unsigned)(at % BLOCK_SLOTS) : 0,
                         (unsigned)(empty % BLOCK_SLOTS), t->width);
        if (is_here)
            return;
        move_slot(t, first, before, true);
        empty = before;
    }
}

/* Everything from the slot after `at` to `to`, around the end. */
static void move_down(const table *t, uint64_t at, uint64_t to)
{
    for (;;) {
        uint64_t end = at | (BLOCK_SLOTS - 1), last = end < t->slots ? end : t->slots - 1;
        bool is_here = to >= at && to <= last;
        move_down_in_block(block_of(t, at), (unsigned)(at % BLOCK_SLOTS),
                           (unsigned)((is_here ? to : last) % BLOCK_SLOTS), t->width);
        if (is_here)
            return;
        uint64_t next = wrap(t, last + 1);
        move_slot(t, last, next, bit_of(t, SHIFTED, last));
        at = next;
    }
}

/* There is one. */
static uint64_t next_empty(const table *t, uint64_t from)
{
    uint64_t block = from / BLOCK_SLOTS, mask = bits_from((unsigned)(from % BLOCK_SLOTS)), empty;

    while (!(empty = ~used_slots(block_at(t, block)) & bits_of_slots(t, block) & mask)) {
        block = next_block(t, block);
        mask = UINT64_MAX;
    }
    return block * BLOCK_SLOTS + lowest(empty);
}

/* ---- Adding ------------------------------------------------------------ */

/* Everything from `at` on moves up until n slots are free; those that were empty swallow it. */
static void make_room(const table *t, uint64_t at, uint64_t n)
{
    uint64_t end = at;

    if (n == 1) {
        move_up(t, at, next_empty(t, at));
        return;
    }
    for (uint64_t left = n; left -= is_empty(t, wrap(t, end)); end++)
        ;
    for (uint64_t from = end; from-- > at;)
        if (!is_empty(t, wrap(t, from)))
            move_slot(t, wrap(t, end--), wrap(t, from), true);
}

/* There is room: fewer slots than all but one are in use afterwards. */
static void insert(tamis *f, uint64_t print, uint64_t times)
{
    table t = table_of(f);
    found r = find(&t, print);
    uint64_t at = wrap(&t, r.start + r.before);

    make_room(&t, at, times);
    for (uint64_t i = 0; i < times; i++) {
        uint64_t slot = wrap(&t, at + i);
        put_slot(&t, slot, r.remainder, r.before + i != 0, slot != r.quotient);
    }
    if (r.length && r.before == 0)
        put_bit(&t, CONTINUED, wrap(&t, at + times), true);
    put_bit(&t, OCCUPIED, r.quotient, true);
    f->count += times;
}

static tamis_status add(tamis *f, uint64_t key, uint64_t times)
{
    if (times > f->plan.capacity - f->count)
        return TAMIS_FULL;
    insert(f, print_of(f, key), times);
    return TAMIS_OK;
}

/* ---- Removing ---------------------------------------------------------- */

static void clear_slots(const table *t, uint64_t from, uint64_t to)
{
    for (; from < to; from++)
        put_slot(t, wrap(t, from), 0, false, false);
}

/* The quotient of the next run, as a position not below this one. */
static uint64_t quotient_after(const table *t, uint64_t quotient)
{
    uint64_t next = next_occupied(t, wrap(t, quotient) + 1);

    if (next < t->slots)
        return quotient - wrap(t, quotient) + next;
    return t->slots + next_occupied(t, 0);
}

/* The rest of the cluster moves down into n slots that became free at `at`, no run to below its
 * quotient. `head` tells whether what comes first is the head of the quotient's own run. */
static void close_up(const table *t, uint64_t quotient, uint64_t at, uint64_t n, bool head)
{
    uint64_t from = at + n;

    for (; bit_of(t, SHIFTED, wrap(t, from)); from++, at++, head = false) {
        bool continued = bit_of(t, CONTINUED, wrap(t, from));
        if (!continued && !head)
            quotient = quotient_after(t, quotient);
        if (!continued && at < quotient) {
            clear_slots(t, at, quotient);
            at = quotient;
        }
        move_slot(t, wrap(t, at), wrap(t, from), continued || at != quotient);
    }
    clear_slots(t, at, from);
}

/* As above, for one slot: all that follows is shifted, so that it all moves down by one, and only
 * who comes home must be found out. */
static void close_slot(const table *t, uint64_t quotient, uint64_t at, bool head)
{
    uint64_t end = at + 1;

    for (; bit_of(t, SHIFTED, wrap(t, end)); end++, head = false) {
        bool continued = bit_of(t, CONTINUED, wrap(t, end));
        if (!continued && !head)
            quotient = quotient_after(t, quotient);
        if (end == at + 1 || (!continued && end - 1 == quotient))
            put_bit(t, SHIFTED, wrap(t, end - 1), continued || end - 1 != quotient);
    }
    move_down(t, wrap(t, at), wrap(t, end - 1));
    put_slot(t, wrap(t, end - 1), 0, false, false);
}

static void take_out(tamis *f, const table *t, const found *r, uint64_t times)
{
    uint64_t at = r->start + r->before;
    bool heads = r->before == 0 && r->length > times;

    if (r->length == times)
        put_bit(t, OCCUPIED, r->quotient, false);
    if (heads)
        put_bit(t, CONTINUED, wrap(t, at + times), false);
    if (r->start < r->quotient)
        at += t->slots;
    if (times == 1)
        close_slot(t, r->quotient, at, heads);
    else
        close_up(t, r->quotient, at, times, heads);
    f->count -= times;
}

static tamis_status remove_key(tamis *f, uint64_t key, uint64_t times)
{
    table t = table_of(f);
    found r = find(&t, print_of(f, key));

    if (r.copies < times)
        return TAMIS_ABSENT;
    take_out(f, &t, &r, times);
    return TAMIS_OK;
}

/* ---- In order ---------------------------------------------------------- */

/* at[]: the position that comes next, the quotient of the run that it follows, and whether there is
 * one. The lowest quotient's run may be shifted by those that wrap around. */
enum { POSITION, QUOTIENT, STARTED };

static bool next_run(const table *t, tamis_cursor *c)
{
    uint64_t *at = c->at, quotient = next_occupied(t, at[STARTED] ? at[QUOTIENT] + 1 : 0);

    if (quotient == t->slots)
        return false;
    if (!at[STARTED]) {
        at[POSITION] = run_of(t, quotient);
        if (at[POSITION] < quotient)
            at[POSITION] += t->slots;
    } else if (at[POSITION] < quotient) {
        at[POSITION] = quotient;
    }
    at[STARTED] = true;
    at[QUOTIENT] = quotient;
    return true;
}

static bool continues(const table *t, uint64_t position)
{
    return position < 2 * t->slots && bit_of(t, CONTINUED, wrap(t, position));
}

static bool next(tamis_cursor *c)
{
    table t = table_of(c->f);
    uint64_t *at = c->at;

    if ((!at[STARTED] || !continues(&t, at[POSITION])) && !next_run(&t, c))
        return false;
    if (at[POSITION] >= 2 * t.slots)
        return false;
    uint32_t remainder = remainder_at(&t, wrap(&t, at[POSITION]));
    c->fingerprint = at[QUOTIENT] << t.width | remainder;
    c->count = 0;
    do {
        c->count++;
        at[POSITION]++;
    } while (continues(&t, at[POSITION]) && remainder_at(&t, wrap(&t, at[POSITION])) == remainder);
    return true;
}

/* at[]: the position after what was written, and the last quotient plus 1. Once a run has reached
 * the end of the table, the rest goes in between what stands at its beginning. There is nothing to
 * do at the end. */
static tamis_status append(tamis_writer *w, uint64_t print, uint64_t times)
{
    tamis *f = w->f;
    table t = table_of(f);
    uint64_t quotient = print >> t.width, *at = w->at;

    if (times == 0)
        return TAMIS_OK;
    if (times > f->plan.capacity - f->count)
        return TAMIS_FULL;
    if (at[POSITION] < quotient)
        at[POSITION] = quotient;
    if (times > t.slots - at[POSITION]) {
        insert(f, print, times);
        at[POSITION] = t.slots;
        return TAMIS_OK;
    }
    for (uint64_t end = at[POSITION] + times; at[POSITION] < end; at[POSITION]++) {
        uint32_t remainder = (uint32_t)print & packed_mask(t.width);
        put_slot(&t, at[POSITION], remainder, at[QUOTIENT] == quotient + 1,
                 at[POSITION] != quotient);
        at[QUOTIENT] = quotient + 1;
    }
    put_bit(&t, OCCUPIED, quotient, true);
    f->count += times;
    return TAMIS_OK;
}

static void double_slots(tamis_plan *p)
{
    p->slots *= 2;
    p->width--;
    p->capacity = 2 * p->capacity + 1;
}

static void halve_slots(tamis_plan *p)
{
    p->slots /= 2;
    p->width++;
    p->capacity /= 2;
}

static tamis_status resize(tamis_plan *p, uint64_t keys)
{
    while (p->capacity < keys) {
        if (p->width == 1)
            return TAMIS_RANGE;
        double_slots(p);
    }
    while (p->capacity / 2 >= keys && p->slots % 2 == 0 && p->slots > 2 && p->width < WIDEST)
        halve_slots(p);
    return TAMIS_OK;
}

static tamis_room room(const tamis *f, uint64_t range, uint64_t copies)
{
    uint64_t capacity = f->plan.capacity;

    (void)range;
    return (tamis_room){ .used = f->count,
                         .free = f->count < capacity ? capacity - f->count : 0,
                         .needed = copies };
}

/* ---- Building ---------------------------------------------------------- */

/* Hashes are dealt out to groups by their leading bits, so that each is sorted in the cache. */
enum { GROUP_KEYS = 1 << 12, MOST_GROUP_BITS = 11, LINE = 64 };

typedef struct deck {
    uint64_t *hashes; /* group by group */
    size_t *ends;     /* of groups */
    unsigned bits;    /* there are 2^bits groups */
    void *block;
    size_t bytes;
} deck;

/* No fingerprint is in two groups. */
static unsigned group_bits(const tamis_plan *p, size_t n)
{
    unsigned bits = 0;

    while (bits < MOST_GROUP_BITS && n >> bits > GROUP_KEYS && !(p->slots << p->width >> bits & 1))
        bits++;
    return bits;
}

/* Where groups end, then the hashes. */
static bool deck_new(deck *d, const tamis *f, size_t n)
{
    unsigned bits = group_bits(&f->plan, n);
    size_t ends = round_up(sizeof(size_t) << bits, LINE);

    *d = (deck){ .bits = bits, .bytes = ends + n * sizeof(uint64_t) + LINE };
    d->block = tamis__scratch_new(f, d->bytes);
    if (!d->block)
        return false;
    uint8_t *at = (uint8_t *)d->block + (-(uintptr_t)d->block & (LINE - 1));
    d->ends = (size_t *)(void *)at;
    d->hashes = (uint64_t *)(void *)(at + ends);
    return true;
}

static void deal_keys(deck *d, const tamis *f, const uint64_t *keys, size_t n)
{
    radix r = { .bits = d->bits, .salt = f->salt };
    size_t groups = (size_t)1 << d->bits;

    memset(d->ends, 0, groups * sizeof *d->ends);
    tamis__radix_count(d->ends, &r, keys, n);
    for (size_t i = 0, start = 0; i < groups; i++) {
        size_t held = d->ends[i];
        d->ends[i] = start;
        start += held;
    }
    tamis__radix_deal(d->hashes, d->ends, &r, keys, n);
}

/* Writes to an empty table from the lowest fingerprint on, without moving anything. */
typedef struct track {
    table t;
    uint64_t after;    /* the quotient written last, and one */
    uint64_t position; /* after it */
} track;

static inline void or_le64(uint8_t *at, uint64_t bits)
{
    put_le64(at, le64(at) | bits);
}

/* Without a branch on whether it is at home, or the first of its run. False: the end was reached.
 */
static inline bool track_put(track *w, uint64_t print)
{
    uint64_t quotient = print >> w->t.width, is_next = w->after == quotient + 1;
    uint64_t position = w->position > quotient ? w->position : quotient;

    if (position >= w->t.slots)
        return false;
    uint8_t *home = block_of(&w->t, quotient), *block = block_of(&w->t, position);
    unsigned i = (unsigned)(position % BLOCK_SLOTS), bit = i * w->t.width;
    or_le64(home + OCCUPIED, UINT64_C(1) << quotient % BLOCK_SLOTS);
    or_le64(block + CONTINUED, is_next << i);
    or_le64(block + SHIFTED, (uint64_t)(position != quotient) << i);
    or_le64(block + REMAINDERS + bit / 8, (print & packed_mask(w->t.width)) << bit % 8);
    w->after = quotient + 1;
    w->position = position + 1;
    return true;
}

/* Those that come after the end go in between what stands at the beginning. */
static void put_prints(tamis *f, track *state, const uint32_t *prints, size_t n, uint64_t least)
{
    track w = *state;
    size_t i = 0;

    while (i < n && track_put(&w, least + prints[i]))
        i++;
    f->count += i;
    *state = w;
    for (; i < n; i++)
        insert(f, least + prints[i], 1);
}

static void put_hashes(tamis *f, track *w, const uint64_t *hashes, size_t n)
{
    uint64_t all = f->plan.slots << f->plan.width;

    for (size_t i = 0; i < n; i++) {
        uint64_t print = scale64(hashes[i], all);
        if (track_put(w, print))
            f->count++;
        else
            insert(f, print, 1);
    }
}

/* Sorted as 32-bit numbers above the lowest, if there are so few: from one half of the place of the
 * hashes to the other. */
static void put_group(tamis *f, track *w, uint64_t *hashes, size_t n, uint64_t least,
                      uint64_t range)
{
    uint64_t all = f->plan.slots << f->plan.width;
    uint32_t *x = (uint32_t *)(void *)hashes;

    if (range >> 32 || n >> 31) {
        tamis__sort(hashes, n);
        put_hashes(f, w, hashes, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t hash;
        memcpy(&hash, (uint8_t *)x + 8 * i, sizeof hash);
        uint32_t print = (uint32_t)(scale64(hash, all) - least);
        memcpy((uint8_t *)x + 4 * i, &print, sizeof print);
    }
    put_prints(f, w, sort_narrow(x, x + n, n, range), n, least);
}

static tamis_status build(tamis *f, const uint64_t *keys, size_t n)
{
    track w = { .t = table_of(f) };
    deck d;

    if (n > f->plan.capacity)
        return TAMIS_FULL;
    if (!deck_new(&d, f, n))
        return TAMIS_NOMEM;
    deal_keys(&d, f, keys, n);
    uint64_t range = f->plan.slots << f->plan.width >> d.bits;
    for (size_t i = 0, from = 0; i < (size_t)1 << d.bits; from = d.ends[i++])
        put_group(f, &w, d.hashes + from, d.ends[i] - from, i * range, range);
    tamis__scratch_free(f, d.block, d.bytes);
    return TAMIS_OK;
}

/* ---- Many changes ------------------------------------------------------ */

static size_t change_one(tamis *f, uint64_t hash, bool takes_out)
{
    table t = table_of(f);
    uint64_t print = scale64(hash, f->plan.slots << f->plan.width);

    if (!takes_out) {
        insert(f, print, 1);
        return 1;
    }
    found r = find(&t, print);
    if (!r.copies)
        return 0;
    take_out(f, &t, &r, 1);
    return 1;
}

static void touch_hashes(const tamis *f, uint64_t *hashes, const uint64_t *keys, size_t n)
{
    table t = table_of(f);

    for (size_t i = 0; i < n; i++) {
        hashes[i] = hash_key(keys[i], f->salt);
        uint64_t quotient = scale64(hashes[i], t.slots << t.width) >> t.width;
        fetch_planes(&t, quotient);
        fetch_remainders(&t, quotient);
    }
}

static size_t change_each(tamis *f, const uint64_t *keys, size_t n, bool takes_out)
{
    uint64_t hashes[MANY];
    size_t changed = 0;

    for (size_t i = 0; i < n; i++) {
        if (i % MANY == 0)
            touch_hashes(f, hashes, keys + i, many_group(i, n));
        changed += change_one(f, hashes[i % MANY], takes_out);
    }
    return changed;
}

/* What is stored does not depend on the order: so many keys that a group of them shares a stretch
 * of the table that fits in the cache go from one end to the other. */
enum { WORTHWHILE = 16 };

static size_t change_all(tamis *f, const uint64_t *keys, size_t n, bool takes_out)
{
    size_t changed = 0;
    deck d;

    if (n < GROUP_KEYS || n < f->plan.slots / WORTHWHILE || !deck_new(&d, f, n))
        return change_each(f, keys, n, takes_out);
    deal_keys(&d, f, keys, n);
    for (size_t i = 0; i < n; i++)
        changed += change_one(f, d.hashes[i], takes_out);
    tamis__scratch_free(f, d.block, d.bytes);
    return changed;
}

static tamis_status add_many(tamis *f, size_t *added, const uint64_t *keys, size_t n)
{
    uint64_t room = f->plan.capacity - f->count;

    *added = n < room ? n : (size_t)room;
    if (f->count || build(f, keys, *added))
        change_all(f, keys, *added, false);
    return *added == n ? TAMIS_OK : TAMIS_FULL;
}

static size_t remove_many(tamis *f, const uint64_t *keys, size_t n)
{
    return change_all(f, keys, n, true);
}

/* ---- The whole table --------------------------------------------------- */

/* A print that is there stands for one key or several; strangers pass if theirs is. */
static void measure(const tamis *f, tamis_info *info)
{
    tamis_cursor c = { .f = f };
    double all = prints(&f->plan), distinct = 0, copies = 0;

    for (; next(&c); distinct++)
        copies += (double)c.count;
    info->cardinality = log1p(-fmin(distinct, all - 1) / all) / log1p(-1 / all);
    info->fill = copies / (double)f->plan.slots;
    info->fpr = fmin(1, distinct / all);
}

static const char *verify_empty(const table *t, uint64_t *used)
{
    for (uint64_t block = 0; block <= t->last; block++) {
        uint64_t in_use = used_slots(block_at(t, block));
        *used += ones(in_use);
        if (in_use & ~bits_of_slots(t, block))
            return "a slot past the end is in use";
        for (uint64_t empty = ~in_use; empty; empty &= empty - 1)
            if (remainder_at(t, block * BLOCK_SLOTS + lowest(empty)) != 0)
                return "an empty slot has a remainder";
    }
    return le64(block_at(t, t->last + 1)) ? "bytes past the end are set" : NULL;
}

/* From its head, at *position, to the position after it. */
static const char *verify_run(const table *t, uint64_t quotient, uint64_t *position)
{
    uint32_t before = 0;

    if (bit_of(t, CONTINUED, wrap(t, *position)))
        return "a run has no head";
    do {
        uint64_t slot = wrap(t, *position);
        if (bit_of(t, SHIFTED, slot) != (*position != quotient))
            return "a slot is not where it says";
        if (remainder_at(t, slot) < before)
            return "a run is not sorted";
        before = remainder_at(t, slot);
        ++*position;
    } while (continues(t, *position));
    return *position < 2 * t->slots ? NULL : "a run does not end";
}

/* Runs follow each other from the first to the last, whose end the first one follows: so there is
 * one for each occupied quotient, and none overlaps another. *used tells how many slots they have.
 */
static const char *verify_runs(const table *t, uint64_t *used)
{
    uint64_t first = next_occupied(t, 0), start = 0, position = 0;

    if (first == t->slots)
        return NULL;
    start = run_of(t, first);
    start += start < first ? t->slots : 0;
    position = start;
    for (uint64_t q = first; q < t->slots; q = next_occupied(t, q + 1)) {
        if (position < q)
            position = q;
        uint64_t head = position;
        if (head >= 2 * t->slots)
            return "no slot is at home";
        const char *why = verify_run(t, q, &position);
        if (why)
            return why;
        *used += position - head;
    }
    uint64_t around = position > t->slots ? position - t->slots : 0;
    return start == (around > first ? around : first) ? NULL : "the first run is out of place";
}

static const char *verify(const tamis *f)
{
    table t = table_of(f);
    uint64_t used = 0, in_runs = 0;
    const char *why = verify_empty(&t, &used);

    if (!why)
        why = verify_runs(&t, &in_runs);
    if (why)
        return why;
    if (used != in_runs)
        return "a slot belongs to no run";
    return used == f->count && used <= f->plan.capacity ? NULL : "the number of keys is wrong";
}

/* ---- Kernels ----------------------------------------------------------- */

static void touch(const tamis *f, uint64_t key)
{
    table t = table_of(f);
    uint64_t quotient = print_of(f, key) >> t.width;

    fetch_planes(&t, quotient);
    fetch_remainders(&t, quotient);
}

static void for_cpu(tamis *f, unsigned cpu)
{
#ifdef __x86_64__
    if (cpu & TAMIS_CPU_AVX2)
        tamis__quotient_use_avx2(&f->ops);
#endif
    (void)f;
    (void)cpu;
}

const tamis_ops tamis__quotient = {
    .traits = TAMIS_TRAIT_CAN_GROW,
    .plan = plan,
    .bytes = bytes,
    .rate = rate,
    .resize = resize,
    .for_cpu = for_cpu,
    .verify = verify,
    .measure = measure,
    .has = has,
    .count = count,
    .add = add,
    .remove = remove_key,
    .touch = touch,
    .has_many = has_many,
    .add_many = add_many,
    .remove_many = remove_many,
    .next = next,
    .append = append,
    .room = room,
};
