/* sketch.c - how much two sets differ.
 *
 * Alon, Matias, Szegedy: The space complexity of approximating the frequency moments, 1996. */
#include <string.h>

#include "sketch.h"
#include "tamis.h"

enum { WORD = 64 };

static void add_bits(int64_t *numbers, size_t n, uint64_t bits)
{
    for (size_t j = 0; j < n; j++)
        numbers[j] += (int64_t)(bits >> j & 1) * 2 - 1;
}

void sketch_make(int64_t *numbers, size_t n, const uint64_t *keys, size_t n_keys)
{
    memset(numbers, 0, n * sizeof *numbers);
    for (size_t first = 0; first < n; first += WORD) {
        const tamis_hasher by = { .hash = TAMIS_FAST, .seed = first };
        size_t some = n - first < WORD ? n - first : WORD;

        for (size_t i = 0; i < n_keys; i++)
            add_bits(numbers + first, some, tamis_hasher_key(&by, &keys[i], sizeof *keys));
    }
}

double sketch_distance(const int64_t *a, const int64_t *b, size_t n)
{
    double sum = 0;

    for (size_t j = 0; j < n; j++) {
        double off = (double)a[j] - (double)b[j];
        sum += off * off;
    }
    return sum / (double)n;
}

/* ---- Bytes ------------------------------------------------------------- */

/* Numbers are even if n_keys is; half of them are near 0, of either sign. */
void sketch_write(buffer *out, const int64_t *numbers, size_t n, uint64_t n_keys)
{
    coded_put_number(out, n_keys);
    for (size_t j = 0; j < n; j++)
        coded_put_signed(out, (numbers[j] - (int64_t)(n_keys & 1)) / 2);
}

size_t sketch_most(size_t n)
{
    return CODED_NUMBER * (n + 1);
}

bool sketch_read(coded *c, int64_t *numbers, size_t n, uint64_t *n_keys)
{
    if (!coded_number(c, n_keys) || *n_keys > INT64_MAX / 4)
        return false;
    for (size_t j = 0; j < n; j++) {
        int64_t half, most = (int64_t)*n_keys;
        if (!coded_signed(c, &half) || half > most || half < -most - 1)
            return false;
        numbers[j] = 2 * half + (int64_t)(*n_keys & 1);
    }
    return true;
}
