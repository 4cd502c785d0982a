/* quotient_change.c - runs of the quotient filter: where they are, and how they grow and shrink.
 *
 * What is inserted moves up all that lies between it and the next empty slot. What is taken out
 * lets the rest of its cluster move down, no run to below its quotient. */
#include "base/slide.h"
#include "quotient/quotient.h"

/* ---- Search ------------------------------------------------------------ */

/* Goes down, from the first block on to the last, to the start of the cluster, and counts the runs
 * from there to that of the quotient. If its block comes twice, the start lies above the quotient,
 * and the second time only what is above the start counts. */
static uint64_t quotient_cluster(const quotient_table *t, uint64_t quotient, uint64_t *runs)
{
    uint64_t block = quotient / BLOCK_SLOTS, mask = word_up_to((unsigned)(quotient % BLOCK_SLOTS));

    *runs = !quotient_bit(t, OCCUPIED, quotient);
    for (uint64_t steps = 0; steps <= t->last + 1; steps++) {
        const uint8_t *at = quotient_block(t, block);
        uint64_t at_home = ~le64(at + SHIFTED) & mask;
        uint64_t occupied = le64(at + OCCUPIED) & mask;
        if (at_home) {
            *runs += word_ones(occupied & ~word_below(word_highest(at_home)));
            return block * BLOCK_SLOTS + word_highest(at_home);
        }
        *runs += word_ones(occupied);
        block = block ? block - 1 : t->last;
        mask = quotient_slots_of(t, block);
    }
    return t->slots;
}

uint64_t tamis__quotient_run(const quotient_table *t, uint64_t quotient)
{
    uint64_t start, runs;

    if (quotient_run_is_near(t, quotient, &start) || quotient_run_is_next_door(t, quotient, &start))
        return start;
    uint64_t cluster = quotient_cluster(t, quotient, &runs);
    if (cluster == t->slots)
        return t->slots;
    uint64_t block = cluster / BLOCK_SLOTS, mask = ~word_below((unsigned)(cluster % BLOCK_SLOTS));
    for (uint64_t steps = 0; steps <= t->last + 1; steps++) {
        uint64_t continued = le64(quotient_block(t, block) + CONTINUED);
        uint64_t heads = ~continued & quotient_slots_of(t, block) & mask;
        if (runs <= word_ones(heads))
            return block * BLOCK_SLOTS + quotient_select(heads, (unsigned)runs - 1);
        runs -= word_ones(heads);
        block = block < t->last ? block + 1 : 0;
        mask = UINT64_MAX;
    }
    return t->slots;
}

static uint64_t quotient_run_length(const quotient_table *t, uint64_t start)
{
    uint64_t length = 1;

    while (length < t->slots) {
        uint64_t slot = quotient_wrap(t, start + length), block = slot / BLOCK_SLOTS;
        unsigned i = (unsigned)(slot % BLOCK_SLOTS);
        uint64_t mask = quotient_slots_of(t, block) & ~word_below(i);
        uint64_t ends = ~le64(quotient_block(t, block) + CONTINUED) & mask;
        if (ends)
            return length + word_lowest(ends) - i;
        length += word_ones(mask);
    }
    return t->slots;
}

