/* rice.c - numbers as few bits. */
#include "rice.h"

/* Of geometric gaps with mean m, low bits pay while 2^low < -ln((sqrt 5 - 1) / 2) * 2 m. */
unsigned rice_low_bits(uint64_t below, uint64_t n)
{
    double mean = n ? (double)below / (double)n : 0;
    unsigned low = 0;

    while (low < 62 && (double)(UINT64_C(2) << low) <= 0.9624 * mean)
        low++;
    return low;
}

static void put_bits(rice_writer *w, uint64_t bits, unsigned n)
{
    w->bits |= bits << w->n_bits;
    w->n_bits += n;
    while (w->n_bits >= 8) {
        buffer_append(&w->out, &(uint8_t){ (uint8_t)w->bits }, 1);
        w->bits >>= 8;
        w->n_bits -= 8;
    }
}

void rice_put(rice_writer *w, uint64_t number)
{
    for (uint64_t upper = number >> w->low; upper > 0; upper--)
        put_bits(w, 1, 1);
    put_bits(w, 0, 1);
    for (unsigned done = 0; done < w->low; done += 32) {
        unsigned n = w->low - done < 32 ? w->low - done : 32;

        put_bits(w, number >> done & ((UINT64_C(1) << n) - 1), n);
    }
}

void rice_end(rice_writer *w)
{
    if (w->n_bits > 0)
        put_bits(w, 0, 8 - w->n_bits);
}

/* False: nothing more comes. */
static bool refill(rice_reader *r, unsigned n)
{
    while (r->n_bits < n) {
        size_t size = 0;

        while (r->at == r->end) {
            if (!r->more || !r->more(r->ctx, &r->at, &size))
                return false;
            r->end = r->at + size;
        }
        r->bits |= (uint64_t)*r->at++ << r->n_bits;
        r->n_bits += 8;
    }
    return true;
}

static uint64_t take_bits(rice_reader *r, unsigned n)
{
    uint64_t bits = r->bits & ((UINT64_C(1) << n) - 1);

    r->bits >>= n;
    r->n_bits -= n;
    return bits;
}

bool rice_get(rice_reader *r, uint64_t *number, uint64_t most)
{
    uint64_t upper = 0, lower = 0;

    for (;; upper++) {
        if (!refill(r, 1) || upper > most >> r->low)
            return false;
        if (!take_bits(r, 1))
            break;
    }
    for (unsigned done = 0; done < r->low; done += 32) {
        unsigned n = r->low - done < 32 ? r->low - done : 32;

        if (!refill(r, n))
            return false;
        lower |= take_bits(r, n) << done;
    }
    *number = upper << r->low | lower;
    return *number <= most;
}

bool rice_is_at_end(const rice_reader *r)
{
    return r->at == r->end && r->n_bits < 8 && r->bits == 0;
}
