/* coded.c - fuzzer: what the sides of `tamis reconcile` tell each other, as bytes.
 *
 * input: a mode, a number of keys or lines and one of places (one byte each), then bytes that are
 * numbers, coded symbols, places or lines. What is read is written again, and must be the same.
 * Symbols that anybody may have sent go to a difference, which has to come to an end. */
#include <stdlib.h>
#include <string.h>

#include "../../cli/wire/coded.h"
#include "cost.h"
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SETTINGS = 3, MOST_SYMBOLS = 4096 };

static const uint8_t SECRET[16] = "known to fuzzers";

static void read_numbers(coded c)
{
    uint64_t number, again;
    buffer out = { 0 };

    while (coded_number(&c, &number)) {
        out.size = 0;
        coded_put_number(&out, number);
        coded own = { (const uint8_t *)out.bytes, (const uint8_t *)out.bytes + out.size };
        MUST(coded_number(&own, &again) && again == number && own.at == own.end);
    }
    MUST(c.at <= c.end);
    buffer_free(&out);
}

static tamis_difference *difference_of(size_t n)
{
    uint64_t keys[256];
    tamis_difference *d;
    tamis_symbols *own;

    for (size_t i = 0; i < n; i++)
        keys[i] = i * UINT64_C(0x9e3779b97f4a7c15);
    MUST(tamis_symbols_new(&own, keys, n, SECRET, NULL) == TAMIS_OK);
    MUST(tamis_difference_new(&d, own, NULL) == TAMIS_OK);
    return d;
}

static void check_symbol(const tamis_symbol *s, uint64_t i, uint64_t n)
{
    buffer out = { 0 };
    tamis_symbol again;

    coded_put_symbol(&out, s, i, n);
    coded own = { (const uint8_t *)out.bytes, (const uint8_t *)out.bytes + out.size };
    MUST(coded_symbol(&own, &again, i, n) && own.at == own.end);
    MUST(memcmp(s, &again, sizeof again) == 0);
    buffer_free(&out);
}

static void read_symbols(coded c, size_t n)
{
    tamis_difference *d = difference_of(n);
    bool is_done = false;
    tamis_symbol s;
    size_t found;

    for (uint64_t i = 0; i < MOST_SYMBOLS && !is_done && coded_symbol(&c, &s, i, n); i++) {
        check_symbol(&s, i, n);
        if (tamis_difference_take(d, &s, 1, &is_done))
            break;
        MUST(tamis_difference_estimate(d) >= 0);
        (void)tamis_difference_here(d, &found);
        MUST(found <= i + 1);
    }
    tamis_difference_free(d);
}

static void read_places(coded c, size_t n, uint64_t below)
{
    uint64_t places[256];
    buffer out = { 0 };

    if (!coded_places(&c, places, n, below))
        return;
    for (size_t i = 0; i < n; i++)
        MUST(places[i] < below && (i == 0 || places[i] > places[i - 1]));
    coded_put_places(&out, places, n, below);
    MUST(out.size <= (size_t)(c.end - c.at));
    MUST(out.size == 0 || memcmp(out.bytes, c.at, out.size) == 0);
    buffer_free(&out);
}

static void read_lines(coded c, size_t most)
{
    buffer text = { 0 }, out = { 0 }, again = { 0 };

    if (coded_lines(&c, &text, '\n', most)) {
        MUST(text.size <= most && (text.size == 0 || text.bytes[text.size - 1] == '\n'));
        coded_put_lines(&out, text.bytes, text.size, '\n');
        coded own = coded_of(out.bytes, out.size);
        MUST(coded_lines(&own, &again, '\n', most) && again.size == text.size);
        MUST(text.size == 0 || memcmp(again.bytes, text.bytes, text.size) == 0);
    }
    buffer_free(&text);
    buffer_free(&out);
    buffer_free(&again);
}

/* Symbols of 13 bytes take 120 in arrays that double; 255 keys are there. Lines that share bytes
 * take as many as is allowed: 255 * 255, once more as they are read again, in buffers that grow. */
static const cost_law COST = { .memory = 1 << 19, .memory_times = 40 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS)
        return 0;
    cost_begin();
    coded c = { data + SETTINGS, data + size };
    if (data[0] % 4 == 0)
        read_numbers(c);
    else if (data[0] % 4 == 1)
        read_symbols(c, data[1]);
    else if (data[0] % 4 == 3)
        read_lines(c, data[1] * data[2]);
    else
        read_places(c, data[2], data[1] * UINT64_C(37));
    cost_check("coded", &COST, size);
    return 0;
}
