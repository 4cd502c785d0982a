/* spectral_table.c - where the spectral kinds keep the rests of large counters, digit by digit.
 *
 * The table is one of open addressing: an entry is at its home, which its tag (counter and number
 * of the digit) is hashed to, or in one of the next places that was free. An entry that leaves
 * makes those behind it move back, so that a search ends at the first empty place: after one line
 * on average, since three quarters of the places are used at most. */
#include <string.h>

#include "sketch/spectral.h"

enum { SPECTRAL_MAX_DIGITS = 4, SPECTRAL_TAG_SHIFT = SPECTRAL_DIGIT_BITS + 1 };

/* There is a higher digit. */
static const uint64_t SPECTRAL_MORE = UINT64_C(1) << SPECTRAL_DIGIT_BITS;

static uint64_t spectral_entries(const tamis *f)
{
    return (uint64_t)f->plan.width * SPECTRAL_LINE_ENTRIES;
}

static uint8_t *spectral_entry_at(const tamis *f, uint64_t i)
{
    return (uint8_t *)f->payload + SPECTRAL_STATE_BYTES + i * 8;
}

static uint64_t spectral_entries_used(const tamis *f)
{
    return le64(f->payload);
}

/* ---- One entry --------------------------------------------------------- */

static uint64_t spectral_tag(uint64_t counter, unsigned digit)
{
    return counter << 2 | digit;
}

static uint64_t spectral_home(const tamis *f, uint64_t tag)
{
    return scale64(mix64(tag), spectral_entries(f));
}

/* Where the entry of that tag is or would be; *entry is 0 if there is none. A table without an
 * empty place, which only a damaged view has, ends the search where it began. */
static inline uint64_t spectral_find_entry(const tamis *f, uint64_t tag, uint64_t *entry)
{
    uint64_t i = spectral_home(f, tag), n = spectral_entries(f);

    for (uint64_t steps = 0; steps < n; steps++, i = i + 1 == n ? 0 : i + 1) {
        *entry = le64(spectral_entry_at(f, i));
        if (*entry == 0 || *entry >> SPECTRAL_TAG_SHIFT == tag)
            return i;
    }
    *entry = 0;
    return i;
}

static uint64_t spectral_read_entry(const tamis *f, uint64_t tag)
{
    uint64_t entry;

    spectral_find_entry(f, tag, &entry);
    return entry;
}

static void spectral_put_entry(tamis *f, uint64_t tag, uint64_t digit_and_more)
{
    uint64_t old, i = spectral_find_entry(f, tag, &old);

    if (old == 0)
        put_le64(f->payload, spectral_entries_used(f) + 1);
    put_le64(spectral_entry_at(f, i), tag << SPECTRAL_TAG_SHIFT | digit_and_more);
}

/* Those behind it move back as far as they may: to the hole, unless their home is after it. */
static void spectral_drop_entry(tamis *f, uint64_t tag)
{
    uint64_t entry, hole = spectral_find_entry(f, tag, &entry), n = spectral_entries(f);

    for (uint64_t i = (hole + 1) % n; (entry = le64(spectral_entry_at(f, i))) != 0;
         i = (i + 1) % n) {
        uint64_t home = spectral_home(f, entry >> SPECTRAL_TAG_SHIFT);
        if ((i + n - home) % n >= (i + n - hole) % n) {
            put_le64(spectral_entry_at(f, hole), entry);
            hole = i;
        }
    }
    put_le64(spectral_entry_at(f, hole), 0);
    put_le64(f->payload, spectral_entries_used(f) - 1);
}

/* ---- Counters ---------------------------------------------------------- */

uint64_t tamis__spectral_large(const tamis *f, uint64_t i)
{
    uint64_t rest = 0, entry = SPECTRAL_MORE;

    for (unsigned d = 0; d < SPECTRAL_MAX_DIGITS && entry & SPECTRAL_MORE; d++) {
        entry = spectral_read_entry(f, spectral_tag(i, d));
        rest |= (entry & (SPECTRAL_MORE - 1)) << d * SPECTRAL_DIGIT_BITS;
    }
    return spectral_sum(SPECTRAL_ESCAPE, rest);
}

unsigned tamis__spectral_entries_of(uint64_t value)
{
    unsigned digits = 0;

    for (uint64_t rest = value > SPECTRAL_ESCAPE ? value - SPECTRAL_ESCAPE : 0; rest;
         rest >>= SPECTRAL_DIGIT_BITS)
        digits++;
    return digits;
}

void tamis__spectral_put(tamis *f, uint64_t i, uint64_t old, uint64_t value)
{
    unsigned had = tamis__spectral_entries_of(old), digits = tamis__spectral_entries_of(value);

    spectral_put_nibble(f, i, value < SPECTRAL_ESCAPE ? (unsigned)value : SPECTRAL_ESCAPE);
    for (unsigned d = 0; d < digits; d++) {
        uint64_t rest = (value - SPECTRAL_ESCAPE) >> d * SPECTRAL_DIGIT_BITS;
        spectral_put_entry(f, spectral_tag(i, d),
                           (rest & (SPECTRAL_MORE - 1)) | (d + 1 < digits ? SPECTRAL_MORE : 0));
    }
    for (unsigned d = digits; d < had; d++)
        spectral_drop_entry(f, spectral_tag(i, d));
}

