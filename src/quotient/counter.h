/* counter.h - counts written between the remainders of a sorted run.
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
#ifndef TAMIS_QUOTIENT_COUNTER_H
#define TAMIS_QUOTIENT_COUNTER_H

#include <stdint.h>

/* 63 digits of base two, and three slots around them and before. */
enum { COUNTER_MOST = 68 };

/* The digit with value v, where 0 and x mean something else. */
static inline uint32_t counter_digit(uint64_t v, uint32_t x)
{
    uint32_t digit = (uint32_t)v + 1;

    return digit + (x != 0 && digit >= x);
}

static inline uint64_t counter_value(uint32_t digit, uint32_t x)
{
    return digit - (x != 0 && digit > x) - (uint64_t)1;
}

static inline uint64_t counter_base(uint32_t x, unsigned width)
{
    return (UINT64_C(1) << width) - (x ? 2 : 1);
}

/* The count that digits are added to. */
static inline uint64_t counter_least(uint32_t x)
{
    return x ? 3 : 4;
}

/* The digits of a count from four on, with the 0 before them. Returns how many slots. */
static inline unsigned counter_put_digits(uint32_t *code, uint32_t x, uint64_t count,
                                          unsigned width)
{
    uint64_t base = counter_base(x, width), v = count - counter_least(x);
    uint32_t digits[COUNTER_MOST];
    unsigned n = 0, used = 0;

    do
        digits[used++] = counter_digit(v % base, x);
    while (v /= base);
    if (x && digits[used - 1] > x)
        code[n++] = 0;
    while (used)
        code[n++] = digits[--used];
    return n;
}

/* Writes the slots of x with this count, 0 for none. Returns how many, at most COUNTER_MOST. */
static inline unsigned counter_put(uint32_t *code, uint32_t x, uint64_t count, unsigned width)
{
    unsigned n = 0;

    if (count == 0)
        return 0;
    code[n++] = x;
    if (count >= 4)
        n += counter_put_digits(code + n, x, count, width);
    else if (count == 3)
        code[n++] = 0;
    if (count >= 4 && x == 0)
        code[n++] = 0;
    if (count >= 2)
        code[n++] = x;
    return n;
}

#endif