/* How many slots of a run hold less than x. */
static uint64_t quotient_count_below(const quotient_found *r, const quotient_table *t, uint64_t x)
{
    uint64_t low = 0, high = r->length;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (quotient_remainder(t, quotient_wrap(t, r->start + middle)) < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Runs are of a slot or two, but for those of keys that came thousands of times. */
quotient_found tamis__quotient_find(const quotient_table *t, uint64_t fingerprint)
{
    quotient_found r = { .quotient = fingerprint >> t->width,
                         .remainder = (uint32_t)fingerprint & packed_mask(t->width) };

    r.start = tamis__quotient_run(t, r.quotient);
    if (r.start == t->slots || !quotient_bit(t, OCCUPIED, r.quotient))
        return r;
    r.length = quotient_run_length(t, r.start);
    if (r.length > BLOCK_SLOTS) {
        r.before = quotient_count_below(&r, t, r.remainder);
        r.copies = quotient_count_below(&r, t, (uint64_t)r.remainder + 1) - r.before;
        return r;
    }
    for (uint64_t i = 0; i < r.length; i++) {
        uint32_t remainder = quotient_remainder(t, quotient_wrap(t, r.start + i));
        r.before += remainder < r.remainder;
        r.copies += remainder == r.remainder;
    }
    return r;
}

uint64_t tamis__quotient_next_occupied(const quotient_table *t, uint64_t from)
{
    uint64_t mask = ~word_below((unsigned)(from % BLOCK_SLOTS));

    for (uint64_t block = from / BLOCK_SLOTS; block <= t->last; block++, mask = UINT64_MAX) {
        uint64_t word = le64(quotient_block(t, block) + OCCUPIED) & mask;
        word &= quotient_slots_of(t, block);
        if (word)
            return block * BLOCK_SLOTS + word_lowest(word);
    }
    return t->slots;
}

/* ---- Slots ------------------------------------------------------------- */

static inline void quotient_put_bit(const quotient_table *t, int which, uint64_t slot, bool bit)
{
    uint8_t *block = quotient_block_of(t, slot);
    uint64_t mask = UINT64_C(1) << slot % BLOCK_SLOTS, word = le64(block + which) & ~mask;

    put_le64(block + which, bit ? word | mask : word);
}

/* All of a slot but whether it is occupied, which is not about what lies there. */
static inline void quotient_put_slot(const quotient_table *t, uint64_t slot, uint32_t remainder,
                                     bool continued, bool shifted)
{
    uint8_t *remainders = quotient_block_of(t, slot) + REMAINDERS;

    packed_put(remainders, slot % BLOCK_SLOTS, t->width, remainder);
    quotient_put_bit(t, CONTINUED, slot, continued);
    quotient_put_bit(t, SHIFTED, slot, shifted);
}

static void quotient_move_slot(const quotient_table *t, uint64_t to, uint64_t from, bool shifted)
{
    quotient_put_slot(t, to, quotient_remainder(t, from), quotient_bit(t, CONTINUED, from),
                      shifted);
}

static bool quotient_is_empty(const quotient_table *t, uint64_t slot)
{
    return !(quotient_used_slots(quotient_block_of(t, slot)) >> slot % BLOCK_SLOTS & 1);
}

/* There is one. */
static uint64_t quotient_next_empty(const quotient_table *t, uint64_t from)
{
    uint64_t block = from / BLOCK_SLOTS, mask = ~word_below((unsigned)(from % BLOCK_SLOTS)), empty;

    while (!(empty = ~quotient_used_slots(quotient_block(t, block)) & quotient_slots_of(t, block) &
                     mask)) {
        block = block < t->last ? block + 1 : 0;
        mask = UINT64_MAX;
    }
    return block * BLOCK_SLOTS + word_lowest(empty);
}

/* ---- Moving by one slot ------------------------------------------------ */

/* Everything from `at` up to the slot before an empty one, around the end, block by block. */
static void quotient_move_up(const quotient_table *t, uint64_t at, uint64_t empty)
{
    for (;;) {
        uint8_t *block = quotient_block_of(t, empty);
        uint64_t first = empty - empty % BLOCK_SLOTS, before = (first ? first : t->slots) - 1;
        bool is_here = at >= first && at <= empty;
        unsigned from = is_here ? (unsigned)(at - first) : 0, to = (unsigned)(empty - first);
        if (from < to) {
            uint64_t mask = word_up_to(to) & ~word_up_to(from);
            uint64_t continued = le64(block + CONTINUED);
            put_le64(block + CONTINUED, (continued & ~mask) | (continued << 1 & mask));
            put_le64(block + SHIFTED, le64(block + SHIFTED) | mask);
            slide_up(block + REMAINDERS, from, to, t->width);
        }
        if (is_here)
            return;
        quotient_move_slot(t, first, before, true);
        empty = before;
    }
}

/* Everything from the slot after `at` to `to`, around the end, block by block. Who is shifted is
 * not touched, and what slot `to` holds then is of no matter. */
static void quotient_move_down(const quotient_table *t, uint64_t at, uint64_t to)
{
    for (;;) {
        uint8_t *block = quotient_block_of(t, at);
        uint64_t end = at | (BLOCK_SLOTS - 1), last = end < t->slots ? end : t->slots - 1;
        bool is_here = to >= at && to <= last;
        unsigned from = at % BLOCK_SLOTS, top = (is_here ? to : last) % BLOCK_SLOTS;
        if (from < top) {
            uint64_t mask = word_below(top) & ~word_below(from);
            uint64_t continued = le64(block + CONTINUED);
            put_le64(block + CONTINUED, (continued & ~mask) | (continued >> 1 & mask));
            slide_down(block + REMAINDERS, from, top, t->width, 0);
        }
        if (is_here)
            return;
        uint64_t next = quotient_wrap(t, last + 1);
        quotient_move_slot(t, last, next, quotient_bit(t, SHIFTED, last));
        at = next;
    }
}

/* ---- Adding ------------------------------------------------------------ */

/* Everything from `at` on moves up until n slots are free; those that were empty swallow it. */
static void quotient_make_room(const quotient_table *t, uint64_t at, uint64_t n)
{
    uint64_t end = at;

    if (n == 1) {
        quotient_move_up(t, at, quotient_next_empty(t, at));
        return;
    }
    for (uint64_t left = n; left -= quotient_is_empty(t, quotient_wrap(t, end)); end++)
        ;
    for (uint64_t from = end; from-- > at;)
        if (!quotient_is_empty(t, quotient_wrap(t, from)))
            quotient_move_slot(t, quotient_wrap(t, end--), quotient_wrap(t, from), true);
}

void tamis__quotient_insert(tamis *f, uint64_t fingerprint, uint64_t times)
{
    quotient_table t = quotient_table_of(f);
    quotient_found r = tamis__quotient_find(&t, fingerprint);
    uint64_t at = quotient_wrap(&t, r.start + r.before);

    quotient_make_room(&t, at, times);
    for (uint64_t i = 0; i < times; i++) {
        uint64_t slot = quotient_wrap(&t, at + i);
        quotient_put_slot(&t, slot, r.remainder, r.before + i != 0, slot != r.quotient);
    }
    if (r.length && r.before == 0)
        quotient_put_bit(&t, CONTINUED, quotient_wrap(&t, at + times), true);
    quotient_put_bit(&t, OCCUPIED, r.quotient, true);
    f->count += times;
}

/* ---- Removing ---------------------------------------------------------- */

static void quotient_clear_slots(const quotient_table *t, uint64_t from, uint64_t to)
{
    for (; from < to; from++)
        quotient_put_slot(t, quotient_wrap(t, from), 0, false, false);
}

/* The quotient of the next run, as a position not below this one. */
static uint64_t quotient_after(const quotient_table *t, uint64_t quotient)
{
    uint64_t next = tamis__quotient_next_occupied(t, quotient_wrap(t, quotient) + 1);

    if (next < t->slots)
        return quotient - quotient_wrap(t, quotient) + next;
    return t->slots + tamis__quotient_next_occupied(t, 0);
}

/* The rest of the cluster moves down into n slots that became free at `at`, no run to below its
 * quotient. `head` tells whether what comes first is the head of the quotient's own run. */
static void quotient_close_slots(const quotient_table *t, uint64_t quotient, uint64_t at,
                                 uint64_t n, bool head)
{
    uint64_t from = at + n;

    for (; quotient_bit(t, SHIFTED, quotient_wrap(t, from)); from++, at++, head = false) {
        bool continued = quotient_bit(t, CONTINUED, quotient_wrap(t, from));
        if (!continued && !head)
            quotient = quotient_after(t, quotient);
        if (!continued && at < quotient) {
            quotient_clear_slots(t, at, quotient);
            at = quotient;
        }
        quotient_move_slot(t, quotient_wrap(t, at), quotient_wrap(t, from),
                           continued || at != quotient);
    }
    quotient_clear_slots(t, at, from);
}

/* As above, for one slot: all that follows is shifted, so that it all moves down by one, and only
 * who comes home must be found out. */
static void quotient_close_slot(const quotient_table *t, uint64_t quotient, uint64_t at, bool head)
{
    uint64_t end = at + 1;

    for (; quotient_bit(t, SHIFTED, quotient_wrap(t, end)); end++, head = false) {
        bool continued = quotient_bit(t, CONTINUED, quotient_wrap(t, end));
        if (!continued && !head)
            quotient = quotient_after(t, quotient);
        if (end == at + 1 || (!continued && end - 1 == quotient))
            quotient_put_bit(t, SHIFTED, quotient_wrap(t, end - 1),
                             continued || end - 1 != quotient);
    }
    quotient_move_down(t, quotient_wrap(t, at), quotient_wrap(t, end - 1));
    quotient_put_slot(t, quotient_wrap(t, end - 1), 0, false, false);
}

tamis_status tamis__quotient_take_out(tamis *f, uint64_t fingerprint, uint64_t times)
{
    quotient_table t = quotient_table_of(f);
    quotient_found r = tamis__quotient_find(&t, fingerprint);
    uint64_t at = r.start + r.before;
    bool heads = r.before == 0 && r.length > times;

    if (r.copies < times)
        return TAMIS_ABSENT;
    if (r.length == times)
        quotient_put_bit(&t, OCCUPIED, r.quotient, false);
    if (heads)
        quotient_put_bit(&t, CONTINUED, quotient_wrap(&t, at + times), false);
    if (r.start < r.quotient)
        at += t.slots;
    if (times == 1)
        quotient_close_slot(&t, r.quotient, at, heads);
    else
        quotient_close_slots(&t, r.quotient, at, times, heads);
    f->count -= times;
    return TAMIS_OK;
}
