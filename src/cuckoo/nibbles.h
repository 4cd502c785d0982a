/* nibbles.h - four numbers below 16, ascending, as one number of 12 bits. */
#ifndef TAMIS_CUCKOO_NIBBLES_H
#define TAMIS_CUCKOO_NIBBLES_H

#include <stdint.h>

enum { NIBBLES = 3876, NIBBLES_ROOM = 4096, NIBBLES_BITS = 12 };

/* Of each code the four, the lowest in the lowest bits. */
extern const uint16_t tamis__nibbles[NIBBLES_ROOM];

/* The code of a <= b <= c <= d. */
static inline unsigned nibbles_code(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return a + b * (b + 1) / 2 + c * (c + 1) * (c + 2) / 6 + d * (d + 1) * (d + 2) * (d + 3) / 24;
}

#endif
