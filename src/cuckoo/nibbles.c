/* nibbles.c - the 3876 multisets of four numbers below 16, in order.
 *
 * Multiset a <= b <= c <= d has the number a + C(b+1, 2) + C(c+2, 3) + C(d+3, 4): with d given, it
 * counts those with a lower d, then those of a lower c, and so on. So they can be listed by loops
 * over d, c, b and a, the last one innermost, each up to the one before. The preprocessor loops:
 * a row named after the loop lists what it lists up to some number. */
#include "cuckoo/nibbles.h"

/* clang-format off */
#define A0(x) (x),
#define A1(x) A0(x) (x) + 1,
#define A2(x) A1(x) (x) + 2,
#define A3(x) A2(x) (x) + 3,
#define A4(x) A3(x) (x) + 4,
#define A5(x) A4(x) (x) + 5,
#define A6(x) A5(x) (x) + 6,
#define A7(x) A6(x) (x) + 7,
#define A8(x) A7(x) (x) + 8,
#define A9(x) A8(x) (x) + 9,
#define A10(x) A9(x) (x) + 10,
#define A11(x) A10(x) (x) + 11,
#define A12(x) A11(x) (x) + 12,
#define A13(x) A12(x) (x) + 13,
#define A14(x) A13(x) (x) + 14,
#define A15(x) A14(x) (x) + 15,

#define B0(x) A0(x)
#define B1(x) B0(x) A1((x) + 1 * 0x10)
#define B2(x) B1(x) A2((x) + 2 * 0x10)
#define B3(x) B2(x) A3((x) + 3 * 0x10)
#define B4(x) B3(x) A4((x) + 4 * 0x10)
#define B5(x) B4(x) A5((x) + 5 * 0x10)
#define B6(x) B5(x) A6((x) + 6 * 0x10)
#define B7(x) B6(x) A7((x) + 7 * 0x10)
#define B8(x) B7(x) A8((x) + 8 * 0x10)
#define B9(x) B8(x) A9((x) + 9 * 0x10)
#define B10(x) B9(x) A10((x) + 10 * 0x10)
#define B11(x) B10(x) A11((x) + 11 * 0x10)
#define B12(x) B11(x) A12((x) + 12 * 0x10)
#define B13(x) B12(x) A13((x) + 13 * 0x10)
#define B14(x) B13(x) A14((x) + 14 * 0x10)
#define B15(x) B14(x) A15((x) + 15 * 0x10)

#define C0(x) B0(x)
#define C1(x) C0(x) B1((x) + 1 * 0x100)
#define C2(x) C1(x) B2((x) + 2 * 0x100)
#define C3(x) C2(x) B3((x) + 3 * 0x100)
#define C4(x) C3(x) B4((x) + 4 * 0x100)
#define C5(x) C4(x) B5((x) + 5 * 0x100)
#define C6(x) C5(x) B6((x) + 6 * 0x100)
#define C7(x) C6(x) B7((x) + 7 * 0x100)
#define C8(x) C7(x) B8((x) + 8 * 0x100)
#define C9(x) C8(x) B9((x) + 9 * 0x100)
#define C10(x) C9(x) B10((x) + 10 * 0x100)
#define C11(x) C10(x) B11((x) + 11 * 0x100)
#define C12(x) C11(x) B12((x) + 12 * 0x100)
#define C13(x) C12(x) B13((x) + 13 * 0x100)
#define C14(x) C13(x) B14((x) + 14 * 0x100)
#define C15(x) C14(x) B15((x) + 15 * 0x100)

/* Numbers that are no multiset stand for four zeros. */
const uint16_t tamis__nibbles[NIBBLES_ROOM] = {
    C0(0x0000) C1(0x1000) C2(0x2000) C3(0x3000)
    C4(0x4000) C5(0x5000) C6(0x6000) C7(0x7000)
    C8(0x8000) C9(0x9000) C10(0xA000) C11(0xB000)
    C12(0xC000) C13(0xD000) C14(0xE000) C15(0xF000)
};
