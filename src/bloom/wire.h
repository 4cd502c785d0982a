/* wire.h - what a Bloom filter takes once its bits are coded, per key.
 *
 * After n keys of k probes, a share p of m bits is set; a perfect coder needs m H(p) bits for them.
 * At a given length the rate is worst where p is 1/2, which serves best in memory, and falls as k
 * does: with one probe, to e 2^-z for z bits a key, at the price of a large array. */
#ifndef TAMIS_BLOOM_WIRE_H
#define TAMIS_BLOOM_WIRE_H

#include <math.h>

/* Bits that it takes to tell of each bit whether it is set, when a share p of them is. */
static inline double entropy(double p)
{
    return p > 0 && p < 1 ? (-p * log(p) - (1 - p) * log1p(-p)) / log(2) : 0;
}

/* Of an array of that many bits for each key. */
static inline double wire_fill(double bits, unsigned k)
{
    return -expm1(-(double)k / bits);
}

static inline double wire_rate(double bits, unsigned k)
{
    return pow(wire_fill(bits, k), k);
}

static inline double wire_length(double bits, unsigned k)
{
    return bits * entropy(wire_fill(bits, k));
}

/* The array for a rate. */
static inline double wire_bits_for_rate(double fpr, unsigned k)
{
    return -(double)k / log1p(-pow(fpr, 1.0 / k));
}

/* The largest array that is no longer than that when coded. The length grows with the array once
 * less than half of it is set. */
static inline double wire_bits_for_length(double length, unsigned k)
{
    double low = k / log(2), high = low;

    while (wire_length(high, k) < length)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (wire_length(middle, k) < length)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The fewer probes, the shorter, and the larger the array: as few as leave it no more than `most`
 * times as large as what is sent. */
static inline unsigned wire_probes(double fpr, double most)
{
    unsigned k = 1;

    for (double bits; bits = wire_bits_for_rate(fpr, k), bits > most * wire_length(bits, k);)
        k++;
    return k;
}

#endif