/* Changes the counters if `change` is set. Returns how many entries that takes. */
static uint64_t spectral_raise_list(tamis *f, const spectral_raise *r, bool change)
{
    uint64_t more = 0;

    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        uint64_t old = spectral_counter(f, r->at[i]), value = spectral_sum(old, r->times);
        value = value < r->to ? r->to : value;
        more += tamis__spectral_entries_of(value) - tamis__spectral_entries_of(old);
        if (change)
            tamis__spectral_put(f, r->at[i], old, value);
    }
    return more;
}

tamis_status tamis__spectral_raise(tamis *f, const spectral_raise *lists, size_t n)
{
    uint64_t used = spectral_entries_used(f);

    for (size_t i = 0; i < n; i++)
        used += spectral_raise_list(f, &lists[i], false);
    if (used > spectral_entries_most(&f->plan))
        return TAMIS_FULL;
    for (size_t i = 0; i < n; i++)
        spectral_raise_list(f, &lists[i], true);
    return TAMIS_OK;
}

void tamis__spectral_lower(tamis *f, const uint64_t *at, uint64_t times)
{
    for (uint32_t i = 0; i < f->plan.hashes; i++) {
        uint64_t old = spectral_counter(f, at[i]);
        tamis__spectral_put(f, at[i], old, old - times);
    }
}

/* ---- Larger tables ----------------------------------------------------- */

tamis_status tamis__spectral_resize(tamis_plan *p, uint64_t keys)
{
    (void)keys;
    if (p->width > UINT32_MAX / 2)
        return TAMIS_RANGE;
    p->width *= 2;
    return TAMIS_OK;
}

/* Entries find new places; what follows the table stays as it is. */
tamis_status tamis__spectral_move(tamis *f, const tamis *g)
{
    if (spectral_entries_used(f) + spectral_entries_used(g) > spectral_entries_most(&f->plan))
        return TAMIS_FULL;
    memcpy(spectral_nibbles(f), spectral_nibbles(g),
           (size_t)(g->plan.bytes - spectral_offset(&g->plan)));
    for (uint64_t i = 0; i < spectral_entries(g); i++) {
        uint64_t entry = le64(spectral_entry_at(g, i));
        if (entry)
            spectral_put_entry(f, entry >> SPECTRAL_TAG_SHIFT, entry & (2 * SPECTRAL_MORE - 1));
    }
    f->count = g->count;
    return TAMIS_OK;
}

/* ---- Damage ------------------------------------------------------------ */

/* An entry belongs to a counter, with all its digits, and is found. */
static const char *spectral_verify_entry(const tamis *f, uint64_t i, uint64_t counters)
{
    uint64_t entry = le64(spectral_entry_at(f, i)), tag = entry >> SPECTRAL_TAG_SHIFT,
             counter = tag >> 2;
    unsigned digit = tag & 3;
    uint64_t found;

    if (counter >= counters || spectral_nibble(f, counter) != SPECTRAL_ESCAPE)
        return "a digit belongs to no counter";
    if (spectral_find_entry(f, tag, &found) != i)
        return "a digit is where it is not found";
    if (!(entry & SPECTRAL_MORE) && !(entry & (SPECTRAL_MORE - 1)))
        return "a leading digit is 0";
    if (digit > 0 && !(spectral_read_entry(f, tag - 1) & SPECTRAL_MORE))
        return "a digit has none before it";
    if (entry & SPECTRAL_MORE &&
        (digit + 1 == SPECTRAL_MAX_DIGITS || !spectral_read_entry(f, tag + 1)))
        return "a digit has none after it";
    return NULL;
}

const char *tamis__spectral_verify_table(const tamis *f, uint64_t counters)
{
    const uint8_t *state = f->payload;
    uint64_t used = 0;
    const char *why = NULL;

    if (!bytes_are_zero(state + 8, state + SPECTRAL_STATE_BYTES))
        return "unused state is set";
    for (uint64_t i = 0; i < spectral_entries(f); i++)
        used += le64(spectral_entry_at(f, i)) != 0;
    if (used != spectral_entries_used(f) || used > spectral_entries_most(&f->plan))
        return "the number of digits is wrong";
    for (uint64_t i = 0; i < spectral_entries(f) && !why; i++)
        if (le64(spectral_entry_at(f, i)))
            why = spectral_verify_entry(f, i, counters);
    return why;
}

/* ---- Pictures ---------------------------------------------------------- */

/* The digits, wherever they are, and how many there are. */
void tamis__spectral_tell_table(const tamis *f, tamis_telling *t)
{
    for (uint64_t i = 0; i < spectral_entries(f); i++) {
        uint64_t entry = le64(spectral_entry_at(f, i));
        tamis_cell cell = { .array = "table of digits", .index = i, .bits = SPECTRAL_DIGIT_BITS };
        cell.value = entry & (SPECTRAL_MORE - 1);
        cell.marks = entry ? 0 : TAMIS_MARK_EMPTY;
        if (!tamis__tell_cell(t, cell))
            return;
    }
    tamis__tell_cell(
        t, (tamis_cell){ .array = "digits in use", .value = spectral_entries_used(f), .bits = 64 });
}
