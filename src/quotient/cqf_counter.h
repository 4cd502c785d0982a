/* cqf_counter.h - counts written between the remainders of a sorted run.
 *
 * A remainder x that is there once or twice is written that often. From three times on, digits
 * stand between a first and a last x:
 *
 *   x > 0:  3      x 0 x
 *           4 ..   x [0] digits x     base 2^w - 2, of count - 3; no digit is 0 or x
 *   x = 0:  3      0 0 0
 *           4 ..   0 digits 0 0       base 2^w - 1, of count - 4; no digit is 0
 *
 * In a sorted run, a slot that is lower than the one before can only begin a counter, and the next
 * x ends it. A first digit above x would look like the next remainder: hence the 0 before it. After
 * a 0 nothing is lower; its counter is told by the two zeros at its end, which occur nowhere else.
 *
 * One more copy takes one slot more at most, and never one less.
 *
 * Pandey, Bender, Johnson, Patro: A General-Purpose Counting Filter, 2017. */
#ifndef TAMIS_QUOTIENT_CQF_COUNTER_H
#define TAMIS_QUOTIENT_CQF_COUNTER_H

#include "quotient/runs_change.h"

/* 63 digits of base two, and three slots around them and before. */
enum { COUNTER_MOST = 68 };

/* The digit with value v, where 0 and x mean something else. */
static inline uint32_t cqf_counter_digit(uint64_t v, uint32_t x)
{
    uint32_t digit = (uint32_t)v + 1;

    return digit + (x != 0 && digit >= x);
}

static inline uint64_t cqf_counter_value(uint32_t digit, uint32_t x)
{
    return digit - (x != 0 && digit > x) - (uint64_t)1;
}

static inline uint64_t cqf_counter_base(uint32_t x, unsigned width)
{
    return (UINT64_C(1) << width) - (x ? 2 : 1);
}

/* The count that digits are added to. */
static inline uint64_t cqf_counter_least(uint32_t x)
{
    return x ? 3 : 4;
}

/* The digits of a count from four on, with the 0 before them. Returns how many slots. */
static inline unsigned cqf_counter_put_digits(uint32_t *code, uint32_t x, uint64_t count,
                                              unsigned width)
{
    uint64_t base = cqf_counter_base(x, width), v = count - cqf_counter_least(x);
    uint32_t digits[COUNTER_MOST];
    unsigned n = 0, used = 0;

    do
        digits[used++] = cqf_counter_digit(v % base, x);
    while (v /= base);
    if (x && digits[used - 1] > x)
        code[n++] = 0;
    while (used)
        code[n++] = digits[--used];
    return n;
}

/* Writes the slots of x with this count, 0 for none. Returns how many, at most COUNTER_MOST. */
static inline unsigned cqf_counter_put(uint32_t *code, uint32_t x, uint64_t count, unsigned width)
{
    unsigned n = 0;

    if (count == 0)
        return 0;
    code[n++] = x;
    if (count >= 4)
        n += cqf_counter_put_digits(code + n, x, count, width);
    else if (count == 3)
        code[n++] = 0;
    if (count >= 4 && x == 0)
        code[n++] = 0;
    if (count >= 2)
        code[n++] = x;
    return n;
}

/* ---- Entries ----------------------------------------------------------- */

/* A remainder and its count, in a run. */
typedef struct cqf_entry {
    uint64_t at, count;
    unsigned slots; /* 0: it is not there, and belongs here */
} cqf_entry;

/* Digits from slot i on, up to the one that is x. False: there is no such end among the n slots. */
static inline bool cqf_read_digits(runs_table t, uint64_t i, uint64_t n, uint32_t x,
                                   uint64_t *value, unsigned *length)
{
    uint64_t base = cqf_counter_base(x, t.width), v = 0, most = UINT64_MAX - cqf_counter_least(x);

    for (unsigned k = 0; k < n && k < COUNTER_MOST; k++) {
        uint32_t digit = runs_slot(t, i + k);
        if (digit == x) {
            *value = v < most ? v : most;
            *length = k;
            return true;
        }
        uint64_t more = digit ? cqf_counter_value(digit, x) : 0;
        if (mul_overflows(v, base, &v) || add_overflows(v, more, &v))
            v = most;
    }
    return false;
}

/* The entry of x in slot i, if d in the next one is no higher remainder: one copy if a counter has
 * no end among the n slots that are left of the run. */
static cqf_entry cqf_read_count(runs_table t, uint64_t i, uint64_t n, uint32_t x, uint32_t d)
{
    unsigned skip = 1u + (x && d == 0), length;
    uint64_t v;

    if (d == x) {
        unsigned copies = 2u + (x == 0 && n > 2 && runs_slot(t, i + 2) == 0);
        return (cqf_entry){ i, copies, copies };
    }
    if (!cqf_read_digits(t, i + skip, n - skip, x, &v, &length) ||
        (x == 0 && (length + 2 >= n || runs_slot(t, i + 2 + length) != 0)))
        return (cqf_entry){ i, 1, 1 };
    return (cqf_entry){ i, v + cqf_counter_least(x), skip + length + 1u + (x == 0) };
}

/* The entry of x, which is in slot i of a run that ends before slot `end`. Most are one slot. */
__attribute__((always_inline)) static inline cqf_entry cqf_read_entry(runs_table t, uint64_t i,
                                                                      uint64_t end, uint32_t x)
{
    uint32_t d = i + 1 < end ? runs_slot(t, i + 1) : 0;

    if (i + 1 == end || (x && d > x))
        return (cqf_entry){ i, 1, 1 };
    return cqf_read_count(t, i, end - i, x, d);
}

/* Where x is in the run, or belongs. */
__attribute__((always_inline)) static inline cqf_entry cqf_find_entry(runs_table t,
                                                                      const runs_run *r, uint32_t x)
{
    for (uint64_t i = r->start; i < r->end;) {
        uint32_t other = runs_slot(t, i);
        if (other > x)
            return (cqf_entry){ i, 0, 0 };
        cqf_entry e = cqf_read_entry(t, i, r->end, other);
        if (other == x)
            return e;
        i += e.slots;
    }
    return (cqf_entry){ r->end, 0, 0 };
}

/* An entry of the run of q gets these n slots instead of those that it has. */
static inline void cqf_replace_entry(runs_table t, uint64_t q, runs_run *r, const cqf_entry *e,
                                     const uint32_t *code, unsigned n)
{
    for (unsigned i = e->slots; i < n; i++)
        runs_open_slot(t, q, r, e->at + i);
    for (unsigned i = e->slots; i > n; i--)
        runs_close_slot(t, q, r, e->at + i - 1);
    for (unsigned i = 0; i < n; i++)
        runs_put_slot(t, e->at + i, code[i]);
}

/* From the lowest quotient and remainder on; starts with zeros but for the table. */
typedef struct cqf_walk {
    runs_walk run;
    uint64_t i; /* the slot after the entry */
    uint32_t remainder;
    uint64_t count;
} cqf_walk;

/* False: there is no more; it comes, whatever the bytes are. */
static inline bool cqf_walk_on(cqf_walk *w)
{
    if (w->i >= w->run.end) {
        if (!runs_walk_on(&w->run))
            return false;
        w->i = w->run.start;
    }
    w->remainder = runs_slot(w->run.t, w->i);
    cqf_entry e = cqf_read_entry(w->run.t, w->i, w->run.end, w->remainder);
    w->count = e.count;
    w->i += e.slots;
    return true;
}

#endif
